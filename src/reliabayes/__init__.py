"""How far to trust human ratings: reliability and validity with honest uncertainty."""

from reliabayes import agreement, datasets, guidelines, models, plots, simulate
from reliabayes.comparison import LeaveOneOut, compare
from reliabayes.contrast import Contrast
from reliabayes.em import PointEstimate
from reliabayes.errors import ConvergenceWarning, RatingsError, SamplingError
from reliabayes.fit import Fit
from reliabayes.intake.reading import read_ratings
from reliabayes.models import *  # noqa: F403
from reliabayes.page import report
from reliabayes.predictive import PredictiveChecks
from reliabayes.ratings import Ratings

__all__ = [
    "Contrast",
    "ConvergenceWarning",
    "Fit",
    "LeaveOneOut",
    "PointEstimate",
    "PredictiveChecks",
    "Ratings",
    "RatingsError",
    "SamplingError",
    "agreement",
    "compare",
    "datasets",
    "guidelines",
    "plots",
    "read_ratings",
    "report",
    "simulate",
]
__all__ += models.__all__
