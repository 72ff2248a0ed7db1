"""Kendall's coefficient of concordance W of the ranks that several raters give to items."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy.sparse as sp

from reliabayes.agreement.arithmetic import ratio
from reliabayes.agreement.coefficient import Coefficient
from reliabayes.agreement.count_table import require_once_per_rater
from reliabayes.agreement.hypothesis_test import Test
from reliabayes.agreement.item_rows import Rows, join_columns
from reliabayes.agreement.mid_ranks import MidRanks
from reliabayes.agreement.rank_correlation import require_order
from reliabayes.arrays import Array
from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings import Ratings
from reliabayes.reporting.methods import Meaning


def kendall_w(ratings: Ratings) -> Coefficient:
    r"""Kendall's W: concordance of the ranks that raters give to items, in [0, 1].

    .. math:: W = \frac{\sum_i (\sum_r R_{ir} - \bar{R})^2}{m \sum_r \sum_i (R_{ir} - \bar{R}_r)^2}
       = \frac{12 \sum_i (\sum_r R_{ir} - \bar{R})^2}{m^2 (I^3 - I) - m \sum_r T_r}

    where R_ir is the rank of item i among the ratings by rater r, equal ratings sharing the mean of
    their ranks, m the number of raters, and T_r the sum of t^3 - t over groups of t equal ratings.
    Only the order of ratings counts: raters may differ in severity and spread. By chance W is not 0
    but 1 / m. Without ties it is (1 + (m - 1) r) / m, where r is the mean of Spearman's
    correlations of all pairs of raters.

    Parameters
    ----------
    ratings : Ratings
        Numeric or ordered, by at least two raters, each of whom rated every item once.

    Returns
    -------
    Coefficient
        W, with methods for its intervals. Items are ranked anew in each bootstrap sample, and no
        rater is compared with themselves, however often they are sampled. ``test()`` is the test
        that raters rank at random: m (I - 1) W is then about chi-squared with I - 1 degrees of
        freedom. It is Friedman's test.

    Raises
    ------
    RatingsError
        The raters are anonymous, the ratings have no order, or a rating is missing or repeated.

    See Also
    --------
    mean_correlation : The mean of correlations of pairs of raters, also of incomplete ratings.

    References
    ----------
    Kendall & Babington Smith (1939), https://doi.org/10.1214/aoms/1177732186. Ties: Kendall (1948),
    Rank correlation methods, chapter 6.

    Examples
    --------
    >>> import numpy as np
    >>> import reliabayes as rb
    >>> table = np.array([[1, 1, 2], [2, 3, 1], [3, 2, 4], [4, 4, 3]])
    >>> rb.agreement.kendall_w(rb.Ratings.from_wide(table))
    Kendall's W: 0.6444
    >>> rb.agreement.kendall_w(rb.Ratings.from_wide(table)).test()
    Test(chi-squared = 5.8, df 3, p = 0.1218)
    """
    ratings.require_known_raters("kendall_w")
    require_order(ratings)
    require_once_per_rater(ratings, "kendall_w")
    _require_complete(ratings)
    by_rater = ratings.rating.reshape(ratings.n_items, ratings.n_raters).T
    ranks = [MidRanks(each) for each in by_rater]
    return Coefficient.of(
        ratings,
        "Kendall's W",
        partial(_rows, ratings.n_items, ratings.n_raters),
        _Concordance(ranks),
        least=0.0,
        chance_test=partial(_friedman, ratings.n_items, ratings.n_raters),
        meaning=Meaning(
            estimand="the variance of the sums of ranks divided by the largest there can be",
            references=("kendall1939",),
        ),
        undefined="every rater gave all items the same rating (0/0)",
    )


def _rows(n_items: int, n_raters: int, weights: Array | None) -> Rows:
    """A column for each item, so that sums say how often it was sampled; then one for each rater.

    Those of raters are how often the rater occurs, so that sums divided by the number of items
    are, too.
    """
    times = np.ones(n_raters) if weights is None else weights
    once = sp.csr_array(sp.eye_array(n_items))
    return join_columns([once, np.tile(times, (n_items, 1))])


@dataclass(frozen=True, eq=False)
class _Concordance:
    """W, given how often each item occurs and, times the number of items, each rater."""

    ranks: list[MidRanks]

    def __call__(self, sums: Array) -> Array:
        weights, times = self._weights(sums)
        rank_sum = np.zeros_like(weights)
        own = squares = np.zeros_like(weights[..., 0])
        for rater, each in enumerate(self.ranks):
            centred, time = each.centred(weights), times[..., rater]
            rank_sum = rank_sum + time[..., None] * centred
            spread = (weights * centred**2).sum(-1)
            own, squares = own + time * spread, squares + time**2 * spread
        return self._w(times, (weights * rank_sum**2).sum(-1) - squares, own)

    def gradient(self, sums: Array) -> Array:
        """Derivatives in the weights of items; those of raters do not change along rows."""
        weights, times = self._weights(sums)
        centred = [each.centred(weights) for each in self.ranks]
        rank_sum = times @ np.array(centred)
        between, between_slopes = (weights * rank_sum**2).sum(), rank_sum**2
        own, own_slopes = np.zeros(()), np.zeros_like(weights)
        for ranks, own_ranks, time in zip(self.ranks, centred, times, strict=True):
            spread, slopes = (weights * own_ranks**2).sum(), ranks.spread_slopes(weights, own_ranks)
            between_slopes = between_slopes - 2 * time * ranks.centred(weights * rank_sum)
            between, between_slopes = between - time**2 * spread, between_slopes - time**2 * slopes
            own, own_slopes = own + time * spread, own_slopes + time * slopes
        # W is linear in the ratio of both, with the slope that it has for a ratio of 1.
        slope = self._w(times, own, own) - self._w(times, np.zeros(()), own)
        of_items = slope * ratio(between_slopes * own - between * own_slopes, own**2)
        return np.append(of_items, np.zeros(len(times)))

    def _weights(self, sums: Array) -> tuple[Array, Array]:
        """How often each item and each rater occurs."""
        n_items = sums.shape[-1] - len(self.ranks)
        weights = sums[..., :n_items]
        return weights, ratio(sums[..., n_items:], weights.sum(-1)[..., None])

    @staticmethod
    def _w(times: Array, between: Array, own: Array) -> Array:
        m = times.sum(-1)
        pairs = m**2 - (times**2).sum(-1)
        covariance, variance = ratio(between, pairs), ratio(own, m)
        return np.asarray((1 + (m - 1) * ratio(covariance, variance)) / m)


def _friedman(n_items: int, n_raters: int, w: float) -> Test:
    return Test.of_chi_squared(n_raters * (n_items - 1) * w, n_items - 1)


def _require_complete(ratings: Ratings) -> None:
    if not ratings.is_complete:
        rule = "every rater must have rated every item for Kendall's W"
        found = f"{len(ratings)} ratings of {ratings.n_items} items by {ratings.n_raters} raters"
        remedy = "Select complete items with ratings.subset(items=[...]), or use mean_correlation."
        raise RatingsError([Fault("rating", rule, found, remedy)])
