"""Cross-replication reliability: how well raters of one pool agree with those of another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from reliabayes.agreement.alpha import AlphaSums
from reliabayes.agreement.cells import Cells, Counts, ratio
from reliabayes.agreement.coefficient import Coefficient
from reliabayes.agreement.corrected import corrected
from reliabayes.agreement.distance import Distance, Pairwise, margins
from reliabayes.agreement.resampling import Rows, side_by_side
from reliabayes.agreement.scales import DistanceName, measured
from reliabayes.arrays import Array, Codes
from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings import Ratings
from reliabayes.wording import shown


def kappa_x(ratings: Ratings, distance: DistanceName | Pairwise | None = None) -> Coefficient:
    r"""Cross-replication reliability (xRR) of two pools, at most 1; 0 is what chance gives.

    .. math:: \kappa_x = 1 - d_o / d_e,\quad
       d_o = \sum_i \frac{R_i + S_i}{R + S} \frac{1}{R_i S_i} \sum_{rs} D(x_{ri}, y_{si}),\quad
       d_e = \frac{1}{R S} \sum_{ij} \sum_{rs} D(x_{ri}, y_{sj})

    with R_i ratings of item i by the first pool, S_i by the second, and R and S their sums. Only
    items that both pools rated have a part in it. Of two pools of one rater each it is Cohen's
    kappa.

    Parameters
    ----------
    ratings : Ratings
        With two pools; pick them with ``ratings.subset(pools=[...])``. Any design.
    distance : {"nominal", "absolute", "squared"} or callable, optional
        D of two ratings: 0 or 1, |x - y|, (x - y)^2, or a function of two arrays, of numbers or of
        the labels. By default "nominal", "absolute" (steps) or "squared", for nominal, ordered and
        numeric ratings.

    Returns
    -------
    Coefficient
        Parts "observed disagreement" and "expected disagreement". Samples of raters keep the sizes
        of the pools.

    Raises
    ------
    RatingsError
        There are not two pools, they share no item, or the ratings do not suit the distance.

    Notes
    -----
    No pair is made: sums of distances follow from sorted ratings, in time N log N. A function is
    evaluated on all pairs of the K distinct ratings, and on the pairs within items.

    References
    ----------
    Wong, Paritosh & Aroyo (2021), eq. 9 and 10. https://doi.org/10.18653/v1/2021.acl-long.548

    Examples
    --------
    >>> import numpy as np
    >>> import reliabayes as rb
    >>> table = np.array([["a", "a", "a"], ["b", "b", "a"], ["b", "a", "b"], ["a", "a", "a"]])
    >>> ratings = rb.Ratings.from_wide(table, pool={0: "x", 1: "x", 2: "y"})
    >>> rb.agreement.kappa_x(ratings)
    Cross-replication reliability kappa_x: 0.1429
    """
    sums = CrossSums.of(ratings, measured(ratings, distance))
    return corrected(
        ratings,
        "Cross-replication reliability kappa_x",
        sums.rows,
        observed=sums.observed,
        expected=sums.expected,
        of="disagreement",
    )


def normalized_kappa_x(
    ratings: Ratings, distance: DistanceName | Pairwise | None = None
) -> Coefficient:
    r"""Cross-replication reliability of two pools, corrected for disagreement within them.

    .. math:: \kappa_x / \sqrt{\alpha_0 \alpha_1}

    with Krippendorff's alpha of each pool for the same distance. It is near 1 where the pools
    differ no more than raters of one pool do, above 1 by chance, and undefined unless both alphas
    are positive. As a correlation it is corrected for attenuation: that of many ratings' means.

    Parameters
    ----------
    ratings, distance
        As for `kappa_x`. Each alpha is of all items with two ratings by the pool.

    Returns
    -------
    Coefficient
        Parts "kappa_x", "alpha of the first pool" and "alpha of the second pool".

    Raises
    ------
    RatingsError
        As `kappa_x`, or if in a pool no item has two ratings.

    References
    ----------
    Wong, Paritosh & Aroyo (2021), eq. 13. https://doi.org/10.18653/v1/2021.acl-long.548

    Examples
    --------
    >>> import numpy as np
    >>> import reliabayes as rb
    >>> table = np.array([[1, 2, 1, 1], [2, 2, 3, 2], [5, 4, 4, 5]])
    >>> pool = {0: "x", 1: "x", 2: "y", 3: "y"}
    >>> rb.agreement.normalized_kappa_x(rb.Ratings.from_wide(table, pool=pool))
    Normalized kappa_x: 1.017
    """
    cross = CrossSums.of(ratings, measured(ratings, distance))
    alpha = AlphaSums(cross.whole, cross.distance)
    is_in = np.eye(2)[:, _two_pools(ratings)]
    for pool, inside in zip(ratings.pools, is_in, strict=True):
        _require_pairs(cross.whole.counts(inside), pool)

    def rows(weights: Array | None) -> Rows:
        blocks = [alpha.rows(inside if weights is None else inside * weights) for inside in is_in]
        return side_by_side([cross.rows(weights), *blocks])

    edges = np.cumsum([cross.width, alpha.width])

    def parts(sums: Array) -> tuple[Array, Array, Array]:
        crossed, first, second = np.split(sums, edges, axis=-1)
        return cross.formula(crossed), alpha.formula(first), alpha.formula(second)

    def formula(sums: Array) -> Array:
        across, first, second = parts(sums)
        are_positive = (first.real > 0) & (second.real > 0)
        return across / np.sqrt(np.where(are_positive, first * second, np.nan))

    return Coefficient.of(
        ratings,
        "Normalized kappa_x",
        rows,
        formula,
        parts={
            "kappa_x": lambda sums: parts(sums)[0],
            "alpha of the first pool": lambda sums: parts(sums)[1],
            "alpha of the second pool": lambda sums: parts(sums)[2],
        },
        undefined="a pool's alpha is not positive, or all ratings are the same",
    )


@dataclass(frozen=True, eq=False)
class CrossSums:
    """Statistics of items that two pools rated, and the disagreement between pools that they say.

    Columns: mean distance of two pools' ratings, times their number; number of ratings by each
    pool; margins of the pools.
    """

    whole: Cells
    by_pool: Cells
    distance: Distance

    @classmethod
    def of(cls, ratings: Ratings, distance: Distance) -> CrossSums:
        """Statistics of all ratings."""
        pool = _two_pools(ratings)
        size = len(ratings.categories)
        unit = 2 * ratings.item.astype(np.int64) + pool[ratings.rater]
        by_pool = Cells.of(unit, ratings.category, ratings.rater, (2 * ratings.n_items, size))
        _require_shared(by_pool)
        return cls(Cells.of_ratings(ratings), by_pool, distance)

    @property
    def width(self) -> int:
        """Number of columns."""
        return 3 + 2 * self.distance.width

    def rows(self, weights: Array | None) -> Rows:
        """(I, S) statistics, given how often each rater occurs."""
        counts = self.by_pool.counts(weights)
        n = counts.ratings.reshape(-1, 2)
        is_shared = n.min(axis=1) > 0
        within = self.distance.within(counts).reshape(-1, 2).sum(axis=1)
        across = (self.distance.within(self.whole.counts(weights)) - within) / 2
        shared = n * is_shared[:, None]
        far = shared.sum(axis=1) * ratio(across, n.prod(axis=1), 0.0)
        margin = margins(self.distance, counts.only(np.repeat(is_shared, 2)), 2)
        return side_by_side([np.column_stack([far, shared]), margin])

    def formula(self, sums: Array) -> Array:
        """kappa_x."""
        return 1 - ratio(self.observed(sums), self.expected(sums))

    def observed(self, sums: Array) -> Array:
        """Mean distance of two pools' ratings of an item."""
        return ratio(sums[..., 0], sums[..., 1] + sums[..., 2])

    def expected(self, sums: Array) -> Array:
        """Mean distance of any two pools' ratings."""
        one, other = np.split(sums[..., 3:], 2, axis=-1)
        return ratio(self.distance.between(one, other), sums[..., 1] * sums[..., 2])


def _two_pools(ratings: Ratings) -> Codes:
    """(R,) pool of each rater, 0 or 1."""
    if ratings.rater_pool is None or len(ratings.pools) != 2:
        rule = "there must be two pools of raters here"
        remedy = "Name them by pool=... when reading, or pick two by ratings.subset(pools=[...])."
        raise RatingsError([Fault("pool", rule, str(len(ratings.pools)), remedy)])
    return ratings.rater_pool


def _require_shared(by_pool: Cells) -> None:
    n = by_pool.counts(None).ratings.reshape(-1, 2)
    if not (n > 0).all(axis=1).any():
        rule = "some item must have ratings by both pools"
        raise RatingsError([Fault("pool", rule, "none", "Let both pools rate the same items.")])


def _require_pairs(counts: Counts, pool: Any) -> None:
    if not (counts.pairs > 0).any():
        rule = f"some item must have two ratings by pool {shown(pool)}"
        remedy = "Use kappa_x, which is not corrected for disagreement within pools."
        raise RatingsError([Fault("pool", rule, "none", remedy)])
