"""Reliability of aggregates of k ratings, and the k that reaches a target."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reliabayes import agreement
from reliabayes.arrays import Array
from reliabayes.plots.labels import short
from reliabayes.plots.layout import (
    add_title,
    axes_or_new,
    integer_ticks,
    label_right,
    separated,
)
from reliabayes.plots.palette import STYLES, Palette
from reliabayes.ratings import Ratings
from reliabayes.results import quantities
from reliabayes.results.estimates import (
    draws_by_label,
    observed_suffix,
    source_text,
    whole_median_interval,
    whole_text,
)
from reliabayes.results.summaries import interval_bounds

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from reliabayes.results.fit import Fit

Needed = Mapping[str, tuple[float, float, float]]  # median and interval of k, by pool

MAX_K = 100  # ratings per item that are shown
GAP = 0.07  # between labels, as a proportion of the height
METHODS = {
    "empirical": "two replications",
    "bootstrap": "replications drawn\nfrom these ratings",
    "icc_k": "from the ICC\nof all ratings",
    "spearman_brown": "from the ICC of\ntwo ratings per item",
}


def icc_k(fit: Fit, *, reliability: float = 0.8, prob: float = 0.9, ax: Axes | None = None) -> Axes:
    """Reliability of the mean of k ratings, and the k that reaches a target, by pool.

    For models of categories it is the reliability of the ratings, not of the latent score.

    Parameters
    ----------
    fit : Fit
        Fit of a model that reports an ICC.
    reliability : float, default 0.8
        The target, strictly between 0 and 1.
    prob : float, default 0.9
        Probability of the equal-tailed bands, strictly between 0 and 1.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        The model does not report an ICC, or the target is out of range.
    """
    draws = draws_by_label(fit, "icc" + observed_suffix(fit))
    needed = {
        pool: whole_median_interval(quantities.raters_needed(x, reliability), prob)
        for pool, x in draws.items()
    }
    ax = axes_or_new(ax)
    palette = Palette.of(ax)
    ax.axhline(reliability, color=palette.muted, linewidth=0.8, linestyle=(0, (4, 3)))
    k = np.arange(1, _largest_k(needed) + 1)
    ends = [_draw_curve(ax, number, x, k, prob) for number, x in enumerate(draws.values())]
    for number, found in enumerate(needed.values()):
        _draw_crossing(ax, number, found, reliability, k[-1])
    labels = [_label(short(pool), found) for pool, found in needed.items()]
    for number, (height, label) in enumerate(zip(separated(ends, GAP, 0.98), labels, strict=True)):
        label_right(ax, [height], [label], color=palette.label_colour(number))
    ax.set(xlim=(1, k[-1]), ylim=(0, 1.02), xlabel="k, ratings per item by different raters")
    ax.set_ylabel("ICC(k), reliability of their mean")
    integer_ticks(ax)
    note = f"Medians and {100 * prob:g}% intervals. {source_text(fit)}"
    return add_title(ax, _icc_k_finding(needed, reliability, prob), note)


def krr_curve(curve: pd.DataFrame | Ratings, *, ax: Axes | None = None) -> Axes:
    """k-rater reliability by the number k of aggregated ratings, as estimated by several methods.

    Parameters
    ----------
    curve : DataFrame or Ratings
        Result of `reliabayes.agreement.krr_curve`, or ratings of which it is computed with its
        defaults. A method may be missing (nan) for large k, such as two replications of few ratings
        each.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import pandas as pd
    >>> from matplotlib.figure import Figure
    >>> curve = pd.DataFrame({"bootstrap": [0.5, 0.67, 0.75]}, index=[1, 2, 3])
    >>> ax = krr_curve(curve, ax=Figure().subplots())
    >>> ax.get_title(loc="left")
    'Aggregates of 3 ratings per item reach a reliability of 0.75'
    """
    if isinstance(curve, Ratings):
        curve = agreement.krr_curve(curve)
    ax = axes_or_new(ax)
    palette = Palette.of(ax)
    lowest = math.floor(10 * float(np.nanmin(curve.to_numpy())) - 0.5) / 10
    heights = separated(curve.ffill().iloc[-1].to_numpy(), 2 * GAP * (1 - lowest), 1.0)
    for number, (name, values) in enumerate(curve.items()):
        mark, line = STYLES[number % len(STYLES)]
        colour = palette.series_colour(number)
        ax.plot(curve.index, values, color=colour, linestyle=line, marker=mark, markersize=4)
        label = METHODS.get(str(name), str(name))
        label_right(ax, heights[[number]], [label], color=palette.label_colour(number))
    ax.set(ylim=(lowest, 1.02), xlabel="k, aggregated ratings per item")
    ax.set_ylabel("k-rater reliability")
    integer_ticks(ax)
    method, found = next((name, values.dropna()) for name, values in curve.items())
    k = found.index[-1]
    ratings = "Single ratings" if k == 1 else f"Aggregates of {k} ratings per item"
    finding = f"{ratings} reach a reliability of {found.iloc[-1]:.2f}"
    words = METHODS.get(str(method), str(method)).replace("\n", " ")
    note = f"Estimated {words if words.startswith('from') else f'by {words}'}"
    note += "; the other lines are other ways to estimate it" if len(curve.columns) > 1 else ""
    return add_title(ax, finding, note)


def _largest_k(needed: Needed) -> int:
    """Largest k to show: the end of the interval, unless that is far beyond the median."""
    far = max(min(1.15 * upper, 3 * median) for median, _, upper in needed.values())
    return max(8, math.ceil(min(far, MAX_K)))


def _draw_curve(ax: Axes, number: int, icc: Array, k: NDArray[np.int64], prob: float) -> float:
    """Draw the median and band by k; return the height at which the median ends."""
    colour = Palette.of(ax).series_colour(number)
    reached = np.stack([quantities.icc_k(icc, each) for each in k.tolist()], axis=1)
    lower, upper = interval_bounds(reached, prob)
    ax.fill_between(k, lower, upper, color=colour, alpha=0.2, linewidth=0)
    median = np.median(reached, axis=0)
    ax.plot(k, median, color=colour, linestyle=STYLES[number % len(STYLES)][1], linewidth=1.8)
    return float(median[-1])


def _draw_crossing(
    ax: Axes, number: int, needed: tuple[float, float, float], target: float, last: int
) -> None:
    """Mark where the target is reached: the median as a marker, the interval as a line."""
    median, lower, upper = needed
    colour, mark = Palette.of(ax).series_colour(number), STYLES[number % len(STYLES)][0]
    ax.plot([lower, min(upper, last)], [target, target], color=colour, linewidth=2.2, alpha=0.7)
    if upper > last:
        ax.plot([last], [target], color=colour, marker=">", clip_on=False)
    if median <= last:
        ax.plot([median, median], [0, target], color=colour, linewidth=0.8, linestyle=":")
        ax.plot([median], [target], color=colour, marker=mark, clip_on=False)


def _label(pool: str, needed: tuple[float, float, float]) -> str:
    median, lower, upper = map(whole_text, needed)
    return f"{pool}: k = {median} ({lower} to {upper})".removeprefix(": ")


def _icc_k_finding(needed: Needed, target: float, prob: float) -> str:
    by_pool = {pool: median for pool, (median, _, _) in needed.items()}
    fewest, most = min(by_pool, key=by_pool.__getitem__), max(by_pool, key=by_pool.__getitem__)
    goal = f"a reliability of {target:g}"
    if len(needed) > 1 and by_pool[fewest] < by_pool[most]:
        return (
            f"{whole_text(by_pool[fewest])} ({short(fewest)}) to {whole_text(by_pool[most])} "
            f"({short(most)}) ratings per item reach {goal}"
        )
    median, lower, upper = map(whole_text, needed[fewest])
    ratings = "1 rating per item reaches" if median == "1" else f"{median} ratings per item reach"
    if len(needed) > 1:
        return f"{ratings} {goal} in all pools"
    return f"{ratings} {goal} ({100 * prob:g}% interval {lower} to {upper})"
