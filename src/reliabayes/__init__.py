"""How far to trust human ratings: reliability and validity with honest uncertainty."""

from reliabayes import agreement, datasets, guidelines, models, plots, simulate
from reliabayes.errors import ConvergenceWarning, RatingsError, SamplingError
from reliabayes.html_report import report
from reliabayes.models import *  # noqa: F403
from reliabayes.ratings import Ratings
from reliabayes.ratings.reading import read_ratings
from reliabayes.results import quantities
from reliabayes.results.comparison import compare
from reliabayes.results.contrast import Contrast
from reliabayes.results.fit import Fit
from reliabayes.results.leave_one_out import LeaveOneOut
from reliabayes.results.point_estimate import PointEstimate
from reliabayes.results.predictive import PredictiveChecks

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
    "quantities",
    "read_ratings",
    "report",
    "simulate",
]
__all__ += models.__all__
