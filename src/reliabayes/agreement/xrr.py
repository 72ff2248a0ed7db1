"""Cross-replication reliability (xRR): agreement of the raters of two pools."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

import numpy as np

from reliabayes.agreement.alpha import AlphaSums
from reliabayes.agreement.arithmetic import ratio
from reliabayes.agreement.chance_correction import ChanceCorrection
from reliabayes.agreement.coefficient import Coefficient
from reliabayes.agreement.conger import RaterSums
from reliabayes.agreement.count_table import CountTable
from reliabayes.agreement.distance import Distance, Pairwise, margins
from reliabayes.agreement.interval import check_choice
from reliabayes.agreement.item_rows import Rows, join_columns
from reliabayes.agreement.over_parts import of_datasets
from reliabayes.agreement.scales import DistanceName, distance_between
from reliabayes.agreement.whole import whole_of
from reliabayes.arrays import Array, Codes
from reliabayes.choices import Irr
from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings import Ratings
from reliabayes.reporting.methods import Meaning
from reliabayes.wording import shown

CROSS = Meaning(
    estimand="the agreement of {raters} of different pools beyond chance",
    references=("wong2021",),
)
NORMALIZED = Meaning(
    estimand="kappa_x divided by the geometric mean of the reliabilities within the pools",
    references=("wong2021",),
)


@of_datasets
def kappa_x(ratings: Ratings, distance: DistanceName | Pairwise | None = None) -> Coefficient:
    r"""Cross-replication reliability (xRR) of two pools, at most 1; 0 at chance level.

    .. math:: \kappa_x = 1 - d_o / d_e,\quad
       d_o = \sum_i \frac{R_i + S_i}{R + S} \frac{1}{R_i S_i} \sum_{rs} D(x_{ri}, y_{si}),\quad
       d_e = \frac{1}{R S} \sum_{ij} \sum_{rs} D(x_{ri}, y_{sj})

    where item i has R_i ratings by the first pool and S_i by the second, with sums R and S. Only
    items that both pools rated count. With one rater in each pool it equals Cohen's kappa.

    Parameters
    ----------
    ratings : Ratings or RatingsDataset
        With two pools; select them with ``ratings.subset(pools=[...])``. Any design.
    distance : {"nominal", "absolute", "squared"} or callable, optional
        Distance D of two ratings: 0 or 1, |x - y|, (x - y)^2, or a function of two arrays, of
        numbers for numeric ratings and of labels otherwise. By default "nominal", "absolute" (of
        ranks) or "squared" for nominal, ordered and numeric ratings.

    Returns
    -------
    Coefficient
        With parts "observed disagreement" and "expected disagreement". Samples of raters keep the
        sizes of the pools.

    Raises
    ------
    RatingsError
        There are not exactly two pools, they share no item, or the ratings do not suit the
        distance.

    Notes
    -----
    Sums of distances are computed from sorted ratings in O(N log N), without enumerating pairs. A
    function is evaluated on all pairs of the K distinct ratings, and summed over pairs of distinct
    ratings of each item.

    References
    ----------
    Wong, Paritosh & Aroyo (2021), eq. 9 and 10. https://doi.org/10.18653/v1/2021.acl-long.548

    Examples
    --------
    Two pools of two raters put four items into two categories. Within items there are 4 x 2 x 2 =
    16 pairs of a rating by one pool and one by the other, and 4 of them differ. Any rating of one
    pool and any of the other form 8 x 8 = 64 pairs, of which 28 differ. So kappa_x is
    1 - (4/16) / (28/64) = 3/7.

    >>> import numpy as np
    >>> import reliabayes as rb
    >>> table = np.array([list("abbb"), list("abab"), list("aaaa"), list("aaaa")])
    >>> ratings = rb.Ratings.from_wide(table, pool={0: "x", 1: "x", 2: "y", 3: "y"})
    >>> found = rb.agreement.kappa_x(ratings)
    >>> found
    Cross-replication reliability kappa_x: 0.4286
    >>> [16 * found.part("observed disagreement").value,
    ...  64 * found.part("expected disagreement").value]
    [4.0, 28.0]
    """
    sums = CrossSums.of(ratings, distance_between(ratings, distance))
    name = "Cross-replication reliability kappa_x"
    return sums.correction.coefficient(ratings, name, sums.rows, meaning=CROSS)


@of_datasets
def normalized_kappa_x(
    ratings: Ratings, distance: DistanceName | Pairwise | None = None, irr: Irr = "alpha"
) -> Coefficient:
    r"""Cross-replication reliability of two pools, corrected for disagreement within them.

    .. math:: \kappa_x / \sqrt{\mathrm{IRR}_0 \mathrm{IRR}_1}

    where IRR is the reliability within each pool, for the same distance. It is close to 1 if the
    pools differ no more than raters of one pool do; it may exceed 1 by chance, and is undefined
    unless both reliabilities are positive. Like a disattenuated correlation, it refers to the means
    of many ratings.

    Parameters
    ----------
    ratings : Ratings or RatingsDataset
        With two pools. Each reliability is that of all items with at least two ratings by the pool.
    distance : {"nominal", "absolute", "squared"} or callable, optional
        As for `kappa_x`.
    irr : {"alpha", "kappa"}
        Reliability within a pool: Krippendorff's alpha; or `iota`, which is Conger's kappa for the
        nominal distance and Cohen's for two raters. Kappa expects less agreement by chance where
        raters of a pool differ in how often they use the categories.

    Returns
    -------
    Coefficient
        With parts "kappa_x", "alpha of the first pool" and "alpha of the second pool", or "kappa
        of ...".

    Raises
    ------
    RatingsError
        As for `kappa_x`, or no item has two ratings by one of the pools.
    ValueError
        ``irr`` is neither "alpha" nor "kappa".

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
    check_choice("irr", irr, get_args(Irr))
    cross = CrossSums.of(ratings, distance_between(ratings, distance))
    within: AlphaSums | RaterSums = AlphaSums(cross.by_item, cross.distance)
    if irr == "kappa":
        within = RaterSums.of(ratings, cross.distance)
    is_in = np.eye(2)[:, _two_pools(ratings)]
    for pool in range(2):
        _require_pairs(ratings, pool)

    def rows(weights: Array | None) -> Rows:
        blocks = [within.rows(inside if weights is None else inside * weights) for inside in is_in]
        return join_columns([cross.rows(weights), *blocks])

    edges = np.cumsum([cross.width, within.width])

    def parts(sums: Array) -> tuple[Array, Array, Array]:
        crossed, first, second = np.split(sums, edges, axis=-1)
        return cross.correction(crossed), within.correction(first), within.correction(second)

    def formula(sums: Array) -> Array:
        across, first, second = parts(sums)
        are_positive = (first.real > 0) & (second.real > 0)
        return across / np.sqrt(np.where(are_positive, first * second, np.nan))

    formulas = {
        "kappa_x": lambda sums: parts(sums)[0],
        f"{irr} of the first pool": lambda sums: parts(sums)[1],
        f"{irr} of the second pool": lambda sums: parts(sums)[2],
    }
    return Coefficient.of(
        ratings,
        "Normalized kappa_x",
        rows,
        formula,
        meaning=NORMALIZED,
        parts=formulas,
        limit=None,
        bounds_of_parts=dict.fromkeys(formulas, (None, 1.0)),
        undefined=f"a pool's {irr} is not positive, or all ratings are the same",
    )


