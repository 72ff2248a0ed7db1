"""The exact likelihood of ratings with normal effects of several sources, in any design."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy
import scipy.sparse as sp

from reliabayes.arrays import Array
from reliabayes.facets.effect_blocks import EffectBlocks
from reliabayes.facets.effect_sums import EffectSums
from reliabayes.facets.effects import Effects

SMALL = 1e-6  # variances below this proportion have a formula of their own, which allows for 0


@dataclass(frozen=True, eq=False)
class NormalEffects:
    """Ratings that are sums of a mean, an effect of each source and a residual, all normal.

    With V the covariance of the ratings and Z the incidence of effects, the likelihood needs the
    matrix of the effects only, times their standard deviations D: I + D Z'Z D / s^2, where s^2 is
    the residual variance. Effects of each item, say, and all that are nested in it are a block;
    blocks are eliminated one by one, and the rest is dense.

    Attributes
    ----------
    sums : EffectSums
        Sums of the ratings.

    References
    ----------
    Searle, Casella & McCulloch (1992), Variance Components, chapter 6.
    https://doi.org/10.1002/9780470316856
    """

    sums: EffectSums

    @classmethod
    def of(cls, effects: Effects, values: Array) -> NormalEffects:
        """Sum ratings (N,), in the order of the levels of effects."""
        return cls(EffectSums.of(effects, values))

    def log_density(self, variance: Array, mean: float = 0.0, sd: float = math.inf) -> float:
        """Log density of the ratings; see `at`."""
        return self.at(variance, mean, sd).log_density

    def at(self, variance: Array, mean: float = 0.0, sd: float = math.inf) -> Solution:
        """Solve for the effects.

        Parameters
        ----------
        variance : array of float, shape (K,)
            Variance of each source, the last that of the residual; others may be 0.
        mean, sd : float
            Of the normal prior of the mean. If sd is infinite the prior density is 1 everywhere,
            and the log density is the restricted log likelihood, with its constants.

        Returns
        -------
        Solution
        """
        # Where the prior is flat, ratings far from its mean would only lose digits.
        offset = 0.0 if math.isinf(sd) else mean - self.sums.centre
        return Solution(self, np.asarray(variance, np.float64), offset, sd)

    @cached_property
    def blocks(self) -> EffectBlocks:
        """The effects that are eliminated; those of the other P are solved for together."""
        return EffectBlocks.of(self.sums)

    @cached_property
    def cross(self) -> sp.csr_array:
        """(P, E) products of the other effects and those that are eliminated."""
        return sp.csr_array(self.sums.products[self.blocks.rest][:, self.blocks.members])

    @cached_property
    def within(self) -> sp.csr_array:
        """(P, P) products of the other effects."""
        return sp.csr_array(self.sums.products[self.blocks.rest][:, self.blocks.rest])


class Solution:
    """The likelihood and its derivatives at given variances.

    Parameters
    ----------
    model : NormalEffects
        The ratings.
    variance : array of float, shape (K,)
        Variance of each source, the last that of the residual.
    offset : float
        Mean of the prior of the mean, less the centre of the sums.
    sd : float
        Its standard deviation.
    """

    def __init__(self, model: NormalEffects, variance: Array, offset: float, sd: float) -> None:
        sums = model.sums
        self.model, self.variance, self.offset, self.residual = (
            model,
            variance,
            offset,
            variance[-1],
        )
        self.is_flat = math.isinf(sd)
        self.totals = sums.totals - offset * sums.products[:, [-1]].toarray()[:, 0]
        self.square = sums.square - 2 * offset * sums.totals[-1] + sums.n * offset**2
        sd_of_effect = np.sqrt(variance)[sums.source]
        inverse, self.log_growth = model.blocks.inverse(
            sd_of_effect[model.blocks.members] / math.sqrt(self.residual)
        )
        self.inverse = inverse  # covariance of the eliminated effects, given the others, over s^2
        self.scale = sd_of_effect[model.blocks.rest]
        self.scale[-1] = 1 if self.is_flat else sd
        self.precision = np.ones(len(model.blocks.rest))
        self.precision[-1] = 0 if self.is_flat else 1
        matrix = self._reduced(model.within, model.cross).toarray()
        matrix *= self.scale[:, None]
        matrix *= self.scale
        matrix[np.diag_indices_from(matrix)] += self.precision
        self.factor = scipy.linalg.cho_factor(
            matrix, lower=True, overwrite_a=True, check_finite=False
        )[0]

    @cached_property
    def effects(self) -> Array:
        """(T,) means of the effects given the ratings; that of the mean less `EffectSums.centre`.

        With a flat prior the latter is its generalised least squares estimate.
        """
        found = self._solve(self.totals[:, None])[:, 0]
        found[-1] += self.offset
        return found

    @cached_property
    def log_density(self) -> float:
        """Log density of the ratings."""
        n = self.model.sums.n
        log_determinant = n * math.log(self.residual) + self.log_growth
        log_determinant += 2 * np.log(np.diag(self.factor)).sum()
        constant = (n - self.is_flat) * math.log(2 * math.pi)
        return float(-0.5 * (constant + log_determinant + self._quadratic))

    @cached_property
    def gradient(self) -> Array:
        """(K,) derivatives of the log density in the variances."""
        return np.asarray(0.5 * (self._squares - self._traces))

    @cached_property
    def information(self) -> Array:
        """(K, K) average of the observed and the expected information on the variances.

        References
        ----------
        Gilmour, Thompson & Cullis (1995). https://doi.org/10.2307/2533274
        """
        # With P the inverse of V (given the mean), column j of `pushed` is Z' V_j P y, where V_j is
        # the derivative of V in variance j.
        sums = self.model.sums
        split = np.zeros((len(sums.source), len(self.variance)))
        split[np.arange(len(sums.source)), sums.source] = self._scores
        split[:, -1] = 0
        pushed = np.asarray(sums.products @ split)
        pushed[:, -1] = self._scores
        inner = split.T @ pushed
        inner[-1] = inner[:, -1]
        inner[-1, -1] = self._squares[-1]
        return np.asarray(0.5 * (inner - pushed.T @ self._solve(pushed)) / self.residual)

    def _reduced(self, within: sp.csr_array, cross: sp.csr_array) -> sp.csr_array:
        """(P, C) products of effects and some of them, with the eliminated ones integrated out."""
        known = self.model.cross @ (self.inverse @ cross.T)
        return sp.csr_array((within - known) / self.residual)

    def _solve(self, totals: Array) -> Array:
        """(T, C) means of the effects given ratings with these sums (T, C)."""
        model, blocks, scale = self.model, self.model.blocks, self.scale[:, None]
        found = np.empty_like(totals)
        top, rest = totals[blocks.members], totals[blocks.rest]
        right = scale * (rest - model.cross @ (self.inverse @ top)) / self.residual
        found[blocks.rest] = scale * scipy.linalg.cho_solve(
            (self.factor, True), right, check_finite=False
        )
        found[blocks.members] = self.inverse @ (top - model.cross.T @ found[blocks.rest])
        return found

    @cached_property
    def _deviations(self) -> Array:
        """(T,) means of the effects, that of the mean as a deviation from its prior mean."""
        found = self.effects.copy()
        found[-1] -= self.offset
        return found

    @cached_property
    def _quadratic(self) -> float:
        """The generalised sum of squares."""
        return float((self.square - self.totals @ self._deviations) / self.residual)

    @cached_property
    def _scores(self) -> Array:
        """(T,) sums of the inverse of V times the ratings, by effect."""
        explained = self.model.sums.products @ self._deviations
        return np.asarray((self.totals - explained) / self.residual)

    @cached_property
    def _squares(self) -> Array:
        """(K,) sums of squares of the scores by source; the last over ratings."""
        squares = self.model.sums.by_source(self._scores**2)
        of_mean = 0 if self.is_flat else squares[-1] * self.scale[-1] ** 2
        explained = squares[:-1] @ self.variance[:-1] + of_mean
        squares[-1] = (self._quadratic - explained) / self.residual
        return squares

    @cached_property
    def _traces(self) -> Array:
        """(K,) traces of the inverse of V on each source; the last over ratings."""
        blocks, source = self.model.blocks, self.model.sums.source
        inverse = scipy.linalg.lapack.dpotri(self.factor, lower=1)[0]
        part = 1 - self.precision * np.diag(inverse)
        reach = np.bincount(source[blocks.rest], part, len(self.variance))
        traces = self._traces_of_blocks(inverse)
        for k in np.unique(source[blocks.rest])[:-1]:
            traces[k] = self._trace(k, reach[k])
        explained = traces[:-1] @ self.variance[:-1] + reach[-1]
        traces[-1] = (self.model.sums.n - explained) / self.residual
        return traces

    def _traces_of_blocks(self, inverse: Array) -> Array:
        """(K,) traces of the inverse of V on sources that are eliminated; 0 for others."""
        model, source = self.model, self.model.sums.source[self.model.blocks.members]
        products = model.blocks.products
        left = sp.eye_array(len(source), format="csr") - self.inverse @ products
        own = np.asarray((products * left.T).sum(axis=1))
        traces = np.bincount(source, own, len(self.variance))
        reached = sp.csc_array(model.cross @ left)
        for k in np.unique(source):
            of_source = reached[:, np.flatnonzero(source == k)]
            pairs = sp.coo_array(sp.tril(of_source @ of_source.T))
            row, column = pairs.coords
            # Half of the inverse is there, which is symmetric: what is off its diagonal is twice.
            scale = np.where(row == column, 1, 2) * self.scale[row] * self.scale[column]
            traces[k] -= (pairs.data * scale * inverse[row, column]).sum() / self.residual
        return np.asarray(traces / self.residual)

    def _trace(self, k: int, reach: float) -> float:
        """Trace of the inverse of V on a source that is not eliminated."""
        model, rest = self.model, self.model.blocks.rest
        columns = np.flatnonzero(model.sums.source[rest] == k)
        most = model.sums.counts[rest][columns].max()
        if self.variance[k] * most > SMALL * self.residual:
            return float(reach / self.variance[k])
        reduced = self._reduced(
            sp.csr_array(model.within[:, columns]), sp.csr_array(model.cross[columns])
        ).toarray()
        right = self.scale[:, None] * reduced
        known = scipy.linalg.solve_triangular(self.factor, right, lower=True, check_finite=False)
        return float(reduced[columns, np.arange(len(columns))].sum() - (known**2).sum())
