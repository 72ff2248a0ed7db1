"""k-rater reliability: how far aggregates of k ratings agree with aggregates of k others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reliabayes.agreement.alpha import krippendorff_alpha
from reliabayes.agreement.blocks import by_block
from reliabayes.agreement.coefficient import Coefficient
from reliabayes.agreement.intraclass import icc
from reliabayes.agreement.resampling import CELLS
from reliabayes.agreement.stepping_up import spearman_brown
from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings import Ratings
from reliabayes.wording import listed, shown

Array = NDArray[Any]
Aggregate = Literal["mean", "median", "majority"]
Measure = Callable[[Ratings], Coefficient]


def krr(
    one: Ratings,
    other: Ratings,
    *,
    k: int | None = None,
    aggregate: Aggregate = "mean",
    coefficient: Measure = krippendorff_alpha,
    seed: int = 0,
) -> Coefficient:
    """k-rater reliability, found empirically: agreement of two replications' aggregates, at most 1.

    In each replication the ratings of an item become one, and a coefficient tells how far the two
    agree. Where aggregates are published, this is their reliability; that of single ratings is
    lower.

    Parameters
    ----------
    one, other : Ratings
        Of the same items by different raters, such as two pools of one table, picked with
        ``ratings.subset(pools=[...])``. Items that only one of them has are left out.
    k : int, optional
        Ratings to draw of each item in each replication; by default all that it has.
    aggregate : {"mean", "median", "majority"}
        What becomes of an item's ratings; "majority" is the most frequent category, drawn from
        several that are.
    coefficient : function
        Coefficient of the aggregates, which are ratings by two raters; by default Krippendorff's
        alpha as suits them, interval for means and medians.
    seed : int
        The same seed draws the same ratings.

    Returns
    -------
    Coefficient
        With intervals over items.

    Raises
    ------
    RatingsError
        The replications share no item or differ in scale, or an item has fewer ratings than k.

    See Also
    --------
    krr_bootstrap : from one replication.
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
    piles = _replications(one, other, aggregate)
    rng = np.random.default_rng(seed)
    first, second = (pile.aggregated(*pile.drawn(k, 1, rng), 1, rng) for pile in piles)
    found = coefficient(piles[0].as_two_raters(first, second, piles[0].ratings.items))
    return replace(found, name=f"k-rater reliability, {found.name}")


