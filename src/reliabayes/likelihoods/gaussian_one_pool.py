"""Gaussian ratings with crossed effects: the sums that are left of the data, and what they say.

One margin of the design is the *many* (items, or raters where those are more), the other the
*few*. Given the effects of the few, those of the many are independent, and all that the data say
about the standard deviations stands in sums whose size does not grow with the ratings.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from reliabayes.arrays import Array, Codes
from reliabayes.inference.warm_start import climb, curvature
from reliabayes.likelihoods.cross_products import cross_products


class Deviations(NamedTuple):
    """Standard deviations of the three sources of a rating, in its units; numbers or (S,) draws."""

    many: Any
    few: Any
    residual: Any

    def weights(self, n: Array) -> Array:
        """(..., D + 1) weight of the sums of all ratings, then of units with ``n`` (D,) ratings."""
        shrinkage = self.shrinkage(n[:, None] if np.ndim(self.many) else n).T
        ones = np.ones((*np.shape(self.many), 1))
        scaled = np.concatenate([ones, -shrinkage], axis=-1)
        return np.asarray(scaled / np.square(self.residual)[..., None])

    def shrinkage(self, n: Array) -> Any:
        """Expected effect of one of the many over the sum of its ``n`` residuals."""
        return self.many**2 / (self.residual**2 + n * self.many**2)

    def swap(self, swapped: bool) -> Deviations:
        """Item and rater for many and few, or back again."""
        return Deviations(self.few, self.many, self.residual) if swapped else self


class Approximation(NamedTuple):
    """What EM finds of a posterior: log standard deviations, how far they spread, and the rest.

    ``score`` holds the other parameters by name, near standard normal; ``step_size`` is the
    sampler's first, None to let it learn metric and step, ``acceptance`` what the step adapts to,
    and ``path`` the objective of EM by step.
    """

    log_sd: Deviations
    spread: Deviations
    score: dict[str, Array]
    step_size: float | None
    acceptance: float
    path: tuple[float, ...]


class MeanPrior(NamedTuple):
    """Normal prior of the mean, taken from the centre of the ratings; precision 0 is flat.

    Numbers, or (G,) arrays for the means of pools.
    """

    offset: Any
    precision: Any

    @classmethod
    def of(cls, mean_and_sd: Sequence[Any], center: Any) -> MeanPrior:
        """Prior given as mean and standard deviation."""
        mean, sd = mean_and_sd
        return cls(mean - center, sd**-2)


@dataclass(frozen=True, eq=False)
class CrossedDesign:
    """Who rated what, and the sums of the centred ratings by margin.

    Attributes
    ----------
    counts : sparse (M, F), ratings by one of the many and one of the few
    total : (M,) sum of ratings of each of the many
    few_total : (F,) sum of ratings of each of the few
    square : sum of squared ratings
    """

    counts: sp.csr_array
    total: Array
    few_total: Array
    square: float

    @classmethod
    def of(
        cls,
        many: Codes,
        few: Codes,
        ratings: Array,
        few_size: int | None = None,
    ) -> CrossedDesign:
        """Design of ratings in long form: (N,) codes of both margins, and (N,) centred ratings.

        ``few_size`` is the number of the few, where not all of them have ratings in this part.
        """
        total = np.asarray(np.bincount(many, ratings), float)
        few_total = np.asarray(np.bincount(few, ratings, minlength=few_size or 0), float)
        shape = (len(total), len(few_total))
        return cls(
            counts=sp.csr_array((np.ones(len(ratings)), (many, few)), shape=shape),
            total=total,
            few_total=few_total,
            square=float(ratings @ ratings),
        )

    @cached_property
    def n(self) -> Array:
        """(M,) ratings of each of the many."""
        return np.asarray(self.counts.sum(axis=1), float).ravel()

    @cached_property
    def per_few(self) -> Array:
        """(F,) ratings of each of the few."""
        return np.asarray(self.counts.sum(axis=0), float).ravel()

    @cached_property
    def patterns(self) -> tuple[Array, Codes, Array]:
        """(D,) distinct numbers of ratings of the many; (M,) which of them; (D,) how many units."""
        n, pattern, units = np.unique(self.n, return_inverse=True, return_counts=True)
        return n, pattern, units.astype(float)

    def draw_many(
        self, sd: Deviations, few: Array, cells: int, rng: np.random.Generator
    ) -> Iterator[Array]:
        """Effects of the many drawn given those of the few: (S, chunk) at a time.

        ``sd`` holds (S,) arrays, ``few`` is (S, F + 1) with the mean last; a chunk has about
        ``cells`` numbers.
        """
        rows = max(1, cells // len(few))
        for start in range(0, len(self.total), rows):
            chunk = slice(start, start + rows)
            n = self.n[chunk, None]
            residual = self.total[chunk, None] - self.counts[chunk] @ few[:, :-1].T - n * few[:, -1]
            shrinkage = sd.shrinkage(n)
            noise = rng.standard_normal(residual.shape)
            yield (shrinkage * residual + np.sqrt(shrinkage) * sd.residual * noise).T


@dataclass(frozen=True, eq=False)
class CrossedSums:
    """Sums over ratings: row 0 over all of them, row d + 1 over the units rated n[d] times.

    With x the indicators of the F few and a constant, y a rating, and c, t the sums of x and y
    over the ratings of one of the many:

    Attributes
    ----------
    n : (D,) ratings of each of its units, ascending
    units : (D,) units of the many
    gram : (D + 1, F + 1, F + 1) sum of xx', then of cc'
    moment : (D + 1, F + 1) sum of xy, then of ct
    square : (D + 1,) sum of yy, then of tt
    """

    n: Array
    units: Array
    gram: Array
    moment: Array
    square: Array

    @classmethod
    def of(cls, design: CrossedDesign) -> CrossedSums:
        """Sums of a data set, or of a part of it that shares none of the many with the rest."""
        n, pattern, units = design.patterns
        per_few, whole = design.per_few[:, None], np.array([[design.n.sum()]])
        gram = [np.block([[np.diag(design.per_few), per_few], [per_few.T, whole]])]
        moment = [np.append(design.few_total, design.few_total.sum())]
        square = [design.square]
        others = np.column_stack([design.n, design.total])
        for product in cross_products(design.counts, others, pattern):
            gram.append(product[:-1, :-1])
            moment.append(product[:-1, -1])
            square.append(product[-1, -1])
        return cls(n, units, np.array(gram), np.array(moment), np.array(square))

    def __add__(self, other: CrossedSums) -> CrossedSums:
        """Sums of both parts; they have the same few and share none of the many."""
        n = np.union1d(self.n, other.n)
        rows = [np.append(0, 1 + np.searchsorted(n, part.n)) for part in (self, other)]

        def add(mine: Array, others: Array) -> Array:
            out = np.zeros((len(n) + 1, *mine.shape[1:]))
            out[rows[0]] += mine
            out[rows[1]] += others
            return out

        units = add(np.append(0.0, self.units), np.append(0.0, other.units))[1:]
        return CrossedSums(
            n,
            units,
            add(self.gram, other.gram),
            add(self.moment, other.moment),
            add(self.square, other.square),
        )

    def to_stan(self) -> dict[str, Any]:
        """Data of ``gaussian_icc.stan``."""
        column, row = np.triu_indices(self.few + 1)  # lower triangles, column by column
        return {
            "N": int(self.ratings),
            "F": self.few,
            "D": len(self.n),
            "n": self.n,
            "units": self.units,
            "gram": self.gram[:, row, column].T,
            "moment": self.moment.T,
            "square": self.square,
        }

    @classmethod
    def from_stan(cls, data: Mapping[str, Any]) -> CrossedSums:
        """The sums that `to_stan` packed."""
        size = data["F"] + 1
        gram = np.empty((data["D"] + 1, size, size))
        column, row = np.triu_indices(size)
        gram[:, row, column] = gram[:, column, row] = data["gram"].T
        return cls(data["n"], data["units"], gram, data["moment"].T, data["square"])

    @property
    def few(self) -> int:
        """Number of the few."""
        return len(self.moment[0]) - 1

    @property
    def ratings(self) -> float:
        """Number of ratings."""
        return float(self.gram[0, -1, -1])

    def given(self, sd: Deviations, prior: MeanPrior) -> Conditional:
        """Effects of the few and the mean, given the data and the standard deviations."""
        weights = sd.weights(self.n)
        precision = np.tensordot(weights, self.gram, axes=1)
        precision[np.diag_indices_from(precision)] += np.append(
            np.full(self.few, sd.few**-2), prior.precision
        )
        score = weights @ self.moment
        score[-1] += prior.precision * prior.offset
        factor = scipy.linalg.cholesky(precision, lower=True)
        return Conditional(factor, scipy.linalg.solve_triangular(factor, score, lower=True))

    def draw_few(
        self, sd: Deviations, means: Array, prior: MeanPrior, rng: np.random.Generator
    ) -> Array:
        """(S, F + 1) effects of the few, the mean last, drawn given (S,) sds and means."""
        draws = zip(*sd, means[:, None], strict=True)
        return np.array([self.given(Deviations(*at), prior).draw(mean, rng) for *at, mean in draws])

    def log_likelihood(self, sd: Deviations, prior: MeanPrior) -> float:
        """Log density of the ratings, effects and mean summed out.

        Under a flat prior of the mean the density is that of the ratings' contrasts, as in REML.
        """
        given = self.given(sd, prior)
        flat = prior.precision == 0
        log_det = (
            self.units @ np.log(sd.residual**2 + self.n * sd.many**2)
            + 2 * (self.ratings - self.units.sum()) * math.log(sd.residual)
            + 2 * self.few * math.log(sd.few)
            - (0 if flat else math.log(prior.precision))
            + 2 * np.log(np.diag(given.factor)).sum()
        )
        square = sd.weights(self.n) @ self.square + prior.precision * prior.offset**2
        quadratic = square - given.whitened @ given.whitened
        constant = (self.ratings - flat) * math.log(2 * math.pi)
        return float(-0.5 * (constant + log_det + quadratic))

    def em_step(self, sd: Deviations, prior: MeanPrior) -> Deviations:
        """Standard deviations that maximise the expected log-likelihood: one step of EM."""
        given = self.given(sd, prior)
        mean = given.mean
        second = scipy.linalg.cho_solve((given.factor, True), np.eye(len(mean)))
        second += np.outer(mean, mean)
        # E[square of the residual sums that the few and the mean leave], by pattern
        left = self.square - 2 * self.moment @ mean + np.tensordot(self.gram, second, axes=2)
        shrinkage = sd.shrinkage(self.n)
        variance = shrinkage * sd.residual**2
        many = shrinkage**2 * left[1:] + self.units * variance
        residual = left[0] - 2 * shrinkage @ left[1:] + self.n @ many
        return Deviations(
            many=math.sqrt(many.sum() / self.units.sum()),
            few=math.sqrt(np.trace(second[:-1, :-1]) / self.few),
            residual=math.sqrt(residual / self.ratings),
        )

    def approximate(
        self, share: float, prior: MeanPrior, log_prior: Callable[[Deviations], float]
    ) -> Approximation:
        """Normal approximation of the posterior of the standard deviations, on the log scale."""
        best, path = climb(
            lambda sd: self.em_step(sd, prior),
            lambda sd: self.log_likelihood(sd, prior),
            Deviations(share, share, share),
        )

        def log_posterior(log_sd: Array) -> float:
            sd = Deviations(*np.exp(log_sd))
            return self.log_likelihood(sd, prior) + log_prior(sd) + float(log_sd.sum())

        mode, covariance = curvature(log_posterior, np.log(best))
        spread = np.sqrt(np.diag(covariance))
        # Where little is known the posterior is far from normal: curvature is a poor guide to it,
        # and steps must be smaller.
        step_size, acceptance = (0.9, 0.7) if spread.max() < 0.3 else (None, 0.9)
        where = Deviations(*mode), Deviations(*spread)
        return Approximation(*where, {}, step_size, acceptance, path)


class Conditional(NamedTuple):
    """Normal distribution of the effects of the few and of the means, the last, given the data.

    ``factor`` is the lower Cholesky factor L of the precision, ``whitened`` is L' times the mean.
    """

    factor: Array
    whitened: Array

    @property
    def mean(self) -> Array:
        """Expected effects, and expected means as distances from the centre."""
        return scipy.linalg.solve_triangular(self.factor, self.whitened, lower=True, trans="T")

    def draw(self, means: Array, rng: np.random.Generator) -> Array:
        """Effects drawn given the data and the means, which come back last."""
        noise = rng.standard_normal(len(self.whitened))
        last = slice(-len(means), None)
        noise[last] = self.factor[last, last].T @ means - self.whitened[last]
        return scipy.linalg.solve_triangular(
            self.factor, self.whitened + noise, lower=True, trans="T"
        )
