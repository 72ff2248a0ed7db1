"""What all models of ratings have in common."""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]
from typing_extensions import TypeVar

from reliabayes.arrays import Array, Codes
from reliabayes.inference import stan
from reliabayes.inference.problem import Problem, StanPart, stan_data
from reliabayes.inference.warm_start import Start, WarmStart
from reliabayes.ratings import Ratings
from reliabayes.results.fit import Fit
from reliabayes.results.posterior import Posterior
from reliabayes.results.settings import Settings, whole_number

P = TypeVar("P", bound=Problem, default=Any)


@dataclass(frozen=True, kw_only=True)
class RatingModel(ABC, Generic[P]):
    """A model of ratings: hyperparameters, and the way from ratings to quantities.

    A model holds no data and never changes; `fit` gives a new `Fit`. A subclass reduces ratings to
    a typed `problem`, finds where to `start`, and computes what it reports from posterior draws.
    """

    summary: ClassVar[str]  # what it is for, in a line
    reports: ClassVar[tuple[str, ...]]  # names of its quantities
    continuous: ClassVar[bool] = False  # whether ratings have densities, not probabilities
    conditional: ClassVar[bool] = False  # whether it conditions on a part of the ratings
    has_true_categories: ClassVar[bool] = False  # whether items have a hidden true category

    @classmethod
    def name(cls) -> str:
        """Name on the command line: the class in kebab-case."""
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", cls.__name__).lower()

    # From ratings to draws.

    @abstractmethod
    def problem(self, ratings: Ratings) -> P:
        """What the posterior depends on: data reduced to what the likelihood needs, and priors.

        Raises
        ------
        RatingsError
            The ratings do not suit the model.
        """

    @abstractmethod
    def start(self, problem: P) -> WarmStart:
        """Mode and curvature of the posterior, and the program's centring, by one run of EM."""

    @abstractmethod
    def cold_start(self, problem: P, centring: StanPart | None) -> WarmStart:
        """Widely dispersed starting points, which do not depend on the fit of EM."""

    @abstractmethod
    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Names of the dimensions of the program's variables; scalars may be left out."""

    def program(self, problem: P) -> str:
        """Stan program that samples from the posterior."""
        return self.name().replace("-", "_")

    def relabel(
        self, drawn: Mapping[str, Array], start: WarmStart, problem: P
    ) -> tuple[Mapping[str, Array], tuple[int, ...]]:
        """Draws with the same labels in all chains, and the chains that had switched, from 0.

        Most models have no exchangeable labels.
        """
        return drawn, ()

    # What draws say.

    @abstractmethod
    def quantities(self, posterior: Posterior[P]) -> xr.Dataset:
        """Reported quantities, draw by draw; dims (chain, draw, ...), the user's ids as coords."""

    @abstractmethod
    def items(self, posterior: Posterior[P], prob: float, rng: np.random.Generator) -> pd.DataFrame:
        """Estimates for each item, by the user's ids."""

    @abstractmethod
    def raters(
        self, posterior: Posterior[P], prob: float, rng: np.random.Generator
    ) -> pd.DataFrame:
        """Estimates for each rater, by the user's ids."""

    @abstractmethod
    def pointwise(self, posterior: Posterior[P]) -> tuple[Array, Codes]:
        """Log-probability (S, D) of distinct items by draw, and which of them each item is."""

    @abstractmethod
    def replicates(
        self, posterior: Posterior[P], rng: np.random.Generator
    ) -> Iterator[NDArray[Any]]:
        """Ratings (N,) of new items by the same raters at each draw, one draw at a time."""

    def category_probabilities(self, posterior: Posterior[P]) -> pd.DataFrame | None:
        """Probability (I, K) of each true category of each item; None if items have none."""
        return None

    def integration_error(self, posterior: Posterior[P]) -> tuple[int, float]:
        """Number of nodes of a quadrature, and its error of the log-likelihood in nats."""
        return 0, 0.0

    # The common path.

    def stan_data(self, ratings: Ratings) -> dict[str, Any]:
        """Data of the Stan program for these ratings, by the names of its data block."""
        problem = self.problem(ratings)
        return stan_data(problem, self.start(problem).centring)

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

    def fit(
        self,
        ratings: Ratings,
        *,
        chains: int = 4,
        warmup: int | None = None,
        draws: int = 1000,
        seed: int | None = None,
        warm_start: bool | Start = True,
        parallel_chains: int | None = None,
        progress: bool | None = None,
        output_dir: str | os.PathLike[str] | None = None,
        timeout: float | None = None,
    ) -> Fit:
        """Draw from the posterior given the ratings.

        Parameters
        ----------
        ratings : Ratings
            The data.
        chains : int, default 4
            Markov chains; at least 2 to show whether they agree.
        warmup : int, optional
            Iterations of each chain to adapt, which are discarded. By default 150 where a warm
            start gives metric and step size, 500 where it gives them roughly, else 1000.
        draws : int, default 1000
            Draws kept of each chain.
        seed : int, optional
            Any whole number from 0 to 2**31 - 1. The same seed gives the same draws, however many
            chains run at once. None takes a fresh one, which the fit keeps.
        warm_start : bool or Fit, default True
            Start around the mode, with metric and step size from its curvature; False for dispersed
            starts and full adaptation; an earlier `Fit` to start from its draws.
        parallel_chains : int, optional
            Chains run at once; by default as many as there are processors.
        progress : bool, optional
            Show progress bars on standard error; by default in terminals and notebooks.
        output_dir : path-like, optional
            Folder that keeps Stan's tables of draws and its messages; by default they are removed.
        timeout : float, optional
            Seconds after which a chain is stopped, and the fit with it.

        Returns
        -------
        Fit

        Raises
        ------
        RatingsError
            The ratings do not suit the model.
        SamplingError
            A chain failed or timed out.

        Warns
        -----
        ConvergenceWarning
            The chains disagree, are too short, or diverged.
        """
        if not isinstance(ratings, Ratings):
            raise TypeError(
                f"ratings must be Ratings, not {type(ratings).__name__}. Make them with "
                "Ratings.from_frame(table, item=..., rater=..., rating=...)."
            )
        if not isinstance(warm_start, bool) and not hasattr(warm_start, "create_inits"):
            raise TypeError(f"warm_start must be True, False or a fit, not {warm_start!r}.")
        if parallel_chains is not None:
            parallel_chains = whole_number("parallel_chains", parallel_chains, least=1)
        if timeout is not None and not timeout > 0:
            raise ValueError(f"timeout must be a number of seconds above 0, not {timeout!r}.")
        settings = Settings.checked(
            chains=chains, warmup=0 if warmup is None else warmup, draws=draws, seed=seed
        )
        # Matrices are small here, so that threads would mostly wait for each other.
        with threadpool_limits(limits=1, user_api="blas"):
            problem = self.problem(ratings)
            start = self.start(problem)
            chosen = self._chosen_start(warm_start, start, problem)
        geometry = chosen.geometry if isinstance(chosen, WarmStart) else None
        if warmup is None:
            settings = replace(settings, warmup=_default_warmup(geometry))
        drawn = stan.sample(
            self.program(problem),
            stan_data(problem, start.centring),
            chains=settings.chains,
            warmup=settings.warmup,
            draws=settings.draws,
            seed=settings.seed,
            inits=chosen.create_inits(seed=settings.seed, chains=settings.chains),
            geometry=geometry,
            acceptance=chosen.target_acceptance if isinstance(chosen, WarmStart) else 0.8,
            parallel_chains=parallel_chains,
            progress=progress,
            output_dir=output_dir,
            timeout=timeout,
        )
        parameters, relabelled = self.relabel(drawn.parameters, start, problem)
        fit = Fit(
            self,
            ratings,
            self.labelled(parameters, problem),
            self.labelled(drawn.statistics, problem),
            replace(
                settings,
                max_tree_depth=drawn.max_tree_depth,
                stan_version=drawn.stan_version,
                relabelled=relabelled,
            ),
            start.centring,
        )
        fit.warn_if_unreliable()
        return fit

    def _chosen_start(self, warm_start: bool | Start, start: WarmStart, problem: P) -> Start:
        if not isinstance(warm_start, bool):
            return warm_start
        return start if warm_start else self.cold_start(problem, start.centring)


def with_ids(data: xr.Dataset, problem: Problem) -> xr.Dataset:
    """The same with ids along each dimension that has none: the user's, or numbers from 0."""
    unnamed = {dim: size for dim, size in data.sizes.items() if dim not in data.coords}
    return data.assign_coords(
        {dim: problem.coords.get(str(dim), np.arange(size)) for dim, size in unnamed.items()}
    )


def _default_warmup(geometry: stan.Geometry | None) -> int:
    if geometry is None:
        return 1000
    return 500 if geometry.adapt else 150
