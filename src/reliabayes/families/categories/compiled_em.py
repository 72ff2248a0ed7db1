"""EM over hidden states of items in compiled steps, for models whose steps take NumPy longer.

They are compiled from ``hierarchy_em.cpp`` and ``latent_tap_em.cpp`` of stan/cpp.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reliabayes.arrays import Array
from reliabayes.families.categories import misleading
from reliabayes.families.categories.problem import CategoricalProblem
from reliabayes.inference import gibbs
from reliabayes.inference.em import Climb, Point, climb
from reliabayes.inference.host import IN_BROWSER
from reliabayes.likelihoods.item_mixture import Expected

# Ranges of parameters.
REAL = -np.inf, np.inf
SHARE = 0.0, 1.0
POSITIVE = np.nextafter(0, 1), np.inf
OF_HIERARCHY = {
    **{"prevalence": SHARE, "location": REAL, "spread": POSITIVE},
    **{"ability_spread": POSITIVE, "ability": REAL, "effect": REAL},
}
OF_LATENT_TAP = {
    **{"prevalence": SHARE, "mean_p": SHARE, "mean_alpha": REAL, "sd_delta": POSITIVE},
    **{"alpha": REAL, "p": SHARE},
}


def steps_are_compiled(problem: CategoricalProblem) -> bool:
    """Whether the library may have the EM steps.

    Not if known categories say what misleads, nor of covariates of raters.
    """
    has_covariates = "covariate" in problem.coords and problem.size("covariate") > 0
    return (
        not IN_BROWSER
        and not has_covariates
        and not (problem.misleads and problem.n_gold_states > 1)
    )


def compiled_hierarchy(
    start: Point, problem: CategoricalProblem, max_iterations: int, tolerance: float
) -> Climb:
    """EM from a point of a hierarchy in log odds, with one Laplace approximation."""
    steps = _CompiledEM(
        "hierarchy",
        problem,
        problem.n_categories,
        OF_HIERARCHY,
        _HierarchyData,
        problem.priors["prevalence"],
        problem.own.precision,
        *problem.priors["location"].tolist(),
        *problem.priors["spread"].tolist(),
        *problem.priors["ability_spread"].tolist(),
    )
    return steps.climb(start, max_iterations, tolerance)


def compiled_latent_tap(
    start: Point, problem: CategoricalProblem, max_iterations: int, tolerance: float
) -> Climb:
    """EM from a point of raters who know or guess, and items of different difficulty."""
    nodes, priors = problem.nodes, problem.priors
    assert nodes is not None
    steps = _CompiledEM(
        "latent_tap",
        problem,
        nodes.number * problem.n_categories,
        OF_LATENT_TAP,
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


class _CompiledEM:
    """EM steps that the library has of a model.

    Parameters
    ----------
    name : str
        That the functions of the library have in common.
    problem : CategoricalProblem
        Ratings, whose cells are a category and a rater each.
    n_states : int
        Number S of states of an item.
    ranges : mapping of str to tuple of float
        Names of the parameters in the order in which steps take them, and their ranges.
    data : subclass of Structure
        What steps read.
    own : array, int or float
        Values of its own fields, in their order.
    """

    def __init__(
        self,
        name: str,
        problem: CategoricalProblem,
        n_states: int,
        ranges: Mapping[str, tuple[float, float]],
        data: type[ctypes.Structure],
        *own: Array | int | float,
    ) -> None:
        mixture = problem.mixture
        self.problem, self.n_states, self.ranges = problem, n_states, ranges
        self.expect, self.maximise = _steps(name)
        self.arrays: tuple[NDArray[Any], ...] = tuple(
            np.ascontiguousarray(values, dtype)
            for values, dtype in (
                (mixture.counts.indptr, np.int32),
                (mixture.counts.indices, np.int32),
                (mixture.counts.data, np.float64),
                (mixture.kind, np.int32),
                (mixture.multiplicity, np.float64),
                *((values, np.float64) for values in own if isinstance(values, np.ndarray)),
            )
        )
        pointers = map(gibbs.pointer, self.arrays)
        of_items = [next(pointers) for _ in range(5)]
        of_own = (next(pointers) if isinstance(value, np.ndarray) else value for value in own)
        sizes = len(mixture.kind), problem.n_categories, problem.n_raters
        self.data = data(*sizes, *of_items, *of_own)

    def climb(self, start: Point, max_iterations: int, tolerance: float) -> Climb:
        """EM from a point, as `inference.em.climb` makes it; other parameters stay.

        What misleads keeps its prior.
        """
        none = Expected(np.empty(0), np.empty(0))
        start = {**start, **misleading.most_likely(none, self.problem)}
        sizes = [start[name].size for name in self.ranges]
        low, high = (np.repeat(ends, sizes) for ends in zip(*self.ranges.values(), strict=True))

        def held(point: Point, inside: Point) -> Point:
            x = point["all"]
            return {"all": np.where((x >= low) & (x <= high), x, inside["all"])}

        first = np.concatenate([np.ravel(start[name]) for name in self.ranges])
        found = climb(
            self._evaluate,
            {"all": np.asarray(first, float)},
            max_iterations=max_iterations,
            tolerance=tolerance,
            is_allowed=lambda point: bool(np.isfinite(point["all"]).all()),
            held=held,
        )
        parts = np.split(found.point["all"], np.cumsum(sizes)[:-1])
        own = {n: x.reshape(start[n].shape) for n, x in zip(self.ranges, parts, strict=True)}
        of_misleading = misleading.log_prior(start, self.problem)
        path = tuple(value + of_misleading for value in found.path)
        return found._replace(point={**start, **own}, path=path)

    def _evaluate(self, point: Point) -> tuple[float, Callable[[], Point]]:
        """Log posterior density at a point, and the EM step from there."""
        x = point["all"]
        items, ratings = np.empty(self.n_states), np.empty(self.problem.n_cells * self.n_states)
        expected = (gibbs.pointer(x), gibbs.pointer(items), gibbs.pointer(ratings))
        value = self.expect(ctypes.byref(self.data), *expected)

        def step() -> Point:
            following = np.empty_like(x)
            own_expected = map(gibbs.pointer, (x, items, ratings, following))
            self.maximise(ctypes.byref(self.data), *own_expected)
            return {"all": following}

        return value, step


# The structure ``Items`` of stan/cpp/em/items.hpp, with which those of all models begin.
ITEMS: tuple[tuple[str, type[Any]], ...] = (
    *((name, ctypes.c_int64) for name in ("items", "categories", "raters")),
    *((name, ctypes.c_void_p) for name in ("first", "cell", "count", "kind", "multiplicity")),
)


class _HierarchyData(ctypes.Structure):
    """The structure ``Hierarchy`` of stan/cpp/em/hierarchy.hpp."""

    _fields_ = (
        *ITEMS,
        *((name, ctypes.c_void_p) for name in ("prevalence", "precision")),
        *((name, ctypes.c_double) for name in ("location_mean", "location_sd")),
        *((name, ctypes.c_double) for name in ("spread_df", "spread_scale")),
        *((name, ctypes.c_double) for name in ("ability_df", "ability_scale")),
    )


class _KnowOrGuessData(ctypes.Structure):
    """The structure ``KnowOrGuess`` of stan/cpp/em/accuracy.hpp."""

    _fields_ = (
        *ITEMS,
        *((name, ctypes.c_void_p) for name in ("prevalence", "mean_guess", "node", "log_of_node")),
        *((name, ctypes.c_int64) for name in ("nodes", "has_difficulty")),
        *((name, ctypes.c_double) for name in ("mean_mean", "mean_sd", "delta_df", "delta_scale")),
        *((name, ctypes.c_double) for name in ("sd_alpha", "concentration")),
    )


@cache
def _steps(name: str) -> tuple[Callable[..., float], Callable[..., None]]:
    """E and M step of the library."""
    loaded = gibbs.library()
    expect = getattr(loaded, f"reliabayes_{name}_expect")
    maximise = getattr(loaded, f"reliabayes_{name}_maximise")
    expect.restype, maximise.restype = ctypes.c_double, None
    return expect, maximise
