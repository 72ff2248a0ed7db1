"""Models whose parameters are all probabilities, so that expected ratings count for them."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from scipy.special import xlogy

from reliabayes.arrays import Array
from reliabayes.inference.em import Point
from reliabayes.inference.parameters import Parameter
from reliabayes.models.bases.annotation import AnnotationModel
from reliabayes.models.bases.hidden_state import Data


class CountingModel(AnnotationModel):
    """A model whose parameters are all probabilities, so that expected ratings count for them."""

    @abstractmethod
    def pseudo_counts(self, point: Point, expected: Array, items: Array, data: Data) -> Point:
        """Parameters of the Beta (..., 2) and Dirichlet (..., K) posteriors given expected ratings.

        Priors count as they do on Stan's unconstrained scale, where the mode of a Dirichlet is its
        mean; so there always is one, inside.
        """

    def maximise(self, point: Point, expected: Array, items: Array, data: Data) -> Point:
        """Shares of the pseudo-counts; equal ones of what nothing counts for."""
        counts = self.pseudo_counts(point, expected, items, data)
        return {p.name: _shares(p, counts[p.name]) for p in self.parameters()}

    def spread(self, point: Point, expected: Array, items: Array, data: Data) -> Point:
        """Those of the posteriors if the expected ratings were observed."""
        counts = self.pseudo_counts(point, expected, items, data)
        return {p.name: p.spread(counts[p.name]) for p in self.parameters()}

    def log_prior(self, point: Point, data: Data) -> float:
        """Prior counts times log-probabilities."""
        counts = self._prior_counts(point, data)
        return sum(
            float(xlogy(counts[p.name], _outcomes(p, point[p.name])).sum())
            for p in self.parameters()
        )

    def draw_point(self, data: Data, rng: np.random.Generator, given: Point) -> dict[str, Array]:
        """Parameters drawn from their priors."""
        counts = self._prior_counts(self.middle(data), data)
        gammas = {name: rng.standard_gamma(np.maximum(x, 1e-300)) for name, x in counts.items()}
        return {p.name: _shares(p, gammas[p.name]) for p in self.parameters()}

    def _prior_counts(self, point: Point, data: Data) -> Point:
        nothing = np.zeros((data["K"], data["V"]))
        return self.pseudo_counts(point, nothing, nothing[:, 0], data)


def _shares(parameter: Parameter, counts: Array) -> Array:
    total = counts.sum(axis=-1, keepdims=True)
    equal = np.full_like(counts, 1 / counts.shape[-1])
    shares = np.divide(counts, total, out=equal, where=total > 0)
    return np.asarray(shares if parameter.support == "simplex" else shares[..., 0])


def _outcomes(parameter: Parameter, value: Array) -> Array:
    """Probabilities of all outcomes, along the last axis."""
    return value if parameter.support == "simplex" else np.stack([value, 1 - value], axis=-1)
