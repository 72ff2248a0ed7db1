"""The density of ratings with normal effects of several sources, as fast as it can be had."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import scipy
import scipy.sparse as sp

from reliabayes.arrays import Array, Codes
from reliabayes.facets.effect_blocks import MAX_REST, too_large
from reliabayes.facets.effect_sums import EffectSums
from reliabayes.inference.time_limit import check_time
from reliabayes.likelihoods.gaussian_conditional import Marginal
from reliabayes.likelihoods.rest_effects import Reduced, RestOfEffects, Solved

MAX_PAIRS = 300_000_000  # of effects that share a level of the source that is eliminated first
MAX_CROSSED = 60_000_000  # of effects in blocks and others; 0.5 GB


class Order(NamedTuple):
    """Which effects (T,) go first, in blocks, or in the rest.

    Attributes
    ----------
    first : int
        Source that is eliminated first.
    block : array of int, shape (T,)
        Block of each effect of other sources; -1 for the rest.
    """

    first: int
    block: Codes


@dataclass(frozen=True, eq=False)
class MarginalEffects:
    """Sums of ratings, in the order in which their effects are integrated out.

    The precision of the effects given the ratings is the number of ratings that two effects share,
    over the residual variance, plus the inverse of their own variances. The source with most levels
    goes first: no rating has two of its effects, so that levels with equally many ratings have the
    same precision, and what they take from the precision of other effects is one number for each
    such group, times a fixed matrix. Effects in blocks, such as those of each item, go next, and
    the rest together.

    Attributes
    ----------
    rest : RestOfEffects
        What goes last, and the source that goes first.
    squares : array of float, shape (D,)
        Sums of the squared totals of its levels, by their number of ratings.
    source : array of int, shape (O,)
        Source of each other effect, that of the mean last.
    totals : array of float, shape (O,)
        Sums of ratings with each.
    lost_totals : array of float, shape (O, D)
        What groups of levels take from the totals, over their precisions.
    shared, lost : array of float, shape (U,), and sparse array of float, shape (U, D)
        Ratings that pairs of effects share, and what groups of levels take from them.
    diagonal : array of int, shape (O,)
        Positions of the effects themselves among the pairs.
    blocks : Blocks
        Where pairs belong.
    """

    is_quick: ClassVar[bool] = False  # a density takes longer than a millisecond

    rest: RestOfEffects
    squares: Array
    source: Codes
    totals: Array
    lost_totals: Array
    shared: Array
    lost: sp.csr_array
    diagonal: Codes
    blocks: Blocks

    @classmethod
    def of(
        cls, sums: EffectSums, mean: float, sd_mean: float, order: Order | None = None
    ) -> MarginalEffects:
        """Sums of ratings, given the prior of the mean, in the quickest order or a given one.

        Raises
        ------
        RatingsError
            They would take too much memory.
        TimeoutError
            The time of the fit is over.
        """
        offset = 0.0 if math.isinf(sd_mean) else mean - sums.centre
        products = sums.products
        totals = sums.totals - offset * products[:, [-1]].toarray()[:, 0]
        first = order.first if order else int(np.bincount(sums.source[:-1]).argmax())
        own, others = (np.flatnonzero(sums.source == first), np.flatnonzero(sums.source != first))
        cross = sp.csc_array(products[others][:, own])
        if (np.diff(cross.indptr).astype(float) ** 2).sum() > MAX_PAIRS:
            raise too_large(sums, len(others))
        size, group, levels = np.unique(sums.counts[own], return_inverse=True, return_counts=True)
        parts = [_pairs(sp.csr_array(products[others][:, others]))]
        for d in range(len(size)):
            check_time()
            part = cross[:, group == d]
            parts.append(_pairs(part @ part.T))
        key, position = np.unique(np.concatenate([key for key, _ in parts]), return_inverse=True)
        column = np.repeat(np.arange(len(parts)), [len(key) for key, _ in parts])
        values = np.concatenate([value for _, value in parts])
        table = sp.csc_array((values, (position, column)), (len(key), len(parts)))
        row, other = np.divmod(key, len(others))
        weighted = cross @ sp.csr_array(
            (totals[own], (np.arange(len(own)), group)), (len(own), len(size))
        )
        source = sums.source[others]
        blocks = Blocks.of(sums, source, row, other, order.block[others] if order else None)
        square = sums.square - 2 * offset * sums.totals[-1] + sums.n * offset**2
        of_first = size.astype(float), levels.astype(float)
        rest = source[blocks.rest]
        return cls(
            RestOfEffects(sums.n, sums.centre + offset, sd_mean, square, first, *of_first, rest),
            np.asarray(np.bincount(group, totals[own] ** 2), np.float64),
            source,
            totals[others],
            weighted.toarray(),
            table[:, [0]].toarray()[:, 0],
            sp.csr_array(table[:, 1:]),
            np.flatnonzero(row == other),
            blocks,
        )

    def at(self, variance: Array) -> Marginal:
        """Density at variances (K,) of the sources, the last that of the residual."""
        return self._completed(self.reduced(variance / variance[-1]), variance)

    def at_many(self, variances: Array) -> Marginal:
        """Densities (N,) at variances (N, K); -inf so far out that rounding decides."""
        found = np.full((len(variances), 3), [-math.inf, 0.0, 0.0])
        for row, variance in zip(found, variances, strict=True):
            with suppress(np.linalg.LinAlgError):
                row[:] = self.at(variance)
        return Marginal(*found.T)

    def reduced(self, ratio: Array) -> Reduced:
        """What is left of all but the rest, at variances (K,) relative to that of the residual."""
        check_time()
        weight = 1 / (self.rest.size + 1 / ratio[self.rest.first])
        precision = self.shared - self.lost @ weight
        members = self.blocks.members
        own = 1 / ratio[self.source[members]]
        precision[self.diagonal[members]] += own
        found = self.blocks.reduce(precision, self.totals - self.lost_totals @ weight)
        return found._replace(
            log_det=found.log_det - float(np.log(own).sum()),
            explained=found.explained + float(self.squares @ weight),
        )

    def reduced_at(self, ratios: Array) -> Array:
        """The same at many (N, K), as flat numbers."""
        return np.array([self.reduced(ratio).flat() for ratio in ratios])

    @property
    def eliminated(self) -> Codes:
        """Sources of which no effect is in the rest."""
        return np.union1d(self.source[self.blocks.members], [self.rest.first])

    def _completed(self, reduced: Reduced, variance: Array) -> Marginal:
        """Density, given what is left at these variances; its matrix is overwritten."""
        own = self.rest.precision(variance)
        reduced.matrix.flat[:: len(own) + 1] += own
        solved = _solve(reduced.matrix, reduced.right)
        return self.rest.density(reduced.log_det, reduced.explained, own, solved, variance)


@dataclass(frozen=True, eq=False)
class Blocks:
    """Effects in blocks that no rating connects, the rest, and where pairs of effects belong.

    Attributes
    ----------
    members, rest : array of int, shapes (E,) and (P,)
        Positions of effects in blocks, block by block and small blocks first, and of the others.
    shapes : tuple of (int, int)
        Numbers and sizes of blocks.
    within, crossed, outside : pair of array of int
        Pairs that are within blocks, of members and others, and of others; and their places in the
        matrices of blocks, in (E, P), and in (P, P).
    """

    members: Codes
    rest: Codes
    shapes: tuple[tuple[int, int], ...]
    within: tuple[Codes, Codes]
    crossed: tuple[Codes, Codes]
    outside: tuple[Codes, Codes]

    @classmethod
    def of(
        cls, sums: EffectSums, source: Codes, row: Codes, column: Codes, level: Codes | None = None
    ) -> Blocks:
        """Given blocks (O,), or those by the source for which solving is fastest.

        Rows and columns are those of connected pairs of effects.
        """
        if level is None:
            none = np.full(len(source), -1)
            choices = [none, *(_level(source, row, column, k) for k in np.unique(source[:-1]))]
            level = min(choices, key=_work)
        members, rest = np.flatnonzero(level >= 0), np.flatnonzero(level < 0)
        if len(rest) > MAX_REST or len(rest) * len(members) > MAX_CROSSED:
            raise too_large(sums, len(rest))
        size = np.bincount(level[members])
        members = members[np.lexsort((members, level[members], size[level[members]]))]
        # Of each effect: its place among members or the rest, and as a member where the matrix of
        # its block has its row, and which of the block's effects it is.
        at, start, which = np.zeros((3, len(source)), np.int64)
        at[members], at[rest] = np.arange(len(members)), np.arange(len(rest))
        of_block = size[level[members]]
        start[members] = np.cumsum(of_block) - of_block
        first = np.flatnonzero(np.diff(level[members], prepend=-1))
        which[members] = np.arange(len(members)) - np.repeat(first, of_block[first])
        inner, outer = level[row] >= 0, level[column] >= 0
        within, outside = np.flatnonzero(inner & outer), np.flatnonzero(~(inner | outer))
        crossed = np.flatnonzero(inner != outer)
        ends = np.where(inner, row, column)[crossed], np.where(inner, column, row)[crossed]
        numbers = zip(*np.unique(of_block, return_counts=True), strict=True)
        return cls(
            members,
            rest,
            tuple((int(count // size), int(size)) for size, count in numbers),
            (within, start[row[within]] + which[column[within]]),
            (crossed, at[ends[0]] * len(rest) + at[ends[1]]),
            (outside, at[row[outside]] * len(rest) + at[column[outside]]),
        )

    def reduce(self, precision: Array, totals: Array) -> Reduced:
        """Eliminate the blocks: their log determinant, what they explain, and what they leave.

        Parameters
        ----------
        precision : array of float, shape (U,)
            Of pairs of effects.
        totals : array of float, shape (O,)
            Right side.
        """
        size = len(self.rest)
        rest = np.zeros(size * size)
        rest[self.outside[1]] = precision[self.outside[0]]
        # The lower triangle by rows is the upper one by columns, as LAPACK takes it.
        matrix = rest.reshape(size, size).T
        right, log_det, explained = totals[self.rest], 0.0, 0.0
        if self.shapes:
            blocks = np.zeros(sum(n * s * s for n, s in self.shapes))
            blocks[self.within[1]] = precision[self.within[0]]
            crossed = np.zeros(len(self.members) * size)
            crossed[self.crossed[1]] = precision[self.crossed[0]]
            sides = np.column_stack([crossed.reshape(-1, size), totals[self.members]])
            at = begin = 0
            for n, s in self.shapes:
                part = blocks[at : at + n * s * s].reshape(n, s, s)
                factor = np.linalg.cholesky(part)
                log_det += 2 * np.log(np.diagonal(factor, axis1=1, axis2=2)).sum()
                sides[begin : begin + n * s] = np.linalg.solve(
                    factor, sides[begin : begin + n * s].reshape(n, s, size + 1)
                ).reshape(n * s, size + 1)
                at, begin = at + n * s * s, begin + n * s
            crossed, scores = sides[:, :-1], sides[:, -1]
            explained += float(scores @ scores)
            right = right - scores @ crossed
            matrix = scipy.linalg.blas.dsyrk(-1, crossed, 1, matrix, trans=1, overwrite_c=1)
        return Reduced(float(log_det), explained, right, matrix)


def _solve(matrix: Array, right: Array) -> Solved:
    factor, failed = scipy.linalg.lapack.dpotrf(matrix, lower=0, clean=0, overwrite_a=1)
    if failed:
        raise np.linalg.LinAlgError("the precision of the effects is not positive definite")
    scores = scipy.linalg.solve_triangular(factor, right, trans=1, check_finite=False)
    sd = 1 / float(factor[-1, -1])
    log_det = 2 * float(np.log(np.diag(factor)).sum())
    return Solved(log_det, float(scores @ scores), float(scores[-1]) * sd, sd)


def _pairs(matrix: sp.csr_array) -> tuple[Codes, Array]:
    """Entries in the lower triangle of a symmetric matrix: their places, and values."""
    lower = sp.coo_array(sp.tril(matrix))
    row, column = lower.coords
    return row.astype(np.int64) * matrix.shape[0] + column, lower.data


def _level(source: Codes, row: Codes, column: Codes, k: int) -> Codes:
    """(O,) level of source k in which an effect is nested; -1 for others, and if levels connect."""
    check_time()
    ends, others = np.concatenate([row, column]), np.concatenate([column, row])
    of_k = (source[others] == k) & ((ends != others) | (np.arange(len(ends)) < len(row)))
    n_levels = np.bincount(ends[of_k], minlength=len(source))
    nested = np.bincount(source, n_levels != 1) == 0
    level = np.full(len(source), -1)
    if nested[k]:
        level[ends[of_k]] = others[of_k] - np.flatnonzero(source == k)[0]
        level[~nested[source]] = -1
        level[-1] = -1
    return level


def _work(level: Codes) -> float:
    """Roughly the number of multiplications; those of small blocks take ten times as long."""
    sizes = np.bincount(level[level >= 0]).astype(float)
    rest = float((level < 0).sum())
    return float(rest**3 / 3 + sizes.sum() * rest**2 + 10 * (sizes**2 * (sizes + rest)).sum())
