"""Ratings as arrays: items, raters and categories counted from 0, and what follows from them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp

from reliabayes.arrays import Array, Codes
from reliabayes.choices import Scale
from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings.columns import Numbers
from reliabayes.ratings.facets import NO_FACETS, ByFacet
from reliabayes.wording import did_you_mean, listed, shown

AnyArray = TypeVar("AnyArray", bound=npt.NDArray[Any])
NO_IDS: pd.Index[Any] = pd.Index([], dtype=object)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CodedRatings(ABC):
    """The arrays of ratings, and the quantities that follow from them alone.

    Rows are sorted by item, rater and facets. The fields are explained in `Ratings`, the class
    that users see.
    """

    item: Codes
    rater: Codes
    rating: Array | Codes
    items: pd.Index[Any]
    raters: pd.Index[Any]
    scale: Scale
    pools: pd.Index[Any]
    rater_pool: Codes | None
    gold: Array | Codes | None
    given_categories: pd.Index[Any] | None
    anonymous_raters: bool
    n_missing: int = field(default=0, compare=False)
    notes: tuple[str, ...] = field(default=(), compare=False)
    scale_is_guess: bool = field(default=False, compare=False)
    facets: ByFacet[pd.Index[Any]] = NO_FACETS
    facet: ByFacet[Codes] = NO_FACETS
    whole: object = field(default=None, compare=False)
    groups: pd.Index[Any] = field(default_factory=lambda: NO_IDS)
    item_group: Codes | None = None
    blocks: pd.Index[Any] = field(default_factory=lambda: NO_IDS)
    item_block: Codes | None = None
    left_out: Mapping[str, int] = field(default_factory=dict, compare=False)
    separator: str | None = None

    @abstractmethod
    def to_frame(self) -> pd.DataFrame:
        """Return a long table in the user's ids."""

    def __post_init__(self) -> None:
        for value in vars(self).values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    def __len__(self) -> int:
        return len(self.item)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CodedRatings):
            return NotImplemented
        return all(
            _are_equal(getattr(self, each.name), getattr(other, each.name))
            for each in fields(self)
            if each.compare
        )

    def __hash__(self) -> int:
        return hash((len(self), self.n_items, self.n_raters, self.scale))

    @property
    def n_ratings(self) -> int:
        """Number N of ratings."""
        return len(self.item)

    @property
    def n_items(self) -> int:
        """Number I of items that have a rating."""
        return len(self.items)

    @property
    def n_raters(self) -> int:
        """Number R of raters; if they are anonymous, the largest number of ratings of an item."""
        return len(self.raters)

    @property
    def pair(self) -> npt.NDArray[np.int64]:
        """Position (N,) of each rating's pair of item and rater, from 0, ascending."""
        is_new = (np.diff(self.item) != 0) | (np.diff(self.rater) != 0)
        return np.append(0, np.cumsum(is_new))

    @cached_property
    def n_pairs(self) -> int:
        """Number of (item, rater) pairs that have a rating, at most ``I * R``."""
        return 1 + int(self.pair[-1])

    @cached_property
    def n_cells(self) -> int:
        """Number of combinations of item, rater and levels of facets that have a rating."""
        is_new = np.zeros(len(self) - 1, np.bool_)
        for codes in (self.item, self.rater, *self.facet.values()):
            is_new |= np.diff(codes) != 0
        return 1 + int(np.count_nonzero(is_new))

    @property
    def has_repeats(self) -> bool:
        """Whether a known rater rated an item more than once."""
        return not self.anonymous_raters and self.n_pairs < len(self)

    @property
    def is_complete(self) -> bool:
        """Whether every rater rated every item."""
        return self.n_pairs == self.n_items * self.n_raters

    @cached_property
    def categories(self) -> pd.Index[Any]:
        """Values (K,) that a rating can have: the declared ones, or those that occur, sorted."""
        if self.given_categories is not None:
            return self.given_categories
        return Numbers("rating", self.values).labels().ids

    @cached_property
    def category(self) -> Codes:
        """Position (N,) of each rating in `categories`, int32, on any scale."""
        if self.scale != "numeric":
            return np.asarray(self.rating, np.int32)
        return _read_only(Numbers("rating", self.values).labels().among(self.categories).codes)

    @property
    def values(self) -> Array:
        """The ratings (N,) as float64 numbers.

        Raises
        ------
        RatingsError
            If the scale is not numeric.
        """
        if self.scale == "numeric":
            return np.asarray(self.rating, np.float64)
        remedy = 'If the labels are numbers, pass scale="numeric" when reading them.'
        found = f"the {self.scale} categories {listed(self.categories)}"
        raise RatingsError([Fault("rating", "ratings must be numbers here", found, remedy)])

    @cached_property
    def gold_category(self) -> Codes | None:
        """Position (I,) of each item's gold in `categories`, -1 if unknown; None without gold.

        Raises
        ------
        RatingsError
            If a gold number is not one of the categories.
        """
        if self.gold is None:
            return None
        if self.scale != "numeric":
            return np.asarray(self.gold, np.int32)
        codes = np.asarray(self.categories.get_indexer(pd.Index(self.gold)), np.int32)
        is_outside = (codes < 0) & ~np.isnan(self.gold)
        if is_outside.any():
            rule = f"gold must be among the categories {listed(self.categories)} here"
            found = listed(np.unique(self.gold[is_outside]).tolist())
            remedy = "Pass categories=... with every value, or treat gold as a number."
            raise RatingsError([Fault("gold", rule, found, remedy)])
        return _read_only(codes)

    @cached_property
    def ratings_per_item(self) -> npt.NDArray[np.int64]:
        """Number (I,) of ratings of each item, 1 or more."""
        return _read_only(np.bincount(self.item))

    @cached_property
    def ratings_per_rater(self) -> npt.NDArray[np.int64]:
        """Number (R,) of ratings by each rater, 1 or more."""
        self.require_known_raters("ratings_per_rater")
        return _read_only(np.bincount(self.rater))

    @cached_property
    def counts(self) -> npt.NDArray[np.int64]:
        """Number (I, K) of ratings of each item in each category."""
        n_categories = len(self.categories)
        cell = self.item.astype(np.int64) * n_categories + self.category
        counts = np.bincount(cell, minlength=self.n_items * n_categories)
        return _read_only(counts.reshape(self.n_items, n_categories))

    @cached_property
    def incidence(self) -> sp.csr_array:
        """Sparse matrix (I, R) with the number of times that each rater rated each item."""
        self.require_known_raters("incidence")
        ones = np.ones(len(self), np.int32)
        return sp.csr_array((ones, (self.item, self.rater)), shape=(self.n_items, self.n_raters))

    @cached_property
    def n_components(self) -> int:
        """Number of connected components of the design, 1 or more.

        Two components share neither an item nor a rater.
        """
        self.require_known_raters("n_components")
        n_nodes = self.n_items + self.n_raters
        links = np.ones(len(self), np.int32), (self.item, self.n_items + self.rater)
        graph = sp.csr_array(links, shape=(n_nodes, n_nodes))
        n_components, _ = sp.csgraph.connected_components(graph, directed=False)
        return int(n_components)

    def positions(self, name: str) -> tuple[Codes, pd.Index[Any]]:
        """Return what the ratings were given under: the item, the rater, or a level of a facet.

        Parameters
        ----------
        name : str
            ``"item"``, ``"rater"`` or the name of a facet.

        Returns
        -------
        codes : array of int32, shape (N,)
            Position of each rating's item, rater or level in `ids`.
        ids : Index
            The user's ids.

        Raises
        ------
        RatingsError
            If there is no such facet, or the raters are anonymous.

        Examples
        --------
        >>> import pandas as pd
        >>> from reliabayes.ratings import Ratings
        >>> rows = [(i, r, day, i + r) for i in "ab" for r in "xy" for day in ("mon", "tue")]
        >>> frame = pd.DataFrame(rows, columns=["item", "rater", "day", "rating"])
        >>> codes, days = Ratings.from_frame(frame, facets=["day"]).positions("day")
        >>> days[codes[:3]].tolist()
        ['mon', 'tue', 'mon']
        """
        if name == "rater":
            self.require_known_raters("positions")
        known = {"item": (self.item, self.items), "rater": (self.rater, self.raters)}
        known |= {facet: (codes, self.facets[facet]) for facet, codes in self.facet.items()}
        if name in known:
            return known[name]
        guess = did_you_mean(name, known)
        rule = f"it must be one of {listed(known, 20)}"
        remedy = (
            "Name its column when reading the table, with facets=[...]; those of items and raters "
            "are called item and rater here."
        )
        if guess is not None:
            remedy = f"Did you mean {guess!r}?"
        raise RatingsError([Fault("facets", rule, shown(name), remedy)])

    def require_known_raters(self, purpose: str) -> None:
        """Raise an error if the raters are anonymous.

        Parameters
        ----------
        purpose : str
            The method that needs to know the raters, with which the message starts.

        Raises
        ------
        RatingsError
            If `anonymous_raters` is True.
        """
        if self.anonymous_raters:
            rule = "it must be known who gave each rating"
            remedy = "Use a method that needs only counts, or read a table that names the raters."
            raise RatingsError([Fault(purpose, rule, "anonymous raters", remedy)])


def _read_only(array: AnyArray) -> AnyArray:
    array.setflags(write=False)
    return array


def _are_equal(one: Any, other: Any) -> bool:
    if isinstance(one, pd.Index):
        return one.equals(other)
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    return bool(one == other)
