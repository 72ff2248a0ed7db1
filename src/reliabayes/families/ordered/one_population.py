"""One population of raters, with effects of items integrated out over nodes."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from reliabayes.arrays import Array, Codes
from reliabayes.families.ordered import em
from reliabayes.families.ordered.centring import CoreCentring
from reliabayes.families.ordered.density import (
    expected_at,
    item_effects,
    state_log_probabilities,
)
from reliabayes.families.ordered.nodes import nodes_of
from reliabayes.families.ordered.problem import OrderedPosterior, OrderedProblem
from reliabayes.families.ordered.starts import cold_start_at, start_in_core
from reliabayes.families.simulation import drawn_categories
from reliabayes.inference.em import Point
from reliabayes.inference.problem import StanPart
from reliabayes.inference.warm_start import WarmStart
from reliabayes.sampling.thresholds import CROWD


class IntegratedEffects:
    """Effects of items of one population, each integrated out over nodes."""

    program: ClassVar[str] = "ordinal_icc"  # also of two categories, which have one cut point
    integrates: ClassVar[bool] = True
    reports_likelihood: ClassVar[bool] = True

    def start(self, problem: OrderedProblem) -> WarmStart:
        """Starting points around a mode, in standard scores of the core and of levels."""
        found = em.climbed(problem)
        expected = expected_at(found.point, problem)
        sd = em.posterior_sd(found.point, expected, problem)
        levels = em.levels_at(found.point, expected, problem)
        return start_in_core(found, sd, levels, problem, acceptance(problem))

    def cold_start(self, problem: OrderedProblem, centring: StanPart | None) -> WarmStart:
        """Starting points dispersed by about one unit around 0 on the unconstrained scale."""
        assert isinstance(centring, CoreCentring)
        return cold_start_at(centring.levels, problem, acceptance(problem), centring)

    def log_probability(self, point: Point, problem: OrderedProblem) -> Array:
        """Log-probability (D,) of the ratings of each distinct item, its effect marginalised."""
        return problem.mixture.log_probability(*state_log_probabilities(point, problem))

    def expected_effects(self, point: Point, items: slice, problem: OrderedProblem) -> Array:
        """Effects (d,) of some distinct items, expected given their ratings and a point."""
        return np.asarray(_nodes(point, items, problem) @ item_effects(point, problem.nodes.node))

    def drawn_effects(
        self, point: Point, items: slice, posterior: OrderedPosterior, rng: np.random.Generator
    ) -> Array:
        """Effects (d,) of some distinct items, drawn given their ratings and a point."""
        problem = posterior.problem
        at: Codes = drawn_categories(_nodes(point, items, problem), rng)
        return item_effects(point, problem.nodes.node[at])


def integrated(problem: OrderedProblem) -> OrderedProblem:
    """The problem of one population whose effects of items are integrated out."""
    return replace(problem, treatment=IntegratedEffects(), nodes=nodes_of(problem))


def acceptance(problem: OrderedProblem) -> float:
    """Acceptance rate of NUTS: of few raters the sd is poorly known, so steps must be small."""
    return 0.7 if problem.n_raters >= CROWD else 0.95


def _nodes(point: Point, items: slice, problem: OrderedProblem) -> Array:
    """Probabilities (d, Q) of the nodes of some distinct items, given their ratings."""
    mixture = problem.mixture.part(items)
    return mixture.posterior(*state_log_probabilities(point, problem))[1]
