"""Ratings that are in memory or in parts, and results that need them in memory."""

from __future__ import annotations

from typing import TypeAlias

from reliabayes.errors import Fault, RatingsError
from reliabayes.partitions.dataset import RatingsDataset
from reliabayes.ratings import Ratings

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
