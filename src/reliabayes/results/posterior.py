"""Posterior draws together with the problem they belong to: what models compute results from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np
import xarray as xr

from reliabayes.arrays import Array, Mask
from reliabayes.inference.problem import Problem, StanPart
from reliabayes.partitions import AnyRatings, in_memory
from reliabayes.ratings import Ratings

P_co = TypeVar("P_co", bound=Problem, covariant=True)


@dataclass(frozen=True, eq=False)
class Posterior(Generic[P_co]):
    """Draws of the parameters of a Stan program, with the problem that they belong to.

    Attributes
    ----------
    draws : Dataset
        Parameters of the program, dims (chain, draw, ...).
    ratings : Ratings or RatingsDataset
        The data.
    problem : Problem
        What the posterior depends on.
    centring : StanPart or None
        Location and scale relative to which the program samples, if they depend on the data.
    quantities : Dataset or None
        What the model reports of these draws, if it is known already.
    """

    draws: xr.Dataset
    ratings: AnyRatings
    problem: P_co
    centring: StanPart | None = None
    quantities: xr.Dataset | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of chains and of draws of each."""
        return self.draws.sizes["chain"], self.draws.sizes["draw"]

    @property
    def n_draws(self) -> int:
        """Number S of draws of all chains."""
        return int(np.prod(self.shape))

    @property
    def ratings_in_memory(self) -> Ratings:
        """The ratings, for results that need all of them at once; those in parts are refused."""
        return in_memory(self.ratings, "ratings")

    def thinned(self, wanted: int) -> Posterior[P_co]:
        """At least so many draws, if there are, spread evenly over the chains."""
        chains, draws = self.shape
        per_chain = min(-(-wanted // chains), draws)
        kept = np.arange(per_chain) * draws // per_chain
        return replace(self, draws=self.draws.isel(draw=kept), quantities=None)

    def selected(self, kept: Mask) -> Posterior[P_co]:
        """Some of the draws (chains, draws), as one chain."""
        one = self.draws.isel(
            {
                dim: xr.DataArray(at, dims="sample")
                for dim, at in zip(("chain", "draw"), kept.nonzero(), strict=True)
            }
        ).drop_vars(("chain", "draw"), errors="ignore")
        one = one.rename(sample="draw").expand_dims("chain")
        return replace(self, draws=one.transpose("chain", "draw", ...), quantities=None)

    def arrays(self) -> dict[str, Array]:
        """Draws (chains, draws, ...) of each parameter by name."""
        return {str(name): values.values for name, values in self.draws.items()}

    def stacked(self) -> dict[str, Array]:
        """Draws (S, ...) of each parameter by name, chain by chain."""
        flat = self.draws.stack(sample=("chain", "draw"), create_index=False)
        return {str(name): x.transpose("sample", ...).values for name, x in flat.items()}

    def points(self) -> Iterator[dict[str, Array]]:
        """Each draw as a point: parameters by name."""
        values = self.stacked()
        for sample in range(self.n_draws):
            yield {name: draws[sample] for name, draws in values.items()}

    def log_likelihoods(self, at: Callable[[Mapping[str, Array]], float]) -> xr.DataArray:
        """Log-likelihood (chain, draw): from the program, or computed at each point."""
        if "log_likelihood" in self.draws:
            return self.draws["log_likelihood"]
        values = np.reshape([at(point) for point in self.points()], self.shape)
        return xr.DataArray(values, dims=("chain", "draw"))


def with_ids(data: xr.Dataset, problem: Problem) -> xr.Dataset:
    """The same with ids along each dimension that has none: the user's, or numbers from 0."""
    unnamed = {dim: size for dim, size in data.sizes.items() if dim not in data.coords}
    return data.assign_coords(
        {dim: problem.coords.get(str(dim), np.arange(size)) for dim, size in unnamed.items()}
    )
