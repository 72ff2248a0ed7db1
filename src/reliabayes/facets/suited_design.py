"""The design that describes how ratings came about."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from reliabayes.arrays import Codes
from reliabayes.facets.design import MeasurementDesign
from reliabayes.facets.effects import alike, levels_of, same_in
from reliabayes.ratings import Ratings
from reliabayes.ratings.facet_design import has_one
from reliabayes.wording import joined

Nesting = Mapping[str, frozenset[str]]


@dataclass(frozen=True)
class SuitedDesign:
    """A design, and what of it the ratings cannot tell apart.

    Attributes
    ----------
    text : str
        The design, items being the object of measurement.
    drop : tuple of str
        Names of sources to leave out, because others have the same levels.
    """

    text: str
    drop: tuple[str, ...]

    def __str__(self) -> str:
        names = [f'"{name}"' for name in self.drop]
        return f'"{self.text}"' + (f" without {joined(names)}" if names else "")


def suited_design(ratings: Ratings) -> SuitedDesign | None:
    """The design of ratings: which facets are crossed, and which are nested.

    Facets are left out that are constant, one to one with another, or different for each rating.

    Parameters
    ----------
    ratings : Ratings
        The data.

    Returns
    -------
    SuitedDesign or None
        None if raters are anonymous, or each gave one rating and there are no facets.
    """
    if ratings.anonymous_raters:
        return None
    facets = _varying(ratings)
    if len(facets) == 1:
        return None
    nested = _nested(facets)
    of_items = {name: outer if name == "item" else frozenset() for name, outer in nested.items()}
    text = _written([*facets], nested) or _written([*facets], of_items)
    assert text is not None
    return SuitedDesign(text, _confounded(MeasurementDesign.parse(text), facets))


def _varying(ratings: Ratings) -> dict[str, Codes]:
    """Codes (N,) of facets, item and rater first, that have effects of their own."""
    kept: dict[str, Codes] = {}
    for name in ("item", "rater", *ratings.facets):
        codes, ids = ratings.positions(name)
        is_same = any(has_one(codes, x) and has_one(x, codes) for x in kept.values())
        if 1 < len(ids) < len(ratings) and not is_same:
            kept[name] = codes
    return kept


def _nested(facets: Mapping[str, Codes]) -> dict[str, frozenset[str]]:
    """Facets in which each is nested; none in items, which are the object of measurement."""
    return {
        name: frozenset(
            other
            for other, outer in facets.items()
            if other not in (name, "item") and has_one(codes, outer)
        )
        for name, codes in facets.items()
    }


def _confounded(design: MeasurementDesign, facets: Mapping[str, Codes]) -> tuple[str, ...]:
    """Names of sources with the levels of others, preferably of sources without the object."""
    sources = design.sources()
    levels = {source: levels_of(source, facets) for source in sources}
    dropped: list[str] = []
    sizes = {source: size for source, (_, size) in levels.items()}
    n_ratings = len(next(iter(facets.values())))
    for one, other in alike(sources, sizes, n_ratings, same_in(levels)):
        if one.name not in dropped and other.name not in dropped:
            is_error = "item" in other.facets and "item" not in one.facets
            dropped.append(one.name if is_error else other.name)
    return tuple(dropped)


def _written(names: Sequence[str], nested: Nesting) -> str | None:
    """The design of some facets; None if "x" and ":" cannot state it."""
    if len(names) == 1:
        return names[0]

    def are_related(one: str, other: str) -> bool:
        return one in nested[other] or other in nested[one]

    crossed = _connected(names, are_related)
    if len(crossed) > 1:
        return _linked(" x ", crossed, nested)
    layers = _connected(names, lambda one, other: not are_related(one, other))
    if len(layers) > 1:
        return _linked(":", sorted(layers, key=lambda layer: -len(nested[layer[0]])), nested)
    return None


def _linked(link: str, groups: Sequence[Sequence[str]], nested: Nesting) -> str | None:
    texts = [_written(group, nested) for group in groups]
    if any(text is None for text in texts):
        return None
    return link.join(
        f"({text})" if len(group) > 1 else str(text)
        for text, group in zip(texts, groups, strict=True)
    )


def _connected(names: Sequence[str], are_linked: Callable[[str, str], bool]) -> list[list[str]]:
    """Groups of names that are linked with each other, in the order of their first names."""
    group = dict(zip(names, np.arange(len(names)), strict=True))
    for one, other in permutations(names, 2):
        if are_linked(one, other):
            first = min(group[one], group[other])
            last = max(group[one], group[other])
            group = {name: first if at == last else at for name, at in group.items()}
    return [[name for name in names if group[name] == at] for at in sorted(set(group.values()))]
