"""Chance correction, which kappas, pi, S, AC1, alpha, iota and kappa_x have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from reliabayes.agreement.arithmetic import ratio
from reliabayes.agreement.coefficient import Coefficient
from reliabayes.agreement.distinct_rows import Formula
from reliabayes.agreement.item_rows import Rows
from reliabayes.arrays import Array
from reliabayes.ratings import Ratings


def chance_corrected(observed: Array, expected: Array) -> Array:
    r"""Correct agreement for chance, given disagreements.

    .. math:: 1 - \frac{D_o}{D_e} = \frac{P_o - P_e}{1 - P_e},\quad D = 1 - P

    Parameters
    ----------
    observed, expected : array of float, shape (...)
        Observed disagreement, and the disagreement expected by chance.

    Returns
    -------
    array of float, shape (...)
        At most 1, 0 at chance level; nan where no disagreement is expected.
    """
    return 1 - ratio(observed, expected)


@dataclass(frozen=True, eq=False)
class ChanceCorrection:
    """Chance-corrected agreement as a formula of sums over items.

    Attributes
    ----------
    observed, expected : callable
        Formulas (..., S) -> (...) of what is observed and of what chance gives.
    measure : {"agreement", "disagreement"}
        What the two formulas return.
    least : float, default 0
        Smallest possible value of the two.
    """

    observed: Formula
    expected: Formula
    measure: Literal["agreement", "disagreement"]
    least: float = 0.0

    def __call__(self, sums: Array) -> Array:
        """(...) chance-corrected agreement, given sums (..., S)."""
        observed, expected = self.observed(sums), self.expected(sums)
        if self.measure == "agreement":
            observed, expected = 1 - observed, 1 - expected
        return chance_corrected(observed, expected)

    def coefficient(
        self, ratings: Ratings, name: str, rows: Callable[[Array | None], Rows], **others: Any
    ) -> Coefficient:
        """Coefficient whose parts are the observed and the expected (dis)agreement."""
        parts = {
            f"observed {self.measure}": self.observed,
            f"expected {self.measure}": self.expected,
        }
        bounds = dict.fromkeys(parts, (self.least, 1.0 if self.measure == "agreement" else None))
        return Coefficient.of(
            ratings, name, rows, self, parts=parts, bounds_of_parts=bounds, **others
        )
