"""Gaussian ratings with crossed effects, by sums whose size does not grow with the ratings.

The larger margin of the design, mostly the items, makes its *rows*, the smaller one its *columns*.
Given the effects of the columns, those of the rows are independent and integrate out, and all that
the data say about the standard deviations is in sums over rows with equal numbers of ratings.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from reliabayes.arrays import IN_MEMORY, Array, Codes, blocks
from reliabayes.facets.effect_sums import EffectSums
from reliabayes.inference.problem import StanData
from reliabayes.inference.warm_start import curvature, repeat_em
from reliabayes.likelihoods.cross_products import cross_products
from reliabayes.likelihoods.gaussian_conditional import Conditional, Marginal, MeanPrior


class Deviations(NamedTuple):
    """Standard deviations of the three sources of a rating, in its units; numbers or (S,) draws."""

    row: Any
    column: Any
    residual: Any

    def weights(self, n: Array) -> Array:
        """(..., D + 1) weight of the sums of all ratings, then of rows with ``n`` (D,) ratings."""
        shrinkage = self.shrinkage(n[:, None] if np.ndim(self.row) else n).T
        ones = np.ones((*np.shape(self.row), 1))
        scaled = np.concatenate([ones, -shrinkage], axis=-1)
        return np.asarray(scaled / np.square(self.residual)[..., None])

    def shrinkage(self, n: Array) -> Any:
        """Expected effect of a row over the sum of its ``n`` residuals."""
        return self.row**2 / (self.residual**2 + n * self.row**2)

    def swap(self, swapped: bool) -> Deviations:
        """Item and rater for row and column, or back again."""
        return Deviations(self.column, self.row, self.residual) if swapped else self


class Approximation(NamedTuple):
    """Normal approximation of a posterior, found by EM.

    Attributes
    ----------
    log_sd, sd_of_log : Deviations
        Log standard deviations at the mode, and their posterior standard deviations.
    path : tuple of float
        Objective of EM by step.
    """

    log_sd: Deviations
    sd_of_log: Deviations
    path: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class CrossedDesign:
    """Who rated what, and the sums of the centred ratings by margin.

    Attributes
    ----------
    counts : sparse array of shape (M, J)
        Ratings by row and column.
    total : array of shape (M,)
        Sum of the ratings of each row.
    column_total : array of shape (J,)
        Sum of the ratings of each column.
    square : float
        Sum of squared ratings.
    """

    counts: sp.csr_array
    total: Array
    column_total: Array
    square: float

    @classmethod
    def of(
        cls, row: Codes, column: Codes, ratings: Array, n_columns: int | None = None
    ) -> CrossedDesign:
        """Design of ratings in long form: (N,) codes of both margins, and (N,) centred ratings.

        ``n_columns`` is needed where not all columns have ratings in this part of the data.
        """
        total = np.asarray(np.bincount(row, ratings), float)
        column_total = np.asarray(np.bincount(column, ratings, minlength=n_columns or 0), float)
        shape = (len(total), len(column_total))
        return cls(
            counts=sp.csr_array((np.ones(len(ratings)), (row, column)), shape=shape),
            total=total,
            column_total=column_total,
            square=float(ratings @ ratings),
        )

    @cached_property
    def n(self) -> Array:
        """(M,) ratings of each row."""
        return np.asarray(self.counts.sum(axis=1), float).ravel()

    @cached_property
    def per_column(self) -> Array:
        """(J,) ratings of each column."""
        return np.asarray(self.counts.sum(axis=0), float).ravel()

    @cached_property
    def patterns(self) -> tuple[Array, Codes, Array]:
        """(D,) distinct numbers of ratings of a row; (M,) which of them; (D,) how many rows."""
        n, pattern, multiplicity = np.unique(self.n, return_inverse=True, return_counts=True)
        return n, pattern, multiplicity.astype(float)

    def effect_sums(self) -> EffectSums:
        """The same sums for effects of two sources, rows and columns, and the mean."""
        n, per_column = self.n[:, None], self.per_column[:, None]
        whole = np.array([self.n.sum()])
        blocks: list[list[Any]] = [
            [sp.diags_array(self.n), self.counts, n],
            [self.counts.T, sp.diags_array(self.per_column), per_column],
            [n.T, per_column.T, whole[:, None]],
        ]
        products = sp.block_array([[sp.csr_array(each) for each in row] for row in blocks])
        totals = np.concatenate([self.total, self.column_total, [self.total.sum()]])
        source = np.repeat([0, 1, 2], [*self.counts.shape, 1])
        return EffectSums(int(whole[0]), 0.0, source, products.tocsr(), totals, self.square)

    def expected_columns(self, sd: Deviations, mean: float) -> Array:
        """Effects (J,) of the columns expected given the ratings and the mean, however many."""
        shrinkage = sd.shrinkage(self.n)
        ratio = (sd.residual / sd.column) ** 2 if sd.column else math.inf
        if math.isinf(ratio):
            return np.zeros_like(self.column_total)
        left = self.column_total - mean * self.per_column
        left -= self.counts.T @ (shrinkage * (self.total - mean * self.n))
        own = self.per_column + ratio

        def times(columns: Array) -> Array:
            return np.asarray(own * columns - self.counts.T @ (shrinkage * (self.counts @ columns)))

        size = len(own)
        matrix = sp.linalg.LinearOperator((size, size), matvec=times, dtype=np.float64)
        return np.asarray(sp.linalg.cg(matrix, left, rtol=1e-10, M=sp.diags_array(1 / own))[0])

    def draw_rows(
        self, sd: Deviations, columns: Array, cells: int, rng: np.random.Generator
    ) -> Iterator[Array]:
        """Effects of the rows drawn given those of the columns: (S, chunk) at a time.

        ``sd`` holds (S,) arrays, ``columns`` is (S, J + 1) with the mean last; a chunk has about
        ``cells`` numbers.
        """
        for chunk in blocks(len(self.total), cells // len(columns)):
            n = self.n[chunk, None]
            of_columns = self.counts[chunk] @ columns[:, :-1].T
            residual = self.total[chunk, None] - of_columns - n * columns[:, -1]
            shrinkage = sd.shrinkage(n)
            noise = rng.standard_normal(residual.shape)
            yield (shrinkage * residual + np.sqrt(shrinkage) * sd.residual * noise).T


@dataclass(frozen=True, eq=False)
class CrossedSums:
    """Sums over ratings: entry 0 over all of them, entry d + 1 over the rows with n[d] ratings.

    With x the indicators of the J columns and a constant, y a rating, and c, t the sums of x and y
    over the ratings of a row:

    Attributes
    ----------
    n : array of shape (D,)
        Ratings of a row by pattern, ascending.
    multiplicity : array of shape (D,)
        Rows by pattern.
    gram : array of shape (D + 1, J + 1, J + 1)
        Sum of xx', then of cc'.
    moment : array of shape (D + 1, J + 1)
        Sum of xy, then of ct.
    square : array of shape (D + 1,)
        Sum of yy, then of tt.
    """

    n: Array
    multiplicity: Array
    gram: Array
    moment: Array
    square: Array

    @classmethod
    def of(cls, design: CrossedDesign) -> CrossedSums:
        """Sums of a data set, or of a part of it that shares no row with the rest."""
        n, pattern, multiplicity = design.patterns
        per_column, whole = design.per_column[:, None], np.array([[design.n.sum()]])
        gram = [np.block([[np.diag(design.per_column), per_column], [per_column.T, whole]])]
        moment = [np.append(design.column_total, design.column_total.sum())]
        square = [design.square]
        others = np.column_stack([design.n, design.total])
        for product in cross_products(design.counts, others, pattern):
            gram.append(product[:-1, :-1])
            moment.append(product[:-1, -1])
            square.append(product[-1, -1])
        return cls(n, multiplicity, np.array(gram), np.array(moment), np.array(square))

    def __add__(self, other: CrossedSums) -> CrossedSums:
        """Sums of both parts, which have the same columns and share no row."""
        n = np.union1d(self.n, other.n)
        places = [np.append(0, 1 + np.searchsorted(n, part.n)) for part in (self, other)]

        def add(mine: Array, others: Array) -> Array:
            out = np.zeros((len(n) + 1, *mine.shape[1:]))
            out[places[0]] += mine
            out[places[1]] += others
            return out

        multiplicity = add(np.append(0.0, self.multiplicity), np.append(0.0, other.multiplicity))
        return CrossedSums(
            n,
            multiplicity[1:],
            add(self.gram, other.gram),
            add(self.moment, other.moment),
            add(self.square, other.square),
        )

    def stan_data(self) -> StanData:
        """What ``gaussian_icc.stan`` reads."""
        column, row = np.triu_indices(self.n_columns + 1)  # lower triangles, column by column
        return StanData(
            sizes={"N": int(self.n_ratings), "J": self.n_columns, "D": len(self.n)},
            values={
                "n": self.n,
                "multiplicity": self.multiplicity,
                "gram": self.gram[:, row, column].T,
                "moment": self.moment.T,
                "square": self.square,
            },
        )

    @property
    def n_columns(self) -> int:
        """Number J of columns."""
        return len(self.moment[0]) - 1

    @property
    def n_patterns(self) -> int:
        """Distinct numbers D of ratings of a row."""
        return len(self.n)

    @property
    def n_ratings(self) -> float:
        """Number of ratings."""
        return float(self.gram[0, -1, -1])

    @property
    def sum_of_squares(self) -> float:
        """Sum of the squared centred ratings."""
        return float(self.square[0])

    def given(self, sd: Deviations, prior: MeanPrior) -> Conditional:
        """Effects of the columns and the mean, given the data and the standard deviations."""
        weights = sd.weights(self.n)
        precision = np.tensordot(weights, self.gram, axes=1)
        column = np.arange(self.n_columns)
        precision[..., column, column] += np.asarray(sd.column)[..., None] ** -2.0
        precision[..., -1, -1] += prior.precision
        score = weights @ self.moment
        score[..., -1] += prior.precision * prior.offset
        return Conditional.of(precision, score)

    def draw_columns(
        self, sd: Deviations, means: Array, prior: MeanPrior, rng: np.random.Generator
    ) -> Array:
        """(S, J + 1) effects of the columns, the mean last, drawn given (S,) sds and means."""
        parts = blocks(len(means), IN_MEMORY // 4 // self.gram[0].size)
        with threadpool_limits(limits=1, user_api="blas"):  # matrices are too small for threads
            drawn = [
                self.given(Deviations(*(of[part] for of in sd)), prior).draw(means[part, None], rng)
                for part in parts
            ]
        return np.concatenate(drawn)

    def log_likelihood(self, sd: Deviations, prior: MeanPrior) -> float:
        """Log density of the ratings, with effects and mean integrated out.

        Under a flat prior of the mean the density is that of the ratings' contrasts, as in REML.
        """
        return float(self.marginal(sd, prior).log_density)

    def marginal(self, sd: Deviations, prior: MeanPrior) -> Marginal:
        """Log density of the ratings, and the mean given them, at numbers or (S,) deviations."""
        given = self.given(sd, prior)
        flat = prior.precision == 0
        n = self.n[:, None] if np.ndim(sd.row) else self.n
        log_det = (
            self.multiplicity @ np.log(sd.residual**2 + n * sd.row**2)
            + 2 * (self.n_ratings - self.multiplicity.sum()) * np.log(sd.residual)
            + 2 * self.n_columns * np.log(sd.column)
            - (0 if flat else math.log(prior.precision))
            + 2 * np.log(np.diagonal(given.factor, axis1=-2, axis2=-1)).sum(axis=-1)
        )
        square = sd.weights(self.n) @ self.square + prior.precision * prior.offset**2
        quadratic = square - (given.whitened**2).sum(axis=-1)
        constant = (self.n_ratings - flat) * math.log(2 * math.pi)
        sd_mean = 1 / given.factor[..., -1, -1]
        return Marginal(
            -0.5 * (constant + log_det + quadratic), given.whitened[..., -1] * sd_mean, sd_mean
        )

    def em_step(self, sd: Deviations, prior: MeanPrior) -> Deviations:
        """Standard deviations that maximise the expected log-likelihood: one step of EM."""
        given = self.given(sd, prior)
        mean = given.mean
        second = given.covariance + np.outer(mean, mean)
        # Expected square of the residual sums, given columns and mean, by pattern
        left = self.square - 2 * self.moment @ mean + np.tensordot(self.gram, second, axes=2)
        shrinkage = sd.shrinkage(self.n)
        variance = shrinkage * sd.residual**2
        rows = shrinkage**2 * left[1:] + self.multiplicity * variance
        residual = left[0] - 2 * shrinkage @ left[1:] + self.n @ rows
        return Deviations(
            row=math.sqrt(rows.sum() / self.multiplicity.sum()),
            column=math.sqrt(np.trace(second[:-1, :-1]) / self.n_columns),
            residual=math.sqrt(residual / self.n_ratings),
        )

    def approximate(
        self, start: float, prior: MeanPrior, log_prior: Callable[[Deviations], float]
    ) -> Approximation:
        """Normal approximation of the posterior of the log standard deviations.

        EM starts with all three at ``start``.
        """
        best, path = repeat_em(
            lambda sd: self.em_step(sd, prior),
            lambda sd: self.log_likelihood(sd, prior),
            Deviations(start, start, start),
        )

        def log_posterior(log_sd: Array) -> float:
            sd = Deviations(*np.exp(log_sd))
            return self.log_likelihood(sd, prior) + log_prior(sd) + float(log_sd.sum())

        mode, covariance = curvature(log_posterior, np.log(best))
        sd_of_log = np.sqrt(np.diag(covariance))
        return Approximation(Deviations(*mode), Deviations(*sd_of_log), path)
