"""Statistics of several coefficients side by side, and a formula of their values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
import pandas as pd

from reliabayes.agreement.distinct_rows import Formula
from reliabayes.agreement.item_rows import Rows, align_items, join_columns
from reliabayes.arrays import Array


class FormulaOfSums(Protocol):
    """What a `Coefficient` is made of."""

    @property
    def items(self) -> pd.Index[Any]:
        """Ids (I,) of the items."""

    @property
    def raters(self) -> pd.Series[Any] | None:
        """Pool (R,) of each rater."""

    @property
    def rows(self) -> Callable[[Array | None], Rows]:
        """Statistics (I, S) of each item, given how often each rater occurs."""

    @property
    def width(self) -> int:
        """Number S of statistics."""

    @property
    def formula(self) -> Formula:
        """Value (...), given sums (..., S)."""


def joined(
    function: Callable[..., Array],
    coefficients: Sequence[FormulaOfSums],
    items: pd.Index[Any],
    raters: pd.Series[Any] | None,
) -> tuple[Callable[[Array | None], Rows], Formula]:
    """Return the rows and the formula of a function of coefficients.

    Parameters
    ----------
    function : callable
        Takes the value (...) of each coefficient and returns an array (...).
    coefficients : sequence of Coefficient
        Its arguments.
    items : Index
        Items of all of them.
    raters : Series or None
        Raters of all of them.

    Returns
    -------
    rows : callable
        Statistics of all items.
    formula : callable
        Formula of their sums.
    """
    edges = np.cumsum([c.width for c in coefficients])[:-1]

    def own_rows(one: FormulaOfSums, weights: Array | None) -> Rows:
        if weights is not None and raters is not None and one.raters is not None:
            weights = weights[raters.index.get_indexer(one.raters.index)]
        return align_items(one.rows(weights), one.items, items)

    def rows(weights: Array | None) -> Rows:
        return join_columns([own_rows(c, weights) for c in coefficients])

    def formula(sums: Array) -> Array:
        blocks = np.split(sums, edges, axis=-1)
        values = (c.formula(block) for c, block in zip(coefficients, blocks, strict=True))
        return function(*values)

    return rows, formula
