"""Models with normal effects: what all of them have."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import pandas as pd
import xarray as xr
from numpy.random import Generator
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]
from typing_extensions import TypeVar

from reliabayes.arrays import Array, Codes
from reliabayes.families.maximum_likelihood import criterion_of, highest
from reliabayes.families.normal.family import NormalFamily, NormalSimulation
from reliabayes.inference.em import Point
from reliabayes.inference.parameters import Parameter
from reliabayes.inference.problem import Problem, StanPart
from reliabayes.inference.warm_start import WarmStart
from reliabayes.models.rating_model import RatingModel
from reliabayes.partitions import AnyRatings
from reliabayes.results.item_tables import TableOfPart
from reliabayes.results.model import problem_of
from reliabayes.results.point_estimate import PointEstimate
from reliabayes.results.posterior import Posterior
from reliabayes.sampling.arguments import check_kind

P = TypeVar("P", bound=Problem, default=Any)


@dataclass(frozen=True, kw_only=True)
class NormalModel(RatingModel[P]):
    """A model of ratings that come from a mean, normal effects and residuals.

    A model says which priors it has and what its likelihood needs of ratings (`problem`), and in
    its `normal_family` how ratings come from the effects.
    """

    continuous: ClassVar[bool] = True
    takes_parts: ClassVar[bool] = True

    @property
    @abstractmethod
    def normal_family(self) -> NormalFamily[P]:
        """How ratings come from the effects."""

    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Names of the dimensions of the programs' variables."""
        return self.normal_family.dims

    def declared(self, problem: P) -> tuple[Parameter, ...]:
        """Means or cut points, standard deviations, and the correlation of pools."""
        return self.normal_family.declared

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

        Effects of items and raters are integrated out: exactly if ratings are numbers; if they are
        categories, by Laplace's approximation. A source without variance has a standard deviation
        of exactly 0, which other software calls a singular fit.

        Parameters
        ----------
        ratings : Ratings or RatingsDataset
            The data, in parts if the model takes them.
        priors : bool, default False
            Maximise the posterior density instead, as it is on Stan's unconstrained scale.
        reml : bool, default False
            Maximise the restricted likelihood, which does not count the mean as known: variances of
            numbers are then those of an analysis of variance, if the design is balanced and these
            are not negative. For models of numbers only.
        max_iterations : int, default 100
            Iterations at most.
        tolerance : float, default 1e-8
            Gain in nats that is expected of a further iteration, below which the search ends.

        Returns
        -------
        PointEstimate
            The last number of its ``path`` is what was maximised. Its log-likelihood, as all
            results of models of categories, is given the effects of raters at their mode.

        Raises
        ------
        RatingsError
            The ratings do not suit the model.
        ValueError
            The model has no restricted likelihood, or ``priors`` is to go with it.

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
        criterion = criterion_of(name, priors=priors, reml=reml, has_restricted=self.continuous)
        with threadpool_limits(limits=1, user_api="blas"):  # matrices are too small for threads
            problem: P = problem_of(self, ratings)
            search = self.normal_family.search(problem, criterion)
            found = highest(search, criterion, name, max_iterations, tolerance)
            point = search.point(found.at)
            return self.estimate_at(point, ratings, problem, found.path, found.converged)

    def log_likelihood(self, point: Point, problem: P) -> float:
        """Log density of all ratings, with effects integrated out."""
        return self.normal_family.log_likelihood(point, problem)

    # Sampling.

    def program(self, problem: P) -> str:
        """Stan program that samples from the posterior."""
        return self.normal_family.program(problem)

    def starts(self, problem: P) -> tuple[WarmStart, ...]:
        """The start at the one mode."""
        return (self.normal_family.start(problem),)

    def cold_start(self, problem: P, centring: StanPart | None) -> WarmStart:
        """Widely dispersed starting points."""
        return self.normal_family.cold_start(problem)

    # Results.

    def quantities(self, posterior: Posterior[P]) -> xr.Dataset:
        """Parameters, and what follows from them, draw by draw."""
        return self.normal_family.quantities(posterior)

    def items(self, posterior: Posterior[P], prob: float | None, rng: Generator) -> pd.DataFrame:
        """Effects of the items, in units of the rating: mean, sd, median and interval."""
        return self.normal_family.effects_of_levels(posterior, "item", prob, rng)

    def items_by_part(
        self, posterior: Posterior[P], prob: float | None, rng: Generator
    ) -> TableOfPart:
        """What draws the effects of the items of a part, given draws of what all parts share."""
        return self.normal_family.items_by_part(posterior, prob, rng)

    def raters(self, posterior: Posterior[P], prob: float | None, rng: Generator) -> pd.DataFrame:
        """Effects of the raters, in units of the rating: mean, sd, median and interval."""
        return self.normal_family.effects_of_levels(posterior, "rater", prob, rng)

    def new_rater(
        self, posterior: Posterior[P], covariates: Array, rng: Generator
    ) -> dict[str, Array] | None:
        """Effect of one who is drawn from their population, or of one of each pool."""
        return self.normal_family.new_rater(posterior, rng)

    def pointwise(self, posterior: Posterior[P]) -> tuple[Array, Codes]:
        """Log density (S, I) of the ratings of items by draw, given effects that are not theirs."""
        return self.normal_family.pointwise(posterior)

    def replicates(self, posterior: Posterior[P], rng: Generator) -> Iterator[NDArray[Any]]:
        """Ratings (N,) of new items under the same other levels, one draw at a time."""
        return self.normal_family.replicates(posterior, rng)

    # Simulation.

    @property
    def simulation(self) -> NormalSimulation:
        """How numbers or categories are drawn."""
        return NormalSimulation(self, self.normal_family, has_categories=not self.continuous)
