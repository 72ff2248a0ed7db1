"""Dawid-Skene: each rater has a confusion matrix."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from reliabayes.arrays import Array
from reliabayes.families.categories import rows
from reliabayes.families.categories.by_counts import ByCounts
from reliabayes.families.categories.family import Categories
from reliabayes.families.categories.problem import CategoricalProblem
from reliabayes.families.categories.reports import CONFUSION_QUANTITIES
from reliabayes.inference.parameters import Parameter
from reliabayes.models.category_model import CategoryModel
from reliabayes.models.priors import DiagonalDirichlet, Dirichlet, DirichletRows
from reliabayes.ratings import Ratings


@dataclass(frozen=True, kw_only=True)
class DawidSkene(CategoryModel[None]):
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
    references: ClassVar[tuple[str, ...]] = ("dawid1979",)
    reports: ClassVar[tuple[str, ...]] = (
        "prevalence",
        *CONFUSION_QUANTITIES,
    )
    takes_parts: ClassVar[bool] = True

    prior_prevalence: Dirichlet = Dirichlet(1.0)
    prior_confusion: DiagonalDirichlet | Dirichlet | DirichletRows = DiagonalDirichlet()

    @property
    def family(self) -> Categories:
        """Raters with confusion matrices, whose rows are parameters."""
        response = ByCounts(
            probabilities=rows.probabilities,
            pseudo_counts=rows.pseudo_counts,
            outcomes=rows.outcomes,
            takes_many=True,
        )
        return Categories(response=response, permutable=True)

    def problem(self, ratings: Ratings) -> CategoricalProblem[None]:
        """Distinct items by their ratings, and priors."""
        problem = self.categorical_problem(ratings)
        of_rows, n_categories = problem.priors["confusion"], problem.n_categories
        shape = (problem.n_raters, n_categories, n_categories)
        if of_rows.ndim == 3 and of_rows.shape != shape:
            raise ValueError(
                f"prior_confusion has matrices for {len(of_rows)} raters, and the ratings have "
                f"{problem.n_raters}. Give one for each, in the order of ratings.raters."
            )
        priors = {**problem.priors, "confusion": np.broadcast_to(of_rows, shape)}
        return replace(problem, priors=priors)

    def parameters(self) -> tuple[Parameter, ...]:
        """Prevalence and confusion."""
        return *rows.ROWS, *self.shared_parameters

    def prior_numbers(self, n_categories: int) -> dict[str, Array]:
        """Concentrations of the Dirichlet priors."""
        return {
            "prevalence": self.prior_prevalence.of(n_categories),
            "confusion": self.prior_confusion.rows(n_categories),
        }
