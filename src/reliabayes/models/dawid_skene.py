"""Dawid-Skene: each rater has a confusion matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from reliabayes.arrays import Array
from reliabayes.inference.em import Point
from reliabayes.inference.parameters import Parameter
from reliabayes.likelihoods.item_mixture import Expected
from reliabayes.models.bases.annotation import CONFUSION_QUANTITIES, by_rater
from reliabayes.models.bases.conjugate import ConjugateModel
from reliabayes.models.bases.hidden_state import CategoricalProblem
from reliabayes.models.priors import DiagonalDirichlet, Dirichlet
from reliabayes.ratings import Ratings


@dataclass(frozen=True, kw_only=True)
class DawidSkene(ConjugateModel[CategoricalProblem]):
    r"""True categories of items, and a confusion matrix of each rater.

    .. math:: \Pr(\text{ratings of } i) = \sum_h w_h \prod_n \pi_{r_n, h, y_n}

    with the prevalence w and the confusion matrices pi, whose rows are true categories. The model
    makes no assumption about how raters err. A rater may rate an item several times
    (``replicates="keep"``).

    Quantities: ``prevalence`` (K,); of each rater ``confusion`` (K, K), ``accuracy`` and
    ``random_share`` in [0, 1], ``informativeness`` in bits; ``log_likelihood`` in nats and
    ``bits_per_rating``, with true categories marginalised.

    Parameters
    ----------
    prior_prevalence : Dirichlet
        Prior of the prevalence.
    prior_confusion : DiagonalDirichlet or Dirichlet
        Prior of each row of each rater's matrix. Under flat priors true categories are
        exchangeable, and chains may differ in their labels (label switching).

    References
    ----------
    Dawid & Skene (1979). https://doi.org/10.2307/2346806
    """

    summary: ClassVar[str] = "true categories, and a confusion matrix of each rater"
    reports: ClassVar[tuple[str, ...]] = (
        "prevalence",
        *CONFUSION_QUANTITIES,
    )
    permutable: ClassVar[bool] = True

    prior_prevalence: Dirichlet = Dirichlet(3.0)
    prior_confusion: DiagonalDirichlet | Dirichlet = DiagonalDirichlet()

    def problem(self, ratings: Ratings) -> CategoricalProblem:
        """Distinct items by their ratings, and priors."""
        return self.categorical_problem(ratings)

    def parameters(self) -> tuple[Parameter, ...]:
        """Prevalence and confusion."""
        return (
            Parameter("prevalence", "simplex", ("true_category",)),
            Parameter("confusion", "simplex", ("rater", "true_category", "category")),
        )

    def priors(self, n_categories: int) -> dict[str, Array]:
        """Concentrations of the Dirichlet priors."""
        return {
            "prevalence": self.prior_prevalence.of(n_categories),
            "confusion": self.prior_confusion.rows(n_categories),
        }

    def confusion(self, point: Point) -> Array:
        """The parameter."""
        return point["confusion"]

    def pseudo_counts(self, point: Point, expected: Expected, problem: CategoricalProblem) -> Point:
        """Expected items and ratings besides the priors'."""
        return {
            "prevalence": expected.items + problem.priors["prevalence"],
            "confusion": by_rater(expected, problem) + problem.priors["confusion"],
        }
