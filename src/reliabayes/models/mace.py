"""MACE: a rater copies the true category, or spams."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from reliabayes.arrays import Array
from reliabayes.families.categories.family import Categories
from reliabayes.families.categories.know_or_guess import KnowOrGuess
from reliabayes.families.categories.prevalence import Prevalence, shared_prevalence
from reliabayes.families.categories.problem import CategoricalProblem
from reliabayes.families.categories.reports import CONFUSION_QUANTITIES
from reliabayes.inference.parameters import Parameter
from reliabayes.models.category_model import CategoryModel
from reliabayes.models.priors import Beta, Dirichlet
from reliabayes.ratings import Ratings
from reliabayes.sampling.thresholds import TAILS_OF_MANY_LENGTHS

RATERS = KnowOrGuess(known="theta", guess="xi")


@dataclass(frozen=True, kw_only=True)
class MACE(CategoryModel[None]):
    r"""Multi-annotator competence estimation: raters copy the true category, or spam.

    .. math:: \Pr(\text{rated } k \mid \text{true } h) = \theta_j\,[h = k] + (1-\theta_j)\,\xi_{jk}

    For two categories it is t-a_j-p_j with other priors and names; with the uniform prevalence,
    t_i-a_j-p_j.

    Quantities: ``prevalence`` (K,) unless it is fixed; of each rater ``theta``, ``xi`` (K,),
    ``confusion`` (K, K), ``accuracy``, ``informativeness`` in bits and ``random_share``;
    ``log_likelihood`` in nats and ``bits_per_rating``, with true categories marginalised.

    Parameters
    ----------
    prevalence : {"estimated", "uniform"}
        "uniform" takes all true categories to be equally frequent, as published. Where they are
        not, this costs accuracy; where they are, estimating the prevalence costs little.
    prior_prevalence : Dirichlet
        Prior of a prevalence that is estimated.
    prior_theta : Beta
        Prior of each rater's probability of copying the true category.
    prior_xi : Dirichlet
        Prior of the probabilities of each rater's spam.
    prior_misleading : Beta, optional
        Of the probability that an item misleads its raters; by default none does.

    References
    ----------
    Hovy, Berg-Kirkpatrick, Vaswani & Hovy (2013). https://aclanthology.org/N13-1132
    Paun et al. (2018), for the priors. https://doi.org/10.1162/tacl_a_00040
    """

    summary: ClassVar[str] = "true categories, and raters who copy them or spam"
    references: ClassVar[tuple[str, ...]] = ("hovy2013", "paun2018")
    reports: ClassVar[tuple[str, ...]] = ("prevalence", "theta", "xi", *CONFUSION_QUANTITIES)
    takes_parts: ClassVar[bool] = True

    prevalence: Literal["uniform", "estimated"] = "estimated"
    prior_prevalence: Dirichlet = Dirichlet(1.0)
    prior_theta: Beta = Beta(0.5, 0.5)
    prior_xi: Dirichlet = Dirichlet(10.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.prevalence not in ("uniform", "estimated"):
            raise ValueError(
                f"prevalence must be 'uniform' or 'estimated', not {self.prevalence!r}."
            )

    @property
    def family(self) -> Categories:
        """Raters who know or guess, whose theta has long tails that differ in length."""
        return RATERS.family(TAILS_OF_MANY_LENGTHS)

    def problem(self, ratings: Ratings) -> CategoricalProblem[None]:
        """Distinct items by their ratings, priors, and the prevalence where it is fixed."""
        problem = self.categorical_problem(ratings)
        uniform = np.full(problem.n_categories, 1 / problem.n_categories)
        return replace(problem, prevalence=Prevalence(self.prevalence == "estimated", uniform))

    def parameters(self) -> tuple[Parameter, ...]:
        """Prevalence where it is estimated, theta and xi."""
        prevalence = shared_prevalence(self.prevalence == "estimated")
        return *prevalence, *RATERS.parameters, *self.shared_parameters

    def prior_numbers(self, n_categories: int) -> dict[str, Array]:
        """Values (..., 2) or (K,) of each prior, in the order of Stan's data."""
        return {
            "prevalence": self.prior_prevalence.of(n_categories),
            "theta": self.prior_theta.stan,
            "xi": self.prior_xi.of(n_categories),
        }
