"""Groupthink, t_i-a_j-c_i: each rater knows, or follows the other raters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from reliabayes.arrays import Array
from reliabayes.inference.parameters import Parameter
from reliabayes.models.bases.following import FollowingModel
from reliabayes.models.bases.hidden_state import Data
from reliabayes.models.bases.knowing import check_prevalence, priors_of_t, shared_prevalence
from reliabayes.models.priors import Beta, Dirichlet, RestrictedNormal


@dataclass(frozen=True, kw_only=True)
class RaterGroupthink(FollowingModel):
    r"""Accuracy of each rater, who, where they do not know, follows the other raters.

    .. math:: \Pr(\text{rated } k \mid \text{true } h) = a_j\,[h = k] + (1 - a_j)\, c_{ik}

    with the share c of the item's ratings that are of category k. As with `Groupthink` the shares
    explain the ratings nearly by themselves, and the accuracies fall to nearly 0.

    Quantities: ``a`` of each rater, ``log_likelihood`` in nats and ``bits_per_rating``, true
    categories summed out; ``prevalence`` (K,) where it is shared.

    Parameters
    ----------
    prevalence : "item" for t_i-a_j-c_i, "shared" for t-a_j-c_i
    prior_t : Dirichlet or RestrictedNormal
        Of each item's t_i, or of the shared t, for which it is a Dirichlet.
    prior_a : Beta

    References
    ----------
    Eubanks, Hierarchical t-a-p models, Groupthink. https://kappazoo.com
    """

    summary: ClassVar[str] = "accuracy of each rater, who knows or follows the other raters"
    reports: ClassVar[tuple[str, ...]] = ("prevalence", "a", "log_likelihood", "bits_per_rating")

    prevalence: Literal["item", "shared"] = "item"
    prior_t: Dirichlet | RestrictedNormal = Dirichlet(1.0)
    prior_a: Beta = Beta(1.0, 1.0)

    def __post_init__(self) -> None:
        check_prevalence(self.prevalence, self.prior_t)

    def parameters(self) -> tuple[Parameter, ...]:
        """Prevalence where it is shared, and a."""
        prevalence = shared_prevalence(self.prevalence == "shared")
        return *prevalence, Parameter("a", "unit", ("rater",))

    def priors(self, n_categories: int) -> dict[str, Any]:
        """Parameters of the priors, and prior mean of t."""
        return {
            **priors_of_t(self.prevalence, self.prior_t, n_categories),
            "prior_a": self.prior_a.stan,
        }

    def prevalence_counts(self, items: Array, data: Data) -> Array:
        """Expected items besides the prior's."""
        return np.asarray(items + data["prior_prevalence"])[None]
