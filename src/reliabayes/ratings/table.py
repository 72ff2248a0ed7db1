"""A table of ratings as it was read, before it is checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from reliabayes.choices import Replicates, Scale
from reliabayes.ratings.columns import Column, Labels, Rows, on_scale


@dataclass(frozen=True)
class Table:
    """The columns of N ratings, with the options that the user passed.

    Attributes
    ----------
    item : Labels, N rows
        What was rated.
    rater : Labels, N rows
        Who rated it.
    rating : Labels or Numbers, N rows
        Numbers if `scale` is "numeric", else labels.
    pool : Labels or None, N rows
        The pool of each rating's rater.
    gold : Labels or Numbers or None, N rows
        The known true value of each rating's item.
    group : Labels or None, N rows
        What each rating's item belongs to.
    block : Labels or None, N rows
        What each rating's item shares with items of other groups.
    scale : {"nominal", "ordered", "numeric"}
        The scale, inferred if `asked` is None.
    asked : {"nominal", "ordered", "numeric"} or None
        The scale that the user asked for.
    categories : Index or None
        The categories that the user gave.
    replicates : {"error", "keep"}
        Whether a rater may rate an item more than once.
    anonymous_raters : bool
        Whether `rater` only numbers the ratings of an item.
    n_missing : int
        Number of rows without a rating that were left out.
    notes : tuple of str
        What was done to the user's values on request.
    facets : mapping from str to Labels, N rows each
        What else describes a rating, by name.
    """

    item: Labels
    rater: Labels
    rating: Column
    pool: Labels | None
    gold: Column | None
    scale: Scale
    asked: Scale | None
    categories: pd.Index[Any] | None
    replicates: Replicates = "error"
    anonymous_raters: bool = False
    n_missing: int = 0
    notes: tuple[str, ...] = ()
    facets: Mapping[str, Labels] = field(default_factory=dict)
    group: Labels | None = None
    block: Labels | None = None

    @classmethod
    def of(
        cls,
        item: Labels,
        rater: Labels,
        rating: Column,
        *,
        pool: Labels | None = None,
        gold: Column | None = None,
        scale: Scale | None = None,
        categories: Iterable[Any] | None = None,
        replicates: Replicates = "error",
        anonymous_raters: bool = False,
        facets: Mapping[str, Labels] | None = None,
        group: Labels | None = None,
        block: Labels | None = None,
    ) -> Table:
        """Build a table whose ratings and gold are on the same scale."""
        column, known_scale = on_scale(rating, scale)
        return cls(
            item=item,
            rater=rater,
            rating=column,
            pool=pool,
            gold=None if gold is None else on_scale(gold, known_scale)[0],
            scale=known_scale,
            asked=scale,
            categories=None if categories is None else pd.Index(categories, name=None),
            replicates=replicates,
            anonymous_raters=anonymous_raters,
            facets=facets or {},
            group=group,
            block=block,
        )

    def __len__(self) -> int:
        return len(self.item.codes)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns that the table has."""
        roles = (self.item, self.rater, self.rating, self.pool, self.gold, self.group, self.block)
        every = (*roles, *self.facets.values())
        return tuple(column for column in every if column is not None)

    @cached_property
    def pair(self) -> npt.NDArray[np.int64]:
        """Each rating's (item, rater) pair as one number; -1 where either is missing."""
        pair = self.item.codes.astype(np.int64) * len(self.rater.ids) + self.rater.codes
        pair[self.item.missing | self.rater.missing] = -1
        return pair

    @cached_property
    def cell(self) -> npt.NDArray[np.int64]:
        """Each rating's item, rater and facets as one number, in the order of sorted rows.

        Negative where item or rater is missing; a missing level comes before all others.
        """
        cell = self.pair
        for column in self.facets.values():
            n_levels = len(column.ids) + 1
            if cell.max(initial=0) >= np.iinfo(np.int64).max // n_levels - 1:
                distinct, rank = np.unique(cell, return_inverse=True)
                cell = rank - np.count_nonzero(distinct < 0)
            cell = cell * n_levels + (column.codes + 1)
        return cell

    @cached_property
    def order(self) -> Rows:
        """The rows sorted by item, rater and facets, in no particular order within a cell."""
        is_sorted = bool((self.cell[1:] >= self.cell[:-1]).all())
        return np.arange(len(self)) if is_sorted else np.argsort(self.cell)

    def take(self, rows: Rows) -> Table:
        """Return the table with only these rows."""
        return replace(
            self,
            item=self.item.take(rows),
            rater=self.rater.take(rows),
            rating=self.rating.take(rows),
            pool=None if self.pool is None else self.pool.take(rows),
            gold=None if self.gold is None else self.gold.take(rows),
            facets={name: column.take(rows) for name, column in self.facets.items()},
            group=None if self.group is None else self.group.take(rows),
            block=None if self.block is None else self.block.take(rows),
        )
