"""Differences of two methods by their mean, with limits of agreement."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reliabayes.agreement import LimitsOfAgreement
from reliabayes.arrays import Array
from reliabayes.plots.labels import short
from reliabayes.plots.layout import add_title, axes_or_new, label_right, separated
from reliabayes.plots.palette import Palette

if TYPE_CHECKING:
    from matplotlib.axes import Axes

N_PLACES = 60  # of curves of a trend
MARGIN = 0.05  # on either side of the means, as a proportion of their range
GAP = 0.12  # between labels, as a proportion of the height


def bland_altman(limits: LimitsOfAgreement, *, ax: Axes | None = None) -> Axes:
    """Differences by means of two raters, with bias and limits of agreement and their intervals.

    With ``log`` they are ratios by geometric means, and with a trend bias and limits are curves.

    Parameters
    ----------
    limits : LimitsOfAgreement
        Result of `reliabayes.agreement.limits_of_agreement`.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    TypeError
        The argument is no such result.

    References
    ----------
    Bland & Altman (1986). https://doi.org/10.1016/S0140-6736(86)90837-8

    Examples
    --------
    >>> import numpy as np
    >>> import reliabayes as rb
    >>> from matplotlib.figure import Figure
    >>> ratings = rb.Ratings.from_wide(np.array([[1, 2], [3, 3], [6, 5], [9, 7], [12, 10]]))
    >>> limits = rb.agreement.limits_of_agreement(ratings)
    >>> ax = bland_altman(limits, ax=Figure().subplots())
    >>> ax.get_title(loc="left")
    '95% of differences lie between -1.755 and 3.355'
    """
    if not isinstance(limits, LimitsOfAgreement):
        raise TypeError(
            "limits must be a result of agreement.limits_of_agreement(ratings); found "
            f"{type(limits).__name__}."
        )
    ax = axes_or_new(ax, height=4.2)
    palette = Palette.of(ax)
    means, values = limits.points
    places = _places(means, n_places=2 if limits.slope is None else N_PLACES)
    curves = [limits.at(place) for place in places]
    colours = {"upper": palette.series[1], "bias": palette.series[0], "lower": palette.series[1]}
    for name, colour in colours.items():
        each = [getattr(curve, name) for curve in curves]
        low, high = ([getattr(one, end) for one in each] for end in ("lower", "upper"))
        ax.fill_between(places, low, high, color=colour, alpha=0.18, linewidth=0)
        style = "-" if name == "bias" else "--"
        ax.plot(places, [one.value for one in each], color=colour, linestyle=style)
    ax.plot(means, values, "o", markersize=4, color=palette.text)
    ax.axhline(1 if limits.options.log else 0, color=palette.muted, linewidth=0.8, zorder=0)
    ax.set_xlim(places[0], places[-1])
    _name_axes(ax, limits)
    _label_lines(ax, limits, curves[-1])
    return add_title(ax, _finding(limits), _note(limits))


def _places(means: Array, n_places: int) -> Array:
    low, high = float(means.min()), float(means.max())
    beyond = MARGIN * (high - low) or 0.5 * abs(low) or 0.5
    start = low - beyond if low - beyond > 0 or low <= 0 else low / 2  # logarithms need it above 0
    return np.linspace(start, high + beyond, n_places)


def _name_axes(ax: Axes, limits: LimitsOfAgreement) -> None:
    one, other = (short(str(rater)) for rater in limits.raters)
    is_ratio = limits.options.log
    ax.set_xlabel(f"{'geometric mean' if is_ratio else 'mean'} of {one} and {other}")
    ax.set_ylabel(f"{one} {'divided by' if is_ratio else 'minus'} {other}")


def _label_lines(ax: Axes, limits: LimitsOfAgreement, at_end: LimitsOfAgreement) -> None:
    """Say at their right ends what the lines mean."""
    what = "ratio" if limits.options.log else "difference"
    tail = f"{50 * (1 - limits.options.agree):.3g}%"
    ends = {
        f"{tail} of {what}s\nare below {at_end.lower.value:.4g}": at_end.lower.value,
        f"mean {what}\n{at_end.bias.value:.4g}": at_end.bias.value,
        f"{tail} of {what}s\nare above {at_end.upper.value:.4g}": at_end.upper.value,
    }
    low, high = ax.get_ylim()
    label_right(ax, separated(list(ends.values()), GAP * (high - low)), list(ends))


def _finding(limits: LimitsOfAgreement) -> str:
    what = "ratios" if limits.options.log else "differences"
    where = "" if limits.slope is None else ", at the mean of all,"
    ends = f"{limits.lower.value:.4g} and {limits.upper.value:.4g}"
    return f"{100 * limits.options.agree:g}% of {what}{where} lie between {ends}"


def _note(limits: LimitsOfAgreement) -> str:
    points = "A point for each item"
    if limits.replicates == "constant":
        points = "Points are means of repeated ratings, and limits are for single ratings"
    elif limits.replicates == "linked":
        points = "A point for each pair of ratings made at the same time"
    interval = f"{100 * limits.options.prob:g}% intervals"
    return f"{points}. Bands are {interval} of the mean and of each limit"
