"""Dawid-Skene: each rater has a confusion matrix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from reliabayes.arrays import Array, Codes
from reliabayes.inference.conjugate import Outcomes
from reliabayes.inference.em import Point
from reliabayes.inference.parameters import Parameter
from reliabayes.likelihoods.item_mixture import Expected
from reliabayes.models.bases.annotation import CONFUSION_QUANTITIES, by_rater
from reliabayes.models.bases.conjugate import ConjugateModel
from reliabayes.models.bases.hidden_state import CategoricalProblem
from reliabayes.models.bases.items_in_parts import ItemsInParts
from reliabayes.models.bases.prior_checks import DirichletRows
from reliabayes.models.priors import DiagonalDirichlet, Dirichlet
from reliabayes.ratings import Ratings


@dataclass(frozen=True, kw_only=True)
class DawidSkene(ItemsInParts[CategoricalProblem], ConjugateModel[CategoricalProblem]):
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
    prior_confusion : DiagonalDirichlet, Dirichlet, DirichletRows or array of float
        Prior of each row of each rater's matrix. An array holds concentrations by true category
        (rows) and category, of shape (K, K), or (R, K, K) with those of each rater, in the order of
        the ratings' ids. Under flat priors true categories are exchangeable, and chains may differ
        in their labels (label switching).
    prior_misleading : Beta, optional
        Of the probability that an item misleads its raters; by default none does.

    Notes
    -----
    How a rating comes about, for two categories. The first step is taken once for each item, the
    second by each of its raters, with probabilities of their own:

        item -+- w_1 --> true 1 -+- pi_11 --> rated 1
              |                  '- pi_10 --> rated 0
              |
              '- w_0 --> true 0 -+- pi_01 --> rated 1
                                 '- pi_00 --> rated 0

    The probability of a path is the product along it. In `RaterTAP` the second step is itself a
    choice: to give the true category, or else to guess. pi_00 and pi_11, the diagonal of a rater's
    matrix, are the accuracies by true category in `Fit.raters`.

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
    has_tables_of_many: ClassVar[bool] = True

    prior_prevalence: Dirichlet = Dirichlet(1.0)
    prior_confusion: DiagonalDirichlet | Dirichlet | DirichletRows = DiagonalDirichlet()

    def problem(self, ratings: Ratings) -> CategoricalProblem:
        """Distinct items by their ratings, and priors."""
        base = self.categorical_problem(ratings)
        rows, n_categories = base.priors["confusion"], base.n_categories
        shape = (base.n_raters, n_categories, n_categories)
        if rows.ndim == 3 and rows.shape != shape:
            raise ValueError(
                f"prior_confusion has matrices for {len(rows)} raters, and the ratings have "
                f"{base.n_raters}. Give one for each, in the order of ratings.raters."
            )
        priors = {**base.priors, "confusion": np.broadcast_to(rows, shape)}
        return replace(base, priors=priors)

    def parameters(self) -> tuple[Parameter, ...]:
        """Prevalence and confusion."""
        return (
            Parameter("prevalence", "simplex", ("true_category",)),
            Parameter("confusion", "simplex", ("rater", "true_category", "category")),
            *self.shared_parameters,
        )

    def prior_numbers(self, n_categories: int) -> dict[str, Array]:
        """Concentrations of the Dirichlet priors."""
        return {
            "prevalence": self.prior_prevalence.of(n_categories),
            "confusion": self.prior_confusion.rows(n_categories),
        }

    def confusion(self, point: Point) -> Array:
        """The parameter."""
        return point["confusion"]

    def outcomes(self, at: Mapping[str, Codes], problem: CategoricalProblem) -> Outcomes:
        """Each rating is one of a row of its rater's matrix."""
        return Outcomes(
            known=at["confusion"].transpose(1, 2, 0).reshape(problem.n_categories, -1),
            guessed=(),
            proportion=np.zeros(problem.n_cells),
        )

    def pseudo_counts(self, point: Point, expected: Expected, problem: CategoricalProblem) -> Point:
        """Expected items and ratings besides the priors'."""
        return {
            "prevalence": expected.items + problem.priors["prevalence"],
            "confusion": by_rater(expected, problem) + problem.priors["confusion"],
        }
