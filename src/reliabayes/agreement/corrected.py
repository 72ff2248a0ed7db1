"""Correction of agreement for chance, which kappas, alpha and iota have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from reliabayes.agreement.cells import ratio
from reliabayes.agreement.coefficient import Coefficient
from reliabayes.agreement.resampling import Formula, Rows
from reliabayes.arrays import Array
from reliabayes.ratings import Ratings


def corrected(
    ratings: Ratings,
    name: str,
    rows: Callable[[Array | None], Rows],
    *,
    observed: Formula,
    expected: Formula,
    of: Literal["agreement", "disagreement"],
    **others: Any,
) -> Coefficient:
    """Coefficient that corrects agreement for chance: 1 less observed over expected disagreement.

    The two formulas give agreement or disagreement, and are its parts.
    """

    def formula(sums: Array) -> Array:
        parts = observed(sums), expected(sums)
        seen, by_chance = parts if of == "disagreement" else (1 - part for part in parts)
        return 1 - ratio(seen, by_chance)

    named = {f"observed {of}": observed, f"expected {of}": expected}
    return Coefficient.of(ratings, name, rows, formula, parts=named, **others)
