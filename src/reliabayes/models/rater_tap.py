"""t-a_j-p_j: each rater knows the true category with an accuracy of their own, or guesses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from reliabayes.arrays import Array
from reliabayes.families.categories.family import Categories
from reliabayes.families.categories.know_or_guess import KnowOrGuess
from reliabayes.families.categories.prevalence import Prevalence, shared_prevalence
from reliabayes.families.categories.problem import CategoricalProblem
from reliabayes.families.categories.reports import CONFUSION_QUANTITIES
from reliabayes.inference.parameters import Parameter
from reliabayes.models.category_model import CategoryModel
from reliabayes.models.priors import (
    Beta,
    Dirichlet,
    RestrictedNormal,
    check_prevalence,
    prior_of_shared,
)
from reliabayes.ratings import Ratings
from reliabayes.sampling.thresholds import LONG_TAILS

RATERS = KnowOrGuess(known="a", guess="p")


@dataclass(frozen=True, kw_only=True)
class RaterTAP(CategoryModel[None]):
    r"""Accuracy of each rater, who knows the true category or else guesses.

    .. math:: \Pr(\text{rated } k \mid \text{true } h) = a_j\,[h = k] + (1 - a_j)\, p_{jk}

    All items share the prevalence t of their true categories, which the ratings inform. With
    ``prevalence="item"`` each item has a t_i of its own. The likelihood is linear in t_i, so that
    t_i integrates out exactly and only its prior mean remains: the prevalence is then fixed, and
    with the default prior uniform. Where true categories are not equally frequent, this costs
    accuracy; where they are, estimating the prevalence costs little.

    Quantities: ``prevalence`` (K,) where it is shared; ``a`` and ``p`` (K,) of each rater,
    ``confusion`` (K, K), ``accuracy``, ``informativeness`` in bits and ``random_share`` of each
    rater, ``log_likelihood`` in nats and ``bits_per_rating``, with true categories marginalised.

    Parameters
    ----------
    prevalence : {"shared", "item"}
        "shared" for t-a_j-p_j, "item" for t_i-a_j-p_j.
    prior_t : Dirichlet or RestrictedNormal
        Prior of the shared t, for which it is a Dirichlet, or of each item's t_i.
    prior_a : Beta
        Prior of each rater's accuracy.
    prior_p : Dirichlet
        Prior of the probabilities of each rater's guesses.
    prior_misleading : Beta, optional
        Of the probability that an item misleads its raters; by default none does.

    References
    ----------
    Eubanks, Hierarchical t-a-p models. https://kappazoo.com
    """

    summary: ClassVar[str] = "accuracy of each rater, who knows the true category or guesses"
    references: ClassVar[tuple[str, ...]] = ("eubanks",)
    reports: ClassVar[tuple[str, ...]] = ("prevalence", "a", "p", *CONFUSION_QUANTITIES)
    takes_parts: ClassVar[bool] = True

    prevalence: Literal["item", "shared"] = "shared"
    prior_t: Dirichlet | RestrictedNormal = Dirichlet(1.0)
    prior_a: Beta = Beta(1.0, 1.0)
    prior_p: Dirichlet = Dirichlet(1.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_prevalence(self.prevalence, self.prior_t)

    @property
    def family(self) -> Categories:
        """Raters who know or guess: guesses hardly ever made have long tails in log odds."""
        return RATERS.family(LONG_TAILS)

    def problem(self, ratings: Ratings) -> CategoricalProblem[None]:
        """Distinct items by their ratings, priors, and the prior mean of t."""
        problem = self.categorical_problem(ratings)
        mean = self.prior_t.mean(problem.n_categories)
        return replace(problem, prevalence=Prevalence(self.prevalence == "shared", mean))

    def parameters(self) -> tuple[Parameter, ...]:
        """Prevalence where it is shared, a and p."""
        prevalence = shared_prevalence(self.prevalence == "shared")
        return *prevalence, *RATERS.parameters, *self.shared_parameters

    def prior_numbers(self, n_categories: int) -> dict[str, Array]:
        """Values (..., 2) or (K,) of each prior, in the order of Stan's data."""
        return {
            "prevalence": prior_of_shared(self.prior_t, n_categories),
            "a": self.prior_a.stan,
            "p": self.prior_p.of(n_categories),
        }
