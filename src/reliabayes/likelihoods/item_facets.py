"""Facets of a design, apart from the item, and which effects items share."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reliabayes.arrays import Codes
from reliabayes.errors import Fault, RatingsError
from reliabayes.facets import MeasurementDesign, Source

ITEM = "item"
LARGEST = 2**62  # of codes
MOST_SHARED = 1000  # effects that items share, and the mean: a density takes some 30 ms

Keys = NDArray[np.int64]


class Facets(NamedTuple):
    """Facets of a design, apart from the item.

    Attributes
    ----------
    shared : dict of str to int
        Numbers of levels of facets that have effects on ratings of several items.
    others : dict of str to int
        Of facets that are nested in items.
    """

    shared: dict[str, int]
    others: dict[str, int]

    @classmethod
    def of(cls, design: MeasurementDesign, sizes: Mapping[str, int]) -> Facets:
        """Facets of a design, given the number of levels of each."""
        names = frozenset[str]().union(*(source.facets for source in shared_sources(design)))
        kept = {name: sizes[name] for name in design.facets if name in names}
        others = {name: sizes[name] for name in design.facets if name not in (*kept, ITEM)}
        return cls(kept, others)

    @property
    def n_cells(self) -> int:
        """Number of combinations of levels of shared facets that could occur."""
        return math.prod(self.shared.values())

    def encode(self, codes: Mapping[str, Codes]) -> Keys:
        """One number (N,) for the levels of each rating; its quotient is the cell."""
        found = np.zeros(len(next(iter(codes.values()))), np.int64)
        for name, size in {**self.shared, **self.others}.items():
            found = found * size + codes[name]
        return found

    def decode(self, code: Keys) -> dict[str, Keys]:
        """Levels by facet of such numbers (...)."""
        found: dict[str, Keys] = {}
        for name, size in reversed({**self.shared, **self.others}.items()):
            code, found[name] = np.divmod(code, size)
        return dict(reversed(found.items()))

    def cells(self, codes: Mapping[str, Codes]) -> Keys:
        """Number (N,) for the levels of shared facets of each rating."""
        if self.n_cells > LARGEST:
            raise too_many_shared(self.n_cells)
        return Facets(self.shared, {}).encode(codes)

    def cell(self, code: Keys) -> Keys:
        """Number of the levels of shared facets alone."""
        return code // math.prod(self.others.values())

    def of_cell(self, cell: Keys) -> dict[str, Keys]:
        """Levels by shared facet of a cell."""
        return Facets(self.shared, {}).decode(cell)


def own_sources(design: MeasurementDesign) -> list[Source]:
    """Sources of which each item has its own levels."""
    return [source for source in design.sources() if ITEM in source.facets]


def shared_sources(design: MeasurementDesign) -> list[Source]:
    """Sources whose levels several items share."""
    return [source for source in design.sources() if ITEM not in source.facets]


def too_many_shared(number: int) -> RatingsError:
    """Error for so many effects that items share."""
    rule = (
        f"effects that items share, such as those of raters, must be {MOST_SHARED - 1} at most, "
        "of ratings in parts"
    )
    remedy = (
        "Drop their sources, or fit the ratings in memory, dataset.to_ratings(), or those of some "
        "of the items, as with dataset.parts[0].read()."
    )
    return RatingsError([Fault("design", rule, f"{number:,}", remedy)])
