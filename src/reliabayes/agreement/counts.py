"""Agreement among any number of raters, known or not, from counts of each item's categories."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from reliabayes.agreement.cells import Cells, ratio, statistics
from reliabayes.agreement.coefficient import Coefficient
from reliabayes.agreement.corrected import corrected
from reliabayes.agreement.resampling import Formula, Rows, side_by_side
from reliabayes.agreement.scales import Weights, weighted
from reliabayes.arrays import Array
from reliabayes.ratings import Ratings


def percent_agreement(ratings: Ratings, weights: Weights | None = None) -> Coefficient:
    r"""Share of an item's pairs of ratings that agree, averaged over items, in [0, 1].

    .. math:: P_o = \frac{1}{I} \sum_i \frac{1}{m_i (m_i - 1)} \sum_{j \ne k} w(x_{ij}, x_{ik})

    Items with one rating have no pair, and no part in it. Chance is not corrected for.

    Parameters
    ----------
    ratings : Ratings
        Any design.
    weights : {"linear", "quadratic"} or array (K, K), optional
        What different categories count for, as for `cohen_kappa`. By default nothing.

    Returns
    -------
    Coefficient

    Examples
    --------
    >>> import numpy as np
    >>> import reliabayes as rb
    >>> ratings = rb.Ratings.from_wide(np.array([["a", "a", "b"], ["b", "b", "b"]]))
    >>> rb.agreement.percent_agreement(ratings)
    Percent agreement: 0.6667
    """
    return Coefficient.of(ratings, "Percent agreement", _rows(ratings, weights), observed)


def unanimous_agreement(ratings: Ratings) -> Coefficient:
    r"""Share of items on which all ratings agree, in [0, 1].

    The percent agreement of some software. It falls with the number of ratings; of two ratings per
    item it is `percent_agreement`. Items with one rating have no part in it.

    Parameters
    ----------
    ratings : Ratings
        Any design.

    Returns
    -------
    Coefficient

    Examples
    --------
    >>> import numpy as np
    >>> import reliabayes as rb
    >>> ratings = rb.Ratings.from_wide(np.array([["a", "a", "b"], ["b", "b", "b"]]))
    >>> rb.agreement.unanimous_agreement(ratings)
    Unanimous agreement: 0.5
    """
    cells = Cells.of_ratings(ratings)

    def rows(weights: Array | None) -> Rows:
        counts = cells.counts(weights)
        is_paired = counts.pairs > 0
        is_one = counts.by_item(counts.n**2) == counts.ratings**2
        return np.column_stack([is_paired, is_paired & is_one]).astype(float)

    return Coefficient.of(ratings, "Unanimous agreement", rows, observed)


def corrected_by_shares(
    ratings: Ratings, name: str, weights: Weights | None, expected: Formula
) -> Coefficient:
    """Percent agreement corrected by what is expected of the categories' shares (..., K)."""
    return corrected(
        ratings,
        name,
        _rows(ratings, weights),
        observed=observed,
        expected=lambda sums: expected(_shares(sums[..., 2:])),
        of="agreement",
    )


def observed(sums: Array) -> Array:
    """Second column over the first."""
    return ratio(sums[..., 1], sums[..., 0])


def _rows(ratings: Ratings, weights: Weights | None) -> Callable[[Array | None], Rows]:
    """Columns: has a pair, agreement of its pairs, shares of categories (K)."""
    cells, distance = Cells.of_ratings(ratings), weighted(ratings, weights)

    def rows(times: Array | None) -> Rows:
        counts = cells.counts(times)
        is_paired = counts.pairs > 0
        agreement = is_paired - ratio(distance.within(counts), counts.pairs, 0.0)
        share = ratio(counts.n, counts.ratings[counts.item], 0.0)
        shares = statistics(counts.item, counts.category, share, counts.shape)
        return side_by_side([np.column_stack([is_paired, agreement]), shares])

    return rows


def _shares(sums: Array) -> Array:
    """Shares whose sum is 1: of one category only, exactly 1, whatever was rounded before."""
    return ratio(sums, sums.sum(-1, keepdims=True))
