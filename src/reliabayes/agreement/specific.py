"""Agreement on each category by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from reliabayes.agreement.cells import Cells
from reliabayes.agreement.coefficient import Coefficient
from reliabayes.agreement.counts import observed
from reliabayes.agreement.resampling import Rows
from reliabayes.arrays import Array
from reliabayes.ratings import Ratings

NEVER = "no item with two ratings or more has the category (0/0)"


def specific_agreement(ratings: Ratings) -> dict[Any, Coefficient]:
    r"""Probability that another rating of the item is in a category, if one is, in [0, 1].

    .. math:: \sum_i n_{ik} (n_{ik} - 1) / \sum_i n_{ik} (m_i - 1)

    Of two categories and two raters: positive and negative agreement.

    Returns
    -------
    dict from category to Coefficient

    References
    ----------
    Cicchetti & Feinstein (1990). https://doi.org/10.1016/0895-4356(90)90159-M

    Examples
    --------
    >>> import numpy as np
    >>> import reliabayes as rb
    >>> ratings = rb.Ratings.from_counts(np.array([[3, 0], [1, 2]]), categories=["no", "yes"])
    >>> rb.agreement.specific_agreement(ratings)
    {'no': Specific agreement on no: 0.75, 'yes': Specific agreement on yes: 0.5}
    """
    cells = Cells.of_ratings(ratings)

    def rows(of: int) -> Callable[[Array | None], Rows]:
        def of_category(weights: Array | None) -> Rows:
            counts = cells.counts(weights)
            is_of = counts.category == of
            n, alone = (counts.by_item(each * is_of) for each in (counts.n, counts.squares))
            return np.column_stack([n * counts.ratings - alone, n**2 - alone])

        return of_category

    return {
        category: Coefficient.of(
            ratings,
            f"Specific agreement on {category}",
            rows(code),
            observed,
            undefined=NEVER,
        )
        for code, category in enumerate(ratings.categories)
    }
