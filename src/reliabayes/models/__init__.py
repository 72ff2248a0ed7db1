"""The models. To add one is to add its name here; see CONTRIBUTING."""

from reliabayes.models.base import RatingModel
from reliabayes.models.gaussian_icc import GaussianICC
from reliabayes.models.priors import HalfNormal, HalfStudentT, Normal

MODELS: tuple[type[RatingModel], ...] = (GaussianICC,)

__all__ = ["MODELS", "GaussianICC", "HalfNormal", "HalfStudentT", "Normal", "RatingModel"]
