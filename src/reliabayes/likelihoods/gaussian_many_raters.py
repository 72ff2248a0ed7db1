"""Gaussian ratings where items and raters both are many: one pass over the ratings a step.

The counterpart of `CrossedSums` where the effects of the few are too many to be summed out
together. They are sampled by Stan, and approximated here as if independent (mean field).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from reliabayes.arrays import Array
from reliabayes.inference.warm_start import climb
from reliabayes.likelihoods.gaussian_one_pool import (
    Approximation,
    CrossedDesign,
    Deviations,
    MeanPrior,
)


class MeanField(NamedTuple):
    """Independent normal approximation of all effects, around a mean.

    ``many`` and ``few`` are expected effects, ``many_variance`` and ``few_variance`` their
    variances.
    """

    sd: Deviations
    mean: float
    many: Array
    many_variance: Array
    few: Array
    few_variance: Array


@dataclass(frozen=True, eq=False)
class CrowdSums:
    """A design, with the sums by pattern that scale and centre the effects of the few.

    Attributes
    ----------
    design : who rated what
    gram : (D + 1, F) ratings of each of the few, then their squares summed over units by pattern
    moment : (D + 1, F) sums of ratings of each of the few, then as in `CrossedSums`
    """

    design: CrossedDesign
    gram: Array
    moment: Array

    @classmethod
    def of(cls, design: CrossedDesign) -> CrowdSums:
        """Sums of a data set."""
        _, pattern, _ = design.patterns
        member = sp.csr_array((np.ones(len(pattern)), (pattern, np.arange(len(pattern)))))
        shared = (member @ design.counts.power(2)).toarray()
        sums = (member @ sp.diags_array(design.total) @ design.counts).toarray()
        return cls(
            design,
            gram=np.vstack([design.per_few, shared]),
            moment=np.vstack([design.few_total, sums]),
        )

    def to_stan(self) -> dict[str, Any]:
        """Data of ``gaussian_icc_crowd.stan``, whose indices start at 1."""
        n, pattern, units = self.design.patterns
        counts = self.design.counts
        square = np.bincount(pattern, self.design.total**2)
        return {
            "N": int(n @ units),
            "F": counts.shape[1],
            "M": counts.shape[0],
            "D": len(n),
            "C": counts.nnz,
            "n": n,
            "units": units,
            "pattern": pattern + 1,
            "total": self.design.total,
            "first": counts.indptr + 1,
            "few": counts.indices + 1,
            "count": counts.data,
            "gram": self.gram.T,
            "moment": self.moment.T,
            "square": np.append(self.design.square, square),
        }

    @classmethod
    def from_stan(cls, data: Mapping[str, Any]) -> CrowdSums:
        """The sums that `to_stan` packed."""
        counts = sp.csr_array((data["count"], data["few"] - 1, data["first"] - 1))
        design = CrossedDesign(
            counts, data["total"], data["moment"][:, 0], float(data["square"][0])
        )
        return cls(design, data["gram"].T, data["moment"].T)

    def approximate(
        self, share: float, prior: MeanPrior, log_prior: Callable[[Deviations], float]
    ) -> Approximation:
        """Where mean-field EM leads, and the spread of standard deviations known from counts.

        With so many ratings the prior of the standard deviations hardly matters and is left out.
        """
        units, few = self.design.counts.shape
        ratings = float(self.design.n.sum())
        start = self.em_step(self.start(share))
        at, path = climb(self.em_step, self.bound, start, tolerance=1e-6 * ratings)
        noise = at.sd.residual**2
        many_noise, few_noise = np.mean(noise / self.design.n), np.mean(noise / self.design.per_few)
        # Smaller ones cannot be told from 0; EM may lead there, but no chain must start there.
        sd = Deviations(
            many=max(at.sd.many, math.sqrt(many_noise * math.sqrt(2 / units))),
            few=max(at.sd.few, math.sqrt(few_noise * math.sqrt(2 / few))),
            residual=at.sd.residual,
        )
        left = max(ratings - units - few, units / 10)
        spread = Deviations(
            many=(1 + many_noise / sd.many**2) / math.sqrt(2 * units),
            few=(1 + few_noise / sd.few**2) / math.sqrt(2 * few),
            residual=1 / math.sqrt(2 * left),
        )
        score = self.scores(at.few + at.mean, sd, prior)
        return Approximation(Deviations(*np.log(sd)), spread, {"score": score}, 0.3, 0.8, path)

    def start(self, share: float) -> MeanField:
        """No effects, and one standard deviation for all three sources."""
        many, few = map(np.zeros, self.design.counts.shape)
        return MeanField(Deviations(share, share, share), 0.0, many, many, few, few)

    def em_step(self, at: MeanField) -> MeanField:
        """Effects given the rest in turn, then the standard deviations: one step of EM."""
        counts, n, per_few = self.design.counts, self.design.n, self.design.per_few
        noise = at.sd.residual**2
        many_variance = 1 / (n / noise + at.sd.many**-2)
        many = many_variance * (self.design.total - counts @ at.few - n * at.mean) / noise
        few_variance = 1 / (per_few / noise + at.sd.few**-2)
        few = few_variance * (self.design.few_total - counts.T @ many - per_few * at.mean) / noise
        mean = (self.design.total.sum() - n @ many - per_few @ few) / n.sum()
        there = MeanField(at.sd, mean, many, many_variance, few, few_variance)
        sd = Deviations(
            many=math.sqrt(np.mean(many**2 + many_variance)),
            few=math.sqrt(np.mean(few**2 + few_variance)),
            residual=math.sqrt(self._left(there) / n.sum()),
        )
        return there._replace(sd=sd)

    def bound(self, at: MeanField) -> float:
        """Lower bound of the log-likelihood, but for a constant, that EM climbs."""
        margins = (
            (at.sd.many, at.many, at.many_variance),
            (at.sd.few, at.few, at.few_variance),
        )
        ratings = self.design.n.sum()
        bound = -ratings * math.log(at.sd.residual) - self._left(at) / (2 * at.sd.residual**2)
        for sd, effect, variance in margins:
            ratio = (effect**2 + variance) / sd**2
            bound += 0.5 * float(np.sum(np.log(variance / sd**2) - ratio))
        return float(bound)

    def _left(self, at: MeanField) -> float:
        """Expected sum of squared residuals."""
        n, per_few = self.design.n, self.design.per_few
        linear = at.many @ self.design.total + at.few @ self.design.few_total
        squares = n @ (at.many**2 + at.many_variance) + per_few @ (at.few**2 + at.few_variance)
        crossed = at.many @ (self.design.counts @ at.few)
        mean = n.sum() * at.mean**2 + 2 * at.mean * (n @ at.many + per_few @ at.few)
        mean -= 2 * at.mean * self.design.total.sum()
        return float(self.design.square - 2 * linear + squares + 2 * crossed + mean)

    def levels(self, score: Array, sd: Deviations, prior: MeanPrior) -> Array:
        """(..., F) levels of the few, each mean plus effect, from their (..., F) scores."""
        held, pull = self._held_and_pull(sd)
        root = np.sqrt(held)
        common = (root * score).sum(axis=-1, keepdims=True) / held.sum(axis=-1, keepdims=True)
        stretch = 1 / np.sqrt(self._stiffness(sd, prior, held)) - 1
        return np.asarray(pull / held + score / root + stretch * common)

    def scores(self, level: Array, sd: Deviations, prior: MeanPrior) -> Array:
        """(..., F) scores of (..., F) levels: the inverse of `levels`."""
        held, pull = self._held_and_pull(sd)
        root = np.sqrt(held)
        alone = root * (level - pull / held)
        common = (root * alone).sum(axis=-1, keepdims=True) / held.sum(axis=-1, keepdims=True)
        stretch = np.sqrt(self._stiffness(sd, prior, held)) - 1
        return np.asarray(alone + stretch * common * root)

    def _stiffness(self, sd: Deviations, prior: MeanPrior, held: Array) -> Array:
        """(..., 1) precision of a shift of all levels at once, over that of independent levels."""
        n, _, units = self.design.patterns
        few = held.shape[-1]
        shared = sd.weights(n) @ np.append(n @ units, n**2 * units)
        own = few * prior.precision / (few + prior.precision * np.square(sd.few))
        ratio: Array = np.asarray(shared + own)[..., None] / held.sum(axis=-1, keepdims=True)
        return ratio

    def _held_and_pull(self, sd: Deviations) -> tuple[Array, Array]:
        """(..., F) precision of each level with the others held at 0, and that times its mean."""
        weights = sd.weights(self.design.patterns[0])
        return weights @ self.gram + np.square(sd.few)[..., None] ** -1, weights @ self.moment
