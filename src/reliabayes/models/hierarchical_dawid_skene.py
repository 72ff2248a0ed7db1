"""Hierarchical Dawid-Skene: each rater has a confusion matrix, and raters resemble one another."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pandas as pd

from reliabayes.arrays import Array
from reliabayes.families.categories.family import Categories
from reliabayes.families.categories.log_odds import LogOdds, Precision
from reliabayes.families.categories.prevalence import PREVALENCE
from reliabayes.families.categories.problem import CategoricalProblem
from reliabayes.families.categories.reports import CONFUSION_QUANTITIES
from reliabayes.inference.parameters import Parameter
from reliabayes.models.category_model import CategoryModel
from reliabayes.models.priors import Dirichlet, HalfNormal, HalfStudentT, Normal
from reliabayes.ratings import Ratings
from reliabayes.sampling.thresholds import POPULATION


@dataclass(frozen=True, kw_only=True)
class HierarchicalDawidSkene(CategoryModel[Precision]):
    r"""True categories of items, and confusion matrices of raters who resemble one another.

    .. math:: \log(\pi_{jhk} / \pi_{jhh}) = \mu_{hk} - s\, a_j + \sigma_{hk}\, z_{jhk},
        \quad a_j, z_{jhk} \sim N(0, 1), \quad k \ne h

    with the confusion matrices pi of raters j, whose rows are true categories. Dawid-Skene
    estimates each matrix by itself; here the estimate for a rater with few ratings also uses those
    of the other raters (partial pooling), and what a rater gets wrong of one true category says
    something about the others: all errors share the rater's ability a. An error is a true category
    h with a wrong one k. `Fit.new_rater` has the accuracy of another rater.

    Quantities: ``prevalence`` (K,); ``typical_confusion`` (K, K), of a rater whose log odds are the
    mean ones, ``location``, and ``spread``, the standard deviation of log odds between raters of
    one ability, both by error (K (K - 1),); ``ability_spread``, the standard deviation s of what
    all errors share; of each rater ``ability``, a standard score that is higher with fewer errors,
    ``confusion`` (K, K), ``accuracy`` and ``random_share`` in [0, 1], ``informativeness`` in bits;
    ``log_likelihood`` in nats and ``bits_per_rating``, with true categories marginalised.

    Parameters
    ----------
    prior_prevalence : Dirichlet
        Prior of the prevalence.
    prior_location : Normal
        Prior of the mean log odds of a wrong rating against a right one, if there were one wrong
        category; with several, log(K - 1) is subtracted, because they share it. The default
        expects a typical rater to be right with probability 0.82 to 0.85 for any K. This prior
        names the true categories, so its sd must be finite.
    prior_spread : HalfNormal or HalfStudentT
        Prior of the spread of each error.
    prior_ability_spread : HalfNormal or HalfStudentT
        Prior of the standard deviation of abilities, in log odds. A tiny scale, such as
        ``HalfNormal(1e-3)``, makes errors of different true categories independent.
    prior_misleading : Beta, optional
        Of the probability that an item misleads its raters; by default none does.

    Notes
    -----
    The reference of the log odds is the right category, not the last one as published, so that the
    prior treats all categories alike. `em` maximises the posterior density of location and spreads
    whether priors are asked for or not, because only these priors make raters resemble one another;
    effects of raters are at their mode, with their uncertainty by a Laplace approximation.

    References
    ----------
    Paun et al. (2018). https://doi.org/10.1162/tacl_a_00040
    """

    summary: ClassVar[str] = "true categories, and confusion matrices of raters who are alike"
    references: ClassVar[tuple[str, ...]] = ("paun2018",)
    reports: ClassVar[tuple[str, ...]] = (
        "prevalence",
        "typical_confusion",
        "location",
        "spread",
        "ability_spread",
        "ability",
        *CONFUSION_QUANTITIES,
    )

    prior_prevalence: Dirichlet = Dirichlet(1.0)
    prior_location: Normal = Normal(-2.0, 1.0)
    prior_spread: HalfNormal | HalfStudentT = HalfNormal(1.0)
    prior_ability_spread: HalfNormal | HalfStudentT = HalfNormal(1.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not math.isfinite(self.prior_location.sd):
            raise ValueError(
                "prior_location must have a finite sd, because it alone identifies the "
                f"categories; found {self.prior_location!r}. Pass, say, Normal(-2, 2)."
            )

    @property
    def family(self) -> Categories:
        """Raters whose log odds of errors are drawn from a normal population."""
        raters = LogOdds()
        return Categories(response=raters, effects=raters, adaptation=POPULATION)

    def problem(self, ratings: Ratings) -> CategoricalProblem[Precision]:
        """Distinct items by their ratings, and priors."""
        problem = self.categorical_problem(ratings)
        errors = pd.RangeIndex(problem.n_categories * (problem.n_categories - 1))
        return replace(
            problem,
            coords={**problem.coords, "error": errors},
            own=Precision(np.zeros((len(errors), problem.n_raters))),
        )

    def parameters(self) -> tuple[Parameter, ...]:
        """Prevalence, what raters share, and their effects."""
        return (
            PREVALENCE,
            Parameter("location", "real", ("error",)),
            Parameter("spread", "positive", ("error",)),
            Parameter("ability_spread", "positive"),
            Parameter("ability", "real", ("rater",)),
            Parameter("effect", "real", ("error", "rater")),
            *self.shared_parameters,
        )

    def prior_numbers(self, n_categories: int) -> dict[str, Array]:
        """Numbers of the priors; that of the location is for one of K - 1 wrong categories."""
        mean, sd = self.prior_location.stan
        return {
            "prevalence": self.prior_prevalence.of(n_categories),
            "location": np.array([mean - math.log(n_categories - 1), sd]),
            "spread": self.prior_spread.stan,
            "ability_spread": self.prior_ability_spread.stan,
        }
