"""Variance components of ratings by restricted maximum likelihood (REML), for any design.

A rating is the sum of a mean, an item effect, a rater effect and a residual. The ratings enter
through sums (`Design.rows`) whose size does not grow with their number, so that evaluating the
likelihood costs no pass over the ratings, and many samples of items are fitted at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reliabayes.agreement.arithmetic import ratio
from reliabayes.arrays import Array, Mask

STARTS = np.array([(item, rater) for item in (0.1, 1.0, 10.0) for rater in (0.1, 1.0, 10.0)])
MAX_STEPS = 100  # of Newton's method, which usually takes about ten
MAX_HALVINGS = 20
TOLERANCE = 1e-9  # gain in deviance of a last step, including rounding error
ROUNDING = 1e-13  # parts of the sum of squares below this proportion are rounding error
MIN_RESIDUAL = 1e-10  # least residual proportion of the sum of squares; bounds variance ratios


class Components(NamedTuple):
    """Variance components.

    Attributes
    ----------
    item, rater, residual : array of float, shape (...)
        Variances of item effects, of rater effects and of residuals.
    """

    item: Array
    rater: Array
    residual: Array

    def icc(self, *, agreement: bool) -> Array:
        """(...) proportion of variance between items; see `MeanSquares.icc`."""
        return self.item / (self.item + self.residual + (self.rater if agreement else 0))


class MeanSquares(NamedTuple):
    """Mean squares of an analysis of variance.

    Attributes
    ----------
    df : Components
        Degrees of freedom of the three mean squares.
    item, rater, residual : array of float, shape (...)
        Mean squares between items, between raters given the items, and of residuals.
    """

    df: Components
    item: Array
    rater: Array
    residual: Array

    def icc(self, k: float, *, agreement: bool) -> Array:
        """(...) ICC of single ratings: Shrout & Fleiss (1979), Table 3.

        With ``agreement`` the variance between raters counts, as in ICC(2,1). Otherwise it does
        not, as in ICC(3,1), and in ICC(1,1), which ignores raters.
        """
        between = self.item - self.residual
        severity = k * (self.rater - self.residual) / (self.df.item + 1) if agreement else 0
        return ratio(between, self.item + (k - 1) * self.residual + severity)


@dataclass(frozen=True, eq=False)
class Products:
    """Sums of products of ratings, as described in `Design.rows`, and estimates from them.

    Attributes
    ----------
    sums : array of float, shape (..., D + 1, R + 2, R + 2)
        Matrices of products: of ratings, then of item sums by number of ratings.
    multiplicity : array of float, shape (..., D)
        Number of items with each number of ratings.
    sizes : array of float, shape (D,)
        Distinct numbers of ratings per item.
    """

    sums: Array
    multiplicity: Array
    sizes: Array

    @property
    def n_ratings(self) -> Array:
        """(...) number of ratings."""
        return np.asarray(self.sums[..., 0, -2, -2])

    @property
    def n_raters(self) -> int:
        """Number R of raters; 0 in the one-way model."""
        return int(self.sums.shape[-1]) - 2

    @property
    def varies(self) -> Mask:
        """(...) whether not all ratings are the same."""
        return np.asarray(self.without_rounding(self.total_square).real > 0)

    @property
    def only_items_vary(self) -> Mask:
        """(...) whether nothing varies but items, where the likelihood is unbounded."""
        return np.asarray(self.varies & (self.within[..., -1, -1] == 0))

    @property
    def total_square(self) -> Array:
        """(...) sum of squared deviations from the mean."""
        top = self.sums[..., 0, -2:, -2:]
        return np.asarray(top[..., 1, 1] - top[..., 0, 1] ** 2 / top[..., 0, 0])

    @property
    def harmonic_mean(self) -> Array:
        """(...) harmonic mean of the numbers of ratings per item."""
        return np.asarray(
            self.multiplicity.sum(axis=-1) / (self.multiplicity / self.sizes).sum(axis=-1)
        )

    @cached_property
    def within(self) -> Array:
        """(..., R + 2, R + 2) products of deviations from item means."""
        within = self.sums[..., 0, :, :] - self._sum_over_sizes(1 / self.sizes)
        within[..., -2, :] = within[..., :, -2] = 0  # a constant does not deviate
        within[..., -1, -1] = self.without_rounding(within[..., -1, -1])
        return within

    def mean_squares(self) -> MeanSquares:
        """Analysis of variance: items, then raters given the items, then residuals."""
        n_ratings, n_items = self.n_ratings, self.multiplicity.sum(axis=-1)
        among, score = self.within[..., :-2, :-2], self.within[..., :-2, -1]
        # A shift of all raters of a connected part of the design is not identified: drop it.
        eigenvalue, shift = np.linalg.eigh(among.real)
        is_unidentified = eigenvalue < 1e-9 * n_ratings.real[..., None]
        shift = shift * is_unidentified[..., None, :]
        inverse = np.linalg.inv(among + shift @ np.swapaxes(shift, -1, -2))
        explained = np.einsum("...p,...pq,...q->...", score, inverse, score)
        df_rater = self.n_raters - is_unidentified.sum(axis=-1)
        df = Components(n_items - 1, df_rater, n_ratings - n_items - df_rater)
        within = self.within[..., -1, -1]
        parts = (self.total_square - within, explained, within - explained)
        square = Components(*(self.without_rounding(part) for part in parts))
        return MeanSquares(df, *(ratio(s, d) for s, d in zip(square, df, strict=True)))

    def square_given_raters(self, ratio: float) -> Array:
        """(...) generalised sum of squares with fixed raters (with a fixed mean if there are none).

        ``ratio`` is the variance of items divided by the residual variance.
        """
        products = self.within + self._sum_over_sizes(1 / (self.sizes * (1 + ratio * self.sizes)))
        fixed = slice(0, self.n_raters) if self.n_raters else slice(0, 1)
        score = products[..., fixed, -1:]
        explained = np.swapaxes(score, -1, -2) @ np.linalg.pinv(products[..., fixed, fixed]) @ score
        return np.asarray(products[..., -1, -1] - explained[..., 0, 0])

    def variance_of_ratios(self) -> Array:
        """(..., 2, 2) covariances of the ratios of best fit, from their average information."""
        information = self._derivatives(self.best_ratios()[0])[2]
        free = np.diagonal(information, axis1=-2, axis2=-1) > 0
        held = free[..., :, None] & free[..., None, :]
        inverse = np.linalg.inv(np.where(held, information, np.eye(2)))
        return np.asarray(np.where(held, 2 * inverse, 0.0))

    def without_rounding(self, part: Array) -> Array:
        """(...) a part of the sum of squares, 0 where it is within rounding error."""
        return np.where(np.abs(part) > ROUNDING * np.abs(self.sums[..., 0, -1, -1]), part, 0)

    def _sum_over_sizes(self, weight: Array) -> Array:
        """(..., R + 2, R + 2) weighted sum over numbers of ratings, given weights (..., D)."""
        return np.asarray(np.einsum("...d,...dpq->...pq", weight, self.sums[..., 1:, :, :]))

    def deviance(self, ratios: Array) -> Array:
        """(...) minus twice the log restricted likelihood, up to a constant.

        ``ratios`` (..., 2) are the variances of items and raters divided by the residual variance,
        which is profiled out.
        """
        _, precision = self._precision(ratios)
        given = np.linalg.slogdet(precision[..., :-1, :-1])[1]
        square = np.linalg.slogdet(precision)[1] - given
        log_growth = (self.multiplicity * np.log1p(ratios[..., :1] * self.sizes)).sum(axis=-1)
        return np.asarray(log_growth + given + (self.n_ratings - 1) * square)

    def components(self) -> Components:
        """Variances that maximise the restricted likelihood, none below 0; nan without variance.

        The derivative comes with it if the sums are complex with an infinitesimal imaginary part.
        """
        ratios, free = Products(self.sums.real, self.multiplicity.real, self.sizes).best_ratios()
        if np.iscomplexobj(self.sums):
            slope, curvature, _ = self._derivatives(ratios)
            ratios = ratios - _solve(curvature, np.where(free, slope, 0), free)
        inverse = np.linalg.inv(self._precision(ratios)[1])
        residual = 1 / inverse[..., -1, -1] / (self.n_ratings - 1)
        n_items = self.multiplicity.sum(axis=-1).real
        residual = np.where(self.varies & (n_items > 1), residual, np.nan)
        item, rater = ratios[..., 0] * residual, ratios[..., 1] * residual
        if np.any(self.only_items_vary):
            item = np.where(self.only_items_vary, self._variance_of_means(), item)
            rater, residual = (np.where(self.only_items_vary, 0, v) for v in (rater, residual))
        return Components(item, rater, residual)

    def _variance_of_means(self) -> Array:
        """(...) variance of the mean ratings of items."""
        means = self._sum_over_sizes(self.sizes**-2.0)[..., -2:, -2:]
        size, total, square = means[..., 0, 0], means[..., 0, 1], means[..., 1, 1]
        return ratio(square - ratio(total**2, size), size - 1)

    def best_ratios(self) -> tuple[Array, Mask]:
        """(..., 2) variance ratios of least deviance, and which of them are not at the bound 0.

        Newton's method, with the average information in place of the curvature where that is not
        positive definite: Gilmour, Thompson & Cullis (1995), https://doi.org/10.2307/2533274.
        """
        lead = self.multiplicity.shape[:-1]
        sums = self.sums.reshape(-1, *self.sums.shape[-3:])
        multiplicity = self.multiplicity.reshape(-1, len(self.sizes))
        flat = Products(sums, multiplicity, self.sizes)
        deviance = [flat.deviance(np.tile(start, (len(sums), 1))) for start in STARTS]
        ratios = STARTS[np.argmin(deviance, axis=0)]
        free = np.ones(ratios.shape, bool)
        active = np.flatnonzero(flat.varies & ~flat.only_items_vary)
        for _ in range(MAX_STEPS):
            part = Products(sums[active], multiplicity[active], self.sizes)
            ratios[active], free[active], gain = part._newton_step(ratios[active])
            active = active[gain > TOLERANCE]
            if not len(active):
                break
        return ratios.reshape(*lead, 2), free.reshape(*lead, 2)

    def _newton_step(self, ratios: Array) -> tuple[Array, Mask, Array]:
        """(B, 2) better ratios, which of them are not at 0, and (B,) gain in deviance."""
        slope, curvature, information = self._derivatives(ratios)
        is_informed = np.diagonal(information, axis1=-2, axis2=-1) > 0
        free = is_informed & ((ratios > 0) | (slope < 0))
        is_convex = _is_positive_definite(curvature, free)[:, None, None]
        matrix = np.where(is_convex, curvature, information)
        better, gain = self._line_search(ratios, -_solve(matrix, np.where(free, slope, 0), free))
        return better, free, gain

    def _line_search(self, ratios: Array, step: Array) -> tuple[Array, Array]:
        """(B, 2) ratios after steps that are halved until the deviance does not grow; (B,) gain."""
        before = self.deviance(ratios)
        for _ in range(MAX_HALVINGS):
            reached: Array = np.maximum(ratios + step, 0)
            gain = before - self.deviance(reached)
            worse = gain < -TOLERANCE
            if not worse.any():
                break
            step = np.where(worse[:, None], step / 2, step)
        return np.where(worse[:, None], ratios, reached), gain

    def _precision(self, ratios: Array) -> tuple[Array, Array]:
        """(..., R + 2, R + 2) products with item effects integrated out, and precision.

        That is the precision of the rater effects and the mean, bordered by the ratings, so that
        the last element of its inverse is the reciprocal of the generalised sum of squares.
        """
        shrinkage = 1 / (self.sizes * (1 + ratios[..., :1] * self.sizes))
        products = self.within + self._sum_over_sizes(shrinkage)
        products[..., -1, -1] += MIN_RESIDUAL * np.where(self.varies, self.total_square, 1)
        precision = products * self._scale(ratios)
        rater = np.arange(self.n_raters)
        precision[..., rater, rater] += 1
        return products, precision

    def _scale(self, ratios: Array) -> Array:
        """(..., 1, R + 2) factors of columns, which avoid a division by a rater variance of 0."""
        rater = np.repeat(ratios[..., 1:], self.n_raters, axis=-1)
        return np.asarray(np.concatenate([rater, np.ones_like(ratios)], axis=-1)[..., None, :])

    def _derivatives(self, ratios: Array) -> tuple[Array, Array, Array]:
        """(..., 2) slope, (..., 2, 2) curvature and average information of the deviance."""
        # With Q the precision and N ratings, the deviance is log det Q - (N - 2) log (Q^-1)_yy plus
        # a term of the item variance. `first` and `second` are the derivatives of Q by the ratios.
        products, precision = self._precision(ratios)
        inverse = np.linalg.inv(precision)
        scale, growth = self._scale(ratios), 1 + ratios[..., :1] * self.sizes
        is_rater = np.arange(self.n_raters + 2) < self.n_raters
        by_item = -self._sum_over_sizes(growth**-2)
        first = np.stack([by_item * scale, products * is_rater], axis=-3)
        second = np.zeros((*ratios.shape, *first.shape[-3:]), first.dtype)
        second[..., 0, 0, :, :] = 2 * self._sum_over_sizes(self.sizes * growth**-3) * scale
        second[..., 0, 1, :, :] = second[..., 1, 0, :, :] = by_item * is_rater

        inverse_first = inverse[..., None, :, :] @ first
        row, column = inverse[..., -1, :], inverse[..., :, -1]
        corner = row[..., -1, None]
        left = np.einsum("...p,...apq->...aq", row, first)
        right = np.einsum("...apq,...q->...ap", first, column)
        corner_slope = np.einsum("...ap,...p->...a", left, column) / corner
        both = np.einsum("...ap,...pq,...bq->...ab", left, inverse, right)
        bend = np.einsum("...p,...abpq,...q->...ab", row, second, column)
        bend = (bend - both - np.swapaxes(both, -1, -2)) / corner[..., None]

        freedom = self.n_ratings - 2
        slope = np.einsum("...app->...a", inverse_first) + freedom[..., None] * corner_slope
        slope[..., 0] += (self.multiplicity * self.sizes / growth).sum(axis=-1)
        outer = corner_slope[..., :, None] * corner_slope[..., None, :]
        curvature = np.einsum("...pq,...abqp->...ab", inverse, second)
        curvature -= np.einsum("...apq,...bqp->...ab", inverse_first, inverse_first)
        curvature += freedom[..., None, None] * (bend + outer)
        curvature[..., 0, 0] -= (self.multiplicity * (self.sizes / growth) ** 2).sum(axis=-1)
        return slope, curvature, (freedom + 1)[..., None, None] / 2 * bend


def _solve(matrix: Array, vector: Array, free: Mask) -> Array:
    """(..., 2) solutions of linear systems in which ratios that are not free stay at 0."""
    held = np.where(free[..., :, None] & free[..., None, :], matrix, np.eye(2))
    solution: NDArray[Any] = np.linalg.solve(held, vector[..., None])  # complex if the matrix is
    return solution[..., 0]


def _is_positive_definite(matrix: Array, free: Mask) -> Mask:
    """(...) whether symmetric matrices (..., 2, 2) are positive definite in the free ratios."""
    held = np.where(free[..., :, None] & free[..., None, :], matrix, np.eye(2))
    return np.asarray((held[..., 0, 0] > 0) & (np.linalg.det(held) > 0))
