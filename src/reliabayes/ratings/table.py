"""A table of ratings as it was read, before it is checked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
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
        )

    def __len__(self) -> int:
        return len(self.item.codes)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns that the table has."""
        every = (self.item, self.rater, self.rating, self.pool, self.gold)
        return tuple(column for column in every if column is not None)

    @cached_property
    def pair(self) -> npt.NDArray[np.int64]:
        """Each rating's (item, rater) pair as one number; -1 where either is missing."""
        pair = self.item.codes.astype(np.int64) * len(self.rater.ids) + self.rater.codes
        pair[self.item.missing | self.rater.missing] = -1
        return pair

    @cached_property
    def order(self) -> Rows:
        """The rows sorted by item and rater, in no particular order within a pair."""
        is_sorted = bool((self.pair[1:] >= self.pair[:-1]).all())
        return np.arange(len(self)) if is_sorted else np.argsort(self.pair)

    def take(self, rows: Rows) -> Table:
        """Return the table with only these rows."""
        return replace(
            self,
            item=self.item.take(rows),
            rater=self.rater.take(rows),
            rating=self.rating.take(rows),
            pool=None if self.pool is None else self.pool.take(rows),
            gold=None if self.gold is None else self.gold.take(rows),
        )
