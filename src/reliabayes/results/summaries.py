"""Summaries of draws: mean, sd, median and interval."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from numbers import Real
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from reliabayes.arrays import blocks
from reliabayes.partitions import AnyRatings
from reliabayes.ratings import Ratings

Interval = Literal["equal_tailed", "hdi"]


def not_of_raters(quantities: xr.Dataset) -> list[str]:
    """Names of the quantities that are not of single raters."""
    return [str(name) for name, x in quantities.items() if "rater" not in x.dims]


def describe(
    draws: NDArray[np.float64], prob: float | None, interval: Interval = "equal_tailed"
) -> dict[str, Any]:
    """Mean, sd, median and interval of draws.

    Parameters
    ----------
    draws : array of float, shape (S,) or (S, U)
        Draws of one or of U units.
    prob : float or None
        Probability of the interval, strictly between 0 and 1; None for a point estimate.
    interval : {"equal_tailed", "hdi"}, default "equal_tailed"
        Kind of interval; "hdi" is the shortest one.

    Returns
    -------
    dict of str to float or array of shape (U,)
        Keys mean, sd, median, lower_90 and upper_90 (for ``prob=0.9``); of a point estimate mean.
    """
    if prob is None:
        return {"mean": draws.mean(axis=0)}
    lower, upper = interval_bounds(draws, prob, interval)
    return {
        "mean": draws.mean(axis=0),
        "sd": draws.std(axis=0, ddof=1),
        "median": np.median(draws, axis=0),
        f"lower_{100 * prob:g}": lower,
        f"upper_{100 * prob:g}": upper,
    }


def digits_for(sd: float, mcse: float = 0.0) -> Callable[[float], str]:
    """Format for numbers that summarise draws.

    Parameters
    ----------
    sd : float
        Standard deviation of the draws.
    mcse : float, default 0.0
        Monte Carlo standard error: digits below it are left out.

    Returns
    -------
    callable
        Writes a number to three digits of the sd at most, and to four decimals at most.
    """
    if not 1e-4 <= sd < 1e5:
        return "{:.3g}".format
    known = math.floor(-math.log10(mcse)) if 0 < mcse < math.inf else 4
    decimals = min(4, max(0, min(known, 2 - math.floor(math.log10(sd)))))
    return f"{{:.{decimals}f}}".format


def rounded(summary: pd.DataFrame) -> pd.DataFrame:
    """Medians and intervals as texts, rounded by their Monte Carlo error.

    Parameters
    ----------
    summary : DataFrame
        Result of `Fit.summary`.

    Returns
    -------
    DataFrame of str
        Columns median, lower_90, upper_90 (for ``prob=0.9``), and r_hat.
    """
    bounds = summary.columns[-2:]
    names = ["median", *bounds]
    formats = [digits_for(*row) for row in summary[["sd", "mcse"]].itertuples(index=False)]
    found = {
        name: [form(x) for form, x in zip(formats, summary[name], strict=True)] for name in names
    }
    r_hat = [f"{value:.3f}" for value in summary["r_hat"]]
    return pd.DataFrame({**found, "r_hat": r_hat}, index=summary.index)


def describe_in_blocks(
    draws: Callable[[slice], NDArray[np.float64]],
    n_units: int,
    block_size: int,
    prob: float | None,
) -> pd.DataFrame:
    """Summarise draws of many units, one block of units in memory at a time.

    Parameters
    ----------
    draws : callable
        Maps a slice of units to their draws, of shape (S, size of the slice).
    n_units : int
        Number of units.
    block_size : int
        Number of units in a block.
    prob : float or None
        Probability of the equal-tailed interval, strictly between 0 and 1; None for a point
        estimate.

    Returns
    -------
    DataFrame
        A row for each unit, with the columns of `describe`.
    """
    units = blocks(n_units, block_size)
    described = (pd.DataFrame(describe(draws(block), prob)) for block in units)
    return pd.concat(described, ignore_index=True)


def interval_bounds(
    draws: NDArray[np.float64], prob: float, interval: Interval = "equal_tailed"
) -> tuple[Any, Any]:
    """Lower and upper bound of an interval of draws.

    Parameters
    ----------
    draws : array of float, shape (S,) or (S, U)
        Draws of one or of U units.
    prob : float
        Probability of the interval, strictly between 0 and 1.
    interval : {"equal_tailed", "hdi"}, default "equal_tailed"
        Kind of interval; "hdi" is the shortest one.

    Returns
    -------
    tuple of two floats, or of two arrays of shape (U,)
        The bounds.

    Raises
    ------
    ValueError
        ``prob`` or ``interval`` is out of range.
    TypeError
        ``prob`` is no number.
    """
    if not isinstance(prob, Real):
        raise TypeError(f"prob must be a number, not {prob!r}.")
    if not 0 < prob < 1:
        raise ValueError(f"prob must lie strictly between 0 and 1, not {prob}.")
    if interval == "equal_tailed":
        lower, upper = np.quantile(draws, [(1 - prob) / 2, (1 + prob) / 2], axis=0)
        return lower, upper
    if interval == "hdi":
        return _shortest(np.sort(draws, axis=0), prob)
    raise ValueError(f"interval must be 'equal_tailed' or 'hdi', not {interval!r}.")


def _shortest(ordered: NDArray[np.float64], prob: float) -> tuple[Any, Any]:
    """Shortest interval that contains a proportion ``prob`` of ascending draws."""
    inside = int(np.floor(prob * len(ordered)))
    widths = ordered[inside:] - ordered[: len(ordered) - inside]
    start = widths.argmin(axis=0)[None]
    lower, upper = (np.take_along_axis(ordered, start + shift, axis=0)[0] for shift in (0, inside))
    return lower, upper


def scalars(name: str, values: xr.DataArray) -> Iterator[tuple[str, Any]]:
    """Split draws of a quantity into labelled scalar quantities.

    Parameters
    ----------
    name : str
        Name of the quantity.
    values : DataArray
        Draws, dims (chain, draw, ...), or a point estimate without these two dims.

    Yields
    ------
    label : str
        The name with its coordinates: ``icc[expert]``.
    draws : array of float, shape (chain, draw), or float
        Draws or point estimate of this scalar.
    """
    dims = [dim for dim in values.dims if dim not in ("chain", "draw")]
    ids = [values.indexes[dim] for dim in dims]
    array = values.transpose(*dims, ...).values
    for position in np.ndindex(*array.shape[: len(dims)]):
        label = ", ".join(str(index[i]) for index, i in zip(ids, position, strict=True))
        yield f"{name}[{label}]" if dims else name, array[position]


def ratings_of(index: pd.Index[Any], ratings: Ratings) -> NDArray[np.int64]:
    """Number of ratings of each item in an index, or of each item by each pool."""
    if "pool" not in index.names or ratings.rater_pool is None:
        return ratings.ratings_per_item[ratings.items.get_indexer(index)]
    item, pool = (
        ids.get_indexer(index.get_level_values(level))
        for level, ids in (("item", ratings.items), ("pool", ratings.pools))
    )
    counts = np.zeros((ratings.n_items, len(ratings.pools)), np.int64)
    np.add.at(counts, (ratings.item, ratings.rater_pool[ratings.rater]), 1)
    return counts[item, pool]


def chosen_names(names: Sequence[str] | None, quantities: xr.Dataset, model: str) -> list[str]:
    """Names of the quantities to summarise, by default those that are not of single raters."""
    if names is None:
        return not_of_raters(quantities)
    if isinstance(names, (str, bytes)) or not isinstance(names, Collection) or not len(names):
        raise ValueError(f"names must be a list of quantities, not {names!r}.")
    if unknown := [str(name) for name in names if name not in quantities]:
        raise ValueError(
            f"names: {', '.join(unknown)} must be among the quantities of {model}: "
            f"{', '.join(map(str, quantities))}."
        )
    return list(names)


def size_text(ratings: AnyRatings) -> str:
    """Numbers of ratings, items and raters.

    Parameters
    ----------
    ratings : Ratings or RatingsDataset
        Any ratings.

    Returns
    -------
    str
        Such as ``24 ratings of 6 items by 4 raters``.
    """
    by = "anonymous raters" if ratings.anonymous_raters else f"{ratings.n_raters:,} raters"
    return f"{len(ratings):,} ratings of {ratings.n_items:,} items by {by}"
