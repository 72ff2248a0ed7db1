"""The sources of variance of a design that given ratings can tell apart."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Protocol, TypeAlias

import numpy as np

from reliabayes.arrays import Codes
from reliabayes.errors import Fault, RatingsError
from reliabayes.facets.design import MeasurementDesign, Source, as_names
from reliabayes.ratings import Ratings
from reliabayes.wording import did_you_mean, joined, listed

REPLICATE, RESIDUAL = "replicate", "residual"
AreSame: TypeAlias = Callable[[Source, Source], bool]


class EffectLevels(Protocol):
    """Sources of variance that ratings can tell apart, and levels of them."""

    @property
    def design(self) -> MeasurementDesign:
        """Which facets are crossed or nested."""

    @property
    def sources(self) -> tuple[Source, ...]:
        """Those with levels of several ratings, and last the residual.

        Sources with a level for each rating are joined with it, and its name has theirs.
        """

    @property
    def cells(self) -> Mapping[frozenset[str], tuple[Codes, int]]:
        """Level (N,) of each rating, from 0, and number of levels, by the facets of each source.

        All sources of the design are there, whether they were dropped or not.
        """

    @property
    def facets(self) -> Mapping[str, Codes]:
        """Position (N,) of the level of each facet: the rating's item, its rater, and others."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the sources, the residual last."""


@dataclass(frozen=True, eq=False)
class EffectsOfParts:
    """Sources of variance of ratings in parts, as `EffectLevels` explains.

    Instead of ratings there are the combinations of levels of those facets that items share.
    """

    design: MeasurementDesign
    sources: tuple[Source, ...]
    cells: Mapping[frozenset[str], tuple[Codes, int]]
    facets: Mapping[str, Codes]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the sources, the residual last."""
        return tuple(source.name for source in self.sources)


@dataclass(frozen=True, eq=False)
class Effects:
    """Sources of variance, as `EffectLevels` explains, and the level of each that a rating has.

    Attributes
    ----------
    level : tuple of array of int, each of shape (N,)
        Level of each rating, from 0, for each source but the residual.
    sizes : tuple of int
        Number of levels of each source but the residual.
    """

    design: MeasurementDesign
    sources: tuple[Source, ...]
    cells: Mapping[frozenset[str], tuple[Codes, int]]
    facets: Mapping[str, Codes]
    level: tuple[Codes, ...]
    sizes: tuple[int, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the sources, the residual last."""
        return tuple(source.name for source in self.sources)

    @classmethod
    def of(cls, ratings: Ratings, design: MeasurementDesign, drop: Collection[str] = ()) -> Effects:
        """Effects that ratings have in a design.

        Parameters
        ----------
        ratings : Ratings
            With all facets of the design. Others are ignored: ratings that differ in nothing else
            are replicates.
        design : MeasurementDesign
            Which facets are crossed or nested.
        drop : collection of str
            Names of sources to leave out, so that the residual has their variance.

        Raises
        ------
        RatingsError
            A facet is unknown or has one level, or two sources cannot be told apart.
        ValueError
            There is no source to drop of that name, or the design uses a reserved name.
        """
        sources_kept(design, drop)  # names that are wrong before facets that are unknown
        facets = {name: ratings.positions(name)[0] for name in design.facets}
        levels = {source: levels_of(source, facets) for source in design.sources()}
        sizes = {source: size for source, (_, size) in levels.items()}
        sources = told_apart(design, drop, sizes, len(ratings), same_in(levels))
        kept = sources[:-1]
        return cls(
            design,
            sources,
            {source.facets: found for source, found in levels.items()},
            facets,
            tuple(levels[source][0] for source in kept),
            tuple(levels[source][1] for source in kept),
        )

    @cached_property
    def is_balanced(self) -> bool:
        """Whether all combinations of the facets' levels were rated, and equally often."""
        size = {facets: n for facets, (_, n) in self.cells.items()}
        return is_complete(self.design, size) and all(
            np.ptp(np.bincount(level)) == 0 for level, _ in self.cells.values()
        )

    @property
    def n_ratings(self) -> int:
        """Number N of ratings."""
        return len(self.cells[self.design.whole][0])


def is_complete(design: MeasurementDesign, sizes: Mapping[frozenset[str], int]) -> bool:
    """Whether all combinations of the facets' levels occur, given numbers of levels by facets."""
    size = {frozenset[str](): 1, **sizes}
    within = (size[outer | {name}] / size[outer] for name, outer in design.nested.items())
    return size[design.whole] == math.prod(within)


