"""k-rater reliability: agreement of aggregates of k ratings with aggregates of k others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from reliabayes.agreement.alpha import krippendorff_alpha
from reliabayes.agreement.blocks import coefficient_by_block
from reliabayes.agreement.coefficient import Coefficient
from reliabayes.agreement.count_table import require_once_per_rater
from reliabayes.agreement.distinct_rows import MAX_ELEMENTS
from reliabayes.agreement.intraclass import icc
from reliabayes.agreement.replications import (
    Aggregate,
    Draw,
    Replication,
    Replications,
    replications_of_shared_items,
)
from reliabayes.agreement.spearman_brown import spearman_brown
from reliabayes.arrays import Array
from reliabayes.ratings import Ratings
from reliabayes.reporting.methods import Meaning

CoefficientFunction = Callable[[Ratings], Coefficient]


def krr(
    one: Ratings,
    other: Ratings,
    *,
    k: int | None = None,
    aggregate: Aggregate = "mean",
    coefficient: CoefficientFunction = krippendorff_alpha,
    seed: int = 0,
) -> Coefficient:
    """Empirical k-rater reliability: agreement of the aggregates of two replications, at most 1.

    In each replication the ratings of an item are aggregated, and a coefficient measures the
    agreement of the two aggregates. Where aggregates are published, this is their reliability; the
    reliability of single ratings is lower.

    Parameters
    ----------
    one, other : Ratings
        Of the same items by different raters, such as two pools of one table, selected with
        ``ratings.subset(pools=[...])``. Items that only one of them has are left out.
    k : int, optional
        Number of ratings to draw of each item in each replication; by default all ratings.
    aggregate : {"mean", "median", "majority", "rank"}, default "mean"
        How the ratings of an item are aggregated. "majority" is the most frequent category, with
        ties broken at random. "rank" is the mean reciprocal rank, the mean of 1 / rating of ratings
        that are ranks with 1 the first; `spearman_rho` is the usual coefficient.
    coefficient : callable, default `krippendorff_alpha`
        Function from ratings to a coefficient, applied to the aggregates as ratings by two raters.
        The metric of alpha follows from the aggregates: interval for means, medians and ranks.
    seed : int, default 0
        The same seed draws the same ratings.

    Returns
    -------
    Coefficient
        The reliability, with methods for intervals over items.

    Raises
    ------
    RatingsError
        The replications share no item or differ in scale, or an item has fewer than k ratings.

    See Also
    --------
    krr_bootstrap : from a single replication.
    spearman_brown : from the ICC of single ratings.

    References
    ----------
    Wong & Paritosh (2022), k-Rater Reliability. https://doi.org/10.18653/v1/2022.acl-short.42

    Examples
    --------
    >>> import numpy as np
    >>> import reliabayes as rb
    >>> one = rb.Ratings.from_wide(np.array([[1, 2], [3, 3], [5, 4]]))
    >>> other = rb.Ratings.from_wide(np.array([[1, 1], [2, 4], [5, 5]]))
    >>> krr(one, other)
    k-rater reliability, Krippendorff's alpha (interval): 0.9667
    """
    pair = replications_of_shared_items(one, other, aggregate)
    rng = np.random.default_rng(seed)
    first, second = (each.aggregates(*each.draw(k, 1, rng), 1, rng) for each in pair)
    found = coefficient(pair[0].as_two_raters(first, second, pair[0].ratings.items))
    meaning = Meaning(
        estimand=f"that coefficient of means or majorities of {k} ratings in place of single ones",
        references=(*found.meaning.references, "wong2022"),
    )
    return replace(found, name=f"k-rater reliability, {found.name}", meaning=meaning)


def krr_bootstrap(
    ratings: Ratings,
    *,
    k: int | None = None,
    aggregate: Aggregate = "mean",
    coefficient: CoefficientFunction = krippendorff_alpha,
    replicates: int = 100,
    seed: int = 0,
) -> BootstrappedKrr:
    """Bootstrapped k-rater reliability: pairs of replications are drawn from a single one.

    In each of the two, k ratings of each item are drawn with replacement, as if the observed
    ratings were the population. This needs no model, but many ratings of each item: with n ratings
    the variance of single ratings is underestimated by a factor of 1 - 1/n.

    Parameters
    ----------
    ratings : Ratings
        Any design.
    k : int, optional
        Number of ratings to draw of each item; by default as many as it has.
    aggregate : {"mean", "median", "majority", "rank"}, default "mean"
        As for `krr`.
    coefficient : callable, default `krippendorff_alpha`
        As for `krr`.
    replicates : int, default 100
        Number of pairs of replications, at least 2.
    seed : int, default 0
        The same seed draws the same ratings.

    Returns
    -------
    BootstrappedKrr
        Reliability of each pair, with mean and standard deviation.

    Raises
    ------
    ValueError
        ``replicates`` is below 2.
    RatingsError
        A rater rated an item more than once.

    References
    ----------
    Wong & Paritosh (2022), section 4.1. https://doi.org/10.18653/v1/2022.acl-short.42

    Examples
    --------
    >>> import numpy as np
    >>> import reliabayes as rb
    >>> rng = np.random.default_rng(1)
    >>> ratings = rb.Ratings.from_wide(rng.normal(size=(50, 1)) + rng.normal(size=(50, 12)))
    >>> krr_bootstrap(ratings, seed=1)
    k-rater reliability, bootstrap: 0.9219 (sd 0.01654, 100 replicates)
    """
    if replicates < 2:
        raise ValueError(f"replicates must be at least 2; found {replicates}.")
    require_once_per_rater(ratings, "krr_bootstrap")
    replication = Replication(ratings, aggregate)
    pair, rng = (replication, replication), np.random.default_rng(seed)
    return BootstrappedKrr(_replicates(pair, Replication.resample, k, coefficient, replicates, rng))


def krr_curve(
    ratings: Ratings,
    other: Ratings | None = None,
    *,
    k: Sequence[int] | None = None,
    aggregate: Aggregate = "mean",
    coefficient: CoefficientFunction = krippendorff_alpha,
    replicates: int = 100,
    seed: int = 0,
) -> pd.DataFrame:
    """k-rater reliability as a function of the number k of ratings aggregated, by several methods.

    Parameters
    ----------
    ratings : Ratings
        One replication.
    other : Ratings, optional
        Another replication of the same items.
    k : sequence of int, optional
        By default 1, 2, ... up to the smallest number of ratings of an item.
    aggregate : {"mean", "median", "majority", "rank"}, default "mean"
        As for `krr`.
    coefficient : callable, default `krippendorff_alpha`
        As for `krr`.
    replicates : int, default 100
        Number of draws for each k, whose mean is reported.
    seed : int, default 0
        The same seed gives the same table.

    Returns
    -------
    DataFrame
        Index k. Columns empirical (see `krr`), if there is another replication; bootstrap (see
        `krr_bootstrap`); and for means icc_k and spearman_brown, which step up to k the ICC(1,1)
        of all ratings, and that of only two ratings of each item. An ICC of only k of the ratings
        would estimate the same with a larger error, and would not exist for k = 1.

    Raises
    ------
    RatingsError
        As for `krr`, or a rater rated an item more than once.

    Examples
    --------
    >>> import numpy as np
    >>> import reliabayes as rb
    >>> rng = np.random.default_rng(1)
    >>> ratings = rb.Ratings.from_wide(rng.normal(size=(200, 1)) + rng.normal(size=(200, 12)))
    >>> krr_curve(ratings, k=[1, 3, 12], replicates=20)["icc_k"].round(2).to_dict()
    {1: 0.47, 3: 0.73, 12: 0.92}
    """
    for each in (ratings, other):
        if each is not None:
            require_once_per_rater(each, "krr_curve")
    least = min(int(side.ratings_per_item.min()) for side in (ratings, other) if side is not None)
    sizes = list(range(1, least + 1)) if k is None else list(k)
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(index=pd.Index(sizes, name="k"))

    def means(pair: Replications, draw: Draw) -> list[float]:
        found = (_replicates(pair, draw, k, coefficient, replicates, rng) for k in sizes)
        return [float(np.nanmean(values)) for values in found]

    if other is not None:
        pair = replications_of_shared_items(ratings, other, aggregate)
        table["empirical"] = means(pair, Replication.draw)
    replication = Replication(ratings, aggregate)
    table["bootstrap"] = means((replication, replication), Replication.resample)
    if aggregate == "mean":
        icc_of_two = np.mean(_icc_of_two(replication, replicates, rng))
        table["icc_k"] = spearman_brown(icc(ratings, "ICC(1,1)").value, np.array(sizes))
        table["spearman_brown"] = spearman_brown(icc_of_two, np.array(sizes))
    return table


@dataclass(frozen=True, eq=False, repr=False)
class BootstrappedKrr:
    """k-rater reliability of pairs of bootstrapped replications.

    Attributes
    ----------
    values : array of float, shape (replicates,)
        Reliability of each pair; nan where it is undefined.
    """

    values: Array

    def __repr__(self) -> str:
        return (
            f"k-rater reliability, bootstrap: {self.value:.4g} (sd {self.standard_deviation:.4g}, "
            f"{len(self.values)} replicates)"
        )

    def __float__(self) -> float:
        return self.value

    @property
    def value(self) -> float:
        """Mean of the defined replicates."""
        return float(np.nanmean(self.values))

    @property
    def standard_deviation(self) -> float:
        """Standard deviation of the defined replicates; it reflects the draws, not the items."""
        return float(np.nanstd(self.values, ddof=1))


def _replicates(
    pair: Replications,
    draw: Draw,
    k: int | None,
    coefficient: CoefficientFunction,
    replicates: int,
    rng: np.random.Generator,
) -> Array:
    """(replicates,) values of a coefficient of two aggregates, with new draws each time."""

    def values(blocks: int) -> Array:
        first, second = (each.aggregates(*draw(each, k, blocks, rng), blocks, rng) for each in pair)
        aggregates = pair[0].as_two_raters(first, second, np.arange(len(first)))
        return coefficient_by_block(coefficient(aggregates), blocks)

    return np.concatenate([values(blocks) for blocks in _block_sizes(pair[0], replicates)])


def _icc_of_two(replication: Replication, replicates: int, rng: np.random.Generator) -> Array:
    """(replicates,) ICC(1,1) of two ratings of each item, with new draws each time."""

    def values(blocks: int) -> Array:
        row, _ = replication.draw(2, blocks, rng)
        one, other = replication.ratings.values[row].reshape(-1, 2).T
        pairs = replication.as_two_raters(one, other, np.arange(len(one)))
        return coefficient_by_block(icc(pairs, "ICC(1,1)"), blocks)

    return np.concatenate([values(blocks) for blocks in _block_sizes(replication, replicates)])


def _block_sizes(replication: Replication, replicates: int) -> list[int]:
    """Numbers of replicates that are computed at once."""
    most = max(1, MAX_ELEMENTS // (8 * len(replication.ratings)))
    return [min(most, replicates - start) for start in range(0, replicates, most)]
