"""Items in parts on disk: the problem of all of them, and those of single parts."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from reliabayes.families.categories.misleading import known_as_ratings
from reliabayes.families.categories.problem import CategoricalProblem, X, kinds
from reliabayes.families.cells import Cells
from reliabayes.likelihoods.item_mixture import ItemMixture
from reliabayes.partitions import RatingsDataset
from reliabayes.ratings import Ratings

MOST_COUNTS = 10_000_000  # of distinct items that are held in memory: 120 MB


def of_all_parts(problem: CategoricalProblem[X], dataset: RatingsDataset) -> CategoricalProblem[X]:
    """Distinct items of all parts, or where they are if they are too many for memory.

    Parameters
    ----------
    problem : CategoricalProblem
        That of ``dataset.example``.
    dataset : RatingsDataset
        All parts.
    """
    whole = replace(
        problem,
        coords={**problem.coords, "item": pd.RangeIndex(dataset.n_items)},
        cells=problem.cells._replace(of_rating=np.empty(0, np.int32)),
    )
    merged = _merged(problem, dataset)
    if merged is not None:
        return replace(whole, mixture=merged)
    return replace(whole, mixture=problem.mixture.part(slice(0)), parts=dataset)


def _merged(problem: CategoricalProblem, dataset: RatingsDataset) -> ItemMixture | None:
    """Distinct items of all parts; None if they are too many."""
    first = problem.mixture
    few_alike = 2 * len(first.multiplicity) > first.multiplicity.sum()
    if few_alike and len(dataset) > MOST_COUNTS:
        return None
    kept: list[ItemMixture] = []
    for each in dataset.map(partial(distinct_items, problem.has_raters)):
        kept.append(each)
        if sum(some.counts.nnz for some in kept) > MOST_COUNTS:
            kept = [ItemMixture.merged(kept)]
        if sum(some.counts.nnz for some in kept) > MOST_COUNTS:
            return None
    return ItemMixture.merged(kept)


def of_no_items(problem: CategoricalProblem[X]) -> CategoricalProblem[X]:
    """What the problems of all parts share."""
    return replace(problem, mixture=problem.mixture.part(slice(0)), parts=None)


def with_items(problem: CategoricalProblem[X], part: Ratings) -> CategoricalProblem[X]:
    """The problem of a part, each of whose items is stored by itself."""
    return replace(problem, mixture=_items(problem.has_raters, part))


def with_distinct_items(problem: CategoricalProblem[X], part: Ratings) -> CategoricalProblem[X]:
    """The problem of a part, in which items with the same ratings are stored once."""
    return replace(problem, mixture=_distinct(problem.has_raters, part))


def distinct_items(has_raters: bool, part: Ratings) -> ItemMixture:
    """Distinct items of a part, without which of them each item is."""
    return replace(_distinct(has_raters, part), distinct=np.empty(0, np.int32))


def items_for_gibbs(has_raters: bool, misleads: bool, part: Ratings) -> ItemMixture:
    """Items of a part for Gibbs sampling."""
    found = _items(has_raters, part)
    return known_as_ratings(found, len(part.categories)) if misleads else found


def _distinct(has_raters: bool, part: Ratings) -> ItemMixture:
    cells = Cells.of(part, exchangeable_raters=not has_raters)
    return ItemMixture.of(part.item, cells.of_rating, len(cells.category), kinds(part))


def _items(has_raters: bool, part: Ratings) -> ItemMixture:
    cells = Cells.of(part, exchangeable_raters=not has_raters)
    return ItemMixture.unmerged(part.item, cells.of_rating, len(cells.category), kinds(part))
