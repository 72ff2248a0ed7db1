"""Base class of models whose likelihood is a smooth function of few numbers."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]
from typing_extensions import TypeVar

from reliabayes.families.maximum_likelihood import Criterion, Search, criterion_of, highest
from reliabayes.inference.problem import Problem
from reliabayes.models.bases.fit_arguments import check_kind
from reliabayes.models.bases.given_point import labelled_point
from reliabayes.models.bases.rating_model import RatingModel
from reliabayes.partitions import AnyRatings
from reliabayes.results.model import as_counted, problem_of
from reliabayes.results.point_estimate import PointEstimate

P = TypeVar("P", bound=Problem, default=Any)


class LikelihoodModel(RatingModel[P]):
    """A model with normal effects, which are integrated out of its likelihood.

    A subclass says what is maximised (`search`).
    """

    @abstractmethod
    def search(self, problem: P, criterion: Criterion) -> Search:
        """What is maximised over few numbers, and which parameters they are."""

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
        categories, those of items by adaptive quadrature and those of raters by Laplace's
        approximation, which takes seconds, or minutes for 100,000 ratings. A source without
        variance has a standard deviation of exactly 0, which other software calls a singular fit.

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
        ratings = as_counted(self, ratings)
        with threadpool_limits(limits=1, user_api="blas"):  # matrices are too small for threads
            problem: P = problem_of(self, ratings)
            search = self.search(problem, criterion)
            found = highest(search, criterion, name, max_iterations, tolerance)
            point = search.point(found.at)
            log_likelihood = self.log_likelihood(point, problem)
        return PointEstimate(
            self,
            ratings,
            labelled_point(point, self.declared(problem), problem),
            log_likelihood,
            found.path,
            found.converged,
            problem,
        )
