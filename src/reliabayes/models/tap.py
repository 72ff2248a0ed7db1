"""t-a-p: raters, all alike, know the true category or guess."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from reliabayes.arrays import Array
from reliabayes.families.categories import alike_raters
from reliabayes.families.categories.by_counts import ByCounts
from reliabayes.families.categories.family import Categories
from reliabayes.families.categories.prevalence import PREVALENCE
from reliabayes.families.categories.problem import CategoricalProblem
from reliabayes.families.categories.reports import CONFUSION_QUANTITIES
from reliabayes.inference.parameters import Parameter
from reliabayes.models.category_model import CategoryModel
from reliabayes.models.priors import Beta, Dirichlet
from reliabayes.ratings import Ratings
from reliabayes.sampling.thresholds import QUICK_ITERATIONS

Depends = Literal["shared", "by_category"]


@dataclass(frozen=True, kw_only=True)
class TAP(CategoryModel[alike_raters.Numbers]):
    r"""Average accuracy of raters who know the true category, or else guess.

    .. math:: \Pr(\text{rated } k \mid \text{true } h) = a\,[h = k] + (1 - a)\, p_k

    For two categories t is the prevalence of the second, p the probability of guessing it.
    Anonymous raters are allowed. If accuracy or guesses depend on the true category (a0, a1, p0,
    p1), the ratings still identify prevalence and confusion only: three numbers for two categories,
    as many as t, a and p. Everything beyond these comes from the priors.

    Quantities: ``prevalence`` (K,), ``a``, ``p`` (K,), ``confusion`` (K, K) by true category,
    ``accuracy``, ``informativeness`` in bits, ``random_share``, ``log_likelihood`` in nats and
    ``bits_per_rating``, with true categories marginalised.

    Parameters
    ----------
    accuracy, guessing : {"shared", "by_category"}
        Whether a or p depend on the true category.
    prior_prevalence : Dirichlet
        Prior of the prevalence.
    prior_a : Beta
        Prior of each accuracy.
    prior_p : Dirichlet
        Prior of the probabilities of guesses.
    prior_misleading : Beta, optional
        Of the probability that an item misleads its raters; by default none does.

    References
    ----------
    Eubanks, The t-a-p model. https://kappazoo.com
    """

    summary: ClassVar[str] = "average accuracy of raters who know the true category or guess"
    references: ClassVar[tuple[str, ...]] = ("eubanks",)
    reports: ClassVar[tuple[str, ...]] = (
        "prevalence",
        "a",
        "p",
        *CONFUSION_QUANTITIES,
    )
    exchangeable_raters: ClassVar[bool] = True
    takes_parts: ClassVar[bool] = True

    accuracy: Depends = "shared"
    guessing: Depends = "shared"
    prior_prevalence: Dirichlet = Dirichlet(1.0)
    prior_a: Beta = Beta(1.0, 1.0)
    prior_p: Dirichlet = Dirichlet(1.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("accuracy", "guessing"):
            if getattr(self, name) not in ("shared", "by_category"):
                raise ValueError(
                    f"{name} must be 'shared' or 'by_category', not {getattr(self, name)!r}."
                )

    @property
    def family(self) -> Categories:
        """Raters who know or guess, all alike."""
        return Categories(
            response=ByCounts(
                probabilities=alike_raters.probabilities,
                pseudo_counts=alike_raters.pseudo_counts,
                outcomes=alike_raters.outcomes,
            ),
            adaptation=QUICK_ITERATIONS,
            # Otherwise the ratings leave a ridge, along which each sweep makes a small step.
            prefers_gibbs=self.accuracy == self.guessing == "shared",
        )

    def problem(self, ratings: Ratings) -> CategoricalProblem[alike_raters.Numbers]:
        """Distinct items by their ratings, priors, and what depends on the true category."""
        problem = self.categorical_problem(ratings)
        number = {"shared": 1, "by_category": problem.n_categories}
        own = alike_raters.Numbers(number[self.accuracy], number[self.guessing])
        return replace(problem, own=own)

    def parameters(self) -> tuple[Parameter, ...]:
        """Prevalence, a and p."""
        dim = {"shared": "all", "by_category": "true_category"}
        return (
            PREVALENCE,
            Parameter("a", "unit", (dim[self.accuracy],)),
            Parameter("p", "simplex", (dim[self.guessing], "category")),
            *self.shared_parameters,
        )

    def prior_numbers(self, n_categories: int) -> dict[str, Array]:
        """Values (..., 2) or (K,) of each prior, in the order of Stan's data."""
        return {
            "prevalence": self.prior_prevalence.of(n_categories),
            "a": self.prior_a.stan,
            "p": self.prior_p.of(n_categories),
        }
