"""Expectation maximisation over the hidden states of items."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from typing_extensions import TypeVar

from reliabayes.arrays import Array
from reliabayes.inference.em import Climb, Point, climb
from reliabayes.inference.warm_start import WarmStart
from reliabayes.likelihoods.item_mixture import Expected
from reliabayes.models.bases.hidden_state import CategoricalProblem, HiddenStateModel

P = TypeVar("P", bound=CategoricalProblem, default=Any)


class EMModel(HiddenStateModel[P]):
    """A model with an E step over hidden states, and an M step of its own."""

    @abstractmethod
    def maximise(self, point: Point, expected: Expected, problem: P) -> Point:
        """Parameters of higher expected posterior density: the M step."""

    @abstractmethod
    def posterior_sd(self, point: Point, expected: Expected, problem: P) -> Point:
        """Approximate posterior standard deviations on Stan's unconstrained scale."""

    @abstractmethod
    def log_prior(self, point: Point, problem: P) -> float:
        """Log density of the prior on the unconstrained scale, up to constants."""

    @abstractmethod
    def initial_states(self, problem: P, rng: np.random.Generator | None) -> Array:
        """Probabilities (D, H) of the states of each item to start EM from; random given rng."""

    def initial(self, problem: P, rng: np.random.Generator | None) -> Expected:
        """Sufficient statistics that EM starts from."""
        states = self.initial_states(problem, rng)
        return self.expected(self.midpoint(problem), states, problem)

    def without_priors(self, problem: P) -> P:
        """The same problem with priors that add nothing to the ratings."""
        none = {name: np.zeros_like(prior) for name, prior in problem.priors.items()}
        return replace(problem, priors=none | self.lasting_priors(problem))

    def lasting_priors(self, problem: P) -> dict[str, Array]:
        """Priors of what the ratings alone need not say anything of, which always count."""
        return {}

    def posterior_sd_at(self, point: Point, problem: P) -> Point:
        """`posterior_sd` for the ratings that are expected at a point."""
        return self.posterior_sd(point, self.expected_at(point, problem), problem)

    def log_volume(self, start: WarmStart) -> float:
        """Log of the product of all sds around a mode, in the units of EM's objective."""
        return sum(float(np.log(each).sum()) for each in start.sd.values())

    def run_em(
        self, problem: P, rng: np.random.Generator | None, max_iterations: int, tolerance: float
    ) -> Climb:
        """EM from the votes, or from random states; the objective is the posterior density."""
        middle = self.midpoint(problem)
        first = self.maximise(middle, self.initial(problem, rng), problem)
        return self.climb_from(first, problem, max_iterations, tolerance)

    def quick_em(
        self, problem: P, rng: np.random.Generator, max_iterations: int, tolerance: float
    ) -> Climb:
        """EM from random states to a point near a mode, if need be by quicker steps than EM's."""
        return self.run_em(problem, rng, max_iterations, tolerance)

    def climb_from(self, start: Point, problem: P, max_iterations: int, tolerance: float) -> Climb:
        """EM from a point."""

        def evaluate(point: Point) -> tuple[float, Callable[[], Point]]:
            log_likelihood, expected = self.e_step(point, problem)
            objective = log_likelihood + self.log_prior(point, problem)
            return objective, lambda: self.maximise(point, expected(), problem)

        return climb(
            evaluate,
            start,
            max_iterations=max_iterations,
            tolerance=tolerance,
            is_allowed=self.in_support,
            held=self.held,
        )
