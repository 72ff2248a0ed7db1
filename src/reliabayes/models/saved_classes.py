"""Classes of the package that a saved fit may hold: models, what their fields hold, centrings."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from inspect import isclass

from reliabayes import models
from reliabayes.inference.problem import Problem, StanPart
from reliabayes.models import RatingModel
from reliabayes.results.saved_classes import import_name

ROOMS = ("reliabayes.models", "reliabayes.inference")


def saved_classes() -> Mapping[str, type]:
    """Classes that `Fit.load` builds, by the names that files have for them.

    Returns
    -------
    mapping of str to type
        The dataclasses that `reliabayes.models` exports, which are models, priors and covariates;
        and the centrings, which are what else programs read of a start.
    """
    names = ["GradedGStudy", *models.__all__]
    exported = [each for each in (getattr(models, name) for name in names) if _is_saved(each)]
    return {import_name(each): each for each in (*exported, *_centrings())}


def _centrings() -> Iterator[type]:
    """Dataclasses with data of Stan that are neither problems nor models."""
    for name, module in tuple(sys.modules.items()):
        found = filter(_is_saved, vars(module).values()) if name.startswith(ROOMS) else ()
        for each in found:
            if issubclass(each, StanPart) and not issubclass(each, (Problem, RatingModel)):
                yield each


def _is_saved(value: object) -> bool:
    return isclass(value) and is_dataclass(value)
