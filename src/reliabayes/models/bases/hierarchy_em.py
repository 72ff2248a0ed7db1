"""EM for log odds of errors in a hierarchy, compiled from stan/cpp/hierarchy_em.cpp."""

from __future__ import annotations

import ctypes

from reliabayes.inference.em import Climb, Point
from reliabayes.models.bases.compiled_em import POSITIVE, REAL, SHARE, CompiledEM, ItemsData
from reliabayes.models.bases.hierarchical_problem import HierarchicalProblem

RANGES = {"prevalence": SHARE, "location": REAL, "spread": POSITIVE, "effect": REAL}


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
    return steps.climb(start, max_iterations, tolerance)


class _HierarchyData(ItemsData):
    """The structure ``Hierarchy`` of stan/cpp/em/hierarchy.hpp."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("prevalence", "precision")),
        *((name, ctypes.c_double) for name in ("location_mean", "location_sd")),
        *((name, ctypes.c_double) for name in ("spread_df", "spread_scale")),
    )
