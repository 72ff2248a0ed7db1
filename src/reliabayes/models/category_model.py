"""Models in which each item has an unobserved true category: what all of them have."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, get_args

import numpy as np
import pandas as pd
import xarray as xr

from reliabayes.arrays import Array, Codes
from reliabayes.choices import Repeats, Stated
from reliabayes.errors import ConvergenceWarning
from reliabayes.families.categories import (
    combination,
    em,
    modes,
    parts,
    replicates,
    reports,
    starts,
)
from reliabayes.families.categories.density import log_likelihood
from reliabayes.families.categories.family import Categories
from reliabayes.families.categories.gibbs import by_gibbs
from reliabayes.families.categories.problem import (
    MISLEADING,
    CategoricalProblem,
    X,
    categorical_problem,
)
from reliabayes.families.cells import Cells
from reliabayes.families.integration import quadrature_error
from reliabayes.families.simulation import CategorySimulation
from reliabayes.inference.em import Point
from reliabayes.inference.parameters import Parameter
from reliabayes.inference.problem import StanPart
from reliabayes.inference.stan import Draws
from reliabayes.inference.warm_start import WarmStart
from reliabayes.likelihoods.quadrature import Nodes
from reliabayes.models.priors import Beta, check_priors, own_priors
from reliabayes.models.rating_model import RatingModel
from reliabayes.partitions import AnyRatings, RatingsDataset
from reliabayes.ratings import Ratings
from reliabayes.results.item_tables import TableOfPart
from reliabayes.results.model import as_counted, problem_of
from reliabayes.results.modes import Combined
from reliabayes.results.point_estimate import PointEstimate
from reliabayes.results.posterior import Posterior
from reliabayes.results.rating_probabilities import RatingProbabilities
from reliabayes.results.settings import Settings
from reliabayes.sampling.arguments import check_kind
from reliabayes.sampling.plan import ByGibbs


@dataclass(frozen=True, kw_only=True)
class CategoryModel(RatingModel[CategoricalProblem[X]]):
    """A model in which an item has a true category, and a hidden state that its ratings follow.

    The state contains a category, which is the true one unless the item misleads its raters. A
    model says which `parameters` its Stan program has, which priors they have (`prior_numbers`),
    what its likelihood needs of ratings (`problem`), and in its `family` how the probability of a
    rating follows from the state.

    Parameters
    ----------
    repeats : {"independent", "one_vote"}, default "independent"
        What several ratings of an item by one rater count as: independent ratings, as published; or
        one vote, the category that the rater gave it most often. Runs of one judge repeat its
        errors, so that they are more ratings but no more evidence.
    prior_misleading : Beta, optional
        Prior of the probability that an item misleads: its true category is then drawn from the
        prevalence, whatever its ratings say. By default no item does, as published.
    stated : {"model", "honest"}, default "model"
        Whether labels and raters of a fit are stated as the model by itself holds them, or
        calibrated on other crowds with known answers (see `Fit.items`), which `recommend` chooses.
        It changes neither the posterior nor `Fit.quantities`.
    """

    has_true_categories: ClassVar[bool] = True
    exchangeable_raters: ClassVar[bool] = False  # raters need not be known

    repeats: Repeats = "independent"
    prior_misleading: Beta | None = None
    stated: Stated = "model"

    def __post_init__(self) -> None:
        if self.repeats not in get_args(Repeats):
            raise ValueError(f"repeats must be 'independent' or 'one_vote', not {self.repeats!r}.")
        if self.stated not in get_args(Stated):
            raise ValueError(f"stated must be 'model' or 'honest', not {self.stated!r}.")
        check_priors(self)
        if self.prior_misleading is not None and MISLEADING not in self.parameters():
            raise TypeError(
                f"{type(self).__name__} takes no prior_misleading: its parameters and its program "
                "leave out items that mislead."
            )

    # Definition.

    @property
    @abstractmethod
    def family(self) -> Categories:
        """How the probability of a rating follows, and what varies between models besides."""

    @abstractmethod
    def parameters(self) -> tuple[Parameter, ...]:
        """Parameters of the Stan program, in its order."""

    @abstractmethod
    def prior_numbers(self, n_categories: int) -> dict[str, Array]:
        """Numbers of each prior, by the name of its parameter."""

    @property
    def shared_parameters(self) -> tuple[Parameter, ...]:
        """What each model has after its own parameters: ``misleading``, if items may mislead."""
        return () if self.prior_misleading is None else (MISLEADING,)

    def categorical_problem(
        self, ratings: Ratings, cells: Cells | None = None
    ) -> CategoricalProblem[Any]:
        """What all problems have in common; a cell is a category and a rater unless given."""
        # Programs read the prior of what misleads even if nothing may.
        of_misleading = (self.prior_misleading or Beta(1.0, 1.0)).stan
        numbers = self.prior_numbers(len(ratings.categories))
        return categorical_problem(
            ratings,
            model=type(self).__name__,
            parameters=self.parameters(),
            priors={**numbers, MISLEADING.name: of_misleading},
            repeats=self.repeats,
            has_raters=not self.exchangeable_raters,
            cells=cells,
        )

    def problem_of_parts(self, dataset: RatingsDataset) -> CategoricalProblem[X]:
        """Distinct items of all parts, or where they are if they are too many for memory."""
        assert self.takes_parts
        return parts.of_all_parts(self.problem(dataset.example), dataset)

    def priors(self, ratings: Ratings) -> dict[str, Any]:
        """Priors in force for these ratings, by parameter."""
        return {name: prior for name, prior in own_priors(self).items() if prior is not None}

    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Names of the dimensions of the program's variables."""
        return {parameter.name: parameter.dims for parameter in self.parameters()}

    def program(self, problem: CategoricalProblem) -> str:
        """Stan program: the class in snake_case."""
        return self.name().replace("-", "_")

    def declared(self, problem: CategoricalProblem) -> tuple[Parameter, ...]:
        """The parameters of the program."""
        return self.parameters()

    # Estimation.

    def em(
        self,
        ratings: AnyRatings,
        *,
        priors: bool = False,
        restarts: int = 0,
        seed: int = 0,
        max_iterations: int = 5000,
        tolerance: float = 1e-7,
    ) -> PointEstimate:
        """Maximum likelihood estimate, by expectation maximisation.

        Parameters
        ----------
        ratings : Ratings or RatingsDataset
            The data. Of ratings in parts each iteration reads all parts, unless their distinct
            items fit into memory.
        priors : bool, default False
            Maximise the posterior density instead, as it is on Stan's unconstrained scale.
        restarts : int, default 0
            Runs from random starts besides the one from the votes; the best is kept, with the names
            of categories that come closest to those of the votes. Take 20 where the likelihood may
            have many modes.
        seed : int, default 0
            Seed of the random starts.
        max_iterations : int, default 5000
            Iterations of each run at most.
        tolerance : float, default 1e-7
            Change of a probability in one iteration that ends a run.

        Returns
        -------
        PointEstimate

        Raises
        ------
        RatingsError
            The ratings do not suit the model.

        Warns
        -----
        ConvergenceWarning
            The best run had not converged.

        References
        ----------
        Dempster, Laird & Rubin (1977), https://doi.org/10.1111/j.2517-6161.1977.tb01600.x
        """
        check_kind(self, ratings)
        ratings = as_counted(self, ratings)
        given: CategoricalProblem = problem_of(self, ratings)
        family = self.family
        problem = given if priors else em.without_priors(family.response, given)
        best = modes.best_of(family, problem, restarts, seed, max_iterations, tolerance)
        if not best.converged:
            text = (
                f"{type(self).__name__}: EM had not converged after {best.progress}. Raise "
                "max_iterations or tolerance."
            )
            warnings.warn(text, ConvergenceWarning, stacklevel=2)
        one_draw = {name: value[None, None] for name, value in best.point.items()}
        return PointEstimate(
            self,
            ratings,
            self.labelled(one_draw, problem).isel(chain=0, draw=0, drop=True),
            self.log_likelihood(best.point, problem),
            best.path,
            best.converged,
            given,
        )

    def log_likelihood(self, point: Point, problem: CategoricalProblem) -> float:
        """Log-probability of all ratings, with hidden states marginalised."""
        return log_likelihood(self.family.response, point, problem)

    # Sampling.

    def start(self, problem: CategoricalProblem) -> WarmStart:
        """Mode of the posterior on the unconstrained scale, and its curvature, by EM."""
        return modes.start_at_votes(self.family, problem)

    def starts(self, problem: CategoricalProblem) -> tuple[WarmStart, ...]:
        """A start at each mode that may hold a share of the posterior, the heaviest first."""
        return tuple(modes.starts(self.family, problem))

    def cold_start(self, problem: CategoricalProblem, centring: StanPart | None) -> WarmStart:
        """Starting points dispersed by about one unit around 0 on the unconstrained scale."""
        return starts.cold_start(self.family, problem, centring)

    def settled(self, problem: CategoricalProblem, centring: StanPart | None) -> CategoricalProblem:
        """The problem with the nodes that suffice around its modes."""
        return problem.with_nodes_of(centring)

    def for_program(self, point: Mapping[str, Any], centring: StanPart | None) -> Mapping[str, Any]:
        """A point as the program declares it."""
        return starts.for_program(point, centring)

    def from_program(self, run: Draws, centring: StanPart | None) -> Draws:
        """A run of the program, with the parameters in place of what it sampled."""
        return starts.from_program(run, self.parameters(), centring)

    def as_by_program(self, run: Draws, centring: StanPart | None) -> Draws:
        """A run of Gibbs sampling, with the log density of what the program samples."""
        return starts.as_by_program(run, centring)

    def conjugate(self, problem: CategoricalProblem) -> ByGibbs | None:
        """What Gibbs sampling needs: the ratings, or where they are, and what they count for."""
        return by_gibbs(self.family.response, problem)

    def prefers_gibbs(self, problem: CategoricalProblem) -> bool:
        """Whether Gibbs sampling, where there is one, gives more effective draws a second."""
        return problem.parts is not None or self.family.prefers_gibbs

    def weighs_modes(self, problem: CategoricalProblem) -> bool:
        """Not if items are in parts: it takes thousands of densities."""
        return problem.parts is None

    def chains_mix_modes(
        self, modes: Sequence[WarmStart], runs: Sequence[Draws], problem: CategoricalProblem
    ) -> bool:
        """Whether chains from all modes pass between them, and agree on how often."""
        return combination.chains_mix(self.family, modes, runs, problem)

    def combine(
        self,
        modes: Sequence[WarmStart],
        runs: Sequence[Draws],
        problem: CategoricalProblem,
        settings: Settings,
    ) -> Combined:
        """Draws of all runs, in proportion to the masses of their modes."""
        program = self.program(problem)
        return combination.combine(self.family, modes, runs, problem, program, settings)

    # Results.

    def quantities(self, posterior: Posterior[Any]) -> xr.Dataset:
        """Parameters and what follows from them, draw by draw."""
        return reports.reported(self.family, posterior, self.reports)

    def items(
        self, posterior: Posterior[Any], prob: float | None, rng: np.random.Generator
    ) -> pd.DataFrame:
        """Most probable category of each item, its probability, and the entropy in bits."""
        return reports.items(posterior, self.family.response)

    def items_by_part(
        self, posterior: Posterior[Any], prob: Any, rng: np.random.Generator
    ) -> TableOfPart:
        """What makes the table of labels of a part, from the draws."""
        return reports.items_by_part(posterior, self.family.response)

    def raters(
        self, posterior: Posterior[Any], prob: float | None, rng: np.random.Generator
    ) -> pd.DataFrame:
        """Each rater's quantities, what they lack of a typical rater's information, and habits.

        No columns if raters are exchangeable.
        """
        return reports.raters(self.family, posterior, self.reports, prob)

    def new_rater(
        self, posterior: Posterior[Any], covariates: Array, rng: np.random.Generator
    ) -> dict[str, Array] | None:
        """Draws (S,) of what a rater drawn from the population has; None if there is none."""
        return reports.new_rater(self.family, posterior, self.reports, covariates, rng)

    def category_probabilities(self, posterior: Posterior[Any]) -> pd.DataFrame:
        """Probability (I, K) of each true category of each item, averaged over draws."""
        return reports.category_probabilities(posterior, self.family.response)

    def correct_ratings(self, posterior: Posterior[Any], rng: np.random.Generator) -> Array:
        """Number (S, R) of each rater's ratings that equal true categories drawn with the draws."""
        return reports.correct_ratings(posterior, self.family.response, rng)

    def rating_probabilities(
        self, posterior: Posterior[Any]
    ) -> Iterator[RatingProbabilities] | None:
        """How raters rate at each draw; None where that depends on the ratings of others."""
        return reports.rating_probabilities(self.family, posterior)

    def pointwise(self, posterior: Posterior[Any]) -> tuple[Array, Codes]:
        """Log-probability (S, D) of distinct items by draw, and which of them each item is."""
        return reports.pointwise(posterior, self.family.response)

    def integration_error(self, posterior: Posterior[Any]) -> tuple[int, float]:
        """Number of nodes of the difficulty, and the error of the log-likelihood in nats."""
        if "sd_delta" not in posterior.problem.dims:
            return 0, 0.0
        return quadrature_error(posterior, "sd_delta", self.log_likelihood, Nodes.refined)

    def caution(self, ratings: Ratings) -> str:
        """That pools have one consensus, and what only known answers can tell.

        Before, what accuracies mean where raters see each other's ratings.
        """
        votes = self.family.votes
        found = [] if votes is None or not votes.caution else [votes.caution]
        if len(ratings.pools) > 1:
            found.append(
                f"The raters of {len(ratings.pools)} pools are judged against one consensus of all "
                "of them: where pools see items differently, raters count as wrong who are right "
                "by the standard of their own pool."
            )
        if self.prior_misleading is not None and ratings.gold_category is None:
            share = self.prior_misleading.mean
            found.append(
                f"The model assumes that about {share:.0%} of items mislead their raters; only "
                "known answers (gold) can tell how many do."
            )
        if self.stated == "honest" and ratings.gold_category is None:
            found.append(
                "Probabilities of labels and accuracies of raters are calibrated on other crowds; "
                "only known answers (gold) of these items can tell whether that suits them."
            )
        return " ".join(found)

    # Simulation.

    def replicates(self, posterior: Posterior[Any], rng: np.random.Generator) -> Iterator[Codes]:
        """Categories (N,) of ratings of new items by the same raters, one draw at a time."""
        family, ratings = self.family, posterior.ratings_in_memory
        for point in posterior.points():
            yield replicates.replicated(family, point, ratings, posterior.problem, rng)

    @property
    def simulation(self) -> CategorySimulation[CategoricalProblem[X]]:
        """How ratings in categories are drawn."""
        family = self.family
        rate = partial(replicates.simulated, family)
        return CategorySimulation(self, family.response.draw_from_prior, rate)
