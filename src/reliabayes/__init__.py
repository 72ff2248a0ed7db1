"""How far to trust human ratings: reliability and validity with honest uncertainty."""

from reliabayes import datasets
from reliabayes.errors import ConvergenceWarning, RatingsError, SamplingError
from reliabayes.fit import Fit
from reliabayes.intake.reading import read_ratings
from reliabayes.models import (
    MACE,
    MODELS,
    TAP,
    Beta,
    DawidSkene,
    DiagonalDirichlet,
    Dirichlet,
    GaussianICC,
    HalfNormal,
    HalfStudentT,
    Normal,
    RaterTAP,
    RestrictedNormal,
)
from reliabayes.ratings import Ratings

__all__ = [
    "MACE",
    "MODELS",
    "TAP",
    "Beta",
    "ConvergenceWarning",
    "DawidSkene",
    "DiagonalDirichlet",
    "Dirichlet",
    "Fit",
    "GaussianICC",
    "HalfNormal",
    "HalfStudentT",
    "Normal",
    "RaterTAP",
    "Ratings",
    "RatingsError",
    "RestrictedNormal",
    "SamplingError",
    "datasets",
    "read_ratings",
]
