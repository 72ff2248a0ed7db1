"""Gibbs sampling of crossed normal effects, whose sweep is one pass over the ratings.

Effects of rows are drawn given levels of columns. All else is drawn given the sums that the pass
leaves: the standard deviation of rows, in two parametrisations in turn (Yu & Meng 2011,
https://doi.org/10.1198/jcgs.2011.203main); the mean and the other standard deviations with the
levels integrated out, as in Papaspiliopoulos, Roberts & Zanella (2020,
https://doi.org/10.1093/biomet/asz058); then levels. A shift of all effects of rows together with
the mean stands in for integrating them out, which would take a second pass.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reliabayes.arrays import Array
from reliabayes.errors import SamplingError
from reliabayes.inference.crossed_effects import CrossedEffects, Groups, RowState, RowTotals
from reliabayes.inference.slice_sampling import slice_sampled
from reliabayes.inference.stan import Draws
from reliabayes.inference.time_limit import TOO_LONG, seconds_left
from reliabayes.progress import progress_bar

MOST_LEVELS = 40_000_000  # of the columns that draws have: 320 MB
REPEATS = 2  # draws of both standard deviations, each given the other
NEAR = 0.01  # of the smallest sd of a level: the distance at which two are as good as equal
MOST_PASSES = 1_000


def sample(
    posterior: CrossedEffects,
    *,
    chains: int,
    warmup: int,
    draws: int,
    seed: int,
    inits: Sequence[Mapping[str, Any]],
    parallel_chains: int | None = None,
    progress: bool | None = None,
    timeout: float | None = None,
) -> Draws:
    """Draws from a posterior of crossed effects, all chains in the same passes over the ratings.

    Parameters
    ----------
    posterior : CrossedEffects
        The posterior.
    chains, warmup, draws : int
        Markov chains, and the sweeps of each, discarded and kept.
    seed : int
        Seed of all chains.
    inits : sequence of mapping of str to Any
        Starting values of the standard deviations, of each chain.
    parallel_chains : int, optional
        Threads at most; by default as many as there are processors.
    progress : bool, optional
        Show a progress bar; by default in terminals and notebooks.
    timeout : float, optional
        Seconds that all chains together may take.

    Returns
    -------
    Draws
        The standard deviations by name and ``mean``; ``level`` (chains, draws, J), relative to the
        centre, unless these are more than 40 million numbers; and the statistic ``lp``.

    Raises
    ------
    SamplingError
        The chains took longer than ``timeout``.
    """
    sds = np.array([[float(init[name]) for name in posterior.names] for init in inits]).T
    run = _Run(posterior, sds, seed, parallel_chains or os.cpu_count() or 1)
    kept = np.empty((5, chains, draws))
    keeps_levels = chains * draws * len(posterior.per_column) <= MOST_LEVELS
    level = np.empty((chains, draws, len(posterior.per_column))) if keeps_levels else None
    total, until = warmup + draws, time.monotonic() + seconds_left(timeout)
    with progress_bar("Gibbs sampling", total, lambda: run.sweeps, progress) as watch:
        for sweep in range(total):
            if time.monotonic() > until:
                raise SamplingError(TOO_LONG)
            run.sweep()
            watch()
            if (at := sweep - warmup) >= 0:
                kept[:, :, at] = [*run.sds, posterior.center + run.mean, run.log_density]
                if level is not None:
                    level[:, at] = run.level.T
    parameters = dict(zip((*posterior.names, "mean"), kept, strict=False))
    if level is not None:
        parameters["level"] = level
    return Draws(parameters, {"lp": kept[-1]})


def levels_given(posterior: CrossedEffects, sds: Array, mean: Array, seed: int) -> Array:
    """Levels (J, S) of columns, relative to the centre, each drawn given parameters of a posterior.

    Effects of rows and levels are drawn in turn, at the same parameters, twice: from levels of 0
    and from higher ones, with the same random numbers. Where both are as good as equal, they no
    longer depend on where they began.

    Parameters
    ----------
    posterior : CrossedEffects
        The posterior.
    sds : array of shape (3, S)
        Standard deviations of rows, columns and residuals at each draw.
    mean : array of shape (S,)
        The mean at each draw.
    seed : int
        Seed of these levels.

    Returns
    -------
    array of shape (J, S)
    """
    run = _Run(posterior, sds, seed, os.cpu_count() or 1)
    run.mean = mean - posterior.center
    twin = _Run(posterior, sds, seed, os.cpu_count() or 1)
    twin.mean = run.mean
    twin.level = run.level + 2 * sds[1]
    smallest = np.sqrt(1 / (posterior.per_column.max() / sds[2] ** 2 + sds[1] ** -2))
    for _ in range(MOST_PASSES):
        run.draw_effects()
        twin.draw_effects()
        if (np.abs(run.level - twin.level).max(axis=0) < NEAR * smallest).all():
            break
    return run.level


class _Run:
    """All chains over one posterior, side by side in arrays."""

    def __init__(self, posterior: CrossedEffects, sds: Array, seed: int, at_once: int) -> None:
        self.posterior, self.at_once, self.seed = posterior, at_once, seed
        chains = sds.shape[1]
        self.rng = np.random.default_rng([seed, 1])
        self.rngs = [np.random.default_rng([seed, 2, chain]) for chain in range(chains)]
        self.sds = sds.copy()
        self.mean = np.zeros(chains)
        self.level = np.zeros((len(posterior.per_column), chains))
        self.log_density = np.zeros(chains)
        self.sweeps = 0

    def sweep(self) -> None:
        """Draw effects of rows, then everything else given their sums."""
        own, found = self.posterior, self._rows()
        lines = np.einsum("jc,jc->c", self.level, found.crossed)
        scale, shift = np.empty_like(lines), np.empty_like(lines)
        sums = found.sums.T.copy()
        crossed = found.crossed
        of_ratings = crossed.sum(axis=0)
        for chain, rng in enumerate(self.rngs):
            moved = self._move_rows(chain, sums[:, chain], lines[chain], rng)
            scale[chain], shift[chain] = moved
        total, square, weighted, with_total = sums
        # Effects e become scale * e - shift.
        weighted = scale**2 * weighted - 2 * scale * shift * of_ratings + shift**2 * own.n_ratings
        with_total = scale * with_total - shift * own.column_total.sum()
        square = scale**2 * square - 2 * scale * shift * total + own.n_rows * shift**2
        residual_square = own.square - 2 * with_total + weighted
        crossed *= scale
        crossed -= own.per_column[:, None] * shift
        self._draw_columns(self._column_mean(crossed), residual_square, square)

    def draw_effects(self) -> None:
        """Draw effects of rows and levels of columns, at the same parameters."""
        self._draw_levels(self._column_mean(self._rows().crossed))

    def _column_mean(self, crossed: Array) -> Array:
        """Mean (J, C) of what effects of rows leave of the ratings of each column."""
        own = self.posterior
        return np.asarray((own.column_total[:, None] - crossed) / own.per_column[:, None])

    def _rows(self) -> RowTotals:
        self.sweeps += 1
        state = RowState(self.seed, self.sweeps, self.sds[0], self.sds[2], self.level)
        return self.posterior.rows.draw(state, self.at_once)

    def _move_rows(
        self, chain: int, sums: Array, line: float, rng: np.random.Generator
    ) -> tuple[float, float]:
        """Sd of rows given their effects, both together, and the effects together with the mean."""
        own, n_rows = self.posterior, self.posterior.n_rows
        total, square, weighted, with_total = map(float, sums)
        log_sd = math.log(self.sds[0, chain])

        def of_effects(x: float) -> float:
            return own.log_prior(0, x) - n_rows * x - square * math.exp(-2 * x) / 2

        log_sd = slice_sampled(log_sd, 3 / math.sqrt(2 * n_rows), rng, of_effects)
        noise = float(self.sds[2, chain]) ** 2
        linear, bend = (with_total - line) / noise, weighted / noise

        def of_scale(x: float) -> float:
            scale = math.exp(x)
            return own.log_prior(0, log_sd + x) + scale * linear - scale**2 * bend / 2

        step = slice_sampled(0.0, min(1.0, 3 / math.sqrt(max(bend, 1e-300))), rng, of_scale)
        scale = math.exp(step)
        log_sd += step
        offset, precision = own.mean_prior
        each = math.exp(-2 * log_sd)
        stiffness = precision + n_rows * each
        centre = (precision * (offset - self.mean[chain]) + scale * total * each) / stiffness
        self.sds[0, chain] = math.exp(log_sd)
        return scale, centre + rng.standard_normal() / math.sqrt(stiffness)

    def _draw_columns(self, column_mean: Array, residual_square: Array, square: Array) -> None:
        """Sds of columns and residuals and the mean, with levels integrated out; then levels."""
        own, groups = self.posterior, self.posterior.groups
        first = groups.member @ column_mean
        second = groups.member @ np.square(column_mean)
        within = np.maximum(residual_square - groups.n @ second, 0.0)
        degrees = own.n_ratings - len(own.per_column)
        for chain, rng in enumerate(self.rngs):
            of_columns = _OfColumns(
                groups, first[:, chain], second[:, chain], within[chain], degrees, own
            )
            column, residual = np.log(self.sds[1:, chain]).tolist()
            ratio = math.exp(2 * (residual - column)) * len(own.per_column) / own.n_ratings
            width = min(2.0, 3 * (1 + ratio) / math.sqrt(2 * len(own.per_column)))
            for _ in range(REPEATS):
                residual = slice_sampled(
                    residual,
                    3 / math.sqrt(2 * max(degrees, own.n_ratings / 10)),
                    rng,
                    lambda x: of_columns(column, x),  # noqa: B023
                )
                column = slice_sampled(column, width, rng, lambda x: of_columns(x, residual))  # noqa: B023
            self.sds[1:, chain] = math.exp(column), math.exp(residual)
            stiffness, score = of_columns.mean(column, residual)
            self.mean[chain] = score / stiffness + rng.standard_normal() / math.sqrt(stiffness)
            log_sd = math.log(self.sds[0, chain])
            self.log_density[chain] = (
                of_columns(column, residual)
                - own.n_rows * log_sd
                - square[chain] * math.exp(-2 * log_sd) / 2
                + own.log_prior(0, log_sd)
            )
        self._draw_levels(column_mean)

    def _draw_levels(self, column_mean: Array) -> None:
        """Levels of columns given the mean of what is left of their ratings."""
        weight = self.posterior.per_column[:, None] / self.sds[2] ** 2
        prior = self.sds[1] ** -2
        precision = weight + prior
        level = self.rng.standard_normal(column_mean.shape)
        level /= np.sqrt(precision)
        weight *= column_mean
        weight += self.mean * prior
        weight /= precision
        level += weight
        self.level = level


@dataclass(frozen=True, eq=False)
class _OfColumns:
    """Log density of both log sds, given sums over columns (D,) of what is left of ratings."""

    groups: Groups
    first: Array
    second: Array
    within: float
    degrees: float
    own: CrossedEffects

    def __call__(self, column: float, residual: float) -> float:
        weight = self._weight(column, residual)
        offset, precision = self.own.mean_prior
        stiffness, score = self._of_mean(weight)
        squares = float(self.second @ weight) + precision * offset**2 - score**2 / stiffness
        return (
            -self.degrees * residual
            - self.within / (2 * math.exp(2 * residual))
            + 0.5 * float(self.groups.size @ np.log(weight))
            - 0.5 * (math.log(stiffness) + squares)
            + self.own.log_prior(1, column)
            + self.own.log_prior(2, residual)
        )

    def mean(self, column: float, residual: float) -> tuple[float, float]:
        """Precision of the mean, and that times its mean."""
        return self._of_mean(self._weight(column, residual))

    def _weight(self, column: float, residual: float) -> Array:
        """Precision (D,) of the mean of the ratings of a column."""
        return np.asarray(1 / (math.exp(2 * column) + math.exp(2 * residual) / self.groups.n))

    def _of_mean(self, weight: Array) -> tuple[float, float]:
        offset, precision = self.own.mean_prior
        return (
            float(self.groups.size @ weight) + precision,
            float(self.first @ weight) + precision * offset,
        )
