"""Checks of the categories of ratings, for models of categories."""

from __future__ import annotations

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