def told_apart(
    design: MeasurementDesign,
    drop: Collection[str],
    sizes: Mapping[Source, int],
    n_ratings: int,
    are_same: AreSame,
) -> tuple[Source, ...]:
    """Sources of a design that ratings can tell apart, the residual last.

    Parameters
    ----------
    design : MeasurementDesign
        Which facets are crossed or nested.
    drop : collection of str
        Names of sources to leave out.
    sizes : mapping of Source to int
        Number of levels of each source of the design.
    n_ratings : int
        Number of ratings.
    are_same : callable
        Whether two sources that have equally many levels have the same.

    Returns
    -------
    tuple of Source
        As `EffectLevels` has them.

    Raises
    ------
    RatingsError
        A facet has one level, or two sources cannot be told apart.
    ValueError
        There is no source to drop of that name, or the design uses a reserved name.
    """
    chosen = sources_kept(design, drop)
    # Sources of a constant facet are those without it: one fault is enough.
    faults = [*_constant(design, sizes)] or [*_alike(chosen, sizes, n_ratings, are_same)]
    if faults:
        raise RatingsError(faults)
    single = [source for source in chosen if sizes[source] == n_ratings]
    residual = Source(
        ", ".join([*(source.name for source in single), RESIDUAL]),
        design.whole | {REPLICATE} if sizes[design.sources()[-1]] < n_ratings else design.whole,
    )
    return (*(source for source in chosen if source not in single), residual)


def sources_kept(design: MeasurementDesign, drop: Collection[str]) -> list[Source]:
    """The sources that are not dropped."""
    reserved = [name for name in design.facets if name in (REPLICATE, RESIDUAL)]
    if reserved:
        raise ValueError(
            f"{reserved[0]!r} is no name of a facet; found it in {design.text!r}. Ratings that "
            "agree in all facets are replicates anyway."
        )
    names = [source.name for source in design.sources()]
    dropped = as_names(drop)
    for name in dropped:
        if name not in names:
            guess = did_you_mean(name, names)
            remedy = f"Did you mean {guess!r}?" if guess else f"They are {listed(names, 20)}."
            raise ValueError(f"drop must name sources of {design.text!r}; found {name!r}. {remedy}")
    return [source for source in design.sources() if source.name not in dropped]


def levels_of(source: Source, facets: Mapping[str, Codes]) -> tuple[Codes, int]:
    """Level (N,) of each rating, and the number of levels that occur."""
    code = np.zeros(1, np.int64)
    for name in facets:
        if name in source.facets:
            # Renumbered each time, so that no product of numbers of levels overflows.
            code = code * (int(facets[name].max(initial=0)) + 1) + facets[name]
            found, code = np.unique(code, return_inverse=True)
    return code.astype(np.int32), len(found)


def _constant(design: MeasurementDesign, sizes: Mapping[Source, int]) -> Iterator[Fault]:
    """Facets of which there is one level."""
    for source, size in sizes.items():
        if len(source.facets) == 1 and size == 1:
            rule = f"{source.name} must have at least two levels"
            yield Fault("design", rule, "one", f"Leave it out of {design.text!r}.")


def _alike(
    chosen: list[Source], sizes: Mapping[Source, int], n_ratings: int, are_same: AreSame
) -> Iterator[Fault]:
    """Sources with the same levels, and facets with a level for each rating."""
    for source in chosen:
        if len(source.facets) == 1 and sizes[source] == n_ratings:
            rule = f"{source.name} must be told from the residual"
            remedy = f"Rate more than once for each, or pass drop=[{source.name!r}]."
            yield Fault("design", rule, f"as many levels of {source.name} as ratings", remedy)
    found_alike: list[tuple[frozenset[str], frozenset[str]]] = []
    for one, other in alike(chosen, sizes, n_ratings, are_same):
        more = other.facets - one.facets
        # If each rater has one vendor, so has each pair of an item and a rater.
        if any(facets <= one.facets and more == added for facets, added in found_alike):
            continue
        found_alike.append((one.facets, more))
        rule = f"{joined([repr(one.name), repr(other.name)])} must be told apart"
        found = f"the same {sizes[one]} levels of both"
        yield Fault("design", rule, found, _remedy(one, other))


def alike(
    sources: Sequence[Source], sizes: Mapping[Source, int], n_ratings: int, are_same: AreSame
) -> Iterator[tuple[Source, Source]]:
    """Pairs of sources with the same levels, of which there are fewer than ratings."""
    for one, other in combinations(sources, 2):
        if sizes[one] == sizes[other] < n_ratings and are_same(one, other):
            yield one, other


def same_in(levels: Mapping[Source, tuple[Codes, int]]) -> AreSame:
    """Whether two sources with equally many levels have the same, given those of each rating."""

    def are_same(one: Source, other: Source) -> bool:
        (first, size), (second, _) = levels[one], levels[other]
        return len(np.unique(first.astype(np.int64) * size + second)) == size

    return are_same


def _remedy(one: Source, other: Source) -> str:
    """How to tell two sources with the same levels apart."""
    remedy = f"pass drop=[{other.name!r}]"
    if len(one.facets) == 1 and one.facets < other.facets and len(other.facets) == 2:
        (facet,), (within,) = one.facets, other.facets - one.facets
        return f"Each {facet} has one {within}: write '{facet}:{within}', or {remedy}."
    return f"{remedy[0].upper()}{remedy[1:]}."
