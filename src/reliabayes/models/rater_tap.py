"""t_i-a_j-p_j: each rater knows the true category with an accuracy of their own, or guesses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from reliabayes.inference.parameters import Parameter
from reliabayes.models.bases.annotation import REPORTED
from reliabayes.models.bases.knowing import (
    GuessingModel,
    check_prevalence,
    priors_of_t,
    shared_prevalence,
)
from reliabayes.models.priors import Beta, Dirichlet, RestrictedNormal


@dataclass(frozen=True, kw_only=True)
class RaterTAP(GuessingModel):
    r"""Accuracy of each rater, who knows the true category or else guesses.

    .. math:: \Pr(\text{rated } k \mid \text{true } h) = a_j\,[h = k] + (1 - a_j)\, p_{jk}

    The likelihood is linear in the prevalence t_i of an item, so that t_i sums out exactly and only
    its prior mean stays. What is known of an item is the probability of its true category, in
    `Fit.items`; t_i itself stays near its prior whatever the ratings.

    Quantities: ``a`` and ``p`` (K,) of each rater, ``confusion`` (K, K), ``accuracy``,
    ``informativeness`` in bits and ``random_share`` of each rater, ``log_likelihood`` in nats and
    ``bits_per_rating``, true categories summed out; ``prevalence`` (K,) where it is shared.

    Parameters
    ----------
    prevalence : "item" for t_i-a_j-p_j, "shared" for t-a_j-p_j
    prior_t : Dirichlet or RestrictedNormal
        Of each item's t_i, or of the shared t, for which it is a Dirichlet.
    prior_a : Beta
    prior_p : Dirichlet

    References
    ----------
    Eubanks, Hierarchical t-a-p models. https://kappazoo.com
    """

    summary: ClassVar[str] = "accuracy of each rater, who knows the true category or guesses"
    reports: ClassVar[tuple[str, ...]] = (
        "prevalence",
        "a",
        "p",
        *REPORTED,
    )

    prevalence: Literal["item", "shared"] = "item"
    prior_t: Dirichlet | RestrictedNormal = Dirichlet(1.0)
    prior_a: Beta = Beta(1.0, 1.0)
    prior_p: Dirichlet = Dirichlet(1.0)

    def __post_init__(self) -> None:
        check_prevalence(self.prevalence, self.prior_t)

    def parameters(self) -> tuple[Parameter, ...]:
        """Prevalence where it is shared, a and p."""
        return (
            *shared_prevalence(self.prevalence == "shared"),
            Parameter("a", "unit", ("rater",)),
            Parameter("p", "simplex", ("rater", "category")),
        )

    def priors(self, n_categories: int) -> dict[str, Any]:
        """Parameters of the priors, and prior mean of t."""
        return {
            **priors_of_t(self.prevalence, self.prior_t, n_categories),
            "prior_a": self.prior_a.stan,
            "prior_p": self.prior_p.of(n_categories),
        }
