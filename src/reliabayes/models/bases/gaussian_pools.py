"""Gaussian ratings by pools of raters, reduced to sums."""

from __future__ import annotations

import math
from dataclasses import dataclass

from reliabayes.arrays import Array
from reliabayes.errors import Fault, RatingsError
from reliabayes.inference.problem import Problem, StanData
from reliabayes.likelihoods.gaussian_conditional import MeanPrior
from reliabayes.likelihoods.gaussian_pools import PooledSums
from reliabayes.likelihoods.gaussian_pools_design import PooledDesign

MAX_SIZE = 30_000_000  # numbers in the sums: 240 MB for each chain


@dataclass(frozen=True, eq=False, kw_only=True)
class PooledGaussianProblem(Problem):
    """Gaussian ratings by pools of raters, reduced to sums.

    Attributes
    ----------
    center : array of shape (G,)
        Subtracted from the ratings of each pool before the sums.
    n_residuals : int
        Standard deviations of residuals: 1 if all pools share it, or G.
    design : PooledDesign
        Who rated what.
    sums : PooledSums
        Sums of the centred ratings.
    """

    center: Array
    n_residuals: int
    design: PooledDesign
    sums: PooledSums

    @property
    def n_pools(self) -> int:
        """Number G of pools."""
        return self.size("pool")

    @property
    def equal_sd(self) -> float:
        """Standard deviation of each source if all three had a third of the variance."""
        return math.sqrt(self.design.square.sum() / self.sums.ratings.sum() / 3)

    @property
    def mean_prior(self) -> MeanPrior:
        """Prior of the means relative to the centres."""
        return MeanPrior.of(self.priors["mean"].T, self.center)

    def stan_data(self) -> StanData:
        """Sums, centres and priors."""
        own = StanData({"E": self.n_residuals}, values={"center": self.center})
        return super().stan_data() | self.sums.stan_data() | own


def check_size(design: PooledDesign) -> None:
    """Refuse designs whose sums would fill the memory."""
    if design.size > MAX_SIZE:
        raters, patterns = design.counts.shape[1], len(design.patterns[0])
        size = f"{8 * design.size / 1e9:.2g} GB"
        rule = f"sums over pairs of raters must take {8 * MAX_SIZE / 1e9:.2g} GB at most"
        found = f"{raters} raters and {patterns} patterns of ratings by pool, which take {size}"
        remedy = "Take a part of the raters: ratings.subset(raters=[...])."
        raise RatingsError([Fault("rater", rule, found, remedy)])
