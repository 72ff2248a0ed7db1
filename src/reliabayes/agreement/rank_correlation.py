"""Spearman's rank correlation of two raters."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from reliabayes.agreement.arithmetic import ratio
from reliabayes.agreement.coefficient import Coefficient
from reliabayes.agreement.item_rows import Rows
from reliabayes.agreement.mid_ranks import MidRanks
from reliabayes.agreement.whole import pairs_of_raters
from reliabayes.arrays import Array
from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings import Ratings
from reliabayes.reporting.methods import Meaning


def spearman_rho(ratings: Ratings) -> Coefficient:
    r"""Spearman's rho: correlation of the ranks that two raters give to items, in [-1, 1].

    .. math:: \rho = \frac{\sum_i (R_i - \bar{R}) (S_i - \bar{S})}
       {\sqrt{\sum_i (R_i - \bar{R})^2 \sum_i (S_i - \bar{S})^2}}

    where R_i and S_i are the ranks of item i among the ratings of the first and of the second
    rater, equal ratings sharing the mean of their ranks. Only the order of ratings counts: raters
    who differ in severity may have a rho of 1. Items that only one of them rated are ignored.

    Parameters
    ----------
    ratings : Ratings
        By two raters, numeric or ordered.

    Returns
    -------
    Coefficient
        The correlation, with methods for its intervals. Items are ranked anew in each bootstrap
        sample.

    Raises
    ------
    RatingsError
        There are not exactly two raters, they are anonymous, or the ratings have no order.

    See Also
    --------
    krr : Reliability of aggregated ranks, with ``coefficient=spearman_rho``.

    References
    ----------
    Spearman (1904). https://doi.org/10.2307/1412159

    Examples
    --------
    >>> import numpy as np
    >>> import reliabayes as rb
    >>> spearman_rho(rb.Ratings.from_wide(np.array([[1, 10], [2, 30], [3, 20], [4, 90]])))
    Spearman's rho: 0.8
    """
    ratings.require_known_raters("spearman_rho")
    _require_two_raters(ratings)
    require_order(ratings)
    one, other = pairs_of_raters(ratings)
    ranks = [MidRanks(ratings.rating[side]) for side in (one, other)]
    pair = np.arange(len(one))

    def rows(weights: Array | None) -> Rows:
        """A column for each pair of ratings, so that sums say how often it was sampled."""
        rater = ratings.rater
        values = (
            np.ones(len(one)) if weights is None else weights[rater[one]] * weights[rater[other]]
        )
        return sp.csr_array((values, (ratings.item[one], pair)), (ratings.n_items, len(one)))

    def rho(weights: Array) -> Array:
        first, second = (each.centred(weights) for each in ranks)
        variances = [(weights * each**2).sum(-1) for each in (first, second)]
        return ratio((weights * first * second).sum(-1), np.sqrt(variances[0] * variances[1]))

    return Coefficient.of(
        ratings,
        "Spearman's rho",
        rows,
        rho,
        least=-1.0,
        meaning=Meaning(
            estimand="the correlation of the ranks by two {raters}", references=("spearman1904",)
        ),
        undefined="a rater gave all items the same rating (0/0)",
    )


def require_order(ratings: Ratings) -> None:
    """Raise unless ratings have ranks.

    Parameters
    ----------
    ratings : Ratings
        Any design.

    Raises
    ------
    RatingsError
        They are nominal.
    """
    if ratings.scale == "nominal":
        rule = "ratings must be numbers or ordered categories for ranks"
        remedy = 'Pass scale="ordered" and categories=..., lowest first, when reading them.'
        raise RatingsError([Fault("rating", rule, "categories without order", remedy)])


def _require_two_raters(ratings: Ratings) -> None:
    if ratings.n_raters != 2:
        rule, remedy = "there must be exactly two raters", "Select two with subset(raters=[...])."
        raise RatingsError([Fault("rater", rule, f"{ratings.n_raters}", remedy)])
