"""Sums of variances with intervals by MOVER, the method of variance estimates recovery."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import chdtri

from reliabayes.agreement.arithmetic import ratio
from reliabayes.arrays import Array


@dataclass(frozen=True, eq=False)
class VarianceSum:
    r"""Sum of independent mean squares with positive weights.

    Each mean square is a variance times chi-squared by its degrees of freedom. Limits of the sum
    lie as far from it as

    .. math:: \sqrt{\sum_j w_j^2 (l_j - s_j^2)^2}

    where l_j are the exact limits of each. That of a single one is exact.

    Attributes
    ----------
    weights, squares, df : array of float, shape (J,)
        Weights, mean squares and their degrees of freedom.

    References
    ----------
    Zou, Huo & Taleban (2009), https://doi.org/10.1002/env.922; Graybill & Wang (1980),
    https://doi.org/10.1080/01621459.1980.10477565
    """

    weights: Array
    squares: Array
    df: Array

    @classmethod
    def of(cls, *terms: tuple[float, float, float]) -> VarianceSum:
        """Sum of weights, mean squares and degrees of freedom; weights of 0 are left out."""
        kept = np.array([term for term in terms if term[0] > 0], np.float64).reshape(-1, 3)
        return cls(*kept.T)

    @property
    def total(self) -> float:
        """The sum."""
        return float(self.weights @ self.squares)

    @property
    def variance(self) -> float:
        """Variance of the sum."""
        return float((self.weights**2 * ratio(2 * self.squares**2, self.df)).sum())

    def limit(self, prob: float) -> float:
        """Limit below which the true sum lies with this probability; none below 0."""
        with np.errstate(divide="ignore"):
            each = self.squares * (self.df / chdtri(self.df, prob))
        reach = np.sqrt((self.weights**2 * (each - self.squares) ** 2).sum())
        return float(max(self.total + (reach if prob > 0.5 else -reach), 0.0))
