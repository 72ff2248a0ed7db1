"""Specific agreement: agreement on each category separately."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from reliabayes.agreement.coefficient import Coefficient
from reliabayes.agreement.count_table import CountTable
from reliabayes.agreement.item_rows import Rows
from reliabayes.agreement.over_parts import of_datasets
from reliabayes.agreement.percent import ratio_of_sums
from reliabayes.arrays import Array
from reliabayes.ratings import Ratings
from reliabayes.reporting.methods import Meaning

SPECIFIC = Meaning(
    estimand="the probability that another of the {raters} gives the category if one did",
    references=("cicchetti1990",),
    kind="specific agreement",
)
CATEGORY_NOT_USED = "no item with at least two ratings has the category (0/0)"


@of_datasets
def specific_agreement(ratings: Ratings) -> dict[Any, Coefficient]:
    r"""Probability that another rating of an item is in a category, given that one is, in [0, 1].

    .. math:: \sum_i n_{ik} (n_{ik} - 1) / \sum_i n_{ik} (m_i - 1)

    With two categories and two raters these are positive and negative agreement.

    Parameters
    ----------
    ratings : Ratings or RatingsDataset
        Any design.

    Returns
    -------
    dict
        Coefficient by category.

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
    table = CountTable.from_ratings(ratings)

    def rows_of(code: int) -> Callable[[Array | None], Rows]:
        def rows(weights: Array | None) -> Rows:
            return np.column_stack(table.counts(weights).pairs_from(code))

        return rows

    return {
        category: Coefficient.of(
            ratings,
            f"Specific agreement on {category}",
            rows_of(code),
            ratio_of_sums,
            least=0.0,
            undefined=CATEGORY_NOT_USED,
            meaning=SPECIFIC,
        )
        for code, category in enumerate(ratings.categories)
    }
