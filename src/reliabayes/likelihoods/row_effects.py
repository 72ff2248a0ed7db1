"""Effects of the rows of a crossed design, drawn by the kernel of stan/cpp/crossed_gibbs.cpp."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from operator import add

import numpy as np
from numpy.typing import NDArray

from reliabayes.arrays import Array
from reliabayes.inference.crossed_effects import RowState, RowTotals
from reliabayes.inference.gibbs import library, pointer
from reliabayes.likelihoods.gaussian_one_pool import CrossedDesign

MANY_CELLS, BLOCKS = 200_000, 4  # rows of so many cells are drawn in blocks, however many threads


@dataclass(frozen=True, eq=False)
class RowEffects:
    """All rows of a design, or those of a part of it.

    Attributes
    ----------
    first : array of int64, shape (I + 1,)
        Cell of each row, and one past the last.
    column : array of int32, shape (C,)
        Column of each cell.
    count : array of float, shape (C,)
        Ratings of each cell.
    total : array of float, shape (I,)
        Sum of the ratings of each row.
    offset : int
        Number of the first row in the whole design.
    """

    first: NDArray[np.int64]
    column: NDArray[np.int32]
    count: Array
    total: Array
    offset: int = 0

    @classmethod
    def of(cls, design: CrossedDesign, offset: int = 0) -> RowEffects:
        """The rows of a design of centred ratings."""
        counts = design.counts
        return cls(
            np.ascontiguousarray(counts.indptr, np.int64),
            np.ascontiguousarray(counts.indices, np.int32),
            np.ascontiguousarray(counts.data, float),
            np.ascontiguousarray(design.total, float),
            offset,
        )

    @classmethod
    def merged(cls, parts: Sequence[RowEffects]) -> RowEffects:
        """Rows of all parts, one after another."""
        cells = np.cumsum([0, *(len(part.column) for part in parts)])
        first = [part.first[:-1] + start for part, start in zip(parts, cells, strict=False)]
        return cls(
            np.append(np.concatenate(first), cells[-1]),
            np.concatenate([part.column for part in parts]),
            np.concatenate([part.count for part in parts]),
            np.concatenate([part.total for part in parts]),
            parts[0].offset,
        )

    def draw(self, state: RowState, at_once: int = 1) -> RowTotals:
        """Draw all effects and add them up, in blocks of rows that threads share.

        Parameters
        ----------
        state : RowState
            What effects are drawn given.
        at_once : int, default 1
            Threads at most.

        Returns
        -------
        RowTotals
            The same for any number of threads.
        """
        blocks = BLOCKS if len(self.column) >= MANY_CELLS else 1
        ends = np.linspace(0, len(self.column), blocks + 1).astype(int)
        rows = [0, *np.searchsorted(self.first, ends[1:-1]).tolist(), len(self.total)]
        level = np.ascontiguousarray(state.level)

        def of(block: tuple[int, int]) -> RowTotals:
            return self._of_rows(*block, state, level)

        if at_once == 1 or blocks == 1:
            return reduce(add, map(of, pairwise(rows)))
        with ThreadPoolExecutor(min(at_once, blocks)) as pool:
            return reduce(add, pool.map(of, pairwise(rows)))

    def _of_rows(self, start: int, stop: int, state: RowState, level: Array) -> RowTotals:
        chains = level.shape[1]
        found = RowTotals(np.zeros_like(level), np.zeros((chains, 4)))
        own = _Rows(
            stop - start,
            self.offset + start,
            *(pointer(each) for each in (self.first[start:], self.column, self.count)),
            pointer(self.total[start:]),
        )
        sds = [np.ascontiguousarray(sd, float) for sd in (state.row_sd, state.residual_sd)]
        library().reliabayes_draw_rows(
            ctypes.byref(own),
            ctypes.c_uint32(state.seed),
            ctypes.c_uint32(state.sweep),
            ctypes.c_int64(chains),
            *map(pointer, (*sds, level, found.crossed, found.sums)),
        )
        return found


class _Rows(ctypes.Structure):
    """The structure ``Rows`` of stan/cpp/crossed_gibbs.cpp."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("rows", "offset")),
        *((name, ctypes.c_void_p) for name in ("first", "column", "count", "total")),
    )