def krr_bootstrap(
    ratings: Ratings,
    *,
    k: int | None = None,
    aggregate: Aggregate = "mean",
    coefficient: Measure = krippendorff_alpha,
    replicates: int = 100,
    seed: int = 0,
) -> BootstrappedKrr:
    """k-rater reliability from one replication: two are drawn from its ratings, many times.

    For either, k ratings of each item are drawn with replacement, as if those there are were all
    that raters could give. It takes no model, but a good many ratings of each item: with n of them
    the spread of single ratings comes out too small by a factor of 1 - 1/n.

    Parameters
    ----------
    ratings : Ratings
        Any design.
    k : int, optional
        Ratings to draw of each item; by default as many as it has.
    aggregate, coefficient, seed
        As for `krr`.
    replicates : int
        Pairs of replications to draw, 2 or more.

    Returns
    -------
    BootstrappedKrr

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
    piles = (Pile(ratings, aggregate),) * 2
    rng = np.random.default_rng(seed)
    return BootstrappedKrr(_repeated(piles, Pile.redrawn, k, coefficient, replicates, rng))


def krr_curve(
    ratings: Ratings,
    other: Ratings | None = None,
    *,
    k: Sequence[int] | None = None,
    aggregate: Aggregate = "mean",
    coefficient: Measure = krippendorff_alpha,
    replicates: int = 100,
    seed: int = 0,
) -> pd.DataFrame:
    """k-rater reliability by the number k of ratings aggregated, found in several ways.

    Parameters
    ----------
    ratings : Ratings
        One replication.
    other : Ratings, optional
        Another one, of the same items.
    k : sequence of int, optional
        By default 1, 2, ... up to what every item has.
    aggregate, coefficient, seed
        As for `krr`.
    replicates : int
        How often ratings are drawn for a number; means are shown.

    Returns
    -------
    DataFrame
        Index k. Columns empirical, if there is another replication: see `krr`; bootstrap: see
        `krr_bootstrap`; and for means icc_k and spearman_brown: ICC(1, 1) of all ratings, and of
        only two of each item, stepped up to k.

    Raises
    ------
    RatingsError
        As `krr` does.

    Examples
    --------
    >>> import numpy as np
    >>> import reliabayes as rb
    >>> rng = np.random.default_rng(1)
    >>> ratings = rb.Ratings.from_wide(rng.normal(size=(200, 1)) + rng.normal(size=(200, 12)))
    >>> krr_curve(ratings, k=[1, 3, 12], replicates=20)["icc_k"].round(2).to_dict()
    {1: 0.47, 3: 0.73, 12: 0.92}
    """
    least = min(int(side.ratings_per_item.min()) for side in (ratings, other) if side is not None)
    sizes = list(range(1, least + 1)) if k is None else list(k)
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(index=pd.Index(sizes, name="k"))

    def means(piles: Piles, draw: Draw) -> list[float]:
        found = (_repeated(piles, draw, k, coefficient, replicates, rng) for k in sizes)
        return [float(np.nanmean(values)) for values in found]

    if other is not None:
        table["empirical"] = means(_replications(ratings, other, aggregate), Pile.drawn)
    pile = Pile(ratings, aggregate)
    table["bootstrap"] = means((pile, pile), Pile.redrawn)
    if aggregate == "mean":
        few = np.mean(_of_two(pile, replicates, rng))
        table["icc_k"] = spearman_brown(icc(ratings, "ICC(1,1)").value, np.array(sizes))
        table["spearman_brown"] = spearman_brown(few, np.array(sizes))
    return table


@dataclass(frozen=True, eq=False, repr=False)
class BootstrappedKrr:
    """k-rater reliability of pairs of replications that were drawn.

    Attributes
    ----------
    values : array (replicates,)
        Of each pair; nan where it is undefined.
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
        """Spread of the defined replicates: of what is drawn, not of items."""
        return float(np.nanstd(self.values, ddof=1))


