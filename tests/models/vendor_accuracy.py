"""A model with its own dimension, written outside the package as CONTRIBUTING describes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from reliabayes.arrays import Array, Codes
from reliabayes.inference.em import Point
from reliabayes.inference.parameters import Parameter
from reliabayes.inference.problem import StanData, extended
from reliabayes.likelihoods.item_mixture import Expected
from reliabayes.models.bases.annotation import CONFUSION_QUANTITIES, by_rater
from reliabayes.models.bases.conjugate import ConjugateModel
from reliabayes.models.bases.hidden_state import CategoricalProblem
from reliabayes.models.bases.know_or_guess import known_and_guessed, known_or_guessed
from reliabayes.models.priors import Beta, Dirichlet
from reliabayes.ratings import Ratings


@dataclass(frozen=True, eq=False, kw_only=True)
class VendorProblem(CategoricalProblem):
    """Categorical ratings by raters from several vendors."""

    vendor: Codes  # (R,) position of each rater's vendor

    def stan_data(self) -> StanData:
        """Add the vendors to the data of every categorical problem."""
        own = StanData({"L": self.size("vendor")}, {"vendor": self.vendor})
        return super().stan_data() | own


@dataclass(frozen=True, kw_only=True)
class VendorAccuracy(ConjugateModel[VendorProblem]):
    """Raters know the true category with the probability of their vendor, and guess otherwise."""

    summary: ClassVar[str] = "accuracy by vendor"
    reports: ClassVar[tuple[str, ...]] = ("prevalence", "a", *CONFUSION_QUANTITIES)

    prior_prevalence: Dirichlet = Dirichlet(1.0)
    prior_a: Beta = Beta(1.0, 1.0)

    def problem(self, ratings: Ratings) -> VendorProblem:
        """Take the first letter of each rater's id as the vendor."""
        base = self.categorical_problem(ratings)
        codes, vendors = pd.factorize(ratings.raters.str[0], sort=True)
        return extended(
            VendorProblem, base, coords={**base.coords, "vendor": vendors}, vendor=codes
        )

    def parameters(self) -> tuple[Parameter, ...]:
        """Prevalence, and accuracy of each vendor."""
        prevalence = Parameter("prevalence", "simplex", ("true_category",))
        return prevalence, Parameter("a", "unit", ("vendor",))

    def prior_numbers(self, n_categories: int) -> dict[str, Array]:
        """Hyperparameters of the priors."""
        return {
            "prevalence": self.prior_prevalence.of(n_categories),
            "a": self.prior_a.stan,
        }

    def table(self, point: Point, problem: VendorProblem) -> Array:
        """Log-probabilities (K, V) of a rating given each true category."""
        confusion = self.average_confusion(point, problem)
        return np.log(confusion.transpose(1, 2, 0).reshape(problem.n_categories, -1))

    def average_confusion(self, point: Point, problem: VendorProblem) -> Array:
        """Probabilities (..., R, K, K) of a rating given each true category."""
        guess = np.full(problem.n_categories, 1 / problem.n_categories)
        return known_or_guessed(point["a"][..., problem.vendor], guess)

    def pseudo_counts(self, point: Point, expected: Expected, problem: VendorProblem) -> Point:
        """Expected numbers of known and of guessed ratings of each vendor."""
        counts = by_rater(expected, problem)
        known = np.broadcast_to(point["a"][problem.vendor, None], counts.shape[:2])
        guess = np.full_like(counts, 1 / problem.n_categories)
        knew, guessed = known_and_guessed(counts, known, guess)
        by_vendor = np.zeros((problem.size("vendor"), 2))
        outcomes = np.stack([knew.sum(-1), guessed.sum((-2, -1))], axis=-1)
        np.add.at(by_vendor, problem.vendor, outcomes)
        return {
            "prevalence": expected.items + problem.priors["prevalence"],
            "a": by_vendor + problem.priors["a"],
        }
