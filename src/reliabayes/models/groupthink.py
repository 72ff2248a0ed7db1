"""Groupthink, t-a-c_i: raters who do not know the true category follow the other raters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from reliabayes.arrays import Array
from reliabayes.families.categories.family import Categories
from reliabayes.families.categories.groupthink import (
    Followed,
    Following,
    Shares,
    check_shares,
    followed_cells,
)
from reliabayes.families.categories.prevalence import PREVALENCE
from reliabayes.families.categories.problem import CategoricalProblem
from reliabayes.inference.parameters import Parameter
from reliabayes.models.category_model import CategoryModel
from reliabayes.models.priors import Beta, Dirichlet
from reliabayes.ratings import Ratings
from reliabayes.sampling.thresholds import LONG_TAILS


@dataclass(frozen=True, kw_only=True)
class Groupthink(CategoryModel[Followed]):
    r"""Average accuracy of raters who, where they do not know, follow the other raters.

    .. math:: \Pr(\text{rated } k \mid \text{true } h) = a\,[h = k] + (1 - a)\, c_{ik}

    where c is the proportion of the item's ratings that are of category k. As published, these
    contain the rating itself and nearly explain it alone: a falls to nearly 0 whatever the raters
    know, and the prevalence remains unknown. That is the lesson of the model: where raters follow
    each other, their ratings do not show how accurate they are. Raters need not be known.

    With ``shares="earlier"`` raters come one after another, in the order of their ids, and those
    who do not know repeat one of the ratings before theirs, or a category at random: c is then
    :math:`(n_k + 1/K) / (n + 1)`, with n earlier ratings of the item, of which n_k are of category
    k. This is a distribution of the ratings, and its posterior is calibrated. It needs the order:
    if it is wrong, a is underestimated. Where raters take turns, number the ratings of each item
    and pass the number as the rater.

    Quantities: ``prevalence`` (K,), ``a``, ``log_likelihood`` in nats and ``bits_per_rating``, with
    true categories marginalised.

    Parameters
    ----------
    prior_prevalence : Dirichlet
        Prior of the prevalence.
    prior_a : Beta
        Prior of the accuracy.
    shares : {"all", "earlier"}
        Ratings of the item that raters follow: all, the own one included, as published; or those
        before the own one.
    prior_misleading : Beta, optional
        Of the probability that an item misleads its raters; by default none does.

    References
    ----------
    Eubanks, Hierarchical t-a-p models, Groupthink. https://kappazoo.com
    """

    summary: ClassVar[str] = "average accuracy of raters who know, or follow the other raters"
    references: ClassVar[tuple[str, ...]] = ("eubanks",)
    reports: ClassVar[tuple[str, ...]] = ("prevalence", "a", "log_likelihood", "bits_per_rating")
    exchangeable_raters: ClassVar[bool] = True
    conditional: ClassVar[bool] = True

    prior_prevalence: Dirichlet = Dirichlet(1.0)
    prior_a: Beta = Beta(1.0, 1.0)
    shares: Shares = "all"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_shares(self.shares)

    @property
    def family(self) -> Categories:
        """Raters who know, or follow other ratings."""
        raters = Following(self.shares)
        return Categories(
            response=raters.response,
            votes=raters,
            # If a is near 0, the ratings say nothing about the prevalence: steps must be small.
            adaptation=LONG_TAILS,
            # Hardly any rating is known, so that sweeps of Gibbs sampling make small steps.
            prefers_gibbs=False,
        )

    def problem(self, ratings: Ratings) -> CategoricalProblem[Followed]:
        """Distinct items by their ratings, priors, and proportions of votes."""
        if self.shares == "earlier":
            ratings.require_known_raters("Groupthink")
        cells, followed = followed_cells(ratings, self.shares, has_raters=False)
        return replace(self.categorical_problem(ratings, cells), own=followed)

    def parameters(self) -> tuple[Parameter, ...]:
        """Prevalence and a."""
        return PREVALENCE, Parameter("a", "unit"), *self.shared_parameters

    def prior_numbers(self, n_categories: int) -> dict[str, Array]:
        """Values (..., 2) or (K,) of each prior, in the order of Stan's data."""
        return {
            "prevalence": self.prior_prevalence.of(n_categories),
            "a": self.prior_a.stan,
        }
