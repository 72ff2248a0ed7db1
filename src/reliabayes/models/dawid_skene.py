"""Dawid-Skene: each rater has a confusion matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from reliabayes.arrays import Array
from reliabayes.inference.em import Point
from reliabayes.inference.parameters import Parameter
from reliabayes.models.bases.annotation import REPORTED, by_rater
from reliabayes.models.bases.conjugate import CountingModel
from reliabayes.models.bases.hidden_state import Data
from reliabayes.models.priors import DiagonalDirichlet, Dirichlet


@dataclass(frozen=True, kw_only=True)
class DawidSkene(CountingModel):
    r"""True categories of items, and a confusion matrix of each rater.

    .. math:: \Pr(\text{ratings of } i) = \sum_h w_h \prod_n \pi_{r_n, h, y_n}

    with the prevalence w and the confusion matrices pi, whose rows are true categories. Nothing is
    said of how raters err. A rater may rate an item several times (``replicates="keep"``).

    Quantities: ``prevalence`` (K,); of each rater ``confusion`` (K, K), ``accuracy`` and
    ``random_share`` in [0, 1], ``informativeness`` in bits; ``log_likelihood`` in nats and
    ``bits_per_rating``, true categories summed out.

    Parameters
    ----------
    prior_prevalence : Dirichlet
    prior_confusion : DiagonalDirichlet or Dirichlet
        Of each row of each rater's matrix. Flat ones leave open which true category is which, and
        chains then differ in their names.

    References
    ----------
    Dawid & Skene (1979). https://doi.org/10.2307/2346806
    """

    summary: ClassVar[str] = "true categories, and a confusion matrix of each rater"
    reports: ClassVar[tuple[str, ...]] = (
        "prevalence",
        *REPORTED,
    )
    exchangeable: ClassVar[bool] = True

    prior_prevalence: Dirichlet = Dirichlet(3.0)
    prior_confusion: DiagonalDirichlet | Dirichlet = DiagonalDirichlet()

    def parameters(self) -> tuple[Parameter, ...]:
        """Prevalence and confusion."""
        return (
            Parameter("prevalence", "simplex", ("true_category",)),
            Parameter("confusion", "simplex", ("rater", "true_category", "category")),
        )

    def priors(self, n_categories: int) -> dict[str, Any]:
        """Concentrations of the Dirichlet priors."""
        return {
            "prior_prevalence": self.prior_prevalence.of(n_categories),
            "prior_confusion": self.prior_confusion.rows(n_categories),
        }

    def confusion(self, point: Point) -> Array:
        """The parameter."""
        return point["confusion"]

    def pseudo_counts(self, point: Point, expected: Array, items: Array, data: Data) -> Point:
        """Expected items and ratings besides the priors'."""
        return {
            "prevalence": items + data["prior_prevalence"],
            "confusion": by_rater(expected, data) + data["prior_confusion"],
        }
