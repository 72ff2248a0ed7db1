"""The family of models of true categories: what such a model holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from reliabayes.arrays import Array, Codes
from reliabayes.families.categories.problem import CategoricalProblem
from reliabayes.inference.conjugate import Conjugate
from reliabayes.inference.em import Climb, Point
from reliabayes.inference.warm_start import WarmStart
from reliabayes.likelihoods.item_mixture import Expected
from reliabayes.ratings import Ratings
from reliabayes.results.posterior import Posterior
from reliabayes.sampling.thresholds import USUAL_STEPS, Adaptation


class Response(Protocol):
    """How the probability of a rating follows from the state of its item, and priors of that.

    A *point* is a value of each parameter, by name; where a method takes points of many draws at
    once, their dimensions come first.
    """

    @property
    def takes_many(self) -> bool:
        """Whether `table` takes points (B, ...) at once."""

    @property
    def lasting_priors(self) -> tuple[str, ...]:
        """Parameters whose priors count even where ratings alone are to say something."""

    def confusion(self, point: Point, problem: CategoricalProblem) -> Array | None:
        """Probabilities of a rating (..., [R,] K, K) by true category; None if there are none.

        Of items of different difficulty it is the average.
        """

    def table(self, point: Point, problem: CategoricalProblem) -> Array:
        """Log-probabilities (..., H, V) of a rating, by state of the item and cell."""

    def maximise(self, point: Point, expected: Expected, problem: CategoricalProblem) -> Point:
        """Parameters of higher expected posterior density: the M step."""

    def log_prior(self, point: Point, problem: CategoricalProblem) -> float:
        """Log density of the prior on the unconstrained scale, up to constants."""

    def posterior_sd(self, point: Point, expected: Expected, problem: CategoricalProblem) -> Point:
        """Approximate posterior standard deviations on Stan's unconstrained scale."""

    def draw_from_prior(
        self, problem: CategoricalProblem, rng: np.random.Generator, given: Point
    ) -> Point:
        """Parameters drawn from their priors, conditional on those ``given``."""

    def conjugate(self, problem: CategoricalProblem) -> Conjugate | None:
        """What Gibbs sampling needs; None if only NUTS can sample from the posterior."""


class RaterEffects(Protocol):
    """Raters drawn from a population: the program samples relative to each one's own ratings."""

    def first(self, point: Point, problem: CategoricalProblem) -> Point:
        """Where EM climbs from, given where its first step led to."""

    def quick(
        self,
        problem: CategoricalProblem,
        rng: np.random.Generator,
        max_iterations: int,
        tolerance: float,
    ) -> Point | None:
        """A point near a mode, by steps that are quicker than EM's; None if there are none."""

    def climb_from(
        self, start: Point, problem: CategoricalProblem, max_iterations: int, tolerance: float
    ) -> Climb:
        """EM from a point."""

    def start_at(
        self, found: Climb, problem: CategoricalProblem, adaptation: Adaptation
    ) -> WarmStart:
        """Starting points around a mode that EM has found, in numbers that the program samples."""

    def more_quantities(
        self, point: Point, problem: CategoricalProblem
    ) -> Mapping[str, tuple[tuple[str, ...], Array]]:
        """What else is reported: dims, and values (...) of draws of points."""

    def new_rater(
        self, posterior: Posterior[Any], covariates: Array, rng: np.random.Generator
    ) -> tuple[CategoricalProblem, Point]:
        """Parameters (chains, draws, ...) of one drawn from the population, and its problem."""


class Votes(Protocol):
    """How raters rate who see other ratings of an item."""

    @property
    def are_polled(self) -> bool:
        """Whether all vote before they rate."""

    @property
    def caution(self) -> str:
        """What to say beside the results, in sentences; empty if there is nothing to say."""

    def polled(
        self, truth: Codes, point: Point, blank: Ratings, rng: np.random.Generator
    ) -> Ratings:
        """Votes that raters see before they rate, given true categories (I,)."""

    def rated(
        self, truth: Codes, point: Point, ratings: Ratings, rng: np.random.Generator
    ) -> Codes:
        """Categories (N,) of new ratings of items with these true categories (I,)."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Categories:
    """Items with a true category, and a hidden state that their ratings follow.

    Attributes
    ----------
    response : Response
        How the probability of a rating follows from the state of its item.
    effects : RaterEffects or None
        The population that raters are drawn from; None if each is estimated by itself.
    votes : Votes or None
        How raters see each other's ratings; None if they do not.
    guess : str or None
        Name of the probabilities of each rater's guesses.
    adaptation : Adaptation
        How NUTS adapts.
    permutable : bool
        Whether the likelihood allows categories to switch labels.
    has_cheap_climbs : bool
        Whether EM from a hundred starts takes no time.
    prefers_gibbs : bool
        Whether Gibbs sampling, where there is one, gives more effective draws a second than NUTS.
    better_starts : callable or None
        Makes better starts of those at the modes.
    """

    response: Response
    effects: RaterEffects | None = None
    votes: Votes | None = None
    guess: str | None = None
    adaptation: Adaptation = USUAL_STEPS
    permutable: bool = False
    has_cheap_climbs: bool = True
    prefers_gibbs: bool = True
    better_starts: (
        Callable[[Sequence[WarmStart], CategoricalProblem], Sequence[WarmStart]] | None
    ) = None
