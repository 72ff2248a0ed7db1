"""Ratings: reading, checking and coding the user's tables."""

from reliabayes.ratings.columns import Scale
from reliabayes.ratings.ratings import Ratings
from reliabayes.ratings.reading import read_ratings
from reliabayes.ratings.table import Replicates

__all__ = ["Ratings", "Replicates", "Scale", "read_ratings"]
