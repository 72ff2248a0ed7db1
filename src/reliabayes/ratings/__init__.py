"""Ratings: reading, checking and coding the user's tables."""

from reliabayes.choices import Replicates, Scale
from reliabayes.ratings.judged_files import read_judged
from reliabayes.ratings.ratings import Ratings
from reliabayes.ratings.reading import read_ratings

__all__ = ["Ratings", "Replicates", "Scale", "read_judged", "read_ratings"]
