"""What numbers probably mean where nobody said so: categories, grades or amounts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from reliabayes.choices import Scale
from reliabayes.ratings.coded_ratings import CodedRatings
from reliabayes.wording import joined, shown

FEW_VALUES = 10  # of whole numbers that may be grades or codes
MOST_GRADES = 7  # with more, distances between them tell nearly as much as if they were amounts
AGREEING = 0.2  # alpha from which on disagreements are few enough to show whether they are small
AS_FAR = 0.95  # distance between disagreeing ratings, relative to chance, from which on it is none


class LikelyScale(NamedTuple):
    """A scale, and why it is the likely one.

    Attributes
    ----------
    scale : {"nominal", "ordered", "numeric"}
        The scale.
    reason : str
        Why, such as ``0 and 1 are probably categories``; empty if the scale is as it was read.
    """

    scale: Scale
    reason: str = ""


def likely_scale(ratings: CodedRatings) -> LikelyScale:
    """What ratings probably are, where their scale was guessed from numbers.

    Two whole numbers are probably categories, and so are a few that have known answers among them,
    or where those who disagree are as far apart as chance would have it: these are codes. Other few
    whole numbers are probably grades.

    Parameters
    ----------
    ratings : CodedRatings
        N ratings.

    Returns
    -------
    LikelyScale
        The scale of the ratings if it was given.
    """
    number = whole_numbers(ratings) if ratings.scale_is_guess else 0
    if number < 2:
        return LikelyScale(ratings.scale)
    if number == 2:
        two = joined([*map(shown, ratings.categories)])
        return LikelyScale("nominal", f"{two} are probably categories")
    values = f"the {number} whole numbers"
    if _has_answers_among(ratings):
        return LikelyScale("nominal", f"{values} are probably categories, like the known answers")
    if _are_codes(ratings):
        reason = f"{values} are probably codes of categories, since disagreement ignores distances"
        return LikelyScale("nominal", reason)
    if number <= MOST_GRADES:
        return LikelyScale("ordered", f"{values} are probably grades")
    return LikelyScale("numeric")


def whole_numbers(ratings: CodedRatings) -> int:
    """Return how many values ratings can have if these are few whole numbers, maybe grades.

    Parameters
    ----------
    ratings : CodedRatings
        N ratings.

    Returns
    -------
    int
        At most 10; 0 if there are more, or others than whole numbers, or if these are categories.
    """
    if ratings.scale != "numeric":
        return 0
    values = ratings.categories.to_numpy(float)
    return len(values) if len(values) <= FEW_VALUES and (values == np.rint(values)).all() else 0


def _has_answers_among(ratings: CodedRatings) -> bool:
    """Whether items have known true values, all of which occur as ratings."""
    if ratings.gold is None:
        return False
    known = ratings.gold[~np.isnan(ratings.gold)]
    return len(known) > 0 and bool(np.isin(known, ratings.rating).all())


def _are_codes(ratings: CodedRatings) -> bool:
    """Whether raters agree on the numbers, and are not closer than by chance if they disagree.

    Within items, pairs of ratings that differ have some mean squared distance, and pairs of
    different ratings at random another. Grades that are near each other are confused more often.
    """
    counts = ratings.counts[ratings.ratings_per_item > 1].astype(float)
    others = counts.sum(axis=1) - 1
    paired = counts.T @ (counts / others[:, None]) - np.diag((counts / others[:, None]).sum(axis=0))
    margin = paired.sum(axis=0)
    random = np.outer(margin, margin) - np.diag(margin)
    distance = np.subtract.outer(*[ratings.categories.to_numpy(float)] * 2) ** 2
    differ = distance > 0
    shares = [pairs[differ].sum() / pairs.sum() for pairs in (paired, random)]
    if not 0 < shares[0] <= (1 - AGREEING) * shares[1]:
        return False
    apart, by_chance = (np.average(distance, weights=pairs * differ) for pairs in (paired, random))
    return bool(apart >= AS_FAR * by_chance)
