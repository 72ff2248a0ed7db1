"""Axes, titles, notes and labels that all plots share."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from reliabayes.arrays import Array
from reliabayes.plots.palette import Palette

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CHARACTER_WIDTH = 0.57  # mean width of a character, in font sizes


def axes_or_new(ax: Axes | None, width: float = 6.4, height: float = 3.6) -> Axes:
    """The given Axes, or those of a new figure.

    Parameters
    ----------
    ax : matplotlib Axes or None
        Returned unless None.
    width : float
        Width of the new figure, in inches, unless ``figure.figsize`` of matplotlib is wider.
    height : float
        Height of the new figure, in inches.

    Returns
    -------
    matplotlib Axes
    """
    if ax is None:
        import matplotlib.pyplot as plt

        size = max(width, new_width()), height
        ax = plt.subplots(figsize=size, layout="constrained")[1]
    return ax


def new_width() -> float:
    """Width of new figures in inches, which styles of matplotlib set as ``figure.figsize``.

    Returns
    -------
    float
    """
    import matplotlib as mpl

    return float(mpl.rcParams["figure.figsize"][0])


def add_title(ax: Axes, finding: str, note: str, labels: Iterable[str] = ()) -> Axes:
    """Write the finding in bold above the Axes and a note below it, and remove the frame.

    Parameters
    ----------
    ax : matplotlib Axes
        Axes whose other content is complete.
    finding : str
        What the plot shows, in a sentence.
    note : str
        Which model and data it is of, and how to read it.
    labels : iterable of str, optional
        Labels on the left of the Axes, which leave less width for the title.

    Returns
    -------
    matplotlib Axes
        The same Axes.
    """
    palette = Palette.of(ax)
    small, medium = font_size("small"), font_size("medium")
    lines_of_labels = (line for label in labels for line in label.split("\n"))
    left = CHARACTER_WIDTH * small * max(map(len, lines_of_labels), default=0)
    points = 72 * 1.12 * ax.bbox.width / ax.figure.dpi - left
    heading, lines = (
        textwrap.wrap(
            text,
            max(20, int(points / (CHARACTER_WIDTH * size))),
            break_long_words=False,
            break_on_hyphens=False,
        )
        for text, size in ((finding, medium), (note, small))
    )
    ax.annotate(
        "\n".join(lines), (0, 1), (0, 6), xycoords="axes fraction", textcoords="offset points",
        fontsize="small", color=palette.muted, va="bottom", linespacing=1.15, parse_math=False,
    )  # fmt: skip
    ax.set_title(
        "\n".join(heading), loc="left", pad=9 + 1.3 * small * len(lines), fontweight="bold",
        fontsize="medium", color=palette.text, parse_math=False,
    )  # fmt: skip
    return remove_frame(ax)


def remove_frame(ax: Axes, *sides: str) -> Axes:
    """Hide the frame except on some sides, and mute ticks and axis labels.

    Parameters
    ----------
    ax : matplotlib Axes
        Axes to change.
    *sides : str
        Sides whose line stays; by default the bottom and the left.

    Returns
    -------
    matplotlib Axes
        The same Axes.
    """
    palette, sides = Palette.of(ax), sides or ("bottom", "left")
    for side, spine in ax.spines.items():
        spine.set_visible(side in sides)
        spine.set_color(palette.muted)
    ax.tick_params(colors=palette.muted, labelsize="small")
    for axis in (ax.xaxis, ax.yaxis):
        axis.label.set(color=palette.muted, fontsize="small")
    return ax


def panels(ax: Axes, titles: Sequence[str], columns: int) -> list[Axes]:
    """Small Axes in a grid inside ``ax``, which itself becomes invisible.

    Parameters
    ----------
    ax : matplotlib Axes
        Axes to divide.
    titles : sequence of str
        Title of each panel.
    columns : int
        Number of panels in a row.

    Returns
    -------
    list of matplotlib Axes
    """
    ax.set_axis_off()
    width, height = ax.bbox.width / ax.figure.dpi, ax.bbox.height / ax.figure.dpi
    rows = -(-len(titles) // columns)
    wide, high = 0.65 / width, 0.75 / height
    top = 1 - 0.25 / height  # leaves room for the titles of the first row below the note
    width, height = (1 + wide) / columns - wide, (top + high) / rows - high
    made = []
    for number, title in enumerate(titles):
        row, column = divmod(number, columns)
        corner = column * (width + wide), (rows - 1 - row) * (height + high)
        panel = remove_frame(ax.inset_axes((*corner, width, height)))
        panel.set_title(
            title, loc="left", fontsize="small", color=Palette.of(ax).text, parse_math=False
        )
        made.append(panel)
    return made


def label_rows(ax: Axes, at: ArrayLike, names: Sequence[str]) -> None:
    """Label heights on the left, without ticks.

    Parameters
    ----------
    ax : matplotlib Axes
        Axes to label.
    at : array_like of float
        Heights in data units.
    names : sequence of str
        A label for each height.
    """
    ax.set_yticks(at, names, parse_math=False)
    ax.tick_params(axis="y", length=0)


def label_columns(ax: Axes, at: ArrayLike, names: Sequence[str], pitch: float) -> bool:
    """Label columns along the bottom, without ticks, if all labels fit side by side.

    Parameters
    ----------
    ax : matplotlib Axes
        Axes to label.
    at : array_like of float
        Places in data units.
    names : sequence of str
        A label for each place.
    pitch : float
        Distance between two columns as a proportion of the width of the Axes.

    Returns
    -------
    bool
        Whether they fit; if not, there are no labels.
    """
    longest = max(map(len, names), default=0)
    points = 72 * pitch * ax.bbox.width / ax.figure.dpi
    fits = CHARACTER_WIDTH * font_size("small") * (longest + 1) <= points
    ax.set_xticks(at if fits else [], names if fits else [], parse_math=False)
    ax.tick_params(axis="x", length=0)
    return bool(fits)


def rows_fit(ax: Axes, number: int) -> bool:
    """Whether the labels of a number of rows have room below each other.

    Parameters
    ----------
    ax : matplotlib Axes
        Axes with the rows.
    number : int
        Number of rows.

    Returns
    -------
    bool
    """
    return bool(72 * ax.bbox.height / ax.figure.dpi >= 0.95 * font_size("small") * number)


def text_width(width: float, ax: Axes) -> int:
    """How many characters of a small text fit into a width.

    Parameters
    ----------
    width : float
        In pixels of the figure.
    ax : matplotlib Axes
        Axes with the text.

    Returns
    -------
    int
    """
    return int(72 * width / ax.figure.dpi / (CHARACTER_WIDTH * font_size("small")))


def font_size(name: str) -> float:
    """Size in points of a font size by its name.

    Parameters
    ----------
    name : str
        Such as ``"small"``.

    Returns
    -------
    float
    """
    from matplotlib.font_manager import FontProperties

    return float(FontProperties(size=name).get_size_in_points())


def label_right(ax: Axes, at: Iterable[float], texts: Sequence[str], **style: Any) -> None:
    """Write texts to the right of the Axes.

    Parameters
    ----------
    ax : matplotlib Axes
        Axes to label.
    at : iterable of float
        Heights in data units.
    texts : sequence of str
        A text for each height.
    **style
        Arguments of ``Axes.annotate`` that differ from small muted text.
    """
    style = {"fontsize": "small", "color": Palette.of(ax).muted, "va": "center"} | style
    for height, text in zip(at, texts, strict=True):
        ax.annotate(
            text, (1, height), (6, 0), xycoords=("axes fraction", "data"),
            textcoords="offset points", annotation_clip=False, parse_math=False, **style,
        )  # fmt: skip


def write_inside(
    ax: Axes, lines: Sequence[str], place: tuple[float, float], side: str, end: str
) -> None:
    """Write lines of text where the curve of a plot leaves room.

    Parameters
    ----------
    ax : matplotlib Axes
        Axes with the curve.
    lines : sequence of str
        The lines.
    place : tuple of two floats
        Corner of the text, as proportions of the width and the height of the Axes.
    side : str
        Which side of the text the place is on, ``"left"`` or ``"right"``.
    end : str
        Which end of the text the place is at, ``"top"`` or ``"bottom"``.
    """
    palette = Palette.of(ax)
    ax.annotate(
        "\n".join(lines), place, xycoords="axes fraction", fontsize="small", ha=side,
        va=end, color=palette.text, parse_math=False,
        bbox={"facecolor": palette.background, "alpha": 0.8, "linewidth": 0, "pad": 1},
    )  # fmt: skip


def percent_ticks(ax: Axes, axis: str = "x") -> None:
    """Show proportions as percentages.

    Parameters
    ----------
    ax : matplotlib Axes
        Axes whose ticks change.
    axis : str, default "x"
        Either ``"x"`` or ``"y"``.
    """
    from matplotlib.ticker import PercentFormatter

    getattr(ax, f"{axis}axis").set_major_formatter(PercentFormatter(1, decimals=0))


def integer_ticks(ax: Axes, axis: str = "x") -> None:
    """Put ticks at whole numbers only.

    Parameters
    ----------
    ax : matplotlib Axes
        Axes whose ticks change.
    axis : str, default "x"
        Either ``"x"`` or ``"y"``.
    """
    from matplotlib.ticker import MaxNLocator

    getattr(ax, f"{axis}axis").set_major_locator(MaxNLocator(integer=True))


def separated(values: Sequence[float] | Array, gap: float, highest: float = np.inf) -> Array:
    """Heights close to some values, in the same order, that leave room for labels.

    Parameters
    ----------
    values : sequence of float
        Preferred heights.
    gap : float
        Smallest distance between two heights.
    highest : float, optional
        Largest height; all are lowered if one would be above.

    Returns
    -------
    array of float
        A height for each value.

    Examples
    --------
    >>> separated([0.5, 0.5], 0.25)
    array([0.375, 0.625])
    >>> separated([0.5, 0.5], 0.25, highest=0.5)
    array([0.25, 0.5 ])
    """
    order = np.argsort(values, kind="stable")
    steps = gap * np.arange(len(order))
    placed = np.maximum.accumulate(np.asarray(values)[order] - steps) + steps
    found = np.empty(len(order))
    found[order] = placed - (placed - np.asarray(values)[order]).max() / 2
    found -= max(0.0, found.max() - highest)
    return found
