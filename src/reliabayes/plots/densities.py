"""Posterior densities in rows, each above its interval and median."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from reliabayes.arrays import Array
from reliabayes.plots.labels import short
from reliabayes.plots.layout import label_right, label_rows
from reliabayes.plots.palette import Palette
from reliabayes.results.estimates import estimate_text, median_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

UNBOUNDED = (-np.inf, np.inf)
BINS = 400
LABEL = 26  # characters in a line of a label
HEIGHT = 0.72  # of a density, in distances between rows


def density_rows(
    ax: Axes,
    rows: Mapping[str, Array],
    prob: float,
    limits: tuple[float, float] = UNBOUNDED,
    form: str = ".2f",
) -> list[str]:
    """Draw a row for each posterior: its density, darker within the interval, and its median.

    Parameters
    ----------
    ax : matplotlib Axes
        Axes to draw on.
    rows : mapping of str to array of float, shape (S,)
        Draws by label.
    prob : float
        Probability of the equal-tailed intervals.
    limits : tuple of two floats, optional
        Range of the quantity; unbounded by default.
    form : str, default ".2f"
        Format of the numbers on the right.

    Returns
    -------
    list of str
        The labels as they are written, long ones on two lines.
    """
    for row, draws in enumerate(rows.values()):
        _density_row(ax, row, draws, prob, limits)
    labels = [
        "\n".join(short(line, LABEL) for text in name.split("\n") for line in _two_lines(text))
        for name in rows
    ]
    label_rows(ax, range(len(rows)), labels)
    ax.set_ylim(len(rows) - 0.7, -0.95)
    texts = [
        estimate_text(draws, prob, form).replace(f"{100 * prob:g}% interval ", "")
        for draws in rows.values()
    ]
    label_right(ax, range(len(rows)), texts)
    return labels


def density(draws: Array, limits: tuple[float, float] = UNBOUNDED) -> tuple[Array, Array]:
    """Kernel density of draws, with normal kernels reflected at the limits.

    Parameters
    ----------
    draws : array of float, shape (S,)
        Posterior draws.
    limits : tuple of two floats, optional
        Range of the quantity; unbounded by default.

    Returns
    -------
    place, height : array of float, shape (400,)
        Values of the quantity, and the density there.
    """
    sd = min(draws.std(), np.subtract(*np.quantile(draws, [0.75, 0.25])) / 1.34)
    bandwidth = 0.9 * sd * len(draws) ** -0.2 or 1e-3
    lowest = max(draws.min() - 4 * bandwidth, limits[0])
    highest = min(draws.max() + 4 * bandwidth, limits[1])
    height, edges = np.histogram(draws, BINS, (lowest, highest), density=True)
    bins = bandwidth / (edges[1] - edges[0])
    reach = math.ceil(4 * bins)
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) / bins) ** 2)
    reflected = np.pad(height, reach, mode="symmetric")
    return (edges[1:] + edges[:-1]) / 2, np.convolve(reflected, kernel / kernel.sum(), "valid")


def _two_lines(text: str) -> list[str]:
    """A text on two lines, with whole words on the first, if it is too long for one."""
    first, *rest = textwrap.wrap(text, LABEL, break_on_hyphens=False, break_long_words=False) or [
        ""
    ]
    return [first, " ".join(rest)] if rest else [first]


def _density_row(
    ax: Axes, row: float, draws: Array, prob: float, limits: tuple[float, float]
) -> None:
    colour = Palette.of(ax).series[0]
    place, height = density(draws, limits)
    median, lower, upper = median_interval(draws, prob)
    top = row - HEIGHT * height / height.max()
    ax.fill_between(place, row, top, color=colour, alpha=0.22, linewidth=0)
    inside = (place >= lower) & (place <= upper)
    ax.fill_between(place, row, top, where=inside, color=colour, alpha=0.45, linewidth=0)
    ax.plot([lower, upper], [row, row], color=colour, linewidth=2, solid_capstyle="butt")
    ax.plot([median], [row], marker="o", color=colour, markersize=6)
