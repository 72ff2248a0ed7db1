"""Percent agreement of any number of raters, and its chance correction by category proportions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from reliabayes.agreement.arithmetic import ratio
from reliabayes.agreement.chance_correction import ChanceCorrection
from reliabayes.agreement.coefficient import Coefficient
from reliabayes.agreement.count_table import CountTable
from reliabayes.agreement.distance import Distance, disagreement
from reliabayes.agreement.distinct_rows import Formula
from reliabayes.agreement.item_rows import Rows, join_columns, rows_from_entries
from reliabayes.agreement.over_parts import of_datasets
from reliabayes.agreement.scales import (
    Weights,
    distance_beyond,
    distance_from_weights,
    least_weight,
    with_weights,
)
from reliabayes.arrays import Array
from reliabayes.ratings import Ratings
from reliabayes.reporting.methods import Meaning

PERCENT = Meaning(
    estimand="the mean over {items} of the proportion of pairs of {raters} who agree",
)
UNANIMOUS = Meaning(estimand="the proportion of {items} on which all {raters} agree")


@of_datasets
def percent_agreement(
    ratings: Ratings, weights: Weights | None = None, *, tolerance: float | None = None
) -> Coefficient:
    r"""Percent agreement: proportion of agreeing pairs of ratings, averaged over items, in [0, 1].

    .. math:: P_o = \frac{1}{I} \sum_i \frac{1}{m_i (m_i - 1)} \sum_{j \ne k} w(x_{ij}, x_{ik})

    Items with a single rating have no pair and are ignored. There is no correction for chance.

    Parameters
    ----------
    ratings : Ratings or RatingsDataset
        Any design.
    weights : str or array (K, K), optional
        Partial agreement w of different categories, as for `cohen_kappa`, but symmetric. None by
        default.
    tolerance : float, optional
        Two numbers agree if they differ by at most this, 0 or more, and two ordered categories if
        they are at most so many ranks apart.

    Returns
    -------
    Coefficient
        The agreement, with methods for its intervals.

    Raises
    ------
    RatingsError
        The weights or the tolerance need an order or numbers, and the categories have none.
    ValueError
        The tolerance is negative, or there are weights, too.

    Examples
    --------
    >>> import numpy as np
    >>> import reliabayes as rb
    >>> ratings = rb.Ratings.from_wide(np.array([["a", "a", "b"], ["b", "b", "b"]]))
    >>> rb.agreement.percent_agreement(ratings)
    Percent agreement: 0.6667
    """
    if tolerance is None:
        distance = distance_from_weights(ratings, weights)
    elif weights is None:
        distance = distance_beyond(ratings, tolerance)
    else:
        raise ValueError("weights and tolerance are two ways to say which ratings agree: pass one.")
    rows = _rows(ratings, distance)
    least = least_weight(weights)
    if tolerance is None:
        meaning = with_weights(PERCENT, weights, "cohen1968")
    else:
        meaning = replace(PERCENT, estimand=f"{PERCENT.estimand} up to {tolerance:g}")
    return Coefficient.of(
        ratings, "Percent agreement", rows, ratio_of_sums, least=least, meaning=meaning
    )


@of_datasets
def unanimous_agreement(ratings: Ratings, *, tolerance: float | None = None) -> Coefficient:
    r"""Unanimous agreement: proportion of items on which all ratings agree, in [0, 1].

    Some software calls this percent agreement. It decreases with the number of ratings; with two
    ratings per item it equals `percent_agreement`. Items with a single rating are ignored.

    Parameters
    ----------
    ratings : Ratings or RatingsDataset
        Any design.
    tolerance : float, optional
        The ratings of an item agree if the largest exceeds the smallest by at most this, 0 or more;
        in ordered categories, by at most so many ranks.

    Returns
    -------
    Coefficient
        The proportion, with methods for its intervals.

    Raises
    ------
    RatingsError
        A tolerance needs numbers or ordered categories, and the categories are nominal.
    ValueError
        The tolerance is negative.

    Examples
    --------
    >>> import numpy as np
    >>> import reliabayes as rb
    >>> ratings = rb.Ratings.from_wide(np.array([["a", "a", "b"], ["b", "b", "b"]]))
    >>> rb.agreement.unanimous_agreement(ratings)
    Unanimous agreement: 0.5
    """
    table = CountTable.from_ratings(ratings)
    distance = None if tolerance is None else distance_beyond(ratings, tolerance)

    def rows(weights: Array | None) -> Rows:
        counts = table.counts(weights)
        is_paired = counts.n_pairs > 0
        if distance is None:
            is_unanimous = counts.sum_by_item(counts.n**2) == counts.n_ratings**2
        else:
            is_unanimous = distance.within(counts) == 0
        return np.column_stack([is_paired, is_paired & is_unanimous]).astype(float)

    return Coefficient.of(
        ratings, "Unanimous agreement", rows, ratio_of_sums, least=0.0, meaning=UNANIMOUS
    )


def corrected_by_proportions(
    ratings: Ratings, name: str, weights: Weights | None, expected: Formula, meaning: Meaning
) -> Coefficient:
    """Correct percent agreement for the agreement expected from the category proportions.

    Parameters
    ----------
    ratings : Ratings
        Any design.
    name : str
        Name of the coefficient.
    weights : str or array (K, K) or None
        As for `percent_agreement`.
    expected : callable
        Function from category proportions (..., K) to the agreement expected by chance (...).

    Returns
    -------
    Coefficient
        With parts "observed agreement" and "expected agreement".
    """
    correction = ChanceCorrection(
        observed=ratio_of_sums,
        expected=lambda sums: expected(_proportions(sums[..., 2:])),
        measure="agreement",
        least=least_weight(weights),
    )
    rows = _rows(ratings, distance_from_weights(ratings, weights))
    return correction.coefficient(ratings, name, rows, meaning=meaning)


def ratio_of_sums(sums: Array) -> Array:
    """Divide the sum of the second column by that of the first.

    Parameters
    ----------
    sums : array of float, shape (..., S)
        Sums over items.

    Returns
    -------
    array of float, shape (...)
        The ratio; nan where the first sum is 0.
    """
    return ratio(sums[..., 1], sums[..., 0])


def _rows(ratings: Ratings, distance: Distance) -> Callable[[Array | None], Rows]:
    """Columns: 1 if the item has a pair, agreement of its pairs, category proportions (K)."""
    table = CountTable.from_ratings(ratings)

    def rows(rater_weights: Array | None) -> Rows:
        counts = table.counts(rater_weights)
        is_paired = counts.n_pairs > 0
        agreement = is_paired - ratio(disagreement(distance, counts), counts.n_pairs, 0.0)
        proportion = ratio(counts.n, counts.n_ratings[counts.item], 0.0)
        proportions = rows_from_entries(counts.item, counts.category, proportion, counts.shape)
        return join_columns([np.column_stack([is_paired, agreement]), proportions])

    return rows


def _proportions(sums: Array) -> Array:
    """Proportions that sum to 1: of a single category exactly 1, despite earlier rounding."""
    return ratio(sums, sums.sum(-1, keepdims=True))
