"""t_i-a_j-p_j: each rater knows the true category with an accuracy of their own, or guesses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from reliabayes.arrays import Array
from reliabayes.inference.parameters import Parameter
from reliabayes.inference.problem import extended
from reliabayes.models.bases.annotation import REPORTED
from reliabayes.models.bases.knowing import (
    GuessingModel,
    PrevalenceProblem,
    check_prevalence,
    prior_of_shared,
    shared_prevalence,
)
from reliabayes.models.priors import Beta, Dirichlet, RestrictedNormal
from reliabayes.ratings import Ratings


@dataclass(frozen=True, kw_only=True)
class RaterTAP(GuessingModel):
    r"""Accuracy of each rater, who knows the true category or else guesses.

    .. math:: \Pr(\text{rated } k \mid \text{true } h) = a_j\,[h = k] + (1 - a_j)\, p_{jk}

    The likelihood is linear in the prevalence t_i of an item, so that t_i integrates out exactly
    and only its prior mean remains. The ratings inform the probability of an item's true category,
    in `Fit.items`; t_i itself stays near its prior whatever the ratings.

    Quantities: ``a`` and ``p`` (K,) of each rater, ``confusion`` (K, K), ``accuracy``,
    ``informativeness`` in bits and ``random_share`` of each rater, ``log_likelihood`` in nats and
    ``bits_per_rating``, with true categories marginalised; ``prevalence`` (K,) where it is shared.

    Parameters
    ----------
    prevalence : {"item", "shared"}
        "item" for t_i-a_j-p_j, "shared" for t-a_j-p_j.
    prior_t : Dirichlet or RestrictedNormal
        Of each item's t_i, or of the shared t, for which it is a Dirichlet.
    prior_a : Beta
        Of each rater's accuracy.
    prior_p : Dirichlet
        Of the probabilities of each rater's guesses.

    References
    ----------
    Eubanks, Hierarchical t-a-p models. https://kappazoo.com
    """

    summary: ClassVar[str] = "accuracy of each rater, who knows the true category or guesses"
    reports: ClassVar[tuple[str, ...]] = ("prevalence", "a", "p", *REPORTED)

    prevalence: Literal["item", "shared"] = "item"
    prior_t: Dirichlet | RestrictedNormal = Dirichlet(1.0)
    prior_a: Beta = Beta(1.0, 1.0)
    prior_p: Dirichlet = Dirichlet(1.0)

    def __post_init__(self) -> None:
        check_prevalence(self.prevalence, self.prior_t)

    def problem(self, ratings: Ratings) -> PrevalenceProblem:
        """Distinct items by their ratings, priors, and the prior mean of t."""
        base = self.categorical_problem(ratings)
        return extended(
            PrevalenceProblem,
            base,
            is_shared=self.prevalence == "shared",
            mean_prevalence=self.prior_t.mean(base.n_categories),
        )

    def parameters(self) -> tuple[Parameter, ...]:
        """Prevalence where it is shared, a and p."""
        return (
            *shared_prevalence(self.prevalence == "shared"),
            Parameter("a", "unit", ("rater",)),
            Parameter("p", "simplex", ("rater", "category")),
        )

    def priors(self, n_categories: int) -> dict[str, Array]:
        """Numbers of the priors."""
        return {
            "prevalence": prior_of_shared(self.prior_t, n_categories),
            "a": self.prior_a.stan,
            "p": self.prior_p.of(n_categories),
        }
