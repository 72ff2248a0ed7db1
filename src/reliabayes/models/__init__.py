"""The models. To add one, add its name here; see CONTRIBUTING."""

from typing import Any

from reliabayes.models.bases.prior_checks import DirichletRows
from reliabayes.models.bases.rating_model import RatingModel
from reliabayes.models.covariates import Covariates
from reliabayes.models.dawid_skene import DawidSkene
from reliabayes.models.gaussian_icc import GaussianICC
from reliabayes.models.gaussian_xcc import GaussianXCC
from reliabayes.models.graded_gstudy import GradedGStudy as GradedGStudy  # a family of GStudy
from reliabayes.models.groupthink import Groupthink
from reliabayes.models.gstudy import GStudy
from reliabayes.models.hierarchical_dawid_skene import HierarchicalDawidSkene
from reliabayes.models.latent_tap import LatentTAP
from reliabayes.models.logit_icc import LogitICC
from reliabayes.models.logit_xcc import LogitXCC
from reliabayes.models.mace import MACE
from reliabayes.models.ordinal_icc import OrdinalICC
from reliabayes.models.ordinal_xcc import OrdinalXCC
from reliabayes.models.priors import (
    Beta,
    DiagonalDirichlet,
    Dirichlet,
    HalfNormal,
    HalfStudentT,
    Normal,
    RestrictedNormal,
)
from reliabayes.models.rater_groupthink import RaterGroupthink
from reliabayes.models.rater_tap import RaterTAP
from reliabayes.models.tap import TAP

MODELS: tuple[type[RatingModel[Any]], ...] = (
    GaussianICC,
    GStudy,
    LogitICC,
    OrdinalICC,
    GaussianXCC,
    LogitXCC,
    OrdinalXCC,
    TAP,
    RaterTAP,
    DawidSkene,
    HierarchicalDawidSkene,
    MACE,
    Groupthink,
    RaterGroupthink,
    LatentTAP,
)

__all__ = [
    "MACE",
    "MODELS",
    "TAP",
    "Beta",
    "Covariates",
    "DawidSkene",
    "DiagonalDirichlet",
    "Dirichlet",
    "DirichletRows",
    "GStudy",
    "GaussianICC",
    "GaussianXCC",
    "Groupthink",
    "HalfNormal",
    "HalfStudentT",
    "HierarchicalDawidSkene",
    "LatentTAP",
    "LogitICC",
    "LogitXCC",
    "Normal",
    "OrdinalICC",
    "OrdinalXCC",
    "RaterGroupthink",
    "RaterTAP",
    "RatingModel",
    "RestrictedNormal",
]


def __dir__() -> list[str]:
    return __all__
