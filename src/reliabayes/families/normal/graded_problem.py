"""Ratings in ordered categories with the effects of a design: what their posterior depends on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from reliabayes.arrays import Array, Codes
from reliabayes.facets import Effects
from reliabayes.families.normal.dependent_effects import Blocks, blocks_of
from reliabayes.inference.densities import log_half_t
from reliabayes.inference.problem import Problem, StanData
from reliabayes.likelihoods.laplace import AtMode, GradedRatings

MOST_CORE = 60  # effects that are scaled together


@dataclass(frozen=True, eq=False, kw_only=True)
class GradedProblem(Problem):
    """Ratings in ordered categories with the effects that their design has.

    Attributes
    ----------
    effects : Effects
        Sources of variance, the last of them the residual, and the level of each that a rating has.
    rating : array of int, shape (N,)
        Position of the category.
    """

    effects: Effects
    rating: Codes

    @property
    def n_categories(self) -> int:
        """Number K of categories."""
        return self.size("category")

    @cached_property
    def by_category(self) -> Array:
        """Number (K,) of ratings in each category."""
        return np.bincount(self.rating, minlength=self.n_categories).astype(float)

    @cached_property
    def reference(self) -> int:
        """Position of the cut point that divides the ratings most evenly."""
        below = self.by_category.cumsum()[:-1] / self.by_category.sum()
        return int(np.abs(below - 0.5).argmin())

    @cached_property
    def order(self) -> tuple[tuple[int, ...], int]:
        """Sources in the order of the program, and how many of them are the core: the smallest."""
        sizes = self.effects.sizes
        by_size = sorted(range(len(sizes)), key=lambda k: (sizes[k], k))
        n_core = int(np.searchsorted(np.cumsum([sizes[k] for k in by_size]), MOST_CORE, "right"))
        core, others = by_size[:n_core], by_size[n_core:]
        return (*sorted(core), *sorted(others)), n_core

    @cached_property
    def source(self) -> Codes:
        """Source (Q,) of each effect, in the order of the program."""
        order, _ = self.order
        return np.repeat(order, [self.effects.sizes[k] for k in order]).astype(np.int32)

    @cached_property
    def n_core(self) -> int:
        """Number G of effects of the core."""
        order, n_core = self.order
        return sum(self.effects.sizes[k] for k in order[:n_core])

    @cached_property
    def has(self) -> Codes:
        """Effects (N, S) of each rating, in the order of the program."""
        order, _ = self.order
        sizes = np.array([self.effects.sizes[k] for k in order])
        start = np.cumsum(sizes) - sizes
        columns = [first + self.effects.level[k] for first, k in zip(start, order, strict=True)]
        return np.stack(columns, axis=1).astype(np.int32)

    @cached_property
    def blocks(self) -> Blocks:
        """Effects besides the core that depend on each other."""
        order, n_core = self.order
        return blocks_of(self.effects, order[n_core:])

    @cached_property
    def ratings(self) -> GradedRatings:
        """Ratings, with effects that can be integrated out."""
        n, size = self.has.shape
        ones, starts = np.ones(n * size), np.arange(n + 1) * size
        incidence = sp.csr_array((ones, self.has.ravel(), starts), (n, len(self.source)))
        return GradedRatings(self.rating, incidence, "logit")

    def at_mode(self, cut: Array, sd: Array, start: Array | None = None) -> AtMode:
        """Likelihood and mode of standard effects, at cut points (K - 1,) and sds (S,)."""
        first = np.zeros(len(self.source)) if start is None else start
        return self.ratings.at_mode(sd[self.source], cut, first)

    def effects_of(self, mode: AtMode, sd: Array) -> list[Array]:
        """Effects of each source at their mode."""
        effect = sd[self.source] * mode.effect
        return [effect[self.source == k] for k in range(len(self.effects.sizes))]

    def log_prior(self, log_sd: Array) -> float:
        """Log density of log standard deviations (S,), up to a constant."""
        pairs = zip(np.exp(log_sd), self.priors["sd"], strict=True)
        return float(sum(log_half_t(*each) for each in pairs) + log_sd.sum())

    def by_source(self, core: Array, others: Array) -> list[Array]:
        """Effects (..., levels) of each source, of those of the core and the others."""
        every = np.concatenate([core[..., : self.n_core], others], axis=-1)
        return [every[..., self.source == k] for k in range(len(self.effects.sizes))]

    def stan_data(self) -> StanData:
        """Effects, categories and priors."""
        own = StanData(
            sizes={
                "N": len(self.rating),
                "K": self.n_categories,
                "S": len(self.effects.sizes),
                "G": self.n_core,
                "L": len(self.source) - self.n_core,
            },
            positions={
                "source": self.source,
                "has": self.has.ravel(),
                "rating": self.rating,
                "reference": np.array(self.reference),
            },
        )
        return self.prior_data | own
