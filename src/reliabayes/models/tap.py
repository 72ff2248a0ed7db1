"""t-a-p: raters, all alike, know the true category or guess."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from reliabayes.arrays import Array, Codes
from reliabayes.inference.conjugate import Outcomes
from reliabayes.inference.em import Point
from reliabayes.inference.parameters import Parameter
from reliabayes.inference.problem import StanData, extended
from reliabayes.likelihoods.item_mixture import Expected
from reliabayes.models.bases.annotation import CONFUSION_QUANTITIES, SHARED
from reliabayes.models.bases.conjugate import ConjugateModel
from reliabayes.models.bases.hidden_state import CategoricalProblem
from reliabayes.models.bases.items_in_parts import ItemsInParts
from reliabayes.models.bases.know_or_guess import known_and_guessed, known_if_right
from reliabayes.models.priors import Beta, Dirichlet
from reliabayes.ratings import Ratings

Depends = Literal["shared", "by_category"]


@dataclass(frozen=True, eq=False, kw_only=True)
class TAPProblem(CategoricalProblem):
    """Ratings in categories, with accuracies and guesses that may depend on the true category.

    Attributes
    ----------
    n_accuracies, n_guesses : int
        Number of values of a and of p: 1, or one for each true category.
    """

    n_accuracies: int
    n_guesses: int

    def stan_data(self) -> StanData:
        """As for all problems, and both numbers."""
        return super().stan_data() | StanData({"A": self.n_accuracies, "P": self.n_guesses})


@dataclass(frozen=True, kw_only=True)
class TAP(ItemsInParts[TAPProblem], ConjugateModel[TAPProblem]):
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
    reports: ClassVar[tuple[str, ...]] = (
        "prevalence",
        "a",
        "p",
        *CONFUSION_QUANTITIES,
    )
    exchangeable_raters: ClassVar[bool] = True
    target_acceptance: ClassVar[float] = 0.95
    # An iteration takes some 0.2 ms; where hardly any rating is known, four are worth one draw.
    thinning: ClassVar[int] = 4

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

    def prefers_gibbs(self, problem: TAPProblem) -> bool:
        """Unless the ratings leave a ridge, along which each sweep makes a small step."""
        return problem.parts is not None or self.accuracy == self.guessing == "shared"

    def problem(self, ratings: Ratings) -> TAPProblem:
        """Distinct items by their ratings, priors, and what depends on the true category."""
        base = self.categorical_problem(ratings)
        numbers = {"shared": 1, "by_category": base.n_categories}
        return extended(
            TAPProblem,
            base,
            n_accuracies=numbers[self.accuracy],
            n_guesses=numbers[self.guessing],
        )

    def parameters(self) -> tuple[Parameter, ...]:
        """Prevalence, a and p."""
        dim = {"shared": SHARED, "by_category": "true_category"}
        return (
            Parameter("prevalence", "simplex", ("true_category",)),
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

    def confusion(self, point: Point) -> Array:
        """Probabilities of ratings (..., K, K) by true category."""
        known, guess = point["a"][..., None], point["p"]
        return known * np.eye(guess.shape[-1]) + (1 - known) * guess

    def outcomes(self, at: Mapping[str, Codes], problem: TAPProblem) -> Outcomes:
        """Each rating is known, or a guess."""
        shape = problem.n_categories, problem.n_cells
        known, unknown = (
            np.broadcast_to(each[:, None], shape) for each in (at["a"][:, 0], at["a"][:, 1])
        )
        return Outcomes(
            known=known_if_right(known, problem),
            guessed=(unknown, np.broadcast_to(at["p"], shape)),
            proportion=np.ones(problem.n_cells),
        )

    def pseudo_counts(self, point: Point, expected: Expected, problem: TAPProblem) -> Point:
        """Expected ratings that were accurate, and those that were guessed."""
        n_categories = problem.n_categories
        known = np.broadcast_to(point["a"], n_categories)
        guess = np.broadcast_to(point["p"], (n_categories, n_categories))
        knew, guessed = known_and_guessed(expected.ratings, known, guess)
        outcomes = np.stack([knew, guessed.sum(axis=1)], axis=-1)
        return {
            "prevalence": expected.items + problem.priors["prevalence"],
            "a": _pooled(outcomes, problem.n_accuracies) + problem.priors["a"],
            "p": _pooled(guessed, problem.n_guesses) + problem.priors["p"],
        }


def _pooled(counts: Array, size: int) -> Array:
    """Counts of each true category, or of all together."""
    return counts.sum(axis=0, keepdims=True) if size == 1 else counts
