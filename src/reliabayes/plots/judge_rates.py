"""Rates or mean scores of systems with judges, beside those by people alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reliabayes.families.judges.conclusions import Better
from reliabayes.plots.labels import short, shortened
from reliabayes.plots.layout import (
    add_title,
    axes_or_new,
    label_right,
    label_rows,
    percent_ticks,
    remove_frame,
)
from reliabayes.plots.palette import STYLES, Palette
from reliabayes.results.estimates import median_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_SYSTEMS = 20  # that are shown, the best ones
APART = 0.17  # between the two intervals of a system and its row
HARDLY = 0.02  # of a width, which is not worth stating


def judge_rates(found: Better, alone: Better | None = None, ax: Axes | None = None) -> Axes:
    """Rate or mean score of each system with judges, beside that by people alone.

    Parameters
    ----------
    found : Better
        Systems by people and judges.
    alone : Better, optional
        The same systems by people alone, who may have seen only some of them.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
    """
    order = found.order[:MOST_SYSTEMS]
    names = shortened([found.name(at) for at in order])
    ax = axes_or_new(ax, height=1.4 + (0.5 if alone else 0.35) * len(order))
    by = {found.name(at): [found.value(at)] for at in order}
    for at in alone.order if alone else []:
        assert alone is not None
        if alone.name(at) in by:
            by[alone.name(at)].append(alone.value(at))
    form, ratios = ".0%" if found.is_rate else ".2f", []
    for row, values in enumerate(by.values()):
        widths = []
        for which, draws in enumerate(values):
            height = row + APART * (2 * which - 1) * (alone is not None)
            widths.append(_draw(ax, height, which, median_interval(draws, found.prob), form))
        ratios += [widths[0] / widths[1]] if len(widths) > 1 else []
    label_rows(ax, np.arange(len(order)), names)
    ax.set(xlabel=_what(found), ylim=(len(order) - 0.4, -0.6))
    if found.is_rate:
        percent_ticks(ax)
        lower, upper = ax.get_xlim()
        ax.set_xlim(max(0.0, lower), min(1.0, upper))
    add_title(ax, _finding(found, ratios), _note(found, alone), names)
    return remove_frame(ax, "bottom")


def _draw(ax: Axes, at: float, which: int, found: tuple[float, float, float], form: str) -> float:
    """Draw a median on its interval, and return its width."""
    palette, mark, (median, lower, upper) = Palette.of(ax), STYLES[which][0], found
    colour = palette.series_colour(which)
    ax.plot([lower, upper], [at, at], color=colour, linewidth=2 if which == 0 else 1.2)
    ax.plot(
        [median], [at], color=colour, marker=mark, markersize=6,
        markerfacecolor=colour if which == 0 else palette.background,
    )  # fmt: skip
    text = f"{median:{form}} ({lower:{form}} to {upper:{form}})"
    label_right(ax, [at], [text], color=palette.label_colour(which))
    return upper - lower


def _what(found: Better) -> str:
    if not found.is_rate:
        return "mean score"
    rated = "that a person would rate" if found.of == "people" else "that are truly"
    return f"share of answers {rated} {short(found.category)}"


def _finding(found: Better, ratios: list[float]) -> str:
    """How much shorter intervals are than by people alone, or which system is highest."""
    if not ratios:
        what = "share" if found.is_rate else "mean score"
        return f"{short(found.name(found.order[0]))} has the highest {what}"
    shorter = 1 - float(np.median(ratios))
    if abs(shorter) < HARDLY:
        return "Intervals with judges are as wide as by people alone"
    word = "shorter" if shorter > 0 else "wider"
    return f"Intervals with judges are {abs(shorter):.0%} {word} than by people alone"


def _note(found: Better, alone: Better | None) -> str:
    medians = f"Medians and {100 * found.prob:g}% intervals"
    left = len(found.order) - MOST_SYSTEMS
    few = f"; the highest {MOST_SYSTEMS} of {len(found.order)} systems" if left > 0 else ""
    if alone is None:
        return f"{medians}{few}."
    return (
        f"{medians}{few}. Circles, above: people and judges together. Squares, below: people alone."
    )
