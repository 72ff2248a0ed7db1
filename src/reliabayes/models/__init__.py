"""The models. To add one, add its name here; see CONTRIBUTING.

Each is imported when it is first used: a fit needs one of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from reliabayes.wording import kebab_case

# Classes of models in the order in which they are listed, each in a module of its name.
NAMES = (
    "GaussianICC",
    "GStudy",
    "LogitICC",
    "OrdinalICC",
    "GaussianXCC",
    "LogitXCC",
    "OrdinalXCC",
    "TAP",
    "RaterTAP",
    "DawidSkene",
    "HierarchicalDawidSkene",
    "MACE",
    "Groupthink",
    "RaterGroupthink",
    "LatentTAP",
    "JudgePanel",
)

if TYPE_CHECKING:
    from reliabayes.models.covariates import Covariates
    from reliabayes.models.dawid_skene import DawidSkene
    from reliabayes.models.gaussian_icc import GaussianICC
    from reliabayes.models.gaussian_xcc import GaussianXCC
    from reliabayes.models.groupthink import Groupthink
    from reliabayes.models.gstudy import GStudy
    from reliabayes.models.hierarchical_dawid_skene import HierarchicalDawidSkene
    from reliabayes.models.judge_panel import JudgePanel
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
        DirichletRows,
        HalfNormal,
        HalfStudentT,
        Normal,
        RestrictedNormal,
    )
    from reliabayes.models.rater_groupthink import RaterGroupthink
    from reliabayes.models.rater_tap import RaterTAP
    from reliabayes.models.rating_model import RatingModel
    from reliabayes.models.tap import TAP

    MODELS: tuple[type[RatingModel[Any]], ...]
else:
    _PRIORS = (
        "Beta",
        "DiagonalDirichlet",
        "Dirichlet",
        "DirichletRows",
        "HalfNormal",
        "HalfStudentT",
        "Normal",
        "RestrictedNormal",
    )
    # Where all other names come from.
    _OTHERS = {
        **dict.fromkeys(_PRIORS, "priors"),
        "Covariates": "covariates",
        "RatingModel": "rating_model",
    }

    def __getattr__(name: str) -> object:
        if name == "MODELS":
            value = tuple(__getattr__(each) for each in NAMES)
        elif name in NAMES or name in _OTHERS:
            module = _OTHERS.get(name) or kebab_case(name).replace("-", "_")
            value = getattr(import_module(f"reliabayes.models.{module}"), name)
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value
        return value


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
    "JudgePanel",
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
