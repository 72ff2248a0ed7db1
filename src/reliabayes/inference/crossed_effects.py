"""A posterior of crossed normal effects, as Gibbs sampling needs it: rows, columns and priors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp

from reliabayes.arrays import Array
from reliabayes.inference.densities import log_half_t


class RowState(NamedTuple):
    """What effects of rows are drawn given, of C chains.

    ``row_sd`` and ``residual_sd`` are (C,), ``level`` (J, C), mean plus effect of each column.
    """

    seed: int
    sweep: int
    row_sd: Array
    residual_sd: Array
    level: Array


@dataclass(frozen=True, eq=False)
class RowTotals:
    """What the rest depends on: sums over drawn effects of rows, of C chains.

    Attributes
    ----------
    crossed : array of shape (J, C)
        Sum over the ratings of each column of their rows' effects.
    sums : array of shape (C, 4)
        Sums over rows of effects, of their squares, of squares times the row's number of ratings,
        and of effects times the sum of the row's ratings.
    """

    crossed: Array
    sums: Array

    def __add__(self, other: RowTotals) -> RowTotals:
        return RowTotals(self.crossed + other.crossed, self.sums + other.sums)


class Rows(Protocol):
    """All rows of a design, in memory or not."""

    def draw(self, state: RowState, at_once: int) -> RowTotals:
        """Draw all effects, in at most so many threads, and add them up."""


@dataclass(frozen=True, eq=False, kw_only=True)
class CrossedEffects:
    """A posterior of crossed normal effects of many rows and columns.

    Attributes
    ----------
    rows : Rows
        What draws effects of rows.
    n_rows : int
        Number I of rows.
    per_column, column_total : array of shape (J,)
        Number and sum of the centred ratings of each column.
    square : float
        Sum of squares of the centred ratings.
    center : float
        Subtracted from every rating.
    mean_prior : tuple of float
        Mean, relative to the centre, and precision of the prior of the mean.
    sd_priors : tuple of three arrays of shape (2,)
        Degrees of freedom and scale of the half t priors of the standard deviations of rows,
        columns and residuals.
    names : tuple of three str
        What these standard deviations are called.
    """

    sampler: ClassVar[Literal["gibbs"]] = "gibbs"

    rows: Rows
    n_rows: int
    per_column: Array
    column_total: Array
    square: float
    center: float
    mean_prior: tuple[float, float]
    sd_priors: tuple[Array, Array, Array]
    names: tuple[str, str, str]

    @cached_property
    def n_ratings(self) -> float:
        """Number of ratings."""
        return float(self.per_column.sum())

    @cached_property
    def groups(self) -> Groups:
        """Columns with equal numbers of ratings."""
        n, group, size = np.unique(self.per_column, return_inverse=True, return_counts=True)
        member = sp.csr_array((np.ones(len(group)), (group, np.arange(len(group)))))
        return Groups(n, size.astype(float), member)

    def log_prior(self, source: int, log_sd: float) -> float:
        """Log density of the logarithm of a standard deviation."""
        return float(log_half_t(math.exp(log_sd), self.sd_priors[source])) + log_sd


class Groups(NamedTuple):
    """Columns by their number of ratings: the number, how many (D,), and which are in it (D, J)."""

    n: Array
    size: Array
    member: sp.csr_array
