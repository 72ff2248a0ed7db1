"""Designs, which say who rates what and for which models simulate ratings."""

from __future__ import annotations

import numpy as np
import pandas as pd

from reliabayes.arrays import Array, Codes

MAX_ELEMENTS = 2**22  # of an array that is computed at once, 32 MB


def crossed(items: int, raters: int, *, pools: int = 1) -> pd.DataFrame:
    """Crossed design: every rater rates every item.

    Parameters
    ----------
    items : int
        Number of items.
    raters : int
        Number of raters in each pool.
    pools : int, default 1
        Number of pools; a single pool has no column.

    Returns
    -------
    DataFrame, shape (items * raters * pools, 2 or 3)
        Columns item, rater and, with several pools, pool, each numbered from 1. ``model.simulate``
        takes it, and so does ``Ratings.from_frame`` once it has a column rating.

    Raises
    ------
    ValueError
        An argument is below 1.

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
    """Incomplete design: each item is rated by a random subset of the raters.

    Parameters
    ----------
    items : int
        Number of items.
    raters : int
        Number of raters in each pool.
    per_item : int
        Number of raters of each item from each pool, at most ``raters``.
    rng : Generator
        Source of all randomness.
    pools : int, default 1
        Number of pools; a single pool has no column.

    Returns
    -------
    DataFrame, shape (items * per_item * pools, 2 or 3)
        Columns as for `crossed`.

    Raises
    ------
    ValueError
        A number is out of range.

    Examples
    --------
    >>> incomplete(100, 9, 3, np.random.default_rng(1)).groupby("item").size().unique().tolist()
    [3]
    """
    _check(items=items, raters=raters, per_item=per_item, pools=pools)
    _check_at_most("per_item", per_item, raters)
    drawn = [_draw_raters(items, np.ones(raters), per_item, rng) for _ in range(pools)]
    chosen = np.hstack([pool * raters + rater for pool, rater in enumerate(drawn)])
    return _table(np.repeat(np.arange(items), per_item * pools), chosen.ravel(), raters, pools)


def nested(items: int, per_item: int) -> pd.DataFrame:
    """Nested design: each item has its own raters, who rate nothing else.

    This is a one-way design: severity cannot be separated from residuals.

    Parameters
    ----------
    items : int
        Number of items.
    per_item : int
        Number of raters of each item.

    Returns
    -------
    DataFrame, shape (items * per_item, 2)
        Columns as for `crossed`.

    Raises
    ------
    ValueError
        An argument is below 1.

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
    r"""Crowdsourced design: each item is rated by a few of many raters, most of whom rate little.

    The r-th most active rater is drawn with a weight of :math:`r^{-\mathrm{tail}}` (Zipf's law).
    The raters of an item are drawn without replacement. Raters without an item are left out.

    Parameters
    ----------
    items : int
        Number of items.
    raters : int
        Number of raters to draw from.
    per_item : int
        Number of raters of each item, at most ``raters``.
    rng : Generator
        Source of all randomness.
    tail : float, default 1.0
        Exponent: 0 for equal activity; values near 1 are common in crowdsourcing.

    Returns
    -------
    DataFrame, shape (items * per_item, 2)
        Columns as for `crossed`; rater 1 is the most active.

    Raises
    ------
    ValueError
        A number is out of range.

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
    chosen = _draw_raters(items, np.arange(1.0, raters + 1) ** -tail, per_item, rng)
    return _table(np.repeat(np.arange(items), per_item), chosen.ravel(), raters, 1)


def _draw_raters(items: int, weight: Array, per_item: int, rng: np.random.Generator) -> Codes:
    """(items, per_item) raters drawn for each item by weight, without replacement."""
    rows = max(1, MAX_ELEMENTS // len(weight))
    parts = [min(rows, items - start) for start in range(0, items, rows)]
    # The raters with the shortest exponential waiting times are such a sample.
    waiting = (rng.standard_exponential((size, len(weight))) / weight for size in parts)
    first = (np.argpartition(times, per_item - 1, axis=1)[:, :per_item] for times in waiting)
    return np.concatenate(list(first))


def _table(item: Codes, rater: Codes, raters: int, pools: int) -> pd.DataFrame:
    table = pd.DataFrame({"item": item + 1, "rater": rater + 1})
    return table if pools == 1 else table.assign(pool=rater // raters + 1)


def _check(**sizes: int) -> None:
    for name, size in sizes.items():
        if not size >= 1:
            raise ValueError(f"{name} must be 1 or more; found {size!r}.")


def _check_at_most(name: str, size: int, most: int) -> None:
    if size > most:
        raise ValueError(f"{name} must be at most the number of raters, {most}; found {size!r}.")
