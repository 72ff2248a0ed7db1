"""What more ratings of an item bring: reliability of aggregates of k, and the k that is enough."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reliabayes.arrays import Array
from reliabayes.plots.canvas import apart, beside, canvas, titled, whole_numbers
from reliabayes.plots.densities import about, quantity
from reliabayes.plots.inks import STYLES, Inks
from reliabayes.plots.naming import short
from reliabayes.plots.reliability import as_given
from reliabayes.results import quantities
from reliabayes.results.summaries import bounds

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from reliabayes.results.fit import Fit

Needed = Mapping[str, tuple[float, float, float]]  # median and interval, by pool

MOST = 100  # ratings of an item that are looked at
GAP = 0.07  # between texts, as a share of the height
WAYS = {
    "empirical": "two replications",
    "bootstrap": "one, bootstrapped",
    "icc_k": "ICC of all",
    "spearman_brown": "ICC of two an item",
}


def icc_k(fit: Fit, *, reliability: float = 0.8, prob: float = 0.9, ax: Axes | None = None) -> Axes:
    """Reliability of the mean of k ratings, and the k that reaches a target, by pool.

    Of models of categories that of the ratings as given.

    Parameters
    ----------
    fit : Fit
        Of a model with an ICC.
    reliability : float
        The target, strictly between 0 and 1.
    prob : float
        Probability of the equal-tailed bands.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        The model has no ICC, or the target is out of range.
    """
    draws = quantity(fit, "icc" + as_given(fit))
    needed = {
        pool: _whole(quantities.raters_needed(x, reliability), prob) for pool, x in draws.items()
    }
    ax = canvas(ax)
    ax.axhline(reliability, color=Inks.of(ax).muted, linewidth=0.8, linestyle=(0, (4, 3)))
    k = np.arange(1, _last(needed) + 1)
    ends = [_curve(ax, number, x, k, prob) for number, x in enumerate(draws.values())]
    for number, found in enumerate(needed.values()):
        _crossing(ax, number, found, reliability, k[-1])
    names = [_named(short(pool), found) for pool, found in needed.items()]
    for number, (height, name) in enumerate(zip(apart(ends, GAP), names, strict=True)):
        beside(ax, [height], [name], color=Inks.of(ax).of_words(number))
    ax.set(xlim=(1, k[-1]), ylim=(0, 1.02), xlabel="k, ratings of an item by different raters")
    ax.set_ylabel("ICC(k), reliability of their mean")
    whole_numbers(ax)
    note = f"Medians and {100 * prob:g}% intervals. {about(fit)}"
    return titled(ax, _reached(needed, reliability, prob), note)


def krr_curve(curve: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """k-rater reliability by the number k of ratings aggregated, as found in several ways.

    Parameters
    ----------
    curve : DataFrame
        What `reliabayes.agreement.krr_curve` returns.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import pandas as pd
    >>> from matplotlib.figure import Figure
    >>> curve = pd.DataFrame({"bootstrap": [0.5, 0.67, 0.75]}, index=[1, 2, 3])
    >>> ax = krr_curve(curve, ax=Figure().subplots())
    >>> ax.get_title(loc="left")
    'Aggregates of 3 ratings of an item agree 0.75 with those of 3 others'
    """
    ax = canvas(ax)
    inks = Inks.of(ax)
    lowest = math.floor(10 * float(np.nanmin(curve.to_numpy())) - 0.5) / 10
    heights = apart(curve.iloc[-1].to_numpy(), GAP * (1 - lowest))
    for number, (name, values) in enumerate(curve.items()):
        mark, line = STYLES[number % len(STYLES)]
        colour = inks.of_series(number)
        ax.plot(curve.index, values, color=colour, linestyle=line, marker=mark, markersize=4)
        word = WAYS.get(str(name), str(name))
        beside(ax, heights[[number]], [word], color=inks.of_words(number))
    ax.set(ylim=(lowest, 1.02), xlabel="k, ratings of an item that are aggregated")
    ax.set_ylabel("k-rater reliability")
    whole_numbers(ax)
    (way, found), k = next(iter(curve.items())), curve.index[-1]
    finding = f"Aggregates of {k} ratings of an item agree {found.iloc[-1]:.2f} with those of {k}"
    note = f"By {WAYS.get(str(way), way)}; other ways for comparison"
    return titled(ax, f"{finding} others", note)


def _whole(needed: Array, prob: float) -> tuple[float, float, float]:
    """Median, and ends of the interval, of whole numbers."""
    shares = [0.5, (1 - prob) / 2, (1 + prob) / 2]
    median, lower, upper = np.quantile(needed, shares, method="higher")
    return float(median), float(lower), float(upper)


def _last(needed: Needed) -> int:
    """Largest k to show: the end of the interval, unless that is far beyond the median."""
    far = max(min(1.15 * upper, 3 * median) for median, _, upper in needed.values())
    return max(8, math.ceil(min(far, MOST)))


def _curve(ax: Axes, number: int, icc: Array, k: NDArray[np.int64], prob: float) -> float:
    """Median and band by k; returns where the median ends."""
    colour = Inks.of(ax).of_series(number)
    reached = np.stack([quantities.icc_k(icc, each) for each in k.tolist()], axis=1)
    lower, upper = bounds(reached, prob)
    ax.fill_between(k, lower, upper, color=colour, alpha=0.2, linewidth=0)
    median = np.median(reached, axis=0)
    ax.plot(k, median, color=colour, linestyle=STYLES[number % len(STYLES)][1], linewidth=1.8)
    return float(median[-1])


def _crossing(
    ax: Axes, number: int, needed: tuple[float, float, float], target: float, last: int
) -> None:
    """Where the target is reached: the median as a mark, the interval as a line."""
    median, lower, upper = needed
    colour, mark = Inks.of(ax).of_series(number), STYLES[number % len(STYLES)][0]
    ax.plot([lower, min(upper, last)], [target, target], color=colour, linewidth=2.2, alpha=0.7)
    if upper > last:
        ax.plot([last], [target], color=colour, marker=">", clip_on=False)
    if median <= last:
        ax.plot([median, median], [0, target], color=colour, linewidth=0.8, linestyle=":")
        ax.plot([median], [target], color=colour, marker=mark, clip_on=False)


def _named(pool: str, needed: tuple[float, float, float]) -> str:
    median, lower, upper = needed
    return f"{pool}: k = {median:.0f} ({lower:.0f} to {upper:.0f})".removeprefix(": ")


def _reached(needed: Needed, target: float, prob: float) -> str:
    by_pool = {pool: median for pool, (median, _, _) in needed.items()}
    fewest, most = min(by_pool, key=by_pool.__getitem__), max(by_pool, key=by_pool.__getitem__)
    goal = f"an item reach a reliability of {target:g}"
    if len(needed) > 1 and by_pool[fewest] == by_pool[most]:
        return f"{by_pool[most]:.0f} ratings of {goal} in all pools"
    if len(needed) > 1:
        return (
            f"{by_pool[fewest]:.0f} ({short(fewest)}) to {by_pool[most]:.0f} ({short(most)}) "
            f"ratings of {goal}"
        )
    median, lower, upper = needed[fewest]
    return f"{median:.0f} ratings of {goal} ({100 * prob:g}% interval {lower:.0f} to {upper:.0f})"
