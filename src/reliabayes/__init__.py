"""How far to trust human ratings: reliability and validity with honest uncertainty."""

from reliabayes import datasets
from reliabayes.errors import ConvergenceWarning, RatingsError, SamplingError
from reliabayes.fit import Fit
from reliabayes.intake.reading import read_ratings
from reliabayes.models import MODELS, GaussianICC, HalfNormal, HalfStudentT, Normal
from reliabayes.ratings import Ratings

__all__ = [
    "MODELS",
    "ConvergenceWarning",
    "Fit",
    "GaussianICC",
    "HalfNormal",
    "HalfStudentT",
    "Normal",
    "Ratings",
    "RatingsError",
    "SamplingError",
    "datasets",
    "read_ratings",
]
