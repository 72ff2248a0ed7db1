"""Groupthink, t_i-a_j-c_i: each rater knows, or follows the other raters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from reliabayes.arrays import Array
from reliabayes.inference.parameters import Parameter
from reliabayes.inference.problem import extended
from reliabayes.models.bases.following import FollowingModel, FollowingProblem, Shares
from reliabayes.models.bases.know_or_guess import (
    PrevalenceModel,
    PrevalenceProblem,
    check_prevalence,
    prior_of_shared,
    shared_prevalence,
)
from reliabayes.models.priors import Beta, Dirichlet, RestrictedNormal
from reliabayes.ratings import Ratings


@dataclass(frozen=True, eq=False, kw_only=True)
class RaterGroupthinkProblem(FollowingProblem, PrevalenceProblem):
    """Ratings in categories, by raters who may follow, with a prevalence that may be fixed."""


@dataclass(frozen=True, kw_only=True)
class RaterGroupthink(
    FollowingModel[RaterGroupthinkProblem], PrevalenceModel[RaterGroupthinkProblem]
):
    r"""Accuracy of each rater, who, where they do not know, follows the other raters.

    .. math:: \Pr(\text{rated } k \mid \text{true } h) = a_j\,[h = k] + (1 - a_j)\, c_{ik}

    where c is the proportion of the item's ratings that are of category k. As with `Groupthink`
    the proportions nearly explain the ratings alone, and the accuracies fall to nearly 0.

    With ``shares="earlier"`` raters come one after another, as in `Groupthink`, and the posterior
    is calibrated.

    Quantities: ``a`` of each rater, ``log_likelihood`` in nats and ``bits_per_rating``, with true
    categories marginalised; ``prevalence`` (K,) where it is shared.

    Parameters
    ----------
    prevalence : {"item", "shared"}
        "item" for t_i-a_j-c_i, "shared" for t-a_j-c_i.
    prior_t : Dirichlet or RestrictedNormal
        Prior of each item's t_i, or of the shared t, for which it is a Dirichlet.
    prior_a : Beta
        Prior of each rater's accuracy.
    shares : {"all", "earlier"}
        Ratings of the item that raters follow: all, the own one included, as published; or those
        before the own one, in the order of the raters' ids.
    prior_misleading : Beta, optional
        Of the probability that an item misleads its raters; by default none does.

    References
    ----------
    Eubanks, Hierarchical t-a-p models, Groupthink. https://kappazoo.com
    """

    summary: ClassVar[str] = "accuracy of each rater, who knows or follows the other raters"
    reports: ClassVar[tuple[str, ...]] = ("prevalence", "a", "log_likelihood", "bits_per_rating")

    prevalence: Literal["item", "shared"] = "item"
    prior_t: Dirichlet | RestrictedNormal = Dirichlet(1.0)
    prior_a: Beta = Beta(1.0, 1.0)
    shares: Shares = "all"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_prevalence(self.prevalence, self.prior_t)

    def problem(self, ratings: Ratings) -> RaterGroupthinkProblem:
        """Distinct items by their ratings, priors, proportions of votes, and prior mean of t."""
        base = self.following_problem(ratings)
        return extended(
            RaterGroupthinkProblem,
            base,
            is_shared=self.prevalence == "shared",
            mean_prevalence=self.prior_t.mean(base.n_categories),
        )

    def parameters(self) -> tuple[Parameter, ...]:
        """Prevalence where it is shared, and a."""
        prevalence = shared_prevalence(self.prevalence == "shared")
        return *prevalence, Parameter("a", "unit", ("rater",)), *self.shared_parameters

    def prior_numbers(self, n_categories: int) -> dict[str, Array]:
        """Values (..., 2) or (K,) of each prior, in the order of Stan's data."""
        return {
            "prevalence": prior_of_shared(self.prior_t, n_categories),
            "a": self.prior_a.stan,
        }

    def prevalence_counts(self, expected_items: Array, problem: RaterGroupthinkProblem) -> Array:
        """Expected items besides the prior's."""
        return np.asarray(expected_items + problem.priors["prevalence"])[None]
