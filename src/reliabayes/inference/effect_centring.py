"""Centring of sampled effects: the program samples them relative to an approximate posterior."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from reliabayes.arrays import Array, Codes
from reliabayes.inference.problem import StanData

AT_ONCE = 20_000  # blocks of draws whose effects are computed together


@dataclass(frozen=True, eq=False)
class EffectCentring:
    """Normal approximation of the likelihood of effects and a location.

    The core are the effects of sources with few levels and the location, which comes last: they
    depend on each other. Other effects depend on the core, and on those of their block.

    Attributes
    ----------
    core_information : array of shape (G + 1, G + 1)
        Information of the ratings on the core, with other effects integrated out.
    core_moment : array of shape (G + 1,)
        Information times mean.
    core_mean : array of shape (G + 1,)
        The core at the mode of the posterior.
    own_order : array of int, shape (L,)
        Other effects in the order in which they are eliminated, those of a block side by side.
    own_first : array of int, shape (L,)
        Place, in this order, of the first effect that each shares information with.
    own_information : array of shape (E,)
        Information on the other effects, given the core at its mode: of each the entries from that
        place to its own.
    own_moment : array of shape (L,)
        Information times mean.
    shared, shared_column, shared_start : array of shapes (F,), (F,) and (L + 1,)
        Information that other effects share with the core, as a sparse matrix by rows.
    """

    positions: ClassVar[tuple[str, ...]] = (
        "own_order", "own_first", "shared_column", "shared_start",
    )  # fmt: skip

    core_information: Array
    core_moment: Array
    core_mean: Array
    own_order: Codes
    own_first: Codes
    own_information: Array
    own_moment: Array
    shared: Array
    shared_column: Codes
    shared_start: Codes

    def stan_data(self) -> StanData:
        """Data for the Stan program."""
        fields = self.__dataclass_fields__
        return StanData(
            sizes={"F": len(self.shared), "E": len(self.own_information)},
            positions={name: getattr(self, name) for name in self.positions},
            values={name: getattr(self, name) for name in fields if name not in self.positions},
        )

    def core(self, score: Array, sd: Array) -> Array:
        """The core (G + 1,) that has standard scores, where its effects have sds (G,)."""
        precision = self.core_information + np.diag(np.append(sd**-2, 0.0))
        factor = np.linalg.cholesky(precision)
        return np.asarray(np.linalg.solve(precision, self.core_moment + factor @ score))

    def others(self, score: Array, sd: Array, core: Array) -> Array:
        """The other effects (S, L) of draws with standard scores and sds (S, L), given the core."""
        entries = (self.shared, self.shared_column, self.shared_start)
        shared = sp.csr_array(entries, (score.shape[1], core.shape[1]))
        moment = self.own_moment - (core - self.core_mean) @ shared.T
        found = np.empty_like(score)
        for place, information in self._blocks:
            draws = max(AT_ONCE // len(place), 1)
            for start in range(0, len(score), draws):
                some = (slice(start, start + draws), place)
                found[some] = _scaled(information, sd[some] ** -2, moment[some], score[some])
        return found

    @cached_property
    def _blocks(self) -> list[tuple[Codes, Array]]:
        """Effects (B, P) of blocks of P, and their information (B, P, P), for each P."""
        place = np.arange(len(self.own_first))
        # A block begins where no later effect shares information with an earlier one.
        starts = np.flatnonzero(np.minimum.accumulate(self.own_first[::-1])[::-1] == place)
        sizes = np.diff(np.append(starts, len(place)))
        length = place - self.own_first + 1
        ends = np.cumsum(length)
        found = []
        for size in np.unique(sizes):
            rows = starts[sizes == size, None] + np.arange(size)
            back = np.arange(size)[:, None] - np.arange(size)  # columns before the diagonal
            has = (back >= 0) & (back < length[rows][:, :, None])
            entry = np.where(has, ends[rows][:, :, None] - 1 - back, 0)
            lower = np.where(has, self.own_information[entry], 0.0)
            found.append((self.own_order[rows], lower))
        return found


def _scaled(information: Array, precision: Array, moment: Array, score: Array) -> Array:
    """Effects (S, B, P) of blocks whose information has lower triangles (B, P, P)."""
    # Draws and blocks come last: a step of the factorisation is one product for all of them.
    size = score.shape[2]
    lower = np.broadcast_to(information, (len(score), *information.shape)).transpose(2, 3, 0, 1)
    factor, left = lower.copy(), moment.transpose(2, 0, 1).copy()
    for j in range(size):
        before, row = factor[j:, :j], factor[j, :j]
        column = factor[j:, j] - np.einsum("ik...,k...->i...", before, row)
        column[0] += precision[..., j]
        root = np.sqrt(column[0])
        factor[j:, j] = column / root
        factor[j, j] = root
        left[j] = (left[j] - np.einsum("k...,k...->...", row, left[:j])) / root
    left += score.transpose(2, 0, 1)
    for i in reversed(range(size)):
        left[i] = (left[i] - np.einsum("k...,k...->...", factor[i + 1 :, i], left[i + 1 :])) / (
            factor[i, i]
        )
    return left.transpose(1, 2, 0)
