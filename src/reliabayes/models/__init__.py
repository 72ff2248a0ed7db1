"""The models. To add one is to add its name here; see CONTRIBUTING."""

from reliabayes.models.base import RatingModel
from reliabayes.models.dawid_skene import DawidSkene
from reliabayes.models.gaussian_icc import GaussianICC
from reliabayes.models.mace import MACE
from reliabayes.models.priors import (
    Beta,
    DiagonalDirichlet,
    Dirichlet,
    HalfNormal,
    HalfStudentT,
    Normal,
    RestrictedNormal,
)
from reliabayes.models.rater_tap import RaterTAP
from reliabayes.models.tap import TAP

MODELS: tuple[type[RatingModel], ...] = (GaussianICC, TAP, RaterTAP, DawidSkene, MACE)

__all__ = [
    "MACE",
    "MODELS",
    "TAP",
    "Beta",
    "DawidSkene",
    "DiagonalDirichlet",
    "Dirichlet",
    "GaussianICC",
    "HalfNormal",
    "HalfStudentT",
    "Normal",
    "RaterTAP",
    "RatingModel",
    "RestrictedNormal",
]