@dataclass(frozen=True, eq=False)
class CrossSums:
    """Statistics of items that two pools rated, and the disagreement between the pools.

    Columns: mean distance between the pools times the number of ratings; number of ratings by each
    pool; margins of the pools.

    Attributes
    ----------
    by_item : CountTable
        Counts by item.
    by_item_and_pool : CountTable
        Counts by item and pool, ``2 * item + pool``.
    distance : Distance
        Distance of two ratings.
    """

    by_item: CountTable
    by_item_and_pool: CountTable
    distance: Distance

    @classmethod
    def of(cls, ratings: Ratings, distance: Distance) -> CrossSums:
        """Statistics of all ratings."""
        pool = _two_pools(ratings)
        _require_shared_item(ratings)
        size = len(ratings.categories)
        unit = 2 * ratings.item.astype(np.int64) + pool[ratings.rater]
        by_item_and_pool = CountTable.from_codes(
            unit, ratings.category, ratings.rater, (2 * ratings.n_items, size)
        )
        return cls(CountTable.from_ratings(ratings), by_item_and_pool, distance)

    @property
    def width(self) -> int:
        """Number of columns."""
        return 3 + 2 * self.distance.width

    def rows(self, weights: Array | None) -> Rows:
        """(I, S) statistics, given how often each rater occurs."""
        counts = self.by_item_and_pool.counts(weights)
        n = counts.n_ratings.reshape(-1, 2)
        is_shared = n.min(axis=1) > 0
        within = self.distance.within(counts).reshape(-1, 2).sum(axis=1)
        across = (self.distance.within(self.by_item.counts(weights)) - within) / 2
        shared = n * is_shared[:, None]
        disagreement = shared.sum(axis=1) * ratio(across, n.prod(axis=1), 0.0)
        margin = margins(self.distance, counts.only(np.repeat(is_shared, 2)), 2)
        return join_columns([np.column_stack([disagreement, shared]), margin])

    @property
    def correction(self) -> ChanceCorrection:
        """kappa_x, given sums (..., S)."""
        return ChanceCorrection(self.observed, self.expected, "disagreement")

    def observed(self, sums: Array) -> Array:
        """Mean distance of the pools' ratings of the same item."""
        return ratio(sums[..., 0], sums[..., 1] + sums[..., 2])

    def expected(self, sums: Array) -> Array:
        """Mean distance of any rating by one pool and any by the other."""
        one, other = np.split(sums[..., 3:], 2, axis=-1)
        return ratio(self.distance.between(one, other), sums[..., 1] * sums[..., 2])


