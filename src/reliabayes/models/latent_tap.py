"""Latent-scale t-a-p: raters of different accuracy, items of different difficulty."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np
import pandas as pd

from reliabayes.arrays import Array
from reliabayes.families.categories.difficulty import NO_DIFFICULTY, difficulty_nodes
from reliabayes.families.categories.family import Categories
from reliabayes.families.categories.latent_accuracy import LatentAccuracy, RaterCovariates
from reliabayes.families.categories.latent_starts import better_starts
from reliabayes.families.categories.prevalence import PREVALENCE
from reliabayes.families.categories.problem import CategoricalProblem
from reliabayes.inference.guess_centring import GUESSES
from reliabayes.inference.parameters import Parameter
from reliabayes.models.category_model import CategoryModel
from reliabayes.models.covariates import Covariates
from reliabayes.models.priors import Dirichlet, HalfNormal, HalfStudentT, Normal, check_proper
from reliabayes.ratings import Ratings
from reliabayes.sampling.thresholds import LATENT_POPULATION


@dataclass(frozen=True, kw_only=True)
class LatentTAP(CategoryModel[RaterCovariates]):
    r"""Accuracy of raters in log odds, less the difficulty of the item.

    .. math:: \operatorname{logit} a_{ij} = \alpha_j - \delta_i + x_j' \eta

    A rater who does not know the true category guesses it with the probabilities p. Accuracies
    alpha are normal among raters, guesses Dirichlet(1 + ``concentration`` times ``mean_p``), and
    difficulties delta normal among items and integrated out by quadrature. The model leaves out a
    discrimination of each item, about which its few ratings say next to nothing. A guess is right
    with the chance q that its rater's p gives to the true category (for two categories p or 1 - p),
    and not with a free chance of each item. `Fit.new_rater` has the accuracy of another rater.

    Quantities: ``prevalence`` (K,), ``mean_alpha``, ``sd_alpha``, ``sd_delta`` in log odds,
    ``eta``, ``mean_p`` (K,), ``concentration``; of each rater ``confusion`` (K, K), ``accuracy``
    and ``random_share`` on an item drawn at random, ``informativeness`` in bits, ``alpha`` and,
    with its covariates, ``a`` on an item of average difficulty, and ``p``; ``log_likelihood`` in
    nats and ``bits_per_rating``, with true categories and difficulties marginalised.

    Parameters
    ----------
    difficulty : bool, default True
        Whether items differ in difficulty.
    nodes : int, optional
        Number of nodes of the difficulty; by default as many as the item with most ratings needs
        for an error of the log-likelihood below 1e-3, and more if difficulties differ much.
    covariates : Covariates, optional
        Covariates of raters, such as their experience.
    prior_prevalence, prior_mean_p : Dirichlet
        Prior of the prevalence, and of the mean probabilities of guesses.
    prior_mean_alpha, prior_eta : Normal
        In log odds; of each slope of a covariate.
    prior_sd_alpha, prior_sd_delta, prior_concentration : HalfNormal or HalfStudentT
        Standard deviations in log odds; of the concentration of guesses.
    prior_misleading : Beta, optional
        Of the probability that an item misleads its raters; by default none does.

    References
    ----------
    Eubanks, Hierarchical t-a-p models, Invariant scales. https://kappazoo.com
    """

    summary: ClassVar[str] = "accuracy of raters, less the difficulty of the item, in log odds"
    references: ClassVar[tuple[str, ...]] = ("eubanks",)
    reports: ClassVar[tuple[str, ...]] = (
        *("prevalence", "mean_alpha", "sd_alpha", "sd_delta", "eta", "mean_p", "concentration"),
        *("confusion", "accuracy", "informativeness", "random_share", "alpha", "a", "p"),
        *("log_likelihood", "bits_per_rating"),
    )

    difficulty: bool = True
    nodes: int | None = None
    covariates: Covariates | None = None
    prior_prevalence: Dirichlet = Dirichlet(1.0)
    prior_mean_alpha: Normal = Normal(0.0, 1.5)
    prior_sd_alpha: HalfNormal | HalfStudentT = HalfNormal(1.0)
    prior_sd_delta: HalfNormal | HalfStudentT = HalfNormal(1.0)
    prior_eta: Normal = Normal(0.0, 1.0)
    prior_mean_p: Dirichlet = Dirichlet(2.0)
    prior_concentration: HalfNormal | HalfStudentT = HalfNormal(10.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.nodes is not None and self.nodes < 3:
            raise ValueError(f"nodes must be 3 or more, not {self.nodes}.")
        check_proper("prior_mean_alpha", self.prior_mean_alpha)
        check_proper("prior_eta", self.prior_eta)

    @property
    def family(self) -> Categories:
        """Raters with an accuracy in log odds, less the item's difficulty, who otherwise guess."""
        raters = LatentAccuracy()
        return Categories(
            response=raters,
            effects=raters,
            guess=GUESSES.name,
            adaptation=LATENT_POPULATION,
            has_cheap_climbs=False,
            better_starts=partial(better_starts, raters, self.difficulty and not self.nodes),
        )

    def problem(self, ratings: Ratings) -> CategoricalProblem[RaterCovariates]:
        """Distinct items by their ratings, priors, nodes of difficulty, and covariates."""
        problem = self.categorical_problem(ratings)
        known, most_ratings = self.covariates, int(ratings.ratings_per_item.max())
        covariate = np.empty((ratings.n_raters, 0)) if known is None else known.of(ratings.raters)
        names = pd.Index([] if known is None else list(known.names))
        return replace(
            problem,
            coords={**problem.coords, "covariate": names},
            nodes=difficulty_nodes(most_ratings, self.nodes) if self.difficulty else NO_DIFFICULTY,
            own=RaterCovariates(covariate),
        )

    def parameters(self) -> tuple[Parameter, ...]:
        """Prevalence, accuracies and guesses, each with what they have in common."""
        has_eta = self.covariates is not None
        return (
            PREVALENCE,
            Parameter("mean_alpha", "real"),
            Parameter("sd_alpha", "positive"),
            *([Parameter("sd_delta", "positive", ("all",))] if self.difficulty else []),
            *([Parameter("eta", "real", ("covariate",))] if has_eta else []),
            Parameter("mean_p", "simplex", ("category",)),
            Parameter("concentration", "positive"),
            Parameter("alpha", "real", ("rater",)),
            GUESSES,
            *self.shared_parameters,
        )

    def prior_numbers(self, n_categories: int) -> dict[str, Array]:
        """Values (..., 2) or (K,) of each prior, in the order of Stan's data."""
        return {
            "prevalence": self.prior_prevalence.of(n_categories),
            "mean_alpha": self.prior_mean_alpha.stan,
            "sd_alpha": self.prior_sd_alpha.stan,
            "sd_delta": self.prior_sd_delta.stan,
            "eta": self.prior_eta.stan,
            "mean_p": self.prior_mean_p.of(n_categories),
            "concentration": self.prior_concentration.stan,
        }
