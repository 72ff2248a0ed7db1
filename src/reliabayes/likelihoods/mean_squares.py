"""Normal ratings of complete and balanced designs: nothing but mean squares matters."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from reliabayes.arrays import Array, Codes
from reliabayes.facets import EffectLevels, Effects, MeasurementDesign
from reliabayes.inference.problem import StanData
from reliabayes.likelihoods.gaussian_conditional import Marginal

NONE: frozenset[str] = frozenset()


@dataclass(frozen=True, eq=False)
class MeanSquares:
    """Sums of squares of a complete, balanced design, with what is expected of them.

    Attributes
    ----------
    n_ratings : int
        Number N of ratings.
    df, sum_of_squares : array of float, shape (J,)
        Degrees of freedom and sum of squares of each stratum.
    coefficient : array of float, shape (J, K)
        A mean square is expected to be its row times the variances of the sources. The mean of the
        ratings has ``mean_coefficient`` times them, divided by N, as its variance.
    mean_coefficient : array of float, shape (K,)
        The same for the mean.
    mean : float
        Mean of the ratings.

    References
    ----------
    Brennan (2001), Generalizability Theory, section 3.2. https://doi.org/10.1007/978-1-4757-3456-0
    """

    n_ratings: int
    df: Array
    sum_of_squares: Array
    coefficient: Array
    mean_coefficient: Array
    mean: float

    @classmethod
    def of(cls, effects: Effects, values: Array) -> MeanSquares | None:
        """Mean squares of ratings (N,), or None if the design is not complete or not balanced."""
        if not effects.is_balanced:
            return None
        centred = values - values.mean()
        square = {
            facets: _square(level, size, centred) for facets, (level, size) in effects.cells.items()
        }
        size = {facets: size for facets, (_, size) in effects.cells.items()}
        total = float(centred @ centred)
        return cls.of_squares(effects, size, square, total, len(values), float(values.mean()))

    @classmethod
    def of_squares(
        cls,
        effects: EffectLevels,
        sizes: Mapping[frozenset[str], int],
        squares: Mapping[frozenset[str], float],
        total: float,
        n: int,
        mean: float,
    ) -> MeanSquares:
        """Mean squares of n ratings of a complete, balanced design.

        Parameters
        ----------
        effects : EffectLevels
            Sources of variance.
        sizes : mapping of frozenset of str to int
            Number of levels by the facets of each source of the design.
        squares : mapping of frozenset of str to float
            Sums of squares of the means of levels, each weighted with its number of ratings.
        total : float
            Sum of squares of the ratings, all relative to their mean.
        n : int
            Number of ratings.
        mean : float
            Mean of the ratings.
        """
        square, size = {NONE: 0.0, **squares}, {NONE: 1.0, **sizes}
        sources = effects.sources[:-1]
        per_level = np.array([n / size[source.facets] for source in sources] + [1.0])
        df, sums, rows = [], [], []
        for facets in sizes:
            parts = list(_alternating(facets, effects.design))
            df.append(sum(sign * size[part] for sign, part in parts))
            sums.append(sum(sign * square[part] for sign, part in parts))
            rows.append([facets <= source.facets for source in sources] + [True])
        whole = effects.design.whole
        if size[whole] < n:
            df.append(n - size[whole])
            sums.append(total - square[whole])
            rows.append([False] * len(sources) + [True])
        return cls(
            n,
            np.array(df),
            np.maximum(sums, 0),
            np.array(rows, float) * per_level,
            per_level,
            mean,
        )

    def log_density(self, variance: Array, mean: float, sd: float) -> float:
        """Log density of the ratings at variances (K,) of the sources.

        Mean and sd are those of the prior of the mean; a flat prior has the density 1, not 0.
        """
        expected = self.coefficient @ variance
        found = self.df @ np.log(2 * np.pi * expected) + (self.sum_of_squares / expected).sum()
        found += math.log(self.n_ratings)
        if math.isfinite(sd):
            of_mean = sd**2 + self.mean_coefficient @ variance / self.n_ratings
            found += math.log(2 * np.pi * of_mean) + (self.mean - mean) ** 2 / of_mean
        return float(-0.5 * found)

    def marginal(self, variance: Array, mean: float, sd: float) -> Marginal:
        """The same density, and mean and standard deviation of the mean given the ratings."""
        own = self.mean_coefficient @ variance / self.n_ratings
        weight = 1.0 if math.isinf(sd) else sd**2 / (sd**2 + own)
        found = self.log_density(variance, mean, sd)
        return Marginal(found, mean + weight * (self.mean - mean), math.sqrt(weight * own))

    def draw(
        self,
        effects: Effects,
        values: Array,
        variance: Array,
        mean: float,
        sd_mean: float,
        rng: np.random.Generator,
    ) -> tuple[list[Array], float]:
        """Effects of each source and the mean, drawn given the ratings (N,).

        Effects from the prior are moved by what is expected given how far ratings drawn with them
        are from those at hand (Matheron's rule).
        """
        is_flat = math.isinf(sd_mean)
        at = mean + (0.0 if is_flat else sd_mean * rng.standard_normal())
        sizes, levels = effects.sizes, effects.level
        sds = np.sqrt(variance)
        drawn = [sd * rng.standard_normal(size) for sd, size in zip(sds, sizes, strict=False)]
        left = values - at - sds[-1] * rng.standard_normal(self.n_ratings)
        for effect, level in zip(drawn, levels, strict=True):
            left -= effect[level]
        overall = float(left.mean())
        means = {NONE: np.full(self.n_ratings, overall)}
        for facets, (level, size) in effects.cells.items():
            means[facets] = (np.bincount(level, left, size) * (size / self.n_ratings))[level]
        expected = self.coefficient @ variance
        of_mean = float(self.mean_coefficient @ variance)
        moved = 0.0 if is_flat else overall / (of_mean + self.n_ratings * sd_mean**2)
        weighted = np.full(self.n_ratings, moved)  # the precision matrix times what is left
        for facets, square in zip(effects.cells, expected, strict=False):
            for sign, part in _alternating(facets, effects.design):
                weighted += sign / square * means[part]
        for k, (level, size) in enumerate(zip(levels, sizes, strict=True)):
            drawn[k] += variance[k] * np.bincount(level, weighted, size)
        return drawn, at + (overall if is_flat else self.n_ratings * sd_mean**2 * moved)

    def stan_data(self) -> StanData:
        """What ``gstudy.stan`` reads."""
        return StanData(
            {"N": self.n_ratings, "K": len(self.mean_coefficient), "J": len(self.df)},
            values={
                "df": self.df,
                "sum_of_squares": self.sum_of_squares,
                "coefficient": self.coefficient,
                "mean_coefficient": self.mean_coefficient,
                "mean_rating": self.mean,
            },
        )


def _square(level: Codes, size: int, centred: Array) -> float:
    """Sum of squares of the means of levels, each weighted with its number of ratings."""
    sums, counts = np.bincount(level, centred, size), np.bincount(level, minlength=size)
    return float((sums**2 / counts).sum())


def _alternating(
    facets: frozenset[str], design: MeasurementDesign
) -> Iterator[tuple[int, frozenset[str]]]:
    """Sets that add up, with these signs, to what a source has beyond those within it."""
    primary = sorted(design.primary(facets))
    for left_out in range(len(primary) + 1):
        for names in combinations(primary, left_out):
            yield (-1) ** left_out, facets.difference(names)
