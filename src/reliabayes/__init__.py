"""How far to trust human ratings: reliability and validity with honest uncertainty.

Each name is imported when it is first used, so that the package and its command line start fast.
"""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # "as" says that a name is public
    from reliabayes import agreement as agreement
    from reliabayes import datasets as datasets
    from reliabayes import design as design
    from reliabayes import guidelines as guidelines
    from reliabayes import models as models
    from reliabayes import partitions as partitions
    from reliabayes import plots as plots
    from reliabayes import simulate as simulate
    from reliabayes.agreement.votes import majority_vote as majority_vote
    from reliabayes.errors import ConvergenceWarning as ConvergenceWarning
    from reliabayes.errors import RatingsError as RatingsError
    from reliabayes.errors import SamplingError as SamplingError
    from reliabayes.html_report.page import report as report
    from reliabayes.judge_study import JudgeStudy as JudgeStudy
    from reliabayes.models import MACE as MACE
    from reliabayes.models import MODELS as MODELS
    from reliabayes.models import TAP as TAP
    from reliabayes.models import Beta as Beta
    from reliabayes.models import Covariates as Covariates
    from reliabayes.models import DawidSkene as DawidSkene
    from reliabayes.models import DiagonalDirichlet as DiagonalDirichlet
    from reliabayes.models import Dirichlet as Dirichlet
    from reliabayes.models import DirichletRows as DirichletRows
    from reliabayes.models import GaussianICC as GaussianICC
    from reliabayes.models import GaussianXCC as GaussianXCC
    from reliabayes.models import Groupthink as Groupthink
    from reliabayes.models import GStudy as GStudy
    from reliabayes.models import HalfNormal as HalfNormal
    from reliabayes.models import HalfStudentT as HalfStudentT
    from reliabayes.models import HierarchicalDawidSkene as HierarchicalDawidSkene
    from reliabayes.models import JudgePanel as JudgePanel
    from reliabayes.models import LatentTAP as LatentTAP
    from reliabayes.models import LogitICC as LogitICC
    from reliabayes.models import LogitXCC as LogitXCC
    from reliabayes.models import Normal as Normal
    from reliabayes.models import OrdinalICC as OrdinalICC
    from reliabayes.models import OrdinalXCC as OrdinalXCC
    from reliabayes.models import RaterGroupthink as RaterGroupthink
    from reliabayes.models import RaterTAP as RaterTAP
    from reliabayes.models import RatingModel as RatingModel
    from reliabayes.models import RestrictedNormal as RestrictedNormal
    from reliabayes.partitions.dataset import RatingsDataset as RatingsDataset
    from reliabayes.partitions.scanning import partition as partition
    from reliabayes.partitions.scanning import scan_ratings as scan_ratings
    from reliabayes.ratings import Ratings as Ratings
    from reliabayes.ratings import readers as readers
    from reliabayes.ratings.judged_files import read_judged as read_judged
    from reliabayes.ratings.reading import read_ratings as read_ratings
    from reliabayes.recommendation import Recommendation as Recommendation
    from reliabayes.recommendation import recommend as recommend
    from reliabayes.reporting.methods import MethodsSentence as MethodsSentence
    from reliabayes.reporting.methods import methods as methods
    from reliabayes.results import quantities as quantities
    from reliabayes.results.comparison import compare as compare
    from reliabayes.results.contrast import Contrast as Contrast
    from reliabayes.results.fit import Fit as Fit
    from reliabayes.results.leave_one_out import LeaveOneOut as LeaveOneOut
    from reliabayes.results.plan import Plan as Plan
    from reliabayes.results.point_estimate import PointEstimate as PointEstimate
    from reliabayes.results.predictive import PredictiveChecks as PredictiveChecks

    __version__: str
else:
    # Where the names above come from. All others are those of `models`, which knows its names.
    _MODULES = {
        "agreement": "reliabayes.agreement",
        "datasets": "reliabayes.datasets",
        "design": "reliabayes.design",
        "guidelines": "reliabayes.guidelines",
        "models": "reliabayes.models",
        "partitions": "reliabayes.partitions",
        "plots": "reliabayes.plots",
        "quantities": "reliabayes.results.quantities",
        "readers": "reliabayes.ratings.readers",
        "simulate": "reliabayes.simulate",
    }
    _OBJECTS = {
        "Contrast": "reliabayes.results.contrast",
        "ConvergenceWarning": "reliabayes.errors",
        "Fit": "reliabayes.results.fit",
        "JudgeStudy": "reliabayes.judge_study",
        "LeaveOneOut": "reliabayes.results.leave_one_out",
        "MethodsSentence": "reliabayes.reporting.methods",
        "Plan": "reliabayes.results.plan",
        "PointEstimate": "reliabayes.results.point_estimate",
        "PredictiveChecks": "reliabayes.results.predictive",
        "Ratings": "reliabayes.ratings",
        "RatingsDataset": "reliabayes.partitions.dataset",
        "RatingsError": "reliabayes.errors",
        "Recommendation": "reliabayes.recommendation",
        "SamplingError": "reliabayes.errors",
        "compare": "reliabayes.results.comparison",
        "majority_vote": "reliabayes.agreement.votes",
        "methods": "reliabayes.reporting.methods",
        "partition": "reliabayes.partitions.scanning",
        "recommend": "reliabayes.recommendation",
        "read_judged": "reliabayes.ratings.judged_files",
        "read_ratings": "reliabayes.ratings.reading",
        "report": "reliabayes.html_report.page",
        "scan_ratings": "reliabayes.partitions.scanning",
    }

    def __getattr__(name: str) -> object:
        if name in _MODULES:
            value = import_module(_MODULES[name])
        elif name in _OBJECTS:
            value = getattr(import_module(_OBJECTS[name]), name)
        elif name == "__version__":
            value = import_module("importlib.metadata").version("reliabayes")
        elif name == "__all__":
            value = sorted({*_MODULES, *_OBJECTS, *_models().__all__} - {"models"})
        elif not name.startswith("_") and name in _models().__all__:
            value = getattr(_models(), name)
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return list(__getattr__("__all__"))

    def _models() -> ModuleType:
        return import_module("reliabayes.models")
