"""A limit on the number of categories, for what needs a table of pairs of them."""

from __future__ import annotations

from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings.coded_ratings import CodedRatings

MOST_CATEGORIES = 1000


def require_few_categories(ratings: CodedRatings, rule: str) -> None:
    """Refuse ratings in so many categories that they are hardly categories.

    Parameters
    ----------
    ratings : CodedRatings
        The data.
    rule : str
        What the limit is of, with ``{most}`` for the limit.

    Raises
    ------
    RatingsError
        If there are more than 1,000 categories.
    """
    number = len(ratings.categories)
    if number > MOST_CATEGORIES:
        remedy = "Check that these are categories, and not free text; merge rare ones."
        rule = rule.format(most=f"{MOST_CATEGORIES:,}")
        raise RatingsError([Fault("rating", rule, f"{number:,}", remedy)])
