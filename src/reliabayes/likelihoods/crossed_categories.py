"""Ratings in ordered categories with effects of items and of raters, all at once: their mode.

Where items and raters are many, and have many ratings each, all their effects are nearly normal
given the standard deviations, and a mode is found without integrating any of them out.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from scipy.special import expit

from reliabayes.arrays import Array, Codes
from reliabayes.inference.newton import Newton
from reliabayes.inference.time_limit import check_time
from reliabayes.likelihoods.ordinal import Link, between, normal_density

# Sweeps, the last change of logs of sds and of cut points, and the longest move of an effect.
NEWTON = Newton(60, 2e-3, 1.0)
SHRINKAGE_STEPS = 50  # of the fixed point of a standard deviation
LEAST_INFORMATION, LEAST_SD = 1e-3, 0.05  # of an effect, and of all
WEAK_PRECISION = 1 / 25  # of cut points
MOST_SHRINKAGE = 0.8  # of distances between cut points, in a step


class Rated(NamedTuple):
    """Derivatives of the log-probabilities of ratings.

    Attributes
    ----------
    upper, lower : array of shape (N,)
        By the cut point above the category, and by that below it times -1.
    of_upper, of_lower : array of shape (N,)
        Second derivatives by the same cut points, times -1.
    """

    upper: Array
    lower: Array
    of_upper: Array
    of_lower: Array

    @property
    def slope(self) -> Array:
        """Derivatives (N,) by the location."""
        return np.asarray(self.lower - self.upper)

    @property
    def between(self) -> Array:
        """Derivatives (N,) by both cut points, times -1."""
        return np.asarray(-self.upper * self.lower)

    @property
    def information(self) -> Array:
        """Second derivatives (N,) by the location, times -1."""
        return np.asarray(self.of_upper + self.of_lower + 2 * self.between)


class Effects(NamedTuple):
    """Effects of items or of raters: what their ratings say, and what they are at the mode.

    Attributes
    ----------
    effect, information : array of shape (n,)
        Effects at the mode, around 0, and the information of their own ratings on them.
    sd : float
        Standard deviation of the effects.
    """

    effect: Array
    information: Array
    sd: float

    @property
    def unshrunk(self) -> Array:
        """Effects (n,) by their own ratings alone."""
        return np.asarray(self.effect * (1 + 1 / (self.information * self.sd**2)))

    def moved(self, slope: Array, information: Array) -> Effects:
        """A Newton step, given derivatives of the log-likelihood, and the sd that then fits."""
        information = information + LEAST_INFORMATION
        step = (slope - self.effect / self.sd**2) / (information + self.sd**-2)
        effect = self.effect + np.clip(step, -NEWTON.longest, NEWTON.longest)
        moment, sd = effect * (information + self.sd**-2), self.sd
        for _ in range(SHRINKAGE_STEPS):
            variance = 1 / (information + sd**-2)
            sd = max(math.sqrt(np.mean((moment * variance) ** 2 + variance)), LEAST_SD)
        return Effects(moment / (information + sd**-2), information, sd)

    def centred(self, cut: Array) -> tuple[Effects, Array]:
        """Effects around 0, and the cut points that go with them."""
        mean = self.effect.mean()
        return self._replace(effect=self.effect - mean), cut - mean


class Mode(NamedTuple):
    """Where effects, cut points and standard deviations are most probable together."""

    items: Effects
    raters: Effects
    cut: Array


class CrossedCategories(NamedTuple):
    """Ratings in ordered categories by item and rater.

    Attributes
    ----------
    item, rater, category : array of int, shape (N,)
        Of distinct ratings.
    number : array of shape (N,)
        How often each of them occurs.
    n_items, n_raters : int
        How many there are.
    link : {"logit", "probit"}
        Distribution of the residuals.
    """

    item: Codes
    rater: Codes
    category: Codes
    number: Array
    n_items: int
    n_raters: int
    link: Link

    @classmethod
    def of(cls, counts: sp.csr_array, n_raters: int, link: Link) -> Self:
        """Ratings by item and cell (I, V), cells category by category."""
        item = np.repeat(np.arange(counts.shape[0], dtype=np.int32), np.diff(counts.indptr))
        category, rater = np.divmod(counts.indices, np.int32(n_raters))
        return cls(item, rater, category, counts.data, counts.shape[0], n_raters, link)

    def mode(self, cut: Array, sd_item: float, sd_rater: float) -> Mode:
        """Mode of effects and cut points, with sds that fit them and their posterior variances.

        All effects of a kind take a Newton step at once, then those of the other kind, then the cut
        points (K - 1,), which start from those given, as sds do. At the joint mode of effects and
        sds there would be no differences at all.
        """
        items = Effects(np.zeros(self.n_items), np.zeros(self.n_items), sd_item)
        raters = Effects(np.zeros(self.n_raters), np.zeros(self.n_raters), sd_rater)
        for _ in range(NEWTON.steps):
            check_time()
            before = np.array([items.sd, raters.sd]), cut
            rated = self.rated(self.location(items, raters), cut)
            raters, cut = raters.moved(*self._sums(self.rater, rated)).centred(cut)
            rated = self.rated(self.location(items, raters), cut)
            items, cut = items.moved(*self._sums(self.item, rated)).centred(cut)
            cut = cut + self._step(cut, self.rated(self.location(items, raters), cut))
            of_sds = np.abs(np.log(np.array([items.sd, raters.sd]) / before[0])).max()
            if max(of_sds, np.abs(cut - before[1]).max()) < NEWTON.last:
                break
        return Mode(items, raters, cut)

    def location(self, items: Effects, raters: Effects) -> Array:
        """Effects (N,) that each rating has."""
        return np.asarray(items.effect[self.item] + raters.effect[self.rater])

    def rated(self, location: Array, cut: Array) -> Rated:
        """Ratings at locations (N,) and cut points (K - 1,)."""
        ends = np.concatenate([[-np.inf], cut, [np.inf]])
        lower, upper = (location - ends[self.category + side] for side in (0, 1))
        return rated(lower, upper, between(lower, upper, self.link), self.link)

    def _sums(self, unit: Codes, rated: Rated) -> tuple[Array, Array]:
        """Sums over the ratings of each item or rater: derivatives, and information."""
        size = self.n_items if unit is self.item else self.n_raters
        return self._sum(unit, rated.slope, size), self._sum(unit, rated.information, size)

    def _sum(self, unit: Codes, values: Array, size: int) -> Array:
        return np.asarray(np.bincount(unit, self.number * values, size), float)

    def _step(self, cut: Array, rated: Rated) -> Array:
        """Newton step (K - 1,) of the cut points; their distances shrink to a fifth at most.

        To the mode of logs of distances, where one that has no ratings to hold it open still is.
        """

        def sums(values: Array) -> Array:
            return self._sum(self.category, values, len(cut) + 1)

        apart = np.diff(cut)
        slope = sums(rated.upper)[:-1] - sums(rated.lower)[1:] - WEAK_PRECISION * cut
        slope -= np.diff(1 / apart, prepend=0, append=0)
        diagonal = sums(rated.of_upper)[:-1] + sums(rated.of_lower)[1:] + WEAK_PRECISION
        diagonal += np.append(apart**-2, 0) + np.append(0, apart**-2)
        between = sums(rated.between)[1:-1] - apart**-2
        information = np.diag(diagonal) + np.diag(between, 1) + np.diag(between, -1)
        step = np.linalg.solve(information, slope)
        shrinkage = np.max(-np.diff(step) / apart, initial=0.0)
        return np.asarray(step / max(1.0, shrinkage / MOST_SHRINKAGE))


def rated(lower: Array, upper: Array, probability: Array, link: Link) -> Rated:
    """Ratings whose locations are above the lower cut points by so much, and above the upper.

    Their probabilities are those `between` these cut points.
    """
    of_lower, of_upper = (_density(x, link) / probability for x in (lower, upper))
    finite = (np.where(np.isfinite(x), x, 0) for x in (lower, upper))
    # Derivatives of log densities.
    bends = [-np.tanh(x / 2) if link == "logit" else -x for x in finite]
    return Rated(
        of_upper, of_lower, of_upper * (of_upper + bends[1]), of_lower * (of_lower - bends[0])
    )


def _density(x: Array, link: Link) -> Array:
    if link == "logit":
        return np.asarray(expit(x) * expit(-x))
    return normal_density(x)
