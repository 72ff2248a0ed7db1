"""Ratings that are in memory or in parts, and results that need them in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import pandas as pd

from reliabayes.errors import Fault, RatingsError
from reliabayes.partitions.dataset import Part, RatingsDataset
from reliabayes.ratings import Ratings
from reliabayes.ratings.facets import NO_FACETS
from reliabayes.ratings.one_vote import Counts, category_counts, one_vote_each

AnyRatings: TypeAlias = Ratings | RatingsDataset
READ_A_PART = "Read part of them, as with dataset.parts[0].read(), and use that."
WRITE_ITEMS = "{}.write_items(folder) writes tables of the items to files, part by part."


def in_memory(ratings: AnyRatings, purpose: str, remedy: str = READ_A_PART) -> Ratings:
    """Return ratings that are in memory, and refuse those in parts.

    Parameters
    ----------
    ratings : Ratings or RatingsDataset
        The ratings.
    purpose : str
        What needs them in memory, with which the message starts.
    remedy : str, optional
        What to do instead, a sentence.

    Returns
    -------
    Ratings

    Raises
    ------
    RatingsError
        The ratings are a dataset.
    """
    if isinstance(ratings, Ratings):
        return ratings
    found = f"a dataset of {len(ratings):,} ratings in parts"
    raise RatingsError([Fault(purpose, "all ratings must be in memory", found, remedy)])


def example_of(ratings: AnyRatings) -> Ratings:
    """Return ratings that show what all mean: of those in parts, the first part.

    Parameters
    ----------
    ratings : Ratings or RatingsDataset
        The ratings.

    Returns
    -------
    Ratings
    """
    return ratings if isinstance(ratings, Ratings) else ratings.example


def with_one_vote_each(ratings: AnyRatings) -> AnyRatings:
    """Return ratings in which each rater has one vote on an item, in memory or in parts.

    Parameters
    ----------
    ratings : Ratings or RatingsDataset
        The ratings. Parts are read twice, and counted again whenever they are read.

    Returns
    -------
    Ratings or RatingsDataset
        As of `reliabayes.ratings.one_vote.one_vote_each`.
    """
    if isinstance(ratings, Ratings):
        return one_vote_each(ratings)
    if not ratings.has_repeats:
        return ratings
    of_rater = ratings.sum(category_counts)
    sizes = ratings.map(_number_of_pairs)
    parts: Sequence[Part] = [
        _PartWithOneVoteEach(part, of_rater, n_pairs)
        for part, n_pairs in zip(ratings.parts, sizes, strict=True)
    ]
    return replace(ratings, parts=parts, facets=NO_FACETS)


@dataclass(frozen=True)
class _PartWithOneVoteEach:
    """A part whose ratings are counted when it is read."""

    part: Part
    of_rater: Counts
    n_ratings: int

    @property
    def n_items(self) -> int:
        return self.part.n_items

    def read(self) -> Ratings:
        return one_vote_each(self.part.read(), self.of_rater)

    def item_ids(self) -> pd.Index[Any]:
        return self.part.item_ids()


def _number_of_pairs(part: Ratings) -> int:
    return part.n_pairs