def _two_pools(ratings: Ratings) -> Codes:
    """(R,) pool of each rater, 0 or 1."""
    if ratings.rater_pool is None or len(ratings.pools) != 2:
        rule = "there must be exactly two pools of raters"
        remedy = (
            "Pass pool=... when reading the table, or select two with ratings.subset(pools=[...])."
        )
        raise RatingsError([Fault("pool", rule, str(len(ratings.pools)), remedy)])
    return ratings.rater_pool


def _require_shared_item(ratings: Ratings) -> None:
    if not any(whole_of(ratings).ask(_has_shared_item)):
        rule = "at least one item must have ratings by both pools"
        raise RatingsError([Fault("pool", rule, "none", "Let both pools rate the same items.")])


def _has_shared_item(ratings: Ratings) -> bool:
    of_pool = _two_pools(ratings)[ratings.rater] == 1
    n_second = np.bincount(ratings.item, of_pool)
    return bool(((n_second > 0) & (n_second < ratings.ratings_per_item)).any())


def _require_pairs(ratings: Ratings, pool: int) -> None:
    if not any(whole_of(ratings).ask(_has_pairs, pool)):
        rule = f"at least one item must have two ratings by pool {shown(ratings.pools[pool])}"
        remedy = "Use kappa_x, which does not correct for disagreement within pools."
        raise RatingsError([Fault("pool", rule, "none", remedy)])


def _has_pairs(ratings: Ratings, pool: int) -> bool:
    is_in = _two_pools(ratings)[ratings.rater] == pool
    return bool((np.bincount(ratings.item, is_in) > 1).any())
