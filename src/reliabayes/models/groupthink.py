"""Groupthink, t-a-c_i: raters who do not know the true category follow the other raters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from reliabayes.arrays import Array
from reliabayes.inference.parameters import Parameter
from reliabayes.models.bases.following import FollowingModel
from reliabayes.models.bases.hidden_state import Data
from reliabayes.models.priors import Beta, Dirichlet


@dataclass(frozen=True, kw_only=True)
class Groupthink(FollowingModel):
    r"""Average accuracy of raters who, where they do not know, follow the other raters.

    .. math:: \Pr(\text{rated } k \mid \text{true } h) = a\,[h = k] + (1 - a)\, c_{ik}

    with the share c of the item's ratings that are of category k. These shares contain the rating
    itself and explain it nearly by themselves: a falls to nearly 0 whatever the raters know, and
    the prevalence stays unknown. That is the lesson of the model: where raters follow each other,
    their ratings do not tell how accurate they are. Raters need not be known.

    Quantities: ``prevalence`` (K,), ``a``, ``log_likelihood`` in nats and ``bits_per_rating``, true
    categories summed out.

    Parameters
    ----------
    prior_prevalence : Dirichlet
    prior_a : Beta

    References
    ----------
    Eubanks, Hierarchical t-a-p models, Groupthink. https://kappazoo.com
    """

    summary: ClassVar[str] = "average accuracy of raters who know, or follow the other raters"
    reports: ClassVar[tuple[str, ...]] = ("prevalence", "a", "log_likelihood", "bits_per_rating")
    pooled: ClassVar[bool] = True

    prior_prevalence: Dirichlet = Dirichlet(1.0)
    prior_a: Beta = Beta(1.0, 1.0)

    def parameters(self) -> tuple[Parameter, ...]:
        """Prevalence and a."""
        prevalence = Parameter("prevalence", "simplex", ("true_category",))
        return prevalence, Parameter("a", "unit")

    def priors(self, n_categories: int) -> dict[str, Any]:
        """Parameters of the priors."""
        return {
            "prior_prevalence": self.prior_prevalence.of(n_categories),
            "prior_a": self.prior_a.stan,
        }

    def prevalence_counts(self, items: Array, data: Data) -> Array:
        """Expected items besides the prior's."""
        return np.asarray(items + data["prior_prevalence"])
