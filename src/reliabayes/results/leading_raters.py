"""Raters who have rated nearly all items, and outvote the others on most.

Models of true categories take raters as independent. Where most labels rest on few raters, errors
that these share pass for the truth, and other ratings are too few to show it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reliabayes.arrays import Mask
from reliabayes.partitions import AnyRatings, example_of
from reliabayes.ratings import Ratings
from reliabayes.ratings.one_vote import one_vote_each
from reliabayes.wording import rater_names

NEARLY_ALL = 0.9  # proportion of the items that leading raters have rated at least
A_PART = 0.5  # proportion that others rate on average at most, where no pool says who they are


@dataclass(frozen=True, eq=False)
class LeadingRaters:
    """Two raters or more who have rated nearly all items, and outvote the others on most.

    Attributes
    ----------
    members : array of bool, shape (R,)
        Who they are.
    name : str
        ``the raters of llm`` if they are a pool, else the raters' ids.
    n_items : int
        Number of items.
    n_alone : int
        How many of these have ratings by no one else.
    """

    members: Mask
    name: str
    n_items: int
    n_alone: int

    @property
    def caution(self) -> str:
        """What this means for labels and accuracies, in a sentence."""
        return (
            f"{self.n_alone:,} of {self.n_items:,} items were rated only by {self.name}, who "
            "outvote the others on most items: if they share errors that the others' ratings do "
            "not show, labels and accuracies are less certain than stated."
        )


def leading_raters(ratings: AnyRatings) -> LeadingRaters | None:
    """Raters on whom most labels rest, if there are others to compare them with.

    They are a pool whose raters have rated nearly all items beside raters who have not; or, where
    no pool is like that, raters who have rated nearly all items beside others who have rated half
    of them at most, on average.

    Parameters
    ----------
    ratings : Ratings or RatingsDataset
        The data; those in parts are judged by the first part.

    Returns
    -------
    LeadingRaters or None
    """
    found = one_vote_each(example_of(ratings))
    if found.anonymous_raters:
        return None
    covered = np.bincount(found.rater, minlength=found.n_raters) / found.n_items
    of_pool = np.zeros(found.n_raters) if found.rater_pool is None else found.rater_pool
    for pool, name in enumerate(found.pools):
        members = np.asarray(of_pool == pool)
        others = covered[~members]
        if len(others) > 1 and covered[members].min() >= NEARLY_ALL > others.mean():
            return _of_members(members, found, f"the raters of {name}")
    members = covered >= NEARLY_ALL
    if not members.all() and covered[~members].mean() <= A_PART:
        return _of_members(members, found)
    return None


def _of_members(members: Mask, ratings: Ratings, name: str = "") -> LeadingRaters | None:
    """Leading raters, if these are two or more and outvote the others on most items."""
    votes = np.bincount(ratings.item, members[ratings.rater], ratings.n_items)
    others = ratings.ratings_per_item - votes
    if members.sum() < 2 or np.mean(votes > others) < 0.5:
        return None
    name = name or rater_names(ratings.raters[members])
    return LeadingRaters(members, name, ratings.n_items, int((others == 0).sum()))
