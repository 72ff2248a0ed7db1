"""Posteriors in rows: the density of each quantity above its interval."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from reliabayes.arrays import Array
from reliabayes.plots.canvas import beside, name_rows
from reliabayes.plots.inks import Inks
from reliabayes.ratings import Ratings
from reliabayes.results.summaries import bounds, scalars

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from reliabayes.results.fit import Fit

Rows = Mapping[str, Array]

RANGE = (-np.inf, np.inf)
BINS = 400
HEIGHT = 0.72  # of a density, rows being 1 apart


def quantity(fit: Fit, name: str) -> dict[str, Array]:
    """Draws (S,) of a quantity by pool, pair or rater, the empty name standing for all.

    Raises
    ------
    ValueError
        The model reports no such quantity.
    """
    if name not in fit.quantities:
        raise ValueError(
            f"fit: it must be of a model that reports {name}; {type(fit.model).__name__} reports "
            f"{', '.join(map(str, fit.quantities))}."
        )
    labelled = scalars(name, fit.quantities[name])
    return {label[len(name) + 1 : -1]: draws.ravel() for label, draws in labelled}


def about(fit: Fit) -> str:
    """Model and data, for the note of a picture."""
    return f"{type(fit.model).__name__}, {size(fit.ratings)}"


def size(ratings: Ratings) -> str:
    """How many ratings, items and raters."""
    by = "anonymous raters" if ratings.anonymous_raters else f"{ratings.n_raters:,} raters"
    return f"{len(ratings):,} ratings of {ratings.n_items:,} items by {by}"


def middle(draws: Array, prob: float) -> tuple[float, float, float]:
    """Median, and ends of the equal-tailed interval."""
    lower, upper = bounds(draws, prob)
    return float(np.median(draws)), float(lower), float(upper)


def interval(draws: Array, prob: float, form: str = ".2f") -> str:
    """Median and interval in words: ``0.30 (90% interval 0.08 to 0.66)``."""
    median, lower, upper = middle(draws, prob)
    return f"{median:{form}} ({100 * prob:g}% interval {lower:{form}} to {upper:{form}})"


def density(draws: Array, limits: tuple[float, float] = RANGE) -> tuple[Array, Array]:
    """Places (B,) and density (B,) of draws, by normal kernels reflected at ``limits``."""
    spread = min(draws.std(), np.subtract(*np.quantile(draws, [0.75, 0.25])) / 1.34)
    width = 0.9 * spread * len(draws) ** -0.2 or 1e-3
    lowest = max(draws.min() - 4 * width, limits[0])
    highest = min(draws.max() + 4 * width, limits[1])
    height, edges = np.histogram(draws, BINS, (lowest, highest), density=True)
    deviation = width / (edges[1] - edges[0])
    reach = math.ceil(4 * deviation)
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) / deviation) ** 2)
    reflected = np.pad(height, reach, mode="symmetric")
    return (edges[1:] + edges[:-1]) / 2, np.convolve(reflected, kernel / kernel.sum(), "valid")


def ridges(
    ax: Axes, rows: Rows, prob: float, limits: tuple[float, float] = RANGE, form: str = ".2f"
) -> None:
    """A row for each posterior: density, the part within its interval darker, and the median."""
    inks = Inks.of(ax)
    for row, draws in enumerate(rows.values()):
        ridge(ax, row, draws, inks.series[0], prob, limits)
    name_rows(ax, range(len(rows)), list(rows))
    ax.set_ylim(len(rows) - 0.7, -0.95)
    texts = [interval(draws, prob, form).replace(f"{100 * prob:g}% interval ", "") for draws in
             rows.values()]  # fmt: skip
    beside(ax, range(len(rows)), texts)


def ridge(
    ax: Axes, row: float, draws: Array, colour: Any, prob: float, limits: tuple[float, float]
) -> None:
    """One density on its baseline."""
    place, height = density(draws, limits)
    median, lower, upper = middle(draws, prob)
    top = row - HEIGHT * height / height.max()
    ax.fill_between(place, row, top, color=colour, alpha=0.22, linewidth=0)
    inside = (place >= lower) & (place <= upper)
    ax.fill_between(place, row, top, where=inside, color=colour, alpha=0.45, linewidth=0)
    ax.plot([lower, upper], [row, row], color=colour, linewidth=2, solid_capstyle="butt")
    ax.plot([median], [row], marker="o", color=colour, markersize=6)
