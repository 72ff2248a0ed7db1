"""Gaussian ratings with crossed effects, reduced to sums."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from reliabayes.inference.problem import Problem, StanData
from reliabayes.likelihoods.gaussian_conditional import MeanPrior
from reliabayes.likelihoods.gaussian_many_raters import CrowdSums
from reliabayes.likelihoods.gaussian_one_pool import CrossedDesign, CrossedSums

MANY_COLUMNS = 200  # from which on densities are interpolated where they are smooth
MOST_SUMS = 150_000_000  # numbers in the sums: 1.2 GB


@dataclass(frozen=True, eq=False, kw_only=True)
class CrossedProblem(Problem):
    """Gaussian ratings with crossed effects, reduced to sums.

    Attributes
    ----------
    swapped : bool
        Whether raters make the rows of the design, because there are more of them than items.
    center : float
        Subtracted from every rating before the sums.
    sums : CrossedSums or CrowdSums
        Sums of the centred ratings, to integrate out the effects of the columns or to sample them.
    design : CrossedDesign or None
        Who rated what; None of ratings in parts.
    """

    swapped: bool
    center: float
    sums: CrossedSums | CrowdSums
    design: CrossedDesign | None = None

    @cached_property
    def crossed(self) -> CrossedSums:
        """Sums to integrate out the effects of the columns."""
        return CrossedSums.of(self.sums.design) if isinstance(self.sums, CrowdSums) else self.sums

    def rows(self) -> CrossedDesign:
        """Who rated what, to draw the effects of the rows."""
        if self.design is None:
            raise ValueError("the effects of items of a dataset are drawn part by part.")
        return self.design

    @property
    def is_large(self) -> bool:
        """Whether columns are so many that a density takes long, of which few must do."""
        return isinstance(self.sums, CrossedSums) and self.sums.n_columns >= MANY_COLUMNS

    @property
    def equal_sd(self) -> float:
        """Standard deviation of each source if all three had a third of the variance."""
        return math.sqrt(self.sums.sum_of_squares / self.sums.n_ratings / 3)

    @property
    def mean_prior(self) -> MeanPrior:
        """Prior of the mean relative to the centre."""
        return MeanPrior.of(self.priors["mean"], self.center)

    def stan_data(self) -> StanData:
        """Sums, centre and priors."""
        own = StanData(values={"swapped": int(self.swapped), "center": self.center})
        return super().stan_data() | self.sums.stan_data() | own


def integrates_out(design: CrossedDesign) -> bool:
    """Whether integrating out the effects of the columns is cheaper than sampling them.

    The first costs a Cholesky factor and a sum over patterns for each gradient, the second a pass
    over the cells, for more gradients; ``benchmarks/README.md`` has the measurements.
    """
    columns, patterns = len(design.column_total), len(design.patterns[0])
    cells = design.counts.nnz
    if columns >= MANY_COLUMNS and columns**2 * (patterns + 1) <= min(20 * cells, MOST_SUMS):
        return True  # of densities that are interpolated few are computed
    # With less data the sampled levels mix badly, and a fit takes no time anyway.
    return cells < 1000 or columns**2 * (columns + 4 * patterns) <= 20 * cells
