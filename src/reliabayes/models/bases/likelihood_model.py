"""Base class of models whose likelihood is a smooth function of few numbers."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Literal, NamedTuple

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]
from typing_extensions import TypeVar

from reliabayes.arrays import Array, Mask
from reliabayes.errors import ConvergenceWarning
from reliabayes.inference.em import Point
from reliabayes.inference.maximum import maximise
from reliabayes.inference.problem import Problem
from reliabayes.models.bases.fit_arguments import check_kind
from reliabayes.models.bases.given_point import labelled_point
from reliabayes.models.bases.rating_model import RatingModel
from reliabayes.partitions import AnyRatings
from reliabayes.results.model import as_counted, problem_of
from reliabayes.results.point_estimate import PointEstimate

P = TypeVar("P", bound=Problem, default=Any)

Criterion = Literal["likelihood", "restricted", "posterior"]


class Search(NamedTuple):
    """What is maximised, over numbers in units of about 1.

    Attributes
    ----------
    log_density : callable
        Of the numbers (P,), in nats. Standard deviations have either sign.
    start : array of shape (P,)
        Where the search starts.
    may_be_zero : array of bool, shape (P,)
        Which numbers are 0 if their source of variance has none.
    point : callable
        Parameters by name, of the numbers.
    """

    log_density: Callable[[Array], float]
    start: Array
    may_be_zero: Mask
    point: Callable[[Array], Point]


class LikelihoodModel(RatingModel[P]):
    """A model with normal effects, which are integrated out of its likelihood.

    A subclass says what is maximised (`search`).
    """

    has_restricted_likelihood: ClassVar[bool] = False  # whether `em` takes ``reml``

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
        if reml and (priors or not self.has_restricted_likelihood):
            reason = "with priors=True" if priors else f"for {type(self).__name__}"
            raise ValueError(f"reml=True must not be passed {reason}. Leave it out.")
        ratings = as_counted(self, ratings)
        criterion: Criterion = "restricted" if reml else "posterior" if priors else "likelihood"
        with threadpool_limits(limits=1, user_api="blas"):  # matrices are too small for threads
            problem: P = problem_of(self, ratings)
            search = self.search(problem, criterion)
            found = maximise(
                search.log_density,
                search.start,
                max_iterations=max_iterations,
                tolerance=tolerance,
                may_be_zero=search.may_be_zero & (not priors),
            )
            point = search.point(found.at)
            log_likelihood = self.log_likelihood(point, problem)
        if not found.converged:
            reason = (
                f"em had not converged after {len(found.path) - 1} iterations. Raise "
                "max_iterations or tolerance."
            )
            if found.is_flat:
                reason = (
                    "the ratings do not tell all parameters, as with one rater or one item in a "
                    "pool: others are as likely. Call fit, or pass priors=True."
                )
            warnings.warn(f"{type(self).__name__}: {reason}", ConvergenceWarning, stacklevel=2)
        return PointEstimate(
            self,
            ratings,
            labelled_point(point, self.declared(problem), problem),
            log_likelihood,
            found.path,
            found.converged,
            problem,
        )
