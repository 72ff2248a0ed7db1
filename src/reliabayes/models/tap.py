"""t-a-p: raters, all alike, know the true category or guess."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from reliabayes.arrays import Array
from reliabayes.inference.em import Point
from reliabayes.inference.parameters import Parameter
from reliabayes.models.bases.annotation import ONE, REPORTED
from reliabayes.models.bases.conjugate import CountingModel
from reliabayes.models.bases.hidden_state import Data
from reliabayes.models.bases.knowing import known_and_guessed
from reliabayes.models.priors import Beta, Dirichlet

Depends = Literal["shared", "by_category"]


@dataclass(frozen=True, kw_only=True)
class TAP(CountingModel):
    r"""Average accuracy of raters who know the true category, or else guess.

    .. math:: \Pr(\text{rated } k \mid \text{true } h) = a\,[h = k] + (1 - a)\, p_k

    For two categories t is the prevalence of the second, p the probability of guessing it. Raters
    need not be known. If accuracy or guesses depend on the true category (a0, a1, p0, p1), the
    ratings still tell prevalence and confusion alone: three numbers for two categories, as many as
    t, a and p are. What is said beyond is the priors'.

    Quantities: ``prevalence`` (K,), ``a``, ``p`` (K,), ``confusion`` (K, K) by true category,
    ``accuracy``, ``informativeness`` in bits, ``random_share``, ``log_likelihood`` in nats and
    ``bits_per_rating``, true categories summed out.

    Parameters
    ----------
    accuracy, guessing : "shared", or "by_category" if a or p depend on the true category
    prior_prevalence, prior_p : Dirichlet
    prior_a : Beta

    References
    ----------
    Eubanks, The t-a-p model. https://kappazoo.com
    """

    summary: ClassVar[str] = "average accuracy of raters who know the true category or guess"
    reports: ClassVar[tuple[str, ...]] = (
        "prevalence",
        "a",
        "p",
        *REPORTED,
    )
    pooled: ClassVar[bool] = True

    accuracy: Depends = "shared"
    guessing: Depends = "shared"
    prior_prevalence: Dirichlet = Dirichlet(1.0)
    prior_a: Beta = Beta(1.0, 1.0)
    prior_p: Dirichlet = Dirichlet(1.0)

    def __post_init__(self) -> None:
        for name in ("accuracy", "guessing"):
            if getattr(self, name) not in ("shared", "by_category"):
                raise ValueError(
                    f"{name} must be 'shared' or 'by_category', not {getattr(self, name)!r}."
                )

    def parameters(self) -> tuple[Parameter, ...]:
        """Prevalence, a and p."""
        dim = {"shared": ONE, "by_category": "true_category"}
        return (
            Parameter("prevalence", "simplex", ("true_category",)),
            Parameter("a", "unit", (dim[self.accuracy],)),
            Parameter("p", "simplex", (dim[self.guessing], "category")),
        )

    def priors(self, n_categories: int) -> dict[str, Any]:
        """Parameters of the priors, and how many values a and p have."""
        return {
            "A": 1 if self.accuracy == "shared" else n_categories,
            "P": 1 if self.guessing == "shared" else n_categories,
            "prior_prevalence": self.prior_prevalence.of(n_categories),
            "prior_a": self.prior_a.stan,
            "prior_p": self.prior_p.of(n_categories),
        }

    def confusion(self, point: Point) -> Array:
        """Shares of ratings (..., K, K) by true category."""
        known, guess = point["a"][..., None], point["p"]
        return known * np.eye(guess.shape[-1]) + (1 - known) * guess

    def pseudo_counts(self, point: Point, expected: Array, items: Array, data: Data) -> Point:
        """Expected ratings that were accurate, and those that were guessed."""
        n_categories = data["K"]
        known = np.broadcast_to(point["a"], n_categories)
        guess = np.broadcast_to(point["p"], (n_categories, n_categories))
        knew, guessed = known_and_guessed(expected, known, guess)
        split = np.stack([knew, guessed.sum(axis=1)], axis=-1)
        return {
            "prevalence": items + data["prior_prevalence"],
            "a": _summed(split, data["A"]) + data["prior_a"],
            "p": _summed(guessed, data["P"]) + data["prior_p"],
        }


def _summed(counts: Array, size: int) -> Array:
    """Counts of each true category, or of all."""
    return counts.sum(axis=0, keepdims=True) if size == 1 else counts
