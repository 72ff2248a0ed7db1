"""Gaussian ratings in parts, reduced to sums in one pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial, reduce
from operator import add
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reliabayes.arrays import Codes
from reliabayes.errors import Fault, RatingsError
from reliabayes.families.normal.crossed import are_cheap_sums
from reliabayes.inference.crossed_effects import RowState, RowTotals
from reliabayes.likelihoods.gaussian_one_pool import CrossedDesign
from reliabayes.likelihoods.gibbs_sums import CrossedTotals, GibbsSums
from reliabayes.likelihoods.item_sums import ItemSums
from reliabayes.likelihoods.moments import Moments, near
from reliabayes.likelihoods.row_effects import RowEffects
from reliabayes.partitions import RatingsDataset
from reliabayes.ratings import Ratings
from reliabayes.ratings.facets import ByFacet
from reliabayes.sampling.thresholds import CROSSED

ENOUGH = 100_000  # ratings that tell whether there is a residual, and roughly where ratings are
MOST_IN_MEMORY = 50_000_000  # ratings whose items and raters are held in memory: 1 GB


def leading(dataset: RatingsDataset) -> Ratings:
    """The ratings of as many parts, from the first, as have 100,000 ratings together."""
    parts: list[Ratings] = []
    for part in dataset.parts:
        parts.append(part.read())
        if sum(map(len, parts)) >= ENOUGH:
            break
    if len(parts) == 1:
        return parts[0]
    first = np.cumsum([0, *(part.n_items for part in parts)])
    codes = [part.item + np.int32(start) for part, start in zip(parts, first, strict=False)]
    return replace(
        parts[0],
        item=np.concatenate(codes),
        rater=np.concatenate([part.rater for part in parts]),
        rating=np.concatenate([part.rating for part in parts]),
        items=pd.RangeIndex(first[-1]),
        gold=None,
        facet=ByFacet(
            {name: np.concatenate([part.facet[name] for part in parts]) for name in parts[0].facet}
        ),
    )


def moments_of_parts(dataset: RatingsDataset, pool: Codes) -> tuple[Moments, ...]:
    """Moments of all ratings by raters of each pool, as `sums_of_parts` has them."""
    pivots = _pivots(leading(dataset), pool)
    return tuple(dataset.sum(partial(_moments, pool, pivots)))


def suits_sums(dataset: RatingsDataset, first: Ratings) -> bool:
    """Whether sums over pairs of raters are cheaper than passes over the ratings."""
    patterns = len(np.unique(first.ratings_per_item))
    return are_cheap_sums(dataset.n_raters, patterns, len(dataset))


def sums_of_parts(dataset: RatingsDataset, pool: Codes, first: Ratings) -> ItemSums:
    """Sums over all parts, by raters whose pools (R,) are given.

    Pivots are near the ratings of each pool among the first.
    """
    patterns = len(np.unique(first.ratings_per_item))
    size = (patterns + 1) * (dataset.n_raters + 1) ** 2
    if size > CROSSED.most_sums:
        rule = "sums over pairs of raters must fit in memory"
        found = f"{dataset.n_raters:,} raters, whose sums take {size * 8 / 1e9:.0f} GB"
        remedy = "Fit the most active raters, or GaussianICC, which takes any number."
        raise RatingsError([Fault("raters", rule, found, remedy)])
    pivots = _pivots(first, pool)
    return dataset.sum(partial(ItemSums.of, pool=pool, pivots=pivots))


def _pivots(first: Ratings, pool: Codes) -> tuple[float, ...]:
    values, of_rating = first.values, pool[first.rater]
    own = (values[of_rating == g] for g in range(int(pool.max()) + 1))
    return tuple(near(some if len(some) else values) for some in own)


def _moments(pool: Codes, pivots: Sequence[float], part: Ratings) -> NDArray[np.object_]:
    """An array, so that moments of two parts are added pool by pool."""
    of_rating = pool[part.rater]
    own = (part.values[of_rating == g] for g in range(len(pivots)))
    return np.array([Moments.of(*each) for each in zip(own, pivots, strict=True)], np.object_)


def effects_of_parts(dataset: RatingsDataset, first: Ratings) -> GibbsSums:
    """Rows and totals of all parts, relative to a pivot near the first ratings."""
    pivot = near(first.values)
    if len(dataset) > MOST_IN_MEMORY:
        return GibbsSums(RowsInParts(dataset, pivot), dataset.sum(partial(_totals, pivot)))
    rows, totals = zip(*dataset.map(partial(_rows_and_totals, pivot)), strict=True)
    return GibbsSums(RowEffects.merged(rows), reduce(add, totals))


class RowsInParts(NamedTuple):
    """Items of all parts, of which one part at a time is read for each pass."""

    dataset: RatingsDataset
    pivot: float

    def draw(self, state: RowState, at_once: int) -> RowTotals:
        """Draw effects of all items, in the processes of the data set, and add them up."""
        silent = replace(self.dataset, progress=False)
        return silent.sum(partial(_draw, self.pivot, state))


def _design(pivot: float, part: Ratings) -> CrossedDesign:
    return CrossedDesign.of(part.item, part.rater, part.values - pivot, part.n_raters)


def _rows(design: CrossedDesign, part: Ratings) -> RowEffects:
    return RowEffects.of(design, int(part.items[0]))


def _totals(pivot: float, part: Ratings) -> CrossedTotals:
    return CrossedTotals.of(_design(pivot, part), pivot)


def _rows_and_totals(pivot: float, part: Ratings) -> tuple[RowEffects, CrossedTotals]:
    design = _design(pivot, part)
    return _rows(design, part), CrossedTotals.of(design, pivot)


def _draw(pivot: float, state: RowState, part: Ratings) -> RowTotals:
    return _rows(_design(pivot, part), part).draw(state)
