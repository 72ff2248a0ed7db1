"""Models of ordered scores, cut into categories: what all of them have."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, get_args

import numpy as np
import pandas as pd
import xarray as xr
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from reliabayes.arrays import Array, Codes
from reliabayes.choices import Repeats
from reliabayes.families.maximum_likelihood import criterion_of, highest
from reliabayes.families.ordered import maximum, replicates, reports, starts
from reliabayes.families.ordered.density import log_likelihood
from reliabayes.families.ordered.family import (
    OrderedScores,
    for_program,
    from_program,
    ordered_problem,
    with_nodes_of,
)
from reliabayes.families.ordered.problem import OrderedPosterior, OrderedProblem
from reliabayes.families.pools import pool_of_raters
from reliabayes.families.simulation import CategorySimulation
from reliabayes.inference.em import Point
from reliabayes.inference.parameters import Parameter
from reliabayes.inference.problem import StanPart
from reliabayes.inference.stan import Draws
from reliabayes.inference.warm_start import WarmStart
from reliabayes.likelihoods.ordinal import RESIDUAL, Link
from reliabayes.models.priors import HalfNormal, HalfStudentT, own_priors
from reliabayes.models.rating_model import RatingModel
from reliabayes.partitions import AnyRatings
from reliabayes.ratings import Ratings
from reliabayes.results.model import as_counted, problem_of
from reliabayes.results.new_rater import drawn_effect
from reliabayes.results.point_estimate import PointEstimate
from reliabayes.results.rating_probabilities import RatingProbabilities
from reliabayes.sampling.arguments import check_kind


@dataclass(frozen=True, kw_only=True)
class OrderedModel(RatingModel[OrderedProblem]):
    """A model of a latent score: item effect plus rater effect plus residual, cut into categories.

    A model says in its `family` whether raters are one population or belong to pools, and whether
    there are two categories or more, and which priors its parameters have (`prior_numbers`).

    Parameters
    ----------
    repeats : {"independent", "one_vote"}, default "independent"
        What several ratings of an item by one rater count as: independent ratings, as published; or
        one vote, the category that the rater gave it most often. Runs of one judge repeat its
        errors, so that they are more ratings but no more evidence.
    """

    family: ClassVar[OrderedScores]

    repeats: Repeats = "independent"
    link: Link = "logit"
    nodes: int | None = None
    prior_sd_item: HalfNormal | HalfStudentT = HalfNormal(4.0)
    prior_sd_rater: HalfNormal | HalfStudentT = HalfStudentT(3, 1.0)

    def __post_init__(self) -> None:
        if self.repeats not in get_args(Repeats):
            raise ValueError(f"repeats must be 'independent' or 'one_vote', not {self.repeats!r}.")
        if self.link not in RESIDUAL:
            raise ValueError(f"link must be 'logit' or 'probit', not {self.link!r}.")
        if self.nodes is not None and self.nodes < 3:
            raise ValueError(f"nodes must be 3 or more, not {self.nodes}.")

    # Definition.

    @abstractmethod
    def prior_numbers(self) -> dict[str, Array]:
        """Numbers of each prior by name: of ``cut`` points before they are ordered, and of sds."""

    @property
    def priors_of_sds(self) -> dict[str, Array]:
        """Numbers of the priors that all models have."""
        return {"sd_item": self.prior_sd_item.stan, "sd_rater": self.prior_sd_rater.stan}

    def parameters(self) -> tuple[Parameter, ...]:
        """Sds of items and raters, steps between cut points, location, and levels of raters."""
        return self.family.parameters

    def declared(self, problem: OrderedProblem) -> tuple[Parameter, ...]:
        """The same."""
        return self.family.parameters

    def priors(self, ratings: Ratings) -> dict[str, Any]:
        """Priors by parameter."""
        return own_priors(self)

    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Names of the dimensions of the programs' variables."""
        return self.family.dims

    def problem(self, ratings: Ratings) -> OrderedProblem:
        """Distinct items by their ratings, priors and pools, and nodes of effects of items."""
        return ordered_problem(
            self.family,
            ratings,
            model=type(self).__name__,
            priors=self.prior_numbers(),
            repeats=self.repeats,
            link=self.link,
            nodes=self.nodes,
            pool=pool_of_raters(self, ratings) if self.family.is_pooled else None,
        )

    def program(self, problem: OrderedProblem) -> str:
        """The program that integrates effects of items out, or one that samples them."""
        return problem.treatment.program

    # Estimation.

    def em(
        self,
        ratings: AnyRatings,
        *,
        priors: bool = False,
        reml: bool = False,
        max_iterations: int = 100,
        tolerance: float = 1e-8,
    ) -> PointEstimate:
        """Maximum likelihood estimate, as of mixed models, by Newton's method.

        Effects of items are integrated out by adaptive quadrature and those of raters by Laplace's
        approximation, which takes seconds, or minutes for 100,000 ratings. A source without
        variance has a standard deviation of exactly 0, which other software calls a singular fit.

        Parameters
        ----------
        ratings : Ratings
            The data.
        priors : bool, default False
            Maximise the posterior density instead, as it is on Stan's unconstrained scale.
        reml : bool, default False
            Not for categories: only models of numbers have a restricted likelihood.
        max_iterations : int, default 100
            Iterations at most.
        tolerance : float, default 1e-8
            Gain in nats that is expected of a further iteration, below which the search ends.

        Returns
        -------
        PointEstimate
            The last number of its ``path`` is what was maximised. Its log-likelihood is given the
            effects of raters at their mode.

        Raises
        ------
        RatingsError
            The ratings do not suit the model.
        ValueError
            ``reml`` is passed.

        Warns
        -----
        ConvergenceWarning
            The search had not converged.

        References
        ----------
        Bates, Mächler, Bolker & Walker (2015), https://doi.org/10.18637/jss.v067.i01
        """
        check_kind(self, ratings)
        name = type(self).__name__
        criterion = criterion_of(name, priors=priors, reml=reml, has_restricted=False)
        ratings = as_counted(self, ratings)
        with threadpool_limits(limits=1, user_api="blas"):  # matrices are too small for threads
            problem: OrderedProblem = problem_of(self, ratings)
            search = maximum.search(problem, criterion)
            found = highest(search, criterion, name, max_iterations, tolerance)
            point = search.point(found.at)
            return self.estimate_at(point, ratings, problem, found.path, found.converged)

    def log_likelihood(self, point: Point, problem: OrderedProblem) -> float:
        """Log-probability of all ratings, with effects of items marginalised."""
        return log_likelihood(point, problem)

    # Sampling.

    def start(self, problem: OrderedProblem) -> WarmStart:
        """Mode of the posterior, and its curvature, by EM."""
        return problem.treatment.start(problem)

    def starts(self, problem: OrderedProblem) -> tuple[WarmStart, ...]:
        """The start, in better units where these are worth their time."""
        start = self.start(problem)
        return (starts.in_better_units(with_nodes_of(problem, start.centring), start),)

    def settled(self, problem: OrderedProblem, centring: StanPart | None) -> OrderedProblem:
        """The problem with the nodes that suffice around its mode."""
        return with_nodes_of(problem, centring)

    def cold_start(self, problem: OrderedProblem, centring: StanPart | None) -> WarmStart:
        """Starting points dispersed by about one unit around 0 on the unconstrained scale."""
        return problem.treatment.cold_start(problem, centring)

    def for_program(self, point: Mapping[str, Any], centring: StanPart | None) -> Mapping[str, Any]:
        """A point as the program declares it: scores in place of parameters and levels."""
        return for_program(point, centring)

    def from_program(self, run: Draws, centring: StanPart | None) -> Draws:
        """A run of the program, with parameters only."""
        return from_program(run, centring)

    # Results.

    def quantities(self, posterior: OrderedPosterior) -> xr.Dataset:
        """ICCs on both scales beside the parameters, draw by draw."""
        return reports.reported(self.family, posterior, self.reports)

    def items(
        self, posterior: OrderedPosterior, prob: float | None, rng: np.random.Generator
    ) -> pd.DataFrame:
        """Effects of the items on the latent scale: mean, sd, median and interval."""
        return reports.items(posterior, prob, rng)

    def raters(
        self, posterior: OrderedPosterior, prob: float | None, rng: np.random.Generator
    ) -> pd.DataFrame:
        """Effects of the raters on the latent scale: mean, sd, median, interval, after any pool."""
        return reports.raters(posterior, prob)

    def new_rater(
        self, posterior: OrderedPosterior, covariates: Array, rng: np.random.Generator
    ) -> dict[str, Array]:
        """Effect of one who is drawn from their population, or of one of each pool."""
        return drawn_effect(posterior.draws["sd_rater"], rng)

    def pointwise(self, posterior: OrderedPosterior) -> tuple[Array, Codes]:
        """Log-probability (S, D) of distinct items by draw, and which of them each item is."""
        return reports.pointwise(posterior)

    def rating_probabilities(
        self, posterior: OrderedPosterior
    ) -> Iterator[RatingProbabilities] | None:
        """How raters rate at each draw; None where scores of several pools are sampled."""
        return reports.rating_probabilities(posterior)

    def integration_error(self, posterior: OrderedPosterior) -> tuple[int, float]:
        """Number of nodes, and the error of the log-likelihood; 0 if effects are sampled."""
        return reports.integration_error(posterior)

    # Simulation.

    def replicates(self, posterior: OrderedPosterior, rng: np.random.Generator) -> Iterator[Codes]:
        """Categories (N,) of ratings of new items by the same raters, one draw at a time."""
        for point in posterior.points():
            ratings = posterior.ratings_in_memory
            yield replicates.replicated(point, ratings, posterior.problem, rng)

    @property
    def simulation(self) -> CategorySimulation[OrderedProblem]:
        """How ratings in categories are drawn."""
        return CategorySimulation(self, replicates.draw_from_prior, replicates.replicated)
