"""EM for log odds of errors in a hierarchy, compiled from stan/cpp/hierarchy_em.cpp."""

from __future__ import annotations

import ctypes

import numpy as np

from reliabayes.inference.em import Climb, Point
from reliabayes.inference.host import IN_BROWSER
from reliabayes.likelihoods.item_mixture import Expected
from reliabayes.models.bases import misleading
from reliabayes.models.bases.compiled_em import POSITIVE, REAL, SHARE, CompiledEM, ItemsData
from reliabayes.models.bases.hierarchical_problem import HierarchicalProblem

RANGES = {"prevalence": SHARE, "location": REAL, "spread": POSITIVE, "effect": REAL}


def steps_are_compiled(problem: HierarchicalProblem) -> bool:
    """Whether the library has the EM steps: not if known true categories say what misleads."""
    return not IN_BROWSER and not (problem.misleads and problem.n_kinds > 1)


def compiled_climb(
    start: Point, problem: HierarchicalProblem, max_iterations: int, tolerance: float
) -> Climb:
    """EM from a point, with one Laplace approximation.

    Parameters
    ----------
    start : mapping of str to array
        Parameters by name.
    problem : HierarchicalProblem
        Ratings and priors.
    max_iterations : int
        Steps at most.
    tolerance : float
        As of `inference.em.climb`.

    Returns
    -------
    Climb
    """
    none = np.zeros((problem.n_categories, problem.n_cells))
    own = misleading.most_likely(Expected(none, none[:, 0]), problem)
    steps = CompiledEM(
        "hierarchy",
        problem,
        problem.n_categories,
        RANGES,
        _HierarchyData,
        problem.priors["prevalence"],
        problem.precision,
        *problem.priors["location"].tolist(),
        *problem.priors["spread"].tolist(),
    )
    found = steps.climb({**start, **own}, max_iterations, tolerance)
    of_misleading = misleading.log_prior(found.point, problem)
    return found._replace(path=tuple(value + of_misleading for value in found.path))


class _HierarchyData(ItemsData):
    """The structure ``Hierarchy`` of stan/cpp/em/hierarchy.hpp."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("prevalence", "precision")),
        *((name, ctypes.c_double) for name in ("location_mean", "location_sd")),
        *((name, ctypes.c_double) for name in ("spread_df", "spread_scale")),
    )
