"""Variance components of ratings by restricted maximum likelihood (REML), for any design.

A rating is a mean, an effect of one of the many, one of the few, and a residual. All that ratings
say of the variances stands in sums (`Design.rows`) whose size does not grow with them, so that a
likelihood costs no pass over the ratings, and many samples of items are fitted at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reliabayes.agreement.cells import ratio

Array = NDArray[Any]

STARTS = np.array([(many, few) for many in (0.1, 1.0, 10.0) for few in (0.1, 1.0, 10.0)])
STEPS = 100  # of Newton's method, which takes about ten
HALVINGS = 20
CLOSE = 1e-9  # deviance that a last step may gain, and what rounding adds to it
ROUNDING = 1e-13  # share of the sum of squares that is nothing
LEAST = 1e-10  # share of the sum of squares that residuals have at least, or ratios have no end


class Components(NamedTuple):
    """Variances of the effects of the many, of the few, and of residuals: (...) arrays."""

    many: Array
    few: Array
    residual: Array

    def icc(self, *, agreement: bool) -> Array:
        """(...) share of variance that is between the many; see `MeanSquares.icc`."""
        return self.many / (self.many + self.residual + (self.few if agreement else 0))


class MeanSquares(NamedTuple):
    """Mean squares of an analysis of variance, (...) arrays, and their degrees of freedom."""

    df: Components
    many: Array
    few: Array
    residual: Array

    def icc(self, k: float, *, agreement: bool) -> Array:
        """(...) share of variance between the many: Shrout & Fleiss (1979), Table 3.

        ``agreement`` tells whether variance between the few counts, in ICC(2,1), or does not, in
        ICC(1,1), which has no few, and ICC(3,1).
        """
        between = self.many - self.residual
        severity = k * (self.few - self.residual) / (self.df.many + 1) if agreement else 0
        return ratio(between, self.many + (k - 1) * self.residual + severity)


@dataclass(frozen=True, eq=False)
class Products:
    """Sums of products of ratings, as `Design.rows` describes them, and what follows from them.

    Attributes
    ----------
    sums : (..., D + 1, F + 2, F + 2)
    units : (..., D) how many of the many have each number of ratings
    n : (D,) these numbers
    """

    sums: Array
    units: Array
    n: Array

    @property
    def ratings(self) -> Array:
        """(...) number of ratings."""
        return np.asarray(self.sums[..., 0, -2, -2])

    @property
    def few(self) -> int:
        """Number F of the few."""
        return int(self.sums.shape[-1]) - 2

    @property
    def varies(self) -> NDArray[np.bool_]:
        """(...) whether not all ratings are the same."""
        return np.asarray(self.cleared(self.square).real > 0)

    @property
    def only_many(self) -> NDArray[np.bool_]:
        """(...) whether nothing but the many varies: the likelihood has no end there."""
        return np.asarray(self.varies & (self.within[..., -1, -1] == 0))

    @property
    def square(self) -> Array:
        """(...) sum of squared deviations from the mean."""
        top = self.sums[..., 0, -2:, -2:]
        return np.asarray(top[..., 1, 1] - top[..., 0, 1] ** 2 / top[..., 0, 0])

    @property
    def harmonic_mean(self) -> Array:
        """(...) harmonic mean of the numbers of ratings of the many."""
        return np.asarray(self.units.sum(axis=-1) / (self.units / self.n).sum(axis=-1))

    @cached_property
    def within(self) -> Array:
        """(..., F + 2, F + 2) products of deviations from the means of each of the many."""
        within = self.sums[..., 0, :, :] - self._weighted(1 / self.n)
        within[..., -2, :] = within[..., :, -2] = 0  # a constant has none
        within[..., -1, -1] = self.cleared(within[..., -1, -1])
        return within

    def mean_squares(self) -> MeanSquares:
        """Analysis of variance: the many, then the few given the many, then the rest."""
        ratings, many = self.ratings, self.units.sum(axis=-1)
        among, score = self.within[..., :-2, :-2], self.within[..., :-2, -1]
        # Shifts of all the few of a part of the design change nothing: they are left out.
        size, shift = np.linalg.eigh(among.real)
        is_idle = size < 1e-9 * ratings.real[..., None]
        shift = shift * is_idle[..., None, :]
        inverse = np.linalg.inv(among + shift @ np.swapaxes(shift, -1, -2))
        explained = np.einsum("...p,...pq,...q->...", score, inverse, score)
        df_few = self.few - is_idle.sum(axis=-1)
        df = Components(many - 1, df_few, ratings - many - df_few)
        within = self.within[..., -1, -1]
        parts = (self.square - within, explained, within - explained)
        square = Components(*(self.cleared(part) for part in parts))
        return MeanSquares(df, *(ratio(s, d) for s, d in zip(square, df, strict=True)))

    def cleared(self, part: Array) -> Array:
        """A part of the sum of squares, 0 where it is but rounding."""
        return np.where(np.abs(part) > ROUNDING * np.abs(self.sums[..., 0, -1, -1]), part, 0)

    def _weighted(self, weight: Array) -> Array:
        """(..., F + 2, F + 2) sum over numbers of ratings, with (..., D) weights."""
        return np.asarray(np.einsum("...d,...dpq->...pq", weight, self.sums[..., 1:, :, :]))

    def deviance(self, ratios: Array) -> Array:
        """(...) minus twice the log restricted likelihood, but for a constant.

        ``ratios`` (..., 2) holds the variances of the many and the few over that of residuals,
        which itself takes its best value.
        """
        _, precision = self._precision(ratios)
        given = np.linalg.slogdet(precision[..., :-1, :-1])[1]
        square = np.linalg.slogdet(precision)[1] - given
        grown = (self.units * np.log1p(ratios[..., :1] * self.n)).sum(axis=-1)
        return np.asarray(grown + given + (self.ratings - 1) * square)

    def components(self) -> Components:
        """Variances that maximise the restricted likelihood, none below 0; nan without variance.

        Complex sums, whose imaginary part is an infinitesimal, give its derivative as well.
        """
        ratios, free = Products(self.sums.real, self.units.real, self.n).best()
        if np.iscomplexobj(self.sums):
            slope, curvature, _ = self._derivatives(ratios)
            ratios = ratios - _solve(curvature, np.where(free, slope, 0), free)
        inverse = np.linalg.inv(self._precision(ratios)[1])
        residual = 1 / inverse[..., -1, -1] / (self.ratings - 1)
        residual = np.where(self.varies & (self.units.sum(axis=-1).real > 1), residual, np.nan)
        many, few = ratios[..., 0] * residual, ratios[..., 1] * residual
        if np.any(self.only_many):
            many = np.where(self.only_many, self._variance_of_means(), many)
            few, residual = (np.where(self.only_many, 0, one) for one in (few, residual))
        return Components(many, few, residual)

    def _variance_of_means(self) -> Array:
        """(...) variance of the mean ratings of the many."""
        means = self._weighted(self.n**-2.0)[..., -2:, -2:]
        size, total, square = means[..., 0, 0], means[..., 0, 1], means[..., 1, 1]
        return ratio(square - ratio(total**2, size), size - 1)

    def best(self) -> tuple[Array, NDArray[np.bool_]]:
        """(..., 2) ratios of variances of least deviance, and which of them are not held at 0.

        Newton's method, with the average information in place of the curvature where that is not
        positive: Gilmour, Thompson & Cullis (1995), https://doi.org/10.2307/2533274.
        """
        lead = self.units.shape[:-1]
        sums = self.sums.reshape(-1, *self.sums.shape[-3:])
        units = self.units.reshape(-1, len(self.n))
        flat = Products(sums, units, self.n)
        deviance = [flat.deviance(np.tile(start, (len(sums), 1))) for start in STARTS]
        ratios = STARTS[np.argmin(deviance, axis=0)]
        free = np.ones(ratios.shape, bool)
        going = np.flatnonzero(flat.varies & ~flat.only_many)
        for _ in range(STEPS):
            part = Products(sums[going], units[going], self.n)
            ratios[going], free[going], gain = part._step(ratios[going])
            going = going[gain > CLOSE]
            if not len(going):
                break
        return ratios.reshape(*lead, 2), free.reshape(*lead, 2)

    def _step(self, ratios: Array) -> tuple[Array, NDArray[np.bool_], Array]:
        """(B, 2) better ratios, which are not held at 0, and (B,) deviance that was gained."""
        slope, curvature, information = self._derivatives(ratios)
        matters = np.diagonal(information, axis1=-2, axis2=-1) > 0
        free = matters & ((ratios > 0) | (slope < 0))
        bowl = _is_positive(curvature, free)[:, None, None]
        matrix = np.where(bowl, curvature, information)
        better, gain = self._shortened(ratios, -_solve(matrix, np.where(free, slope, 0), free))
        return better, free, gain

    def _shortened(self, ratios: Array, step: Array) -> tuple[Array, Array]:
        """(B, 2) where steps lead, each halved until the deviance does not grow; (B,) the gain."""
        before = self.deviance(ratios)
        for _ in range(HALVINGS):
            reached: Array = np.maximum(ratios + step, 0)
            gain = before - self.deviance(reached)
            worse = gain < -CLOSE
            if not worse.any():
                break
            step = np.where(worse[:, None], step / 2, step)
        return np.where(worse[:, None], ratios, reached), gain

    def _precision(self, ratios: Array) -> tuple[Array, Array]:
        """(..., F + 2, F + 2) products given the effects of the many, and what they make.

        That is the precision of the few and the mean, bordered by the ratings, so that the last
        element of its inverse is one over the generalised sum of squares.
        """
        products = self.within + self._weighted(1 / (self.n * (1 + ratios[..., :1] * self.n)))
        products[..., -1, -1] += LEAST * np.where(self.varies, self.square, 1)
        precision = products * self._scale(ratios)
        few = np.arange(self.few)
        precision[..., few, few] += 1
        return products, precision

    def _scale(self, ratios: Array) -> Array:
        """(..., 1, F + 2) factors of columns, so that few of no variance are no division by 0."""
        few = np.repeat(ratios[..., 1:], self.few, axis=-1)
        return np.asarray(np.concatenate([few, np.ones_like(ratios)], axis=-1)[..., None, :])

    def _derivatives(self, ratios: Array) -> tuple[Array, Array, Array]:
        """(..., 2) slope, (..., 2, 2) curvature and average information of the deviance."""
        # With Q the precision and N ratings, the deviance is log det Q - (N - 2) log (Q^-1)_yy plus
        # a term of the many. Ratios move Q by `first`, and that by `second`.
        products, precision = self._precision(ratios)
        inverse = np.linalg.inv(precision)
        scale, grown = self._scale(ratios), 1 + ratios[..., :1] * self.n
        is_few = np.arange(self.few + 2) < self.few
        less = -self._weighted(grown**-2)
        first = np.stack([less * scale, products * is_few], axis=-3)
        second = np.zeros((*ratios.shape, *first.shape[-3:]), first.dtype)
        second[..., 0, 0, :, :] = 2 * self._weighted(self.n * grown**-3) * scale
        second[..., 0, 1, :, :] = second[..., 1, 0, :, :] = less * is_few

        moved = inverse[..., None, :, :] @ first
        row, column = inverse[..., -1, :], inverse[..., :, -1]
        square = row[..., -1, None]
        left = np.einsum("...p,...apq->...aq", row, first)
        right = np.einsum("...apq,...q->...ap", first, column)
        pull = np.einsum("...ap,...p->...a", left, column) / square
        both = np.einsum("...ap,...pq,...bq->...ab", left, inverse, right)
        bent = np.einsum("...p,...abpq,...q->...ab", row, second, column)
        bent = (bent - both - np.swapaxes(both, -1, -2)) / square[..., None]

        freedom = self.ratings - 2
        slope = np.einsum("...app->...a", moved) + freedom[..., None] * pull
        slope[..., 0] += (self.units * self.n / grown).sum(axis=-1)
        outer = pull[..., :, None] * pull[..., None, :]
        curvature = np.einsum("...pq,...abqp->...ab", inverse, second)
        curvature -= np.einsum("...apq,...bqp->...ab", moved, moved)
        curvature += freedom[..., None, None] * (bent + outer)
        curvature[..., 0, 0] -= (self.units * (self.n / grown) ** 2).sum(axis=-1)
        return slope, curvature, (freedom + 1)[..., None, None] / 2 * bent


def _solve(matrix: Array, vector: Array, free: NDArray[np.bool_]) -> Array:
    """(..., 2) solutions of systems in which what is not free stays 0."""
    held = np.where(free[..., :, None] & free[..., None, :], matrix, np.eye(2))
    return np.linalg.solve(held, vector[..., None])[..., 0]


def _is_positive(matrix: Array, free: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(...) whether symmetric matrices (..., 2, 2) are positive definite in what is free."""
    held = np.where(free[..., :, None] & free[..., None, :], matrix, np.eye(2))
    return np.asarray((held[..., 0, 0] > 0) & (np.linalg.det(held) > 0))
