"""What is said of draws: mean, sd, median, interval."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
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
    """Shortest interval with a share ``prob`` of the (S,) ascending draws."""
    inside = int(np.floor(prob * len(ordered)))
    start = np.argmin(ordered[inside:] - ordered[: len(ordered) - inside])
    return ordered[start], ordered[start + inside]
