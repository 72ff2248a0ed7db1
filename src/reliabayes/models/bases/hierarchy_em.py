"""EM for log odds of errors in a hierarchy, compiled from stan/cpp/hierarchy_em.cpp."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reliabayes.inference import gibbs
from reliabayes.inference.em import Climb, Point, climb
from reliabayes.inference.host import IN_BROWSER
from reliabayes.likelihoods.item_mixture import Expected
from reliabayes.models.bases import misleading
from reliabayes.models.bases.hierarchical_problem import HierarchicalProblem

PARTS = ("prevalence", "location", "spread", "effect")


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
    found = HierarchyEM(problem).climb({**start, **own}, max_iterations, tolerance)
    of_misleading = misleading.log_prior(found.point, problem)
    return found._replace(path=tuple(value + of_misleading for value in found.path))


class HierarchyEM:
    """EM steps of ratings in a hierarchy, as the library makes them.

    Parameters
    ----------
    problem : HierarchicalProblem
        Ratings and priors, and the precision of log odds for the Laplace approximation.
    """

    def __init__(self, problem: HierarchicalProblem) -> None:
        self.n_categories, self.n_raters = problem.n_categories, problem.n_raters
        self.n_cells, mixture, priors = problem.n_cells, problem.mixture, problem.priors
        self.arrays: tuple[NDArray[Any], ...] = tuple(
            np.ascontiguousarray(values, dtype)
            for values, dtype in (
                (mixture.counts.indptr, np.int32),
                (mixture.counts.indices, np.int32),
                (mixture.counts.data, np.float64),
                (mixture.kind, np.int32),
                (mixture.multiplicity, np.float64),
                (priors["prevalence"], np.float64),
                (problem.precision, np.float64),
            )
        )
        self.data = _Problem(
            len(mixture.kind),
            self.n_categories,
            self.n_raters,
            *map(gibbs.pointer, self.arrays),
            *priors["location"].tolist(),
            *priors["spread"].tolist(),
        )

    def climb(self, start: Point, max_iterations: int, tolerance: float) -> Climb:
        """EM from a point, as `inference.em.climb` makes it; other parameters stay."""
        first = np.concatenate([np.ravel(start[name]) for name in PARTS])
        found = climb(
            self._evaluate,
            {"all": np.asarray(first, float)},
            max_iterations=max_iterations,
            tolerance=tolerance,
            is_allowed=lambda point: bool(np.isfinite(point["all"]).all()),
            held=self._held,
        )
        ends = np.cumsum([start[name].size for name in PARTS])[:-1]
        parts = np.split(found.point["all"], ends)
        own = {n: x.reshape(start[n].shape) for n, x in zip(PARTS, parts, strict=True)}
        return found._replace(point={**start, **own})

    def _evaluate(self, point: Point) -> tuple[float, Callable[[], Point]]:
        """Log posterior density at a point, and the EM step from there."""
        x = point["all"]
        items, ratings = np.empty(self.n_categories), np.empty(self.n_cells * self.n_categories)
        expected = (gibbs.pointer(x), gibbs.pointer(items), gibbs.pointer(ratings))
        own = ctypes.byref(self.data)
        value = _library().reliabayes_hierarchy_expect(own, *expected)

        def step() -> Point:
            following = np.empty_like(x)
            own_expected = map(gibbs.pointer, (x, items, ratings, following))
            _library().reliabayes_hierarchy_maximise(own, *own_expected)
            return {"all": following}

        return value, step

    def _held(self, point: Point, inside: Point) -> Point:
        """A point with the prevalences and spreads of another wherever its own are none."""
        x, other = point["all"], inside["all"]
        n_errors = self.n_categories * (self.n_categories - 1)
        share = slice(self.n_categories)
        spread = slice(self.n_categories + n_errors, self.n_categories + 2 * n_errors)
        x[share] = np.where((x[share] >= 0) & (x[share] <= 1), x[share], other[share])
        x[spread] = np.where(x[spread] > 0, x[spread], other[spread])
        return point


class _Problem(ctypes.Structure):
    """The structure ``Problem`` of stan/cpp/hierarchy_em/problem.hpp."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("items", "categories", "raters")),
        *((f"pointer_{number}", ctypes.c_void_p) for number in range(7)),
        *((name, ctypes.c_double) for name in ("location_mean", "location_sd")),
        *((name, ctypes.c_double) for name in ("spread_df", "spread_scale")),
    )


@cache
def _library() -> ctypes.CDLL:
    loaded = gibbs.library()
    loaded.reliabayes_hierarchy_expect.restype = ctypes.c_double
    loaded.reliabayes_hierarchy_maximise.restype = None
    return loaded
