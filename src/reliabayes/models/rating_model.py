"""Base class of all models."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, cast

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]
from typing_extensions import TypeVar

from reliabayes.arrays import Array, Codes
from reliabayes.choices import Repeats, Sampler, Stated
from reliabayes.families.given_point import given_point, labelled_point
from reliabayes.families.simulation import Simulation
from reliabayes.inference.commands import cmdstanpy_arguments
from reliabayes.inference.em import Point
from reliabayes.inference.parameters import Parameter
from reliabayes.inference.problem import Problem, StanPart, stan_data
from reliabayes.inference.stan import Draws, load
from reliabayes.inference.time_limit import within_timeout
from reliabayes.inference.warm_start import Start, WarmStart
from reliabayes.partitions import AnyRatings, RatingsDataset
from reliabayes.ratings import Ratings
from reliabayes.results.fit import Fit
from reliabayes.results.model import as_counted, problem_of, settled
from reliabayes.results.modes import Combined
from reliabayes.results.plan import Plan
from reliabayes.results.point_estimate import PointEstimate
from reliabayes.results.posterior import Posterior, with_ids
from reliabayes.results.settings import Settings
from reliabayes.sampling.arguments import check_arguments, check_kind, checked_aim
from reliabayes.sampling.loop import Chains, fit_until, program_arguments
from reliabayes.sampling.plan import Step, WeighsModes, chosen_settings, way_of
from reliabayes.wording import kebab_case

if TYPE_CHECKING:
    import cmdstanpy

P = TypeVar("P", bound=Problem, default=Any)

COUNTED: Repeats = "independent"
BY_MODEL: Stated = "model"


@dataclass(frozen=True, kw_only=True)
class RatingModel(ABC, Generic[P]):
    """A model of ratings: hyperparameters, and the way from ratings to quantities.

    It holds no data. A subclass reduces ratings to a typed `problem`, and has where to `start`.
    """

    summary: ClassVar[str]  # what it is for, in a line
    references: ClassVar[tuple[str, ...]] = ()  # keys of its publications in references.bib
    reports: ClassVar[tuple[str, ...]]  # names of its quantities
    continuous: ClassVar[bool] = False  # whether ratings have densities, not probabilities
    conditional: ClassVar[bool] = False  # whether it conditions on a part of the ratings
    has_true_categories: ClassVar[bool] = False  # whether items have a hidden true category
    has_facets: ClassVar[bool] = False  # whether it has effects of occasions and other facets
    takes_parts: ClassVar[bool] = False  # whether ratings may be a `RatingsDataset`
    samples_in_numpy: ClassVar[bool] = False  # whether posteriors may do without compiled code
    # What several ratings of an item by one rater count as, what is stated of labels, and
    # covariates of raters: fields of some models, and no arguments of the others.
    repeats = COUNTED
    stated = BY_MODEL
    covariates = cast(Any, None)

    @classmethod
    def name(cls) -> str:
        """Name on the command line: the class in kebab-case."""
        return kebab_case(cls.__name__)

    # From ratings to draws.

    @abstractmethod
    def priors(self, ratings: Ratings) -> dict[str, Any]:
        """Priors in force for these ratings, by parameter."""

    @abstractmethod
    def problem(self, ratings: Ratings) -> P:
        """Reduce ratings to what the posterior depends on; runs no estimation.

        Parameters
        ----------
        ratings : Ratings
            The data.

        Returns
        -------
        Problem
            Frozen, with positions counted from 0.

        Raises
        ------
        RatingsError
            The ratings do not suit the model.
        """

    @abstractmethod
    def starts(self, problem: P) -> tuple[WarmStart, ...]:
        """A start at each mode that may hold a share of the posterior, the heaviest first.

        Each has mode and curvature of the posterior, and the program's centring, by EM.

        Parameters
        ----------
        problem : Problem
            That of the ratings.
        """

    @abstractmethod
    def cold_start(self, problem: P, centring: StanPart | None) -> WarmStart:
        """Widely dispersed starting points, which do not depend on the mode that EM found.

        The centring is that of `starts`, if any.
        """

    @abstractmethod
    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Names of the dimensions of the program's variables; scalars may be left out."""

    @abstractmethod
    def program(self, problem: P) -> str:
        """Stan program that samples from the posterior."""

    # Results.

    @abstractmethod
    def em(self, ratings: AnyRatings) -> PointEstimate:
        """Maximum likelihood estimate, without sampling."""

    @abstractmethod
    def log_likelihood(self, point: Point, problem: P) -> float:
        """Log density of all ratings at a point, effects of items and hidden states integrated out.

        Parameters
        ----------
        point : mapping of str to array
            Each of `declared`, by name.
        problem : Problem
            That of the ratings.
        """

    @abstractmethod
    def declared(self, problem: P) -> tuple[Parameter, ...]:
        """What determines a point, as `simulate` takes it."""

    def at(self, ratings: AnyRatings, parameters: Mapping[Any, Any]) -> PointEstimate:
        """What the model says of ratings at given parameters, without estimating any.

        Parameters
        ----------
        ratings : Ratings or RatingsDataset
            The data; also other ratings than those that the parameters come from.
        parameters : mapping of str to float, array or DataArray, or Dataset
            All parameters by name, as `simulate` takes them, or such as the ``parameters`` of an
            estimate by `em`. Values with the user's ids as coordinates are taken by these; others
            have the order of ``ratings.raters``, ``ratings.categories`` and so on.

        Returns
        -------
        PointEstimate
            With `bits_per_rating` and the log-likelihood there, `items`, `raters` and quantities.

        Raises
        ------
        ValueError
            A parameter is missing, unknown, or out of its range, or has another shape.
        RatingsError
            The ratings do not suit the model.
        """
        check_kind(self, ratings)
        ratings = as_counted(self, ratings)
        problem: P = problem_of(self, ratings)
        point = given_point(parameters, self.declared(problem), problem, self)
        return self.estimate_at(point, ratings, problem)

    def estimate_at(
        self,
        point: Point,
        ratings: AnyRatings,
        problem: P,
        path: tuple[float, ...] = (),
        converged: bool = True,
    ) -> PointEstimate:
        """A point with what follows from it, and how it was found."""
        parameters = labelled_point(point, self.declared(problem), problem)
        log_likelihood = self.log_likelihood(point, problem)
        return PointEstimate(self, ratings, parameters, log_likelihood, path, converged, problem)

    @abstractmethod
    def quantities(self, posterior: Posterior[P]) -> xr.Dataset:
        """Reported quantities, draw by draw.

        Parameters
        ----------
        posterior : Posterior
            Draws with their problem.

        Returns
        -------
        Dataset
            Dims (chain, draw, ...), with the user's ids as coordinates.
        """

    @abstractmethod
    def items(
        self, posterior: Posterior[P], prob: float | None, rng: np.random.Generator
    ) -> pd.DataFrame:
        """Estimates for each item.

        Parameters
        ----------
        posterior : Posterior
            Draws with their problem.
        prob : float
            Probability of the intervals, in (0, 1).
        rng : Generator
            Source of randomness, for effects that Stan integrated out.

        Returns
        -------
        DataFrame
            A row for each item, by the user's ids.
        """

    @abstractmethod
    def raters(
        self, posterior: Posterior[P], prob: float | None, rng: np.random.Generator
    ) -> pd.DataFrame:
        """Estimates for each rater.

        Parameters
        ----------
        posterior : Posterior
            Draws with their problem.
        prob : float
            Probability of the intervals, in (0, 1).
        rng : Generator
            Source of randomness, for effects that Stan integrated out.

        Returns
        -------
        DataFrame
            A row for each rater, by the user's ids.
        """

    @abstractmethod
    def pointwise(self, posterior: Posterior[P]) -> tuple[Array, Codes]:
        """Log-probability of the ratings of each distinct item at each draw, in nats.

        Parameters
        ----------
        posterior : Posterior
            Draws with their problem.

        Returns
        -------
        log_probability : array of float, shape (S, D)
            By draw and distinct item.
        distinct : array of int, shape (I,)
            Which of the distinct items each item is.
        """

    @abstractmethod
    def replicates(
        self, posterior: Posterior[P], rng: np.random.Generator
    ) -> Iterator[NDArray[Any]]:
        """Ratings of new items by the same raters in the same design, draw by draw.

        Parameters
        ----------
        posterior : Posterior
            Draws with their problem.
        rng : Generator
            Source of randomness.

        Yields
        ------
        array of shape (N,)
            Ratings at one draw: numbers, or positions of categories.
        """

    # Simulation.

    @property
    @abstractmethod
    def simulation(self) -> Simulation:
        """How ratings and parameters are drawn."""

    def simulate(
        self,
        design: pd.DataFrame | Ratings,
        rng: np.random.Generator,
        *,
        categories: Iterable[Any] | None = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> Ratings:
        """Ratings drawn from the model.

        Parameters
        ----------
        design : DataFrame or Ratings
            Who rates what: a table with the columns item and rater, those of other facets that the
            model has, and pool, group and block if there are any, a row for each rating; or
            ratings, whose categories and facets are then kept.
        rng : Generator
            Source of all randomness.
        categories : iterable, default (0, 1)
            The values that a rating can have, if the model is one of categories.
        parameters : mapping of str to float or array, optional
            Parameters by name, as the Stan program declares them; the others are drawn from their
            priors. Of `GStudy`: ``mean``, or ``cut`` (K - 1,) in log odds; and ``sd`` of the
            sources, of categories without that of the residual.

        Returns
        -------
        Ratings

        Raises
        ------
        RatingsError
            The design has faults, or all ratings came out alike.
        ValueError
            There is no such parameter, or one is to be drawn whose prior is not set.
        """
        return self.simulation.ratings(design, rng, categories, parameters)

    def draw_parameters(
        self,
        design: pd.DataFrame | Ratings,
        rng: np.random.Generator,
        *,
        categories: Iterable[Any] | None = None,
    ) -> Point:
        """Parameters drawn from their priors, as `simulate` takes them."""
        return self.simulation.parameters(design, rng, categories)

    # Fitting.

    def prepared(self, ratings: AnyRatings) -> tuple[P, Sequence[WarmStart]]:
        """The problem as the program takes it, and a start at each mode, by one run of EM."""
        with threadpool_limits(limits=1, user_api="blas"):  # matrices are too small for threads
            problem: P = problem_of(self, ratings)
            modes = self.starts(problem)
            return settled(self, problem, modes[0].centring), modes

    def fit_of_runs(
        self,
        ratings: AnyRatings,
        problem: P,
        modes: Sequence[WarmStart],
        runs: Sequence[Draws],
        settings: Settings,
    ) -> Fit:
        """The fit that runs of the sampler make, from each of some modes or from one."""
        if isinstance(self, WeighsModes):
            drawn = self.combine(modes, runs, problem, settings)
        else:
            (run,) = runs
            drawn = Combined(run.parameters, run.statistics)
        fit = Fit(
            self,
            ratings,
            self.labelled(drawn.parameters, problem),
            self.labelled(drawn.statistics, problem),
            replace(
                settings,
                max_tree_depth=runs[0].max_tree_depth,
                stan_version=runs[0].stan_version,
                relabelled=drawn.relabelled,
                modes=drawn.modes,
            ),
            modes[0].centring,
        )
        vars(fit)["problem"] = problem  # the cached property, already known
        return fit

    def labelled(self, drawn: Mapping[str, Array], problem: Problem) -> xr.Dataset:
        """Draws (chains, draws, ...) by name, with dims and the user's ids as coords."""
        drawn = {name: values for name, values in drawn.items() if values.size}
        for values in drawn.values():
            values.flags.writeable = False
        dims = self.dims()
        names = {
            name: dims.get(name, tuple(f"{name}_dim_{i}" for i in range(values.ndim - 2)))
            for name, values in drawn.items()
        }
        data = xr.Dataset({name: (("chain", "draw", *names[name]), drawn[name]) for name in drawn})
        return with_ids(data, problem)

    @within_timeout
    def fit(
        self,
        ratings: AnyRatings,
        *,
        chains: int = 4,
        warmup: int | None = None,
        draws: int | None = None,
        seed: int | None = None,
        warm_start: bool | Start = True,
        parallel_chains: int | None = None,
        progress: bool | None = None,
        output_dir: str | os.PathLike[str] | None = None,
        timeout: float | None = None,
        sampler: Sampler = "auto",
        ess: float | None = None,
        mcse: Mapping[str, float] | None = None,
    ) -> Fit:
        """Draw from the posterior given the ratings.

        Parameters
        ----------
        ratings : Ratings or RatingsDataset
            The data, in memory or in parts.
        chains : int, default 4
            Markov chains; at least 2 to show whether they agree.
        warmup : int, optional
            Iterations of each chain to adapt, which are discarded. By default 150 where a warm
            start gives metric and step size, 500 if roughly, else 1000; 100 of many millions.
        draws : int, optional
            Draws kept of each chain; by default 1000, or 250 where each reads many millions.
        seed : int, optional
            From 0 to 2**31 - 1; by default a fresh one. The same seed gives the same draws of one
            build of the package, however many chains run at once; elsewhere rounding differs.
        warm_start : bool or Fit, default True
            Start around the mode, with metric and step size from its curvature; dispersed, with
            full adaptation; or, with an earlier `Fit`, from its draws.
        parallel_chains : int, optional
            Chains run at once; by default as many as there are processors.
        progress : bool, optional
            Show progress bars on standard error; by default in terminals and notebooks.
        output_dir : path-like, optional
            Folder that keeps Stan's tables of draws and its messages; by default they are removed.
        timeout : float, optional
            Seconds that the fit may take, warm start and chains together; any finite number.
        sampler : {"auto", "nuts", "hmc", "gibbs", "independence"}, default "auto"
            Stan's NUTS, for all; Hamiltonian Monte Carlo near a normal distribution, where there is
            one; Gibbs sampling, for `GaussianICC` and models of true categories except `LatentTAP`;
            independence sampling, for `GaussianICC` and `GStudy`. "auto" takes what gives most
            effective draws a second; NUTS if files are kept, or draws by the other are in doubt.
        ess : float, optional
            Effective sample size that all reported quantities are to have, bulk and tail: chains go
            on until they have it, or their budget of work is spent. By default they go on only if
            draws are in doubt, which they are below an ESS of 40 a chain.
        mcse : mapping of str to float, optional
            Monte Carlo standard errors that the means of quantities are to have at most, such as
            ``{"icc": 0.005}``.

        Returns
        -------
        Fit

        Raises
        ------
        ValueError
            An argument is out of its range, or the sampler does not suit the model.
        RatingsError
            The ratings do not suit the model.
        SamplingError
            A chain failed, or the fit took longer than ``timeout``.

        Warns
        -----
        ConvergenceWarning
            The chains disagree, are too short, or diverged.
        """
        check_arguments(self, ratings, warm_start, parallel_chains, timeout, sampler)
        settings = Settings.checked(chains=chains, warmup=warmup, draws=draws, seed=seed)
        aim = checked_aim(self, ess, mcse, settings, fixed=draws is not None)
        ratings = as_counted(self, ratings)
        with threadpool_limits(limits=1, user_api="blas"):
            problem, modes = self.prepared(ratings)
            way = way_of(
                self,
                problem,
                modes,
                aim.settings(settings),
                n_ratings=len(ratings),
                sampler=sampler,
                warm_start=warm_start,
                output_dir=output_dir,
            )
        options: dict[str, Any] = {"parallel_chains": parallel_chains, "progress": progress}
        plan = way.plan(aim.least_ess(settings), warmup, draws)

        def started(step: Step) -> Chains:
            chosen = replace(way.settings_of(step, warmup, draws), plan=plan)
            return Chains(self, problem, way.places, step, chosen, options, output_dir).started()

        def fit_of(chains: Chains) -> Fit:
            return self.fit_of_runs(ratings, problem, modes, chains.runs, chains.settings)

        may_go_on = way.may_change or aim.is_precision
        fit = fit_until(aim, way.steps, started, fit_of, may_go_on=may_go_on)
        fit.warn_if_unreliable(aim.missed(fit))
        return fit

    def plan(
        self,
        ratings: AnyRatings,
        *,
        chains: int = 4,
        warmup: int | None = None,
        draws: int | None = None,
        warm_start: bool = True,
        sampler: Sampler = "auto",
        ess: float | None = None,
    ) -> Plan:
        """How the posterior given the ratings would be sampled, and why, without sampling it.

        Parameters
        ----------
        ratings : Ratings or RatingsDataset
            The data, in memory or in parts.
        chains, warmup, draws, warm_start, sampler, ess
            As of `fit`.

        Returns
        -------
        Plan
            Printed, it reads as in a section on methods. EM is run, from which chains start, and,
            of ratings in memory, a few draws are made, from which ``seconds`` are estimated.

        Raises
        ------
        ValueError, RatingsError
            As by `fit`.

        Examples
        --------
        >>> import numpy as np
        >>> import reliabayes as rb
        >>> ratings = rb.Ratings.from_wide(np.array([[1, 2], [4, 4], [2, 3]]))
        >>> rb.GaussianICC().plan(ratings).sampler
        'nuts'
        """
        check_arguments(self, ratings, warm_start, None, None, sampler)
        settings = Settings.checked(chains=chains, warmup=warmup, draws=draws, seed=1)
        aim = checked_aim(self, ess, None, settings, fixed=draws is not None)
        ratings = as_counted(self, ratings)
        with threadpool_limits(limits=1, user_api="blas"):
            problem, modes = self.prepared(ratings)
            way = way_of(
                self,
                problem,
                modes,
                aim.settings(settings),
                n_ratings=len(ratings),
                sampler=sampler,
                warm_start=warm_start,
            )
        plan = way.plan(aim.least_ess(settings), warmup, draws)
        if isinstance(ratings, RatingsDataset):
            return plan  # a few draws may be many passes over the parts
        chosen = way.settings_of(way.steps[0], warmup, draws)
        trial = Chains(self, problem, way.places, way.steps[0], chosen, {"progress": False})
        return replace(plan, seconds=trial.seconds())

    # For users of Stan.

    def stan_data(self, ratings: AnyRatings) -> dict[str, Any]:
        """Data of the model's Stan program for these ratings.

        Parameters
        ----------
        ratings : Ratings or RatingsDataset
            The data; in parts if the model takes them, and NUTS can sample its posterior of them.

        Returns
        -------
        dict
            Values by the names of the program's data block: the ratings, reduced to what the
            likelihood needs, with positions counted from 1; the numbers of the priors; and in some
            programs the centre and scale of what they sample, found by one run of EM.

        Raises
        ------
        RatingsError
            The ratings do not suit the model.

        Examples
        --------
        >>> import numpy as np
        >>> import reliabayes as rb
        >>> ratings = rb.Ratings.from_wide(np.array([[1, 2], [4, 4], [2, 3]]))
        >>> data = rb.GaussianICC().stan_data(ratings)
        >>> data["N"], data["J"]  # ratings, and raters
        (6, 2)
        """
        check_kind(self, ratings)
        problem, modes = self.prepared(as_counted(self, ratings))
        return stan_data(problem, modes[0].centring)

    def cmdstan_model(self, ratings: AnyRatings) -> cmdstanpy.CmdStanModel:
        """The compiled Stan program that is fitted to these ratings.

        Parameters
        ----------
        ratings : Ratings or RatingsDataset
            The data: some models have one program for few raters, and another for many.

        Returns
        -------
        cmdstanpy.CmdStanModel
            With the methods ``sample``, ``log_prob`` and ``diagnose``; with all that CmdStan has
            where ``RELIABAYES_CMDSTAN`` asks for a program that it compiles.

        Raises
        ------
        SamplingError
            There is no compiled program, as in a browser.

        Examples
        --------
        >>> import numpy as np
        >>> import reliabayes as rb
        >>> ratings = rb.Ratings.from_wide(np.array([[1, 2], [4, 4], [2, 3]]))
        >>> rb.GaussianICC().cmdstan_model(ratings).name
        'gaussian_icc'
        """
        check_kind(self, ratings)
        return load(self.program(problem_of(self, as_counted(self, ratings))))

    def inits(self, ratings: AnyRatings, *, chains: int = 4, seed: int = 1) -> list[dict[str, Any]]:
        """Starting points of the program's parameters, as ``sample`` of cmdstanpy takes them.

        Parameters
        ----------
        ratings : Ratings or RatingsDataset
            The data.
        chains : int, default 4
            Markov chains.
        seed : int, default 1
            Seed of the points, from 0 to 2**31 - 1.

        Returns
        -------
        list of dict
            Of each chain: values by the names in the program's parameters block, dispersed around
            the heaviest mode more widely than the posterior.

        Examples
        --------
        >>> import numpy as np
        >>> import reliabayes as rb
        >>> ratings = rb.Ratings.from_wide(np.array([[1, 2], [4, 4], [2, 3]]))
        >>> [sorted(init) for init in rb.GaussianICC().inits(ratings, chains=1)]
        [['sd_item', 'sd_rater', 'sd_residual']]
        """
        return list(self.sample_arguments(ratings, chains=chains, seed=seed)["inits"])

    def sample_arguments(
        self,
        ratings: AnyRatings,
        *,
        chains: int = 4,
        warmup: int | None = None,
        draws: int | None = None,
        seed: int | None = None,
        warm_start: bool = True,
    ) -> dict[str, Any]:
        """Arguments with which ``sample`` of cmdstanpy makes the draws of ``fit(sampler="nuts")``.

        Draws are equal to the bit to those of a fit with the same arguments. A fit whose posterior
        has several modes combines such runs from each of them, of which this is the first.

        Parameters
        ----------
        ratings : Ratings or RatingsDataset
            The data.
        chains, warmup, draws, seed, warm_start
            As of `fit`.

        Returns
        -------
        dict
            By the names that cmdstanpy has for them: what `stan_data` and `inits` return, from one
            run of EM; chains, seed and iterations; acceptance rate, and if they are known metric,
            step size and depth of trees; ``sig_figs`` for all digits.

        Examples
        --------
        >>> import numpy as np
        >>> import reliabayes as rb
        >>> ratings = rb.Ratings.from_wide(np.array([[1, 2], [4, 4], [2, 3]]))
        >>> arguments = rb.GaussianICC().sample_arguments(ratings, draws=500, seed=1)
        >>> arguments["iter_sampling"], arguments["sig_figs"]
        (500, 17)
        """
        check_kind(self, ratings)
        settings = Settings.checked(chains=chains, warmup=warmup, draws=draws, seed=seed)
        problem, modes = self.prepared(as_counted(self, ratings))
        start = modes[0] if warm_start else self.cold_start(problem, modes[0].centring)
        chosen = chosen_settings(settings, Step(None), [start], warmup, draws)
        return cmdstanpy_arguments(**program_arguments(self, problem, modes[0], start, chosen))
