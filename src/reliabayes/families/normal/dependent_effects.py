"""Which effects depend on each other so much that they are scaled together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from reliabayes.arrays import Codes
from reliabayes.facets import Effects

MOST_WORK = 200  # products of two numbers for each rating, to scale effects together


class Blocks(NamedTuple):
    """Effects in an order in which those of a block are side by side.

    Attributes
    ----------
    order : array of int, shape (L,)
        Positions of the effects.
    block : array of int, shape (L,)
        Block of each effect in this order, from 0.
    """

    order: Codes
    block: Codes


class _Part(NamedTuple):
    """Some sources whose effects have blocks, such as one for each item.

    Attributes
    ----------
    sources : tuple of int
        Which they are.
    order, block : array of int, shape (P,)
        As of `Blocks`, of the effects of these sources one source after the other.
    work : int
        Products that scaling them takes.
    """

    sources: tuple[int, ...]
    order: Codes
    block: Codes
    work: int


def blocks_of(effects: Effects, sources: Sequence[int]) -> Blocks:
    """Blocks of the effects of some sources, which come one source after the other.

    A block has the effect of a level and those of its interactions, as of an item. If that were too
    many, effects of a source are scaled one by one.
    """
    sizes = [effects.sizes[k] for k in sources]
    first = dict(zip(sources, np.cumsum([0, *sizes]), strict=False))
    left, order, block = list(sources), [np.empty(0, int)], [np.empty(0, int)]
    while left:
        part = max(_parts(effects, left), key=lambda each: (len(each.order), -each.work))
        place = np.concatenate([first[k] + np.arange(effects.sizes[k]) for k in part.sources])
        order.append(place[part.order])
        block.append(part.block + sum(len(np.unique(each)) for each in block))
        left = [k for k in left if k not in part.sources]
    return Blocks(np.concatenate(order).astype(np.int32), np.concatenate(block).astype(np.int32))


def _parts(effects: Effects, left: Sequence[int]) -> Iterator[_Part]:
    """Parts that might come next: single sources, and sources with their interactions."""
    for own in left:
        size, facets = effects.sizes[own], effects.sources[own].facets
        yield _Part((own,), np.arange(size), np.arange(size), size)
        # The largest source comes first: its effects do not depend on each other.
        members = [k for k in left if facets <= effects.sources[k].facets]
        members.sort(key=lambda k: (-effects.sizes[k], k))
        block = np.concatenate([_levels(effects, k, own) for k in members])
        order = np.argsort(block, kind="stable")
        start = np.searchsorted(block[order], np.arange(size))
        length = np.arange(1, len(order) + 1) - start[block[order]]
        length[order < effects.sizes[members[0]]] = 1
        work = int((length.astype(float) ** 2).sum())
        if work <= MOST_WORK * effects.n_ratings:
            yield _Part(tuple(members), order, block[order], work)


def _levels(effects: Effects, source: int, own: int) -> Codes:
    """Level of a source (its size,) that the levels of one of its interactions belong to."""
    found = np.empty(effects.sizes[source], np.int32)
    found[effects.level[source]] = effects.level[own]
    return found
