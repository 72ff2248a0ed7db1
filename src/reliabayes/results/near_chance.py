"""Whether raters are hardly better than chance, so that the prior decides what is true."""

from __future__ import annotations

import numpy as np
import xarray as xr

from reliabayes.partitions import AnyRatings, RatingsDataset
from reliabayes.results.rater_quality import share_of_ratings

# Part of the way from chance to always being right, below which raters are near chance. Of crowds
# with known answers the least has 0.32, of 20 simulated ones 0.31; five raters who are right in 80%
# of cases beside five who are in 20% have 0.04 at most: `python -m tests.crowds.camps`.
NEAR_CHANCE = 0.2


def near_chance(quantities: xr.Dataset, ratings: AnyRatings) -> str:
    """What it means that raters are hardly better than chance, in sentences; empty if they are not.

    What is compared is the probability of a right rating, averaged over true categories, so that it
    is 1 / K by chance whatever their prevalence.

    Parameters
    ----------
    quantities : Dataset
        What a model of true categories reports, of one point or of draws.
    ratings : Ratings or RatingsDataset
        The data.
    """
    confusion = quantities.get("confusion")
    if confusion is None or _is_settled(ratings):
        return ""
    number = confusion.sizes["category"]
    at = xr.DataArray(np.arange(number), dims="true_category")
    right = confusion.isel(true_category=at, category=at).mean("true_category")
    if "rater" in right.dims:
        right = right.dot(xr.DataArray(share_of_ratings(ratings, None), dims="rater"))
    mean = float(np.median(right))
    if (mean - 1 / number) / (1 - 1 / number) >= NEAR_CHANCE:
        return ""
    which = "the two categories with each other's names" if number == 2 else "other names"
    return (
        f"Averaged over true categories, ratings are right with probability {mean:.2f}; by chance "
        f"it would be {1 / number:.2f}. The ratings would be explained as well by {which}: that "
        "raters are right more often than by chance is prior knowledge, which decides here. Known "
        "answers (gold) of a random part of the items would decide."
    )


def _is_settled(ratings: AnyRatings) -> bool:
    """Whether items with known answers say which category is which."""
    if isinstance(ratings, RatingsDataset):
        return ratings.example.gold_category is not None
    gold = ratings.gold_category
    return gold is not None and len(np.unique(gold[gold >= 0])) > 1
