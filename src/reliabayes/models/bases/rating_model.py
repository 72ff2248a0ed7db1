"""What all models of ratings have in common."""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from reliabayes.arrays import Array, Codes
from reliabayes.inference import stan
from reliabayes.inference.warm_start import Start, WarmStart
from reliabayes.ratings import Ratings
from reliabayes.results.fit import Fit, Settings, whole_number


@dataclass(frozen=True, kw_only=True)
class RatingModel(ABC):
    """A model of ratings: hyperparameters, and the way from ratings to quantities.

    A model holds no data and is never changed; `fit` gives a new `Fit`. A subclass says what its
    Stan program needs (`data`), where to start (`warm_start`) and what to report (`quantities`).
    """

    summary: ClassVar[str]  # what it is for, in a line
    reports: ClassVar[tuple[str, ...]]  # names of its quantities
    continuous: ClassVar[bool] = False  # whether ratings have densities, not probabilities
    conditional: ClassVar[bool] = False  # whether part of the ratings is taken for given

    @classmethod
    def name(cls) -> str:
        """Name on the command line: the class in kebab-case."""
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", cls.__name__).lower()

    def program(self, data: Mapping[str, Any]) -> str:
        """Stan program that samples from the posterior given ``data``."""
        return self.name().replace("-", "_")

    @abstractmethod
    def data(self, ratings: Ratings) -> dict[str, Any]:
        """Data of the Stan program, its keys those of the program's data block."""

    @abstractmethod
    def warm_start(self, data: Mapping[str, Any]) -> WarmStart:
        """Mode and curvature of the posterior, by EM."""

    @abstractmethod
    def cold_start(self, data: Mapping[str, Any]) -> WarmStart:
        """Widely dispersed starting points on the scale of the data, with no look at the fit."""

    @abstractmethod
    def quantities(self, posterior: xr.Dataset, ratings: Ratings) -> xr.Dataset:
        """Reported quantities, draw by draw; dims (chain, draw, ...), the user's ids as coords."""

    @abstractmethod
    def items(
        self, posterior: xr.Dataset, ratings: Ratings, prob: float, rng: np.random.Generator
    ) -> pd.DataFrame:
        """What draws tell of each item, by the user's ids."""

    @abstractmethod
    def raters(
        self, posterior: xr.Dataset, ratings: Ratings, prob: float, rng: np.random.Generator
    ) -> pd.DataFrame:
        """What draws tell of each rater, by the user's ids."""

    @abstractmethod
    def pointwise(self, posterior: xr.Dataset, ratings: Ratings) -> tuple[Array, Codes]:
        """Log-probability (S, D) of distinct items by draw, and which of them each item is."""

    @abstractmethod
    def replicates(
        self, posterior: xr.Dataset, ratings: Ratings, rng: np.random.Generator
    ) -> Iterator[NDArray[Any]]:
        """Ratings (N,) of new items by the same raters at each draw, one draw at a time."""

    @abstractmethod
    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Names of the dimensions of the Stan program's variables, scalars left out or not."""

    def coords(self) -> Mapping[str, Any]:
        """Names along dimensions of the model's own."""
        return {}

    def relabel(
        self, drawn: Mapping[str, Array], start: Start, data: Mapping[str, Any]
    ) -> tuple[Mapping[str, Array], tuple[int, ...]]:
        """Draws with the same names in all chains of what the ratings do not name.

        Also the chains that had to be renamed, from 0; most models have nothing to rename.
        """
        return drawn, ()

    def labelled(self, drawn: Mapping[str, Array], ratings: Ratings) -> xr.Dataset:
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
        named = self.coords()
        return data.assign_coords(
            {
                dim: named.get(str(dim), ids(str(dim), ratings, size))
                for dim, size in data.sizes.items()
            }
        )

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
        ratings : the data
        chains : Markov chains; at least 2 to tell whether they agree
        warmup : iterations of each chain to adapt, discarded; 150 where a warm start
            tells metric and step size, 500 where it tells them roughly, else 1000
        draws : draws kept of each chain
        seed : any whole number from 0 to 2**31 - 1; the same seed gives the same draws, however
            many chains run at once. None takes a fresh one, which the fit keeps
        warm_start : start at the mode with metric and step size from its curvature; False for
            dispersed starts and full adaptation; an earlier `Fit` to start from its draws
        parallel_chains : chains run at once; as many as there are processors
        progress : show bars on standard error; None does so in terminals and notebooks
        output_dir : folder that keeps Stan's tables of draws and its messages; None removes them
        timeout : seconds after which a chain is given up, and the fit with it

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
        # Matrices are small here: threads would wait for each other, on a busy machine for long.
        with threadpool_limits(limits=1, user_api="blas"):
            data = self.data(ratings)
            start = self._start(warm_start, data)
        geometry = start.geometry if isinstance(start, WarmStart) else None
        if warmup is None:
            settings = replace(settings, warmup=_warmup(geometry))
        drawn = stan.sample(
            self.program(data),
            data,
            chains=settings.chains,
            warmup=settings.warmup,
            draws=settings.draws,
            seed=settings.seed,
            inits=start.create_inits(seed=settings.seed, chains=settings.chains),
            geometry=geometry,
            acceptance=start.acceptance if isinstance(start, WarmStart) else 0.8,
            parallel_chains=parallel_chains,
            progress=progress,
            output_dir=output_dir,
            timeout=timeout,
        )
        parameters, relabelled = self.relabel(drawn.parameters, start, data)
        fit = Fit(
            self,
            ratings,
            self.labelled(parameters, ratings),
            self.labelled(drawn.statistics, ratings),
            replace(
                settings,
                max_tree_depth=drawn.max_tree_depth,
                stan_version=drawn.stan_version,
                relabelled=relabelled,
            ),
        )
        fit.warn_if_unreliable()
        return fit

    def _start(self, warm_start: bool | Start, data: Mapping[str, Any]) -> Start:
        if not isinstance(warm_start, bool):
            return warm_start
        return self.warm_start(data) if warm_start else self.cold_start(data)


def _warmup(geometry: stan.Geometry | None) -> int:
    if geometry is None:
        return 1000
    return 500 if geometry.adapt else 150


def ids(dim: str, ratings: Ratings, size: int) -> Any:
    """The user's ids along a dimension of draws, or numbers from 0 where there are none."""
    if dim == "item":
        return ratings.items
    if dim == "rater":
        return ratings.raters
    if dim == "pool":
        return ratings.pools
    if dim in ("category", "true_category"):
        return ratings.categories
    if dim == "below":  # a cut point
        return ratings.categories[:-1]
    if dim == "between":  # two cut points
        return ratings.categories[1:-1]
    return np.arange(size)
