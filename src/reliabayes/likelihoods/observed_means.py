"""Means of ordered ratings over levels of facets, as numbers 0, 1, ... of their categories.

Two ratings of an object have in common what comes from the object and from the facets of which they
share the level. Given how much of the latent score's variance that is, the covariance of the
ratings follows, and a mean's variance is the mean covariance of all its pairs of ratings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from reliabayes.arrays import Array
from reliabayes.facets import Decision
from reliabayes.likelihoods.ordinal import RESIDUAL, Observed

REPLICATE = "replicate"


@dataclass(frozen=True)
class ObservedMeans:
    """Means of ratings of an object, by draw (...).

    Attributes
    ----------
    decision : Decision
        The design, with the variances (..., K) of the latent score, the residual's last.
    covariance : mapping of frozenset of str to array
        Covariance (...) of two ratings of an object, by the facets of which they share the level;
        of all facets, the variance of a rating.
    difference : array
        Expected absolute difference (...) of two ratings of an object under other levels of all
        random facets.
    """

    decision: Decision
    covariance: Mapping[frozenset[str], Array]
    difference: Array

    @classmethod
    def of(cls, decision: Decision, cut: Array) -> ObservedMeans:
        """Given a decision on the latent score, and cut points (..., K - 1)."""
        every = frozenset(_free(decision))
        total = _common(decision, every)
        by_facets: dict[frozenset[str], Array] = {}
        for shared in _patterns(decision):
            common = _common(decision, shared)
            at = _observed(common, total, cut)
            by_facets[shared] = at.icc * at.variance
            by_facets[every] = at.variance  # the same for all
        universe = _common(decision, decision.fixed)
        difference = np.zeros(np.shape(universe))
        for k in range(cut.shape[-1]):
            one = _observed(universe, total, cut[..., k : k + 1])
            difference += 2 * one.variance * (1 - one.icc)
        return cls(decision, by_facets, difference)

    def phi(self, levels: Mapping[str, Any]) -> Array:
        """Reliability (...) of means under so many levels, for absolute decisions.

        Parameters
        ----------
        levels : mapping of str to int or array
            As of `Decision`.

        Returns
        -------
        array
            Proportion of the variance of means that comes from the object.
        """
        numbers = replace(self.decision, levels=levels).levels  # checked
        total, signal = np.asarray(0.0), np.asarray(0.0)
        for shared, covariance in self.covariance.items():
            total = total + self._share(shared, numbers) * covariance
            if shared <= self.decision.fixed:
                fixed = self._share(shared, {**numbers, **dict.fromkeys(self._random, np.inf)})
                signal = signal + fixed * covariance
        return np.asarray(signal / total)

    @property
    def _random(self) -> frozenset[str]:
        return frozenset(_free(self.decision)) - self.decision.fixed

    def _share(self, shared: frozenset[str], levels: Mapping[str, Any]) -> Array:
        """Proportion of pairs of ratings in a mean that share the level of these facets only."""
        found = np.asarray(1.0)
        for name in _free(self.decision):
            if _outer(self.decision, name) <= shared:  # else they cannot share it
                same = 1 / np.asarray(levels.get(name, 1))
                found = found * (same if name in shared else 1 - same)
        return found


def _patterns(decision: Decision) -> Iterator[frozenset[str]]:
    """Facets whose levels two different ratings can share."""
    free = _free(decision)
    for size in range(len(free)):
        for shared in map(frozenset, combinations(free, size)):
            if all(_outer(decision, name) <= shared for name in shared):
                yield shared


def _free(decision: Decision) -> list[str]:
    """Facets other than the object of measurement; replicates where the residual is of one."""
    has_replicates = REPLICATE in decision.sources[-1].facets
    names = [*decision.design.facets, *[REPLICATE] * has_replicates]
    return [name for name in names if name not in decision.design.measured]


def _outer(decision: Decision, name: str) -> frozenset[str]:
    """Other facets whose level two ratings share if they share that of this one."""
    if name == REPLICATE:
        return decision.design.whole - decision.design.measured
    return decision.design.nested[name] - decision.design.measured


def _common(decision: Decision, shared: frozenset[str]) -> Array:
    """Variance (...) of what two ratings have in common that share the level of these facets."""
    found = np.zeros(np.shape(decision.variance)[:-1])
    measured = decision.design.measured
    for k, source in enumerate(decision.sources):
        others = source.facets - measured
        is_constant = not source.facets & measured and others <= decision.fixed
        if others <= shared and not is_constant:
            found += decision.variance[..., k]
    return found


def _observed(common: Array, total: Array, cut: Array) -> Observed:
    others = np.maximum(total - common - RESIDUAL["logit"], 0)
    return Observed.of(np.sqrt(common), np.sqrt(others), cut, "logit")