@dataclass(frozen=True, eq=False)
class Pile:
    """Ratings to draw from, and what becomes of those of an item.

    What is drawn are places of ratings and, of each, its item in its replicate: ``item`` in the
    first one, ``n_items + item`` in the second, ...
    """

    ratings: Ratings
    aggregate: Aggregate

    def __post_init__(self) -> None:
        if self.aggregate not in get_args(Aggregate):
            known = ", ".join(get_args(Aggregate))
            raise ValueError(f"aggregate must be one of {known}; found {self.aggregate!r}.")
        if self.aggregate != "majority":
            self.ratings.values  # noqa: B018 - raises unless they are numbers

    def drawn(self, k: int | None, blocks: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Draw k ratings of each item, none twice; all if k is None."""
        n = self.ratings.ratings_per_item
        if k is not None and not 1 <= k <= n.min():
            rule = "k must be 1 or more, and no more than the ratings that every item has"
            item = self.ratings.items[int(n.argmin())]
            found = f"k = {k}, and {n.min()} of item {shown(item)}"
            raise RatingsError([Fault("k", rule, found, "Pass another k.")])
        unit = self._unit(self.ratings.item, blocks)
        order = np.lexsort((rng.random(len(unit)), unit))
        first = np.repeat(np.cumsum(np.tile(n, blocks)) - np.tile(n, blocks), np.tile(n, blocks))
        is_drawn = np.arange(len(unit)) - first < (n.max() if k is None else k)
        return order[is_drawn] % len(self.ratings), unit[is_drawn]

    def redrawn(self, k: int | None, blocks: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Draw k ratings of each item with replacement; as many as it has if k is None."""
        n = self.ratings.ratings_per_item
        item = np.repeat(np.arange(len(n)), n if k is None else k)
        unit = self._unit(item, blocks)
        item = np.tile(item, blocks)
        nth = (rng.random(len(item)) * n[item]).astype(np.intp)
        return (np.cumsum(n) - n)[item] + nth, unit

    def _unit(self, item: Array, blocks: int) -> Array:
        return (self.ratings.n_items * np.arange(blocks)[:, None] + item).ravel()

    def aggregated(self, place: Array, unit: Array, blocks: int, rng: np.random.Generator) -> Array:
        """(blocks * I,) aggregates of drawn ratings: numbers, or codes of categories."""
        size = blocks * self.ratings.n_items
        if self.aggregate == "mean":
            total = np.bincount(unit, self.ratings.values[place], size)
            return np.asarray(total / np.bincount(unit, minlength=size))
        if self.aggregate == "median":
            return pd.Series(self.ratings.values[place]).groupby(unit).median().to_numpy()
        n_categories = len(self.ratings.categories)
        cell = unit.astype(np.int64) * n_categories + self.ratings.category[place]
        counts = np.bincount(cell, minlength=size * n_categories).reshape(size, -1)
        return np.asarray((counts + rng.random(counts.shape) / 2).argmax(axis=1))

    def as_two_raters(self, one: Array, other: Array, items: Any) -> Ratings:
        """Aggregates of items as ratings by two raters."""
        rating: Any = np.concatenate([one, other])
        frame = {"item": np.tile(items, 2), "rater": np.repeat([1, 2], len(items))}
        if self.aggregate != "majority":
            return Ratings.from_frame(pd.DataFrame(frame | {"rating": rating}))
        categories = self.ratings.categories
        return Ratings.from_frame(
            pd.DataFrame(frame | {"rating": categories[rating]}),
            scale=self.ratings.scale,
            categories=categories,
        )


Piles = tuple[Pile, Pile]
Draw = Callable[[Pile, int | None, int, np.random.Generator], tuple[Array, Array]]


def _replications(one: Ratings, other: Ratings, aggregate: Aggregate) -> Piles:
    """Both replications, of the items that they share."""
    shared = one.items.intersection(other.items)
    rules = {
        "items": (len(shared) > 0, "replications must share items", "none that both have"),
        "scale": (
            aggregate != "majority"
            or (one.scale == other.scale and one.categories.equals(other.categories)),
            "replications must have the same scale and categories",
            f"{one.scale} {listed(one.categories)} and {other.scale} {listed(other.categories)}",
        ),
    }
    remedy = "Read both with the same ids of items, scale=... and categories=..."
    faults = [
        Fault(place, rule, found, remedy)
        for place, (holds, rule, found) in rules.items()
        if not holds
    ]
    if faults:
        raise RatingsError(faults)
    first, second = (side.subset(items=shared) for side in (one, other))
    return Pile(first, aggregate), Pile(second, aggregate)


def _repeated(
    piles: Piles,
    draw: Draw,
    k: int | None,
    coefficient: Measure,
    replicates: int,
    rng: np.random.Generator,
) -> Array:
    """(replicates,) values of a coefficient of two aggregates that are drawn anew each time."""

    def values(blocks: int) -> Array:
        first, second = (
            pile.aggregated(*draw(pile, k, blocks, rng), blocks, rng) for pile in piles
        )
        pairs = piles[0].as_two_raters(first, second, np.arange(len(first)))
        return by_block(coefficient(pairs), blocks)

    return np.concatenate([values(blocks) for blocks in _parts(piles[0], replicates)])


def _of_two(pile: Pile, replicates: int, rng: np.random.Generator) -> Array:
    """(replicates,) ICC(1, 1) of two ratings of each item, drawn anew each time."""

    def values(blocks: int) -> Array:
        place, _ = pile.drawn(2, blocks, rng)
        one, other = pile.ratings.values[place].reshape(-1, 2).T
        pairs = pile.as_two_raters(one, other, np.arange(len(one)))
        return by_block(icc(pairs, "ICC(1,1)"), blocks)

    return np.concatenate([values(blocks) for blocks in _parts(pile, replicates)])


def _parts(pile: Pile, replicates: int) -> list[int]:
    """Numbers of replicates that are computed at once."""
    most = max(1, CELLS // (8 * len(pile.ratings)))
    return [min(most, replicates - start) for start in range(0, replicates, most)]
