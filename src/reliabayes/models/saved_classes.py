"""Classes of the package that a saved fit may hold: models, what their fields hold, centrings."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from inspect import isclass

from reliabayes import models
from reliabayes.families.ordered.centring import CoreCentring, ScoreCentring
from reliabayes.families.ordered.crowd import CrowdCentring
from reliabayes.inference.problem import Problem, StanPart
from reliabayes.models import RatingModel
from reliabayes.results.saved_classes import import_name

ROOMS = ("reliabayes.models", "reliabayes.families", "reliabayes.inference")
# What older files call classes that have moved.
MOVED = {
    "reliabayes.models.bases.prior_checks:DirichletRows": models.DirichletRows,
    "reliabayes.models.graded_gstudy:GradedGStudy": models.GStudy,
    "reliabayes.models.bases.core_centring:CoreCentring": CoreCentring,
    "reliabayes.models.bases.crowd:CrowdCentring": CrowdCentring,
    "reliabayes.models.bases.scores:ScoreCentring": ScoreCentring,
}


def saved_classes() -> Mapping[str, type]:
    """Classes that `Fit.load` builds, by the names that files have for them.

    Returns
    -------
    mapping of str to type
        The dataclasses that `reliabayes.models` exports, which are models, priors and covariates;
        and the centrings, which are what else programs read of a start.
    """
    every = [getattr(models, name) for name in models.__all__]
    return MOVED | {import_name(each): each for each in (*filter(_is_saved, every), *_centrings())}


def _centrings() -> Iterator[type]:
    """Dataclasses with data of Stan that are neither problems nor models."""
    for name, module in tuple(sys.modules.items()):
        found = filter(_is_saved, vars(module).values()) if name.startswith(ROOMS) else ()
        for each in found:
            if issubclass(each, StanPart) and not issubclass(each, (Problem, RatingModel)):
                yield each


def _is_saved(value: object) -> bool:
    return isclass(value) and is_dataclass(value)
