"""Latent scores of one population, whose effects are all sampled where it is a crowd."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from reliabayes.arrays import Array
from reliabayes.inference.em import Point
from reliabayes.inference.problem import StanPart
from reliabayes.inference.warm_start import WarmStart
from reliabayes.models.bases.crowd import (
    PROGRAM,
    CrowdCentring,
    CrowdProblem,
    crowd_of,
    is_crowd,
    start_from,
    start_of,
)
from reliabayes.models.bases.latent_score import middle_cut
from reliabayes.models.bases.level_centring import LevelCentring
from reliabayes.models.bases.one_population import OnePopulationModel
from reliabayes.models.bases.score_problem import ScoreProblem
from reliabayes.ratings import Ratings
from reliabayes.results.posterior import Posterior


@dataclass(frozen=True, kw_only=True)
class CrowdModel(OnePopulationModel):
    """A model of one population that samples effects of items where raters are many.

    Draws then have them, too; all else is as if they were integrated out.
    """

    def program(self, problem: ScoreProblem) -> str:
        """The program that samples all effects, or the one that integrates those of items out."""
        return PROGRAM if isinstance(problem, CrowdProblem) else "ordinal_icc"

    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Names of the dimensions of the programs' variables."""
        return {**super().dims(), "effect": ("item",)}

    def problem(self, ratings: Ratings) -> ScoreProblem:
        """All items of a crowd, unless nodes are given; else distinct ones by their ratings."""
        found = super().problem(ratings)
        return crowd_of(found) if self.nodes is None and is_crowd(found) else found

    def settled(self, problem: ScoreProblem, centring: StanPart | None) -> ScoreProblem:
        """The problem with nodes around the mode, if effects of items were integrated out."""
        if isinstance(problem, CrowdProblem) and isinstance(centring, LevelCentring):
            problem = self.problem_of(problem)  # of a fit that was saved when all crowds were
        return super().settled(problem, centring)

    def start(self, problem: ScoreProblem) -> WarmStart:
        """Around the joint mode of all effects of a crowd; else by EM."""
        if not isinstance(problem, CrowdProblem):
            return super().start(problem)
        guess = self.moment_estimates(problem)
        start = start_of(problem, guess, self.cut(guess), middle_cut(problem))
        return replace(start, target_acceptance=self.acceptance(problem))

    def cold_start(self, problem: ScoreProblem, centring: StanPart | None) -> WarmStart:
        """Starting points dispersed by about one unit around 0 on the unconstrained scale."""
        if not isinstance(centring, CrowdCentring):
            return super().cold_start(problem, centring)
        start = start_from(centring)
        return replace(
            start,
            target_acceptance=self.acceptance(problem),
            sd={name: np.full_like(sd, 0.5) for name, sd in start.sd.items()},
            step_size=None,
            mean=None,
            covariance=None,
        )

    def expected_effects(self, point: Point, items: slice, problem: ScoreProblem) -> Array:
        """Effects (d,) of some distinct items, expected given their ratings and a point."""
        with_nodes = self.problem_of(problem) if isinstance(problem, CrowdProblem) else problem
        return super().expected_effects(point, items, with_nodes)

    def drawn_effects(
        self,
        point: Point,
        items: slice,
        posterior: Posterior[ScoreProblem],
        rng: np.random.Generator,
    ) -> Array:
        """Effects (d,) of some distinct items: sampled, or drawn given their ratings."""
        if isinstance(posterior.problem, CrowdProblem):
            return point["effect"][items]
        return super().drawn_effects(point, items, posterior, rng)

    def log_probability(self, point: Point, problem: ScoreProblem) -> Array:
        """Log-probability (D,) of the ratings of each distinct item, its effect marginalised."""
        if isinstance(problem, CrowdProblem):
            return problem.log_probability(point, self.cut(point))
        return super().log_probability(point, problem)

    def integration_error(self, posterior: Posterior[ScoreProblem]) -> tuple[int, float]:
        """Number of nodes, and the error of the log-likelihood; 0 if effects are sampled."""
        sampled = isinstance(posterior.problem, CrowdProblem)
        return (0, 0.0) if sampled else super().integration_error(posterior)
