"""What all pictures share: where they are drawn, their titles and texts."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from reliabayes.arrays import Array
from reliabayes.plots.inks import Inks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LETTER = 0.57  # mean width of a letter, as a share of its size


def canvas(ax: Axes | None, width: float = 6.4, height: float = 3.6) -> Axes:
    """The user's Axes; or those of a new figure, ``width`` by ``height`` inches."""
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.subplots(figsize=(width, height), layout="constrained")[1]
    return ax


def titled(ax: Axes, finding: str, note: str, labels: Iterable[str] = ()) -> Axes:
    """Axes with a finding above them, a note on what it is of, and no box around them.

    ``labels`` are those to the left of the Axes, which narrow them.
    """
    from matplotlib.font_manager import FontProperties

    inks = Inks.of(ax)
    small, medium = (FontProperties(size=name).get_size_in_points() for name in ("small", "medium"))
    left = LETTER * small * max(map(len, labels), default=0)
    points = 72 * 1.12 * ax.bbox.width / ax.figure.dpi - left
    heading, lines = (
        textwrap.wrap(
            text,
            max(20, int(points / (LETTER * size))),
            break_long_words=False,
            break_on_hyphens=False,
        )
        for text, size in ((finding, medium), (note, small))
    )
    ax.annotate(
        "\n".join(lines), (0, 1), (0, 6), xycoords="axes fraction", textcoords="offset points",
        fontsize="small", color=inks.muted, va="bottom", linespacing=1.15, parse_math=False,
    )  # fmt: skip
    ax.set_title(
        "\n".join(heading), loc="left", pad=9 + 1.3 * small * len(lines), fontweight="bold",
        fontsize="medium", color=inks.text, parse_math=False,
    )  # fmt: skip
    return bare(ax)


def bare(ax: Axes, *sides: str) -> Axes:
    """Axes with no lines but those of ``sides``, by default at the bottom and on the left."""
    inks, sides = Inks.of(ax), sides or ("bottom", "left")
    for side, spine in ax.spines.items():
        spine.set_visible(side in sides)
        spine.set_color(inks.muted)
    ax.tick_params(colors=inks.muted, labelsize="small")
    for axis in (ax.xaxis, ax.yaxis):
        axis.label.set(color=inks.muted, fontsize="small")
    return ax


def panels(ax: Axes, titles: Sequence[str], across: int) -> list[Axes]:
    """Small Axes in rows of ``across`` inside of ``ax``, which itself is no longer seen."""
    ax.set_axis_off()
    width, height = ax.bbox.width / ax.figure.dpi, ax.bbox.height / ax.figure.dpi
    down = -(-len(titles) // across)
    wide, high = 0.65 / width, 0.75 / height
    top = 1 - 0.25 / height  # the first titles stand below the note
    width, height = (1 + wide) / across - wide, (top + high) / down - high
    made = []
    for number, title in enumerate(titles):
        row, column = divmod(number, across)
        corner = column * (width + wide), (down - 1 - row) * (height + high)
        panel = bare(ax.inset_axes((*corner, width, height)))
        panel.set_title(
            title, loc="left", fontsize="small", color=Inks.of(ax).text, parse_math=False
        )
        made.append(panel)
    return made


def name_rows(ax: Axes, at: ArrayLike, names: Sequence[str]) -> None:
    """Name heights on the left side, without ticks."""
    ax.set_yticks(at, names, parse_math=False)
    ax.tick_params(axis="y", length=0)


def name_columns(ax: Axes, at: ArrayLike, names: Sequence[str]) -> None:
    """Name places along the bottom, without ticks; names of more than three letters are turned."""
    turned = max(map(len, names), default=0) > 3
    ax.set_xticks(at, names, parse_math=False)
    ax.tick_params(axis="x", length=0, rotation=90 if turned else 0)


def beside(ax: Axes, at: Iterable[float], texts: Sequence[str], **style: Any) -> None:
    """Texts to the right of the Axes, at heights in units of the data."""
    style = {"fontsize": "small", "color": Inks.of(ax).muted, "va": "center"} | style
    for height, text in zip(at, texts, strict=True):
        ax.annotate(
            text, (1, height), (6, 0), xycoords=("axes fraction", "data"),
            textcoords="offset points", annotation_clip=False, parse_math=False, **style,
        )  # fmt: skip


def percentages(ax: Axes, axis: str = "x") -> None:
    """Show shares as percentages."""
    from matplotlib.ticker import PercentFormatter

    getattr(ax, f"{axis}axis").set_major_formatter(PercentFormatter(1, decimals=0))


def whole_numbers(ax: Axes, axis: str = "x") -> None:
    """Put ticks at whole numbers only."""
    from matplotlib.ticker import MaxNLocator

    getattr(ax, f"{axis}axis").set_major_locator(MaxNLocator(integer=True))


def apart(values: Sequence[float] | Array, gap: float) -> Array:
    """Heights nearest above or below ``values``, in their order, at least ``gap`` apart."""
    order = np.argsort(values, kind="stable")
    steps = gap * np.arange(len(order))
    placed = np.maximum.accumulate(np.asarray(values)[order] - steps) + steps
    found = np.empty(len(order))
    found[order] = placed - (placed - np.asarray(values)[order]).max() / 2
    return found
