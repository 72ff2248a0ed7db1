"""MACE: a rater copies the true category, or spams."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from reliabayes.inference.parameters import Parameter
from reliabayes.models.bases.annotation import REPORTED
from reliabayes.models.bases.knowing import GuessingModel, shared_prevalence
from reliabayes.models.priors import Beta, Dirichlet


@dataclass(frozen=True, kw_only=True)
class MACE(GuessingModel):
    r"""Multi-annotator competence estimation: raters copy the true category, or spam.

    .. math:: \Pr(\text{rated } k \mid \text{true } h) = \theta_j\,[h = k] + (1-\theta_j)\,\xi_{jk}

    For two categories it is t_i-a_j-p_j with other priors and names.

    Quantities: of each rater ``theta``, ``xi`` (K,), ``confusion`` (K, K), ``accuracy``,
    ``informativeness`` in bits and ``random_share``; ``log_likelihood`` in nats and
    ``bits_per_rating``, true categories summed out; ``prevalence`` (K,) where it is estimated.

    Parameters
    ----------
    prevalence : "uniform" as published, or "estimated"
    prior_prevalence : Dirichlet
        Of a prevalence that is estimated.
    prior_theta : Beta
    prior_xi : Dirichlet

    References
    ----------
    Hovy, Berg-Kirkpatrick, Vaswani & Hovy (2013). https://aclanthology.org/N13-1132
    Paun et al. (2018), for the priors. https://doi.org/10.1162/tacl_a_00040
    """

    summary: ClassVar[str] = "true categories, and raters who copy them or spam"
    reports: ClassVar[tuple[str, ...]] = (
        "prevalence",
        "theta",
        "xi",
        *REPORTED,
    )

    adapts: ClassVar[bool] = True  # theta has long tails under its prior, each of its own length
    known: ClassVar[str] = "theta"
    guess: ClassVar[str] = "xi"

    prevalence: Literal["uniform", "estimated"] = "uniform"
    prior_prevalence: Dirichlet = Dirichlet(1.0)
    prior_theta: Beta = Beta(0.5, 0.5)
    prior_xi: Dirichlet = Dirichlet(10.0)

    def __post_init__(self) -> None:
        if self.prevalence not in ("uniform", "estimated"):
            raise ValueError(
                f"prevalence must be 'uniform' or 'estimated', not {self.prevalence!r}."
            )

    def parameters(self) -> tuple[Parameter, ...]:
        """Prevalence where it is estimated, theta and xi."""
        return (
            *shared_prevalence(self.prevalence == "estimated"),
            Parameter("theta", "unit", ("rater",)),
            Parameter("xi", "simplex", ("rater", "category")),
        )

    def priors(self, n_categories: int) -> dict[str, Any]:
        """Parameters of the priors, and the prevalence where it is fixed."""
        return {
            "shared": int(self.prevalence == "estimated"),
            "mean_prevalence": np.full(n_categories, 1 / n_categories),
            "prior_prevalence": self.prior_prevalence.of(n_categories),
            "prior_theta": self.prior_theta.stan,
            "prior_xi": self.prior_xi.of(n_categories),
        }
