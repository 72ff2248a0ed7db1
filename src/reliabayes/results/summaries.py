"""What is said of draws: mean, sd, median, interval."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

Interval = Literal["equal_tailed", "hdi"]


def describe(
    draws: NDArray[np.float64], prob: float, interval: Interval = "equal_tailed"
) -> dict[str, Any]:
    """Mean, sd, median and interval of draws, (S,) or (S, units)."""
    lower, upper = bounds(draws, prob, interval)
    return {
        "mean": draws.mean(axis=0),
        "sd": draws.std(axis=0, ddof=1),
        "median": np.median(draws, axis=0),
        f"lower_{100 * prob:g}": lower,
        f"upper_{100 * prob:g}": upper,
    }


def describe_in_blocks(
    draws: Callable[[slice], NDArray[np.float64]], number: int, block: int, prob: float
) -> pd.DataFrame:
    """`describe` of the draws (S, units) of ``number`` items, a block of them at a time."""
    parts = (slice(start, start + block) for start in range(0, number, block))
    described = (pd.DataFrame(describe(draws(part), prob)) for part in parts)
    return pd.concat(described, ignore_index=True)


def bounds(
    draws: NDArray[np.float64], prob: float, interval: Interval = "equal_tailed"
) -> tuple[Any, Any]:
    """Ends of an interval of draws, (S,) or (S, units), with probability ``prob``."""
    if not 0 < prob < 1:
        raise ValueError(f"prob must lie strictly between 0 and 1, not {prob}.")
    if interval == "equal_tailed":
        lower, upper = np.quantile(draws, [(1 - prob) / 2, (1 + prob) / 2], axis=0)
        return lower, upper
    if interval == "hdi":
        return _shortest(np.sort(draws, axis=0), prob)
    raise ValueError(f"interval must be 'equal_tailed' or 'hdi', not {interval!r}.")


def _shortest(ordered: NDArray[np.float64], prob: float) -> tuple[Any, Any]:
    """Shortest interval with a share ``prob`` of the (S,) or (S, units) ascending draws."""
    inside = int(np.floor(prob * len(ordered)))
    widths = ordered[inside:] - ordered[: len(ordered) - inside]
    start = widths.argmin(axis=0)[None]
    ends = (np.take_along_axis(ordered, start + shift, axis=0)[0] for shift in (0, inside))
    lower, upper = ends
    return lower, upper


def scalars(name: str, values: xr.DataArray) -> Iterator[tuple[str, Any]]:
    """Each scalar quantity in an array of them, labelled by its coordinates: ``icc[expert]``."""
    dims = [dim for dim in values.dims if dim not in ("chain", "draw")]
    ids = [values.indexes[dim] for dim in dims]
    array = values.transpose(*dims, ...).values
    for place in np.ndindex(*array.shape[: len(dims)]):
        label = ", ".join(str(index[i]) for index, i in zip(ids, place, strict=True))
        yield f"{name}[{label}]" if dims else name, array[place]
