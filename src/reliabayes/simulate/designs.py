"""Designs: who rates what, for models to simulate ratings of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Array = NDArray[Any]

CELLS = 2**22  # of a table that is made at once, 32 MB


def crossed(items: int, raters: int, *, pools: int = 1) -> pd.DataFrame:
    """Every rater rates every item.

    Parameters
    ----------
    items : int
    raters : int
        In each pool.
    pools : int
        Number of pools; with one, there is no such column.

    Returns
    -------
    DataFrame (items * raters * pools, 2 or 3)
        Columns item, rater and, with several pools, pool, each numbered from 1: what
        ``model.simulate`` and, with a column rating, ``Ratings.from_frame`` take.

    Raises
    ------
    ValueError
        A number is below 1, as of every design.

    Examples
    --------
    >>> crossed(2, 2).to_numpy().tolist()
    [[1, 1], [1, 2], [2, 1], [2, 2]]
    """
    _check(items=items, raters=raters, pools=pools)
    rater = np.tile(np.arange(raters * pools), items)
    return _table(np.repeat(np.arange(items), raters * pools), rater, raters, pools)


def incomplete(
    items: int, raters: int, per_item: int, rng: np.random.Generator, *, pools: int = 1
) -> pd.DataFrame:
    """Each item is rated by some of the raters, drawn anew.

    Parameters
    ----------
    items, raters, pools
        As for `crossed`.
    per_item : int
        Raters drawn for each item from each pool, at most ``raters``.
    rng : Generator
        Source of all randomness.

    Returns
    -------
    DataFrame (items * per_item * pools, 2 or 3)
        As `crossed` does.

    Examples
    --------
    >>> incomplete(100, 9, 3, np.random.default_rng(1)).groupby("item").size().unique().tolist()
    [3]
    """
    _check(items=items, raters=raters, per_item=per_item, pools=pools)
    _check_at_most("per_item", per_item, raters)
    drawn = [_drawn(items, np.ones(raters), per_item, rng) for _ in range(pools)]
    chosen = np.hstack([pool * raters + rater for pool, rater in enumerate(drawn)])
    return _table(np.repeat(np.arange(items), per_item * pools), chosen.ravel(), raters, pools)


def nested(items: int, per_item: int) -> pd.DataFrame:
    """Each item has raters of its own, who rate nothing else.

    Severity cannot be told from residuals then: a one-way design.

    Parameters
    ----------
    items : int
    per_item : int
        Raters of each item.

    Returns
    -------
    DataFrame (items * per_item, 2)
        As `crossed` does.

    Examples
    --------
    >>> nested(2, 2).to_numpy().tolist()
    [[1, 1], [1, 2], [2, 3], [2, 4]]
    """
    _check(items=items, per_item=per_item)
    rows = items * per_item
    return _table(np.repeat(np.arange(items), per_item), np.arange(rows), rows, 1)


def crowd(
    items: int, raters: int, per_item: int, rng: np.random.Generator, *, tail: float = 1.0
) -> pd.DataFrame:
    r"""Each item is rated by some of a crowd, most of whom rate little.

    The r-th most active rater is drawn with a weight of :math:`r^{-\mathrm{tail}}`, the law of
    Zipf; each item's raters are drawn without replacement. Raters who drew nothing are left out.

    Parameters
    ----------
    items, raters, per_item, rng
        As for `incomplete`.
    tail : float
        0 for equal activity; 1 is common in crowds.

    Returns
    -------
    DataFrame (items * per_item, 2)
        As `crossed` does; rater 1 is the most active one.

    Examples
    --------
    >>> table = crowd(1000, 100, 5, np.random.default_rng(1))
    >>> per_rater = table.groupby("rater").size()
    >>> bool(per_rater.iloc[0] > 10 * per_rater.median())
    True
    """
    _check(items=items, raters=raters, per_item=per_item)
    _check_at_most("per_item", per_item, raters)
    if not tail >= 0:
        raise ValueError(f"tail must be 0 or more; found {tail!r}.")
    chosen = _drawn(items, np.arange(1.0, raters + 1) ** -tail, per_item, rng)
    return _table(np.repeat(np.arange(items), per_item), chosen.ravel(), raters, 1)


def _drawn(items: int, weight: Array, per_item: int, rng: np.random.Generator) -> Array:
    """(items, per_item) raters drawn for each item by weight, without replacement."""
    rows = max(1, CELLS // len(weight))
    parts = [min(rows, items - start) for start in range(0, items, rows)]
    # The first of exponential waiting times are such a sample.
    waiting = (rng.standard_exponential((size, len(weight))) / weight for size in parts)
    first = (np.argpartition(times, per_item - 1, axis=1)[:, :per_item] for times in waiting)
    return np.concatenate(list(first))


def _table(item: Array, rater: Array, raters: int, pools: int) -> pd.DataFrame:
    table = pd.DataFrame({"item": item + 1, "rater": rater + 1})
    return table if pools == 1 else table.assign(pool=rater // raters + 1)


def _check(**sizes: int) -> None:
    for name, size in sizes.items():
        if not size >= 1:
            raise ValueError(f"{name} must be 1 or more; found {size!r}.")


def _check_at_most(name: str, size: int, most: int) -> None:
    if size > most:
        raise ValueError(f"{name} must be at most the number of raters, {most}; found {size!r}.")
