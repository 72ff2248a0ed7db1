"""Checks of the categories of ratings, for models of categories."""

from __future__ import annotations

from reliabayes.choices import Repeats
from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings import Ratings
from reliabayes.ratings.few_categories import require_few_categories

MOST_NUMBERS = 50  # different ratings on a numeric scale that may be categories


def check_categories(ratings: Ratings) -> None:
    """Refuse a single category, too many, and numbers that are hardly categories.

    Parameters
    ----------
    ratings : Ratings
        The data.

    Raises
    ------
    RatingsError
        It is so.
    """
    categories = ratings.categories
    if len(categories) < 2:
        rule = "there must be two categories or more"
        remedy = "Pass categories=... with every value that a rating could have had."
        raise RatingsError([Fault("rating", rule, f"only {categories[0]!r}", remedy)])
    if ratings.given_categories is None and len(categories) > MOST_NUMBERS:
        rule = f"numbers must be categories, and so not more than {MOST_NUMBERS} different ones"
        remedy = 'Fit GaussianICC to numbers, or read them with scale="nominal" as labels.'
        raise RatingsError([Fault("rating", rule, f"{len(categories)}", remedy)])
    require_few_categories(ratings, "a model of categories takes at most {most}")


def check_votes(ratings: Ratings, repeats: Repeats) -> None:
    """Refuse several ratings of an item by one rater who has one vote.

    Parameters
    ----------
    ratings : Ratings
        The data.
    repeats : {"independent", "one_vote"}
        What several ratings of an item by one rater count as.

    Raises
    ------
    RatingsError
        They are not counted yet.
    """
    if repeats == "one_vote" and ratings.has_repeats:
        rule = "a rater must have one vote on an item"
        remedy = "Call fit or em, which count the ratings first."
        found = f"{len(ratings) - ratings.n_pairs:,} repeats"
        raise RatingsError([Fault("problem", rule, found, remedy)])
