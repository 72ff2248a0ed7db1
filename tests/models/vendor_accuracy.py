"""A model with its own dimension, written outside the package as CONTRIBUTING describes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pandas as pd

from reliabayes.arrays import Array, Codes
from reliabayes.families.categories.by_counts import ByCounts
from reliabayes.families.categories.family import Categories
from reliabayes.families.categories.know_or_guess import known_and_guessed, known_or_guessed
from reliabayes.families.categories.prevalence import PREVALENCE
from reliabayes.families.categories.problem import CategoricalProblem, by_rater
from reliabayes.families.categories.reports import CONFUSION_QUANTITIES
from reliabayes.inference.em import Point
from reliabayes.inference.parameters import Parameter
from reliabayes.inference.problem import StanData
from reliabayes.likelihoods.item_mixture import Expected
from reliabayes.models.category_model import CategoryModel
from reliabayes.models.priors import Beta, Dirichlet
from reliabayes.ratings import Ratings


@dataclass(frozen=True, eq=False)
class Vendors:
    """Vendors of the raters, which the program reads besides what all such programs do."""

    of_rater: Codes  # (R,) position of each rater's vendor

    def stan_data(self) -> StanData:
        """Number of vendors, and their positions."""
        return StanData({"L": int(self.of_rater.max()) + 1}, {"vendor": self.of_rater})


@dataclass(frozen=True, kw_only=True)
class VendorAccuracy(CategoryModel[Vendors]):
    """Raters know the true category with the probability of their vendor, and guess otherwise."""

    summary: ClassVar[str] = "accuracy by vendor"
    reports: ClassVar[tuple[str, ...]] = ("prevalence", "a", *CONFUSION_QUANTITIES)

    prior_prevalence: Dirichlet = Dirichlet(1.0)
    prior_a: Beta = Beta(1.0, 1.0)

    @property
    def family(self) -> Categories:
        """How ratings follow from true categories, and what they count for."""
        return Categories(response=ByCounts(probabilities=confusion, pseudo_counts=counts))

    def problem(self, ratings: Ratings) -> CategoricalProblem[Vendors]:
        """Take the first letter of each rater's id as the vendor."""
        base = self.categorical_problem(ratings)
        codes, vendors = pd.factorize(ratings.raters.str[0], sort=True)
        return replace(base, coords={**base.coords, "vendor": vendors}, own=Vendors(codes))

    def parameters(self) -> tuple[Parameter, ...]:
        """Prevalence, and accuracy of each vendor."""
        return PREVALENCE, Parameter("a", "unit", ("vendor",))

    def prior_numbers(self, n_categories: int) -> dict[str, Array]:
        """Hyperparameters of the priors."""
        return {"prevalence": self.prior_prevalence.of(n_categories), "a": self.prior_a.stan}


def confusion(point: Point, problem: CategoricalProblem[Vendors]) -> Array:
    """Probabilities (..., R, K, K) of a rating given each true category."""
    guess = np.full(problem.n_categories, 1 / problem.n_categories)
    return known_or_guessed(point["a"][..., problem.own.of_rater], guess)


def counts(point: Point, expected: Expected, problem: CategoricalProblem[Vendors]) -> Point:
    """Expected items, and expected numbers of known and of guessed ratings of each vendor."""
    by_vendor = np.zeros((problem.size("vendor"), problem.n_categories, problem.n_categories))
    np.add.at(by_vendor, problem.own.of_rater, by_rater(expected, problem))
    known = np.broadcast_to(point["a"][:, None], by_vendor.shape[:2])
    guess = np.full_like(by_vendor, 1 / problem.n_categories)
    knew, guessed = known_and_guessed(by_vendor, known, guess)
    outcomes = np.stack([knew.sum(-1), guessed.sum((-2, -1))], axis=-1)
    return {
        "prevalence": expected.items + problem.priors["prevalence"],
        "a": outcomes + problem.priors["a"],
    }
