"""A picture of stated probabilities of labels and how often these are right, on ten crowds.

`benchmarks.labels` and `benchmarks.statement` have measured what it shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from benchmarks.labels import HONEST, PUBLISHED, STATED
from reliabayes.plots.layout import add_title, axes_or_new, percent_ticks
from reliabayes.plots.palette import STYLES, Palette

from .execution import MODES, drawn

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LINES: Mapping[str, tuple[str, ...]] = {
    "stated honestly": (HONEST[0],),
    "published models": PUBLISHED,
}
SURE = 0.95
LARGEST = 260  # area of a point of half of the items, in square points


def files() -> Iterator[tuple[str, bytes]]:
    """Paths and contents of the images."""
    for mode in MODES:
        yield f"stated_{mode}.png", drawn("draw()", {"draw": draw}, mode)[1]


def draw() -> Axes:
    """Proportion right against the stated probability, by bin, with items of all sets pooled."""
    found = pd.read_csv(STATED)
    ax = axes_or_new(None, height=5.2)
    palette = Palette.of(ax)
    ax.plot([0, 1], [0, 1], color=palette.muted, linewidth=1)
    for number, (name, methods) in enumerate(LINES.items()):
        bins, (marker, line) = pooled(found, methods), STYLES[number]
        colour = palette.series_colour(number)
        ax.plot(bins["stated"], bins["right"], line, color=colour, linewidth=1.5)
        size = 2 * LARGEST * bins["items"] / bins["items"].sum()
        ax.scatter(
            bins["stated"], bins["right"], s=np.maximum(size, 12), color=colour, marker=marker
        )
        ax.plot([], [], line, marker=marker, color=colour, label=name)
    ax.legend(loc="upper left", frameon=False, fontsize="small", labelcolor=palette.text)
    ax.set(xlim=(0.35, 1.02), ylim=(0.35, 1.02), xlabel="stated probability of a label")
    ax.set_ylabel("labels that are right")
    for axis in ("x", "y"):
        percent_ticks(ax, axis)
    items = int(found.loc[found["method"] == HONEST[0], "items"].sum())
    note = (
        f"{items:,} items of ten public crowds, each stated without its known answers; the area of "
        "a point is proportional to its items. The title is of labels at 95% and more."
    )
    return add_title(ax, finding(found), note)


def finding(found: pd.DataFrame) -> str:
    """What labels at 95% and more are worth, in a sentence."""
    (published, right), (honest, honest_right) = (
        sure(pooled(found, LINES[name])) for name in ("published models", "stated honestly")
    )
    return (
        f"Labels that published models call {published:.1%} likely are right in {right:.0%} of "
        f"cases; of those stated honestly at {honest:.0%}, {honest_right:.0%} are right"
    )


def sure(bins: pd.DataFrame) -> tuple[float, float]:
    """Mean stated probability, and proportion right, of items at 0.95 and more."""
    at = bins[bins["least"] >= SURE]
    stated, right = np.average(at[["stated", "right"]], axis=0, weights=at["items"])
    return float(stated), float(right)


def pooled(found: pd.DataFrame, methods: tuple[str, ...]) -> pd.DataFrame:
    """Bins over all sets and some methods."""
    rows = found[found["method"].isin(methods)]
    least = rows["stated_in"].str.extract(r"\((.*),", expand=False).astype(float)
    sums = rows[["stated", "right"]].mul(rows["items"], axis=0).assign(items=rows["items"])
    of_bins = sums.groupby(least.rename("least")).sum().reset_index()
    return of_bins.assign(**{x: of_bins[x] / of_bins["items"] for x in ("stated", "right")})
