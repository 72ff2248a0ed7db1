"""EM for raters who know or guess, compiled from stan/cpp/latent_tap_em.cpp."""

from __future__ import annotations

import ctypes

import numpy as np

from reliabayes.inference.em import Climb, Point
from reliabayes.models.bases import compiled_em
from reliabayes.models.bases.compiled_em import POSITIVE, REAL, SHARE, CompiledEM, ItemsData
from reliabayes.models.bases.difficulty import LatentTAPProblem

RANGES = {
    **{"prevalence": SHARE, "mean_p": SHARE, "mean_alpha": REAL, "sd_delta": POSITIVE},
    **{"alpha": REAL, "p": SHARE},
}


def steps_are_compiled(problem: LatentTAPProblem) -> bool:
    """Whether the library has the EM steps: not of covariates of raters."""
    return compiled_em.steps_are_compiled(problem) and problem.size("covariate") == 0


def compiled_climb(
    start: Point, problem: LatentTAPProblem, max_iterations: int, tolerance: float
) -> Climb:
    """EM from a point.

    Parameters
    ----------
    start : mapping of str to array
        Parameters by name.
    problem : LatentTAPProblem
        Ratings and priors.
    max_iterations : int
        Steps at most.
    tolerance : float
        As of `inference.em.climb`.

    Returns
    -------
    Climb
    """
    nodes, priors = problem.nodes, problem.priors
    steps = CompiledEM(
        "latent_tap",
        problem,
        nodes.number * problem.n_categories,
        RANGES,
        _KnowOrGuessData,
        *(priors["prevalence"], priors["mean_p"], nodes.node, np.log(nodes.weight)),
        *(nodes.number, int("sd_delta" in start)),
        *priors["mean_alpha"].tolist(),
        *priors["sd_delta"].tolist(),
        *(float(start["sd_alpha"]), float(start["concentration"])),
    )
    every = {"sd_delta": np.ones(1), **start}  # which nothing depends on if all are alike
    found = steps.climb(every, max_iterations, tolerance)
    return found._replace(point={name: found.point[name] for name in start})


class _KnowOrGuessData(ItemsData):
    """The structure ``KnowOrGuess`` of stan/cpp/em/accuracy.hpp."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("prevalence", "mean_guess", "node", "log_of_node")),
        *((name, ctypes.c_int64) for name in ("nodes", "has_difficulty")),
        *((name, ctypes.c_double) for name in ("mean_mean", "mean_sd", "delta_df", "delta_scale")),
        *((name, ctypes.c_double) for name in ("sd_alpha", "concentration")),
    )
