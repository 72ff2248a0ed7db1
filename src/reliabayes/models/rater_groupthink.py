"""Groupthink, t_i-a_j-c_i: each rater knows, or follows the other raters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from reliabayes.arrays import Array
from reliabayes.families.categories.family import Categories
from reliabayes.families.categories.groupthink import (
    Followed,
    Following,
    Shares,
    check_shares,
    followed_cells,
)
from reliabayes.families.categories.prevalence import Prevalence, shared_prevalence
from reliabayes.families.categories.problem import CategoricalProblem
from reliabayes.inference.parameters import Parameter
from reliabayes.models.category_model import CategoryModel
from reliabayes.models.priors import (
    Beta,
    Dirichlet,
    RestrictedNormal,
    check_prevalence,
    prior_of_shared,
)
from reliabayes.ratings import Ratings
from reliabayes.sampling.thresholds import LONG_TAILS


@dataclass(frozen=True, kw_only=True)
class RaterGroupthink(CategoryModel[Followed]):
    r"""Accuracy of each rater, who, where they do not know, follows the other raters.

    .. math:: \Pr(\text{rated } k \mid \text{true } h) = a_j\,[h = k] + (1 - a_j)\, c_{ik}

    where c is the proportion of the item's ratings that are of category k. As with `Groupthink`
    the proportions nearly explain the ratings alone, and the accuracies fall to nearly 0.

    With ``shares="earlier"`` raters come one after another, as in `Groupthink`, and the posterior
    is calibrated.

    Quantities: ``a`` of each rater, ``log_likelihood`` in nats and ``bits_per_rating``, with true
    categories marginalised; ``prevalence`` (K,) where it is shared.

    Parameters
    ----------
    prevalence : {"item", "shared"}
        "item" for t_i-a_j-c_i, "shared" for t-a_j-c_i.
    prior_t : Dirichlet or RestrictedNormal
        Prior of each item's t_i, or of the shared t, for which it is a Dirichlet.
    prior_a : Beta
        Prior of each rater's accuracy.
    shares : {"all", "earlier"}
        Ratings of the item that raters follow: all, the own one included, as published; or those
        before the own one, in the order of the raters' ids.
    prior_misleading : Beta, optional
        Of the probability that an item misleads its raters; by default none does.

    References
    ----------
    Eubanks, Hierarchical t-a-p models, Groupthink. https://kappazoo.com
    """

    summary: ClassVar[str] = "accuracy of each rater, who knows or follows the other raters"
    references: ClassVar[tuple[str, ...]] = ("eubanks",)
    reports: ClassVar[tuple[str, ...]] = ("prevalence", "a", "log_likelihood", "bits_per_rating")
    conditional: ClassVar[bool] = True

    prevalence: Literal["item", "shared"] = "item"
    prior_t: Dirichlet | RestrictedNormal = Dirichlet(1.0)
    prior_a: Beta = Beta(1.0, 1.0)
    shares: Shares = "all"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_shares(self.shares)
        check_prevalence(self.prevalence, self.prior_t)

    @property
    def family(self) -> Categories:
        """Raters who know, or follow other ratings."""
        raters = Following(self.shares)
        # If a is near 0, the ratings say nothing about the prevalence: steps must be small.
        return Categories(response=raters.response, votes=raters, adaptation=LONG_TAILS)

    def problem(self, ratings: Ratings) -> CategoricalProblem[Followed]:
        """Distinct items by their ratings, priors, proportions of votes, and prior mean of t."""
        ratings.require_known_raters("RaterGroupthink")
        cells, followed = followed_cells(ratings, self.shares, has_raters=True)
        problem = self.categorical_problem(ratings, cells)
        mean = self.prior_t.mean(problem.n_categories)
        prevalence = Prevalence(self.prevalence == "shared", mean)
        return replace(problem, prevalence=prevalence, own=followed)

    def parameters(self) -> tuple[Parameter, ...]:
        """Prevalence where it is shared, and a."""
        prevalence = shared_prevalence(self.prevalence == "shared")
        return *prevalence, Parameter("a", "unit", ("rater",)), *self.shared_parameters

    def prior_numbers(self, n_categories: int) -> dict[str, Array]:
        """Values (..., 2) or (K,) of each prior, in the order of Stan's data."""
        return {
            "prevalence": prior_of_shared(self.prior_t, n_categories),
            "a": self.prior_a.stan,
        }
