"""Which effects a likelihood eliminates block by block, and the inverses of the blocks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from reliabayes.arrays import Array, Codes
from reliabayes.errors import Fault, RatingsError
from reliabayes.facets.effect_sums import EffectSums

MAX_REST = 5000  # effects that are not eliminated; their matrix takes 200 MB
MAX_PRODUCTS = 30_000_000  # of eliminated effects with those of their block and the rest; 2 GB


def too_large(sums: EffectSums, n_rest: int) -> RatingsError:
    """Error for effects of which so many, the mean included, must be solved for together."""
    rule = "the likelihood must fit into memory"
    crossed = f"{n_rest - 1:,} of them nested in no level of another source"
    shown = f"{len(sums.source) - 1:,} levels, {crossed}"
    remedy = "Drop sources, or use the estimates of an analysis of variance."
    return RatingsError([Fault("design", rule, shown, remedy)])


@dataclass(frozen=True, eq=False)
class EffectBlocks:
    """Effects in blocks, such as those of each item: no rating has effects of two blocks.

    Attributes
    ----------
    members : array of int, shape (E,)
        Positions of the effects among all, block by block, small blocks first.
    rest : array of int, shape (P,)
        Positions of the others, the mean last.
    sizes : array of int
        Number of effects of each block, ascending.
    products : sparse array of float, shape (E, E)
        Number of ratings on which two members act.
    """

    members: Codes
    rest: Codes
    sizes: Codes
    products: sp.csr_array

    @classmethod
    def of(cls, sums: EffectSums) -> EffectBlocks:
        """Blocks by the levels of the source for which the computation is fastest.

        Raises
        ------
        RatingsError
            It would take too much memory for any.
        """
        n_sources = int(sums.source.max())
        found = min((cls.by(sums, k) for k in range(n_sources)), key=cls._work)
        most = int((found.sizes**2).sum() + len(found.members) * len(found.rest))
        if len(found.rest) > MAX_REST or most > MAX_PRODUCTS:
            raise too_large(sums, len(found.rest))
        return found

    @classmethod
    def by(cls, sums: EffectSums, k: int) -> EffectBlocks:
        """Blocks by the levels of source k, of its effects and all that are nested in them."""
        shared = sums.products[np.flatnonzero(sums.source == k)].tocsc()
        n_levels = np.diff(shared.indptr)
        nested = np.bincount(sums.source, n_levels != 1) == 0
        nested[-1] = False
        chosen = np.flatnonzero(nested[sums.source])
        level = shared.indices[shared.indptr[chosen]]
        size = np.bincount(level)
        order = np.lexsort((level, size[level]))
        members = chosen[order]
        products = sums.products[members][:, members]
        rest = np.flatnonzero(~nested[sums.source])
        return cls(members, rest, np.sort(size), sp.csr_array(products))

    def _work(self) -> float:
        """Roughly the number of multiplications; sparse ones take ten times as long."""
        sizes, rest = self.sizes.astype(float), float(len(self.rest))
        return float(rest**3 + 10 * (sizes**2 * (sizes + rest)).sum())

    def inverse(self, scale: Array) -> tuple[sp.csr_array, float]:
        """Inverse D (I + D G D)^-1 D of the products G with scales D, and log |I + D G D|.

        Parameters
        ----------
        scale : array of float, shape (E,)
            Positive or 0.
        """
        sizes = self.sizes
        first = np.cumsum(sizes) - sizes
        of_row = np.repeat(sizes, sizes)  # size of the block of each row
        start = np.cumsum(of_row) - of_row
        within = np.arange(of_row.sum()) - np.repeat(start, of_row)
        column = np.repeat(np.repeat(first, sizes), of_row) + within
        both = np.repeat(scale, of_row) * scale[column]
        pairs = self.products.tocoo()
        row, other = pairs.coords
        matrix = np.zeros(len(column))
        matrix[start[row] + other - np.repeat(first, sizes)[row]] = pairs.data
        matrix *= both
        log_determinant, end = 0.0, 0
        for size, n_blocks in zip(*np.unique(sizes, return_counts=True), strict=True):
            begin, end = end, end + n_blocks * size**2
            blocks = matrix[begin:end].reshape(n_blocks, size, size)
            blocks[:, np.arange(size), np.arange(size)] += 1
            log_determinant += np.linalg.slogdet(blocks)[1].sum()
            matrix[begin:end] = np.linalg.inv(blocks).ravel()
        indptr = np.append(start, len(column))
        shape = self.products.shape
        return sp.csr_array((matrix * both, column, indptr), shape), float(log_determinant)
