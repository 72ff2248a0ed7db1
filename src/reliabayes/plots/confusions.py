"""Confusion matrices of raters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from reliabayes.arrays import Array
from reliabayes.plots.labels import short, shortened, tied, wrapped
from reliabayes.plots.layout import (
    add_title,
    axes_or_new,
    font_size,
    label_rows,
    new_width,
    remove_frame,
)
from reliabayes.plots.palette import Palette
from reliabayes.results.estimates import draws_by_label, source_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from reliabayes.results.fit import Fit

MAX_CELLS, CELLS_IN_ROW = 160, 21  # of all matrices together, and side by side
MARGIN = 1.0  # inch of a new figure that the matrices leave to labels
LINE, LONGEST_WORD = 12, 16  # characters in a line of a category's label, and of a single word
TWO_LINES = 0.3  # inch: height of a cell from which on labels may have two lines
CLEAR = 0.95  # posterior probability from which on the best category differs from the worst
KNOWN = ("theta", "a")  # quantities: how often raters know the true category
WIDEST = 0.74  # width of a capital, in font sizes


def confusion(fit: Fit, *, ax: Axes | None = None) -> Axes:
    """Posterior mean of each rater's confusion matrix, the most informative rater first.

    A row is a true category, a column the rating given. If all matrices together have more than 160
    cells (more than 40 raters with two categories), only those of the most and the least
    informative raters are shown.

    Parameters
    ----------
    fit : Fit
        Fit of a model with true categories.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        The model has no confusion matrices.
    """
    draws_by_label(fit, "confusion")
    raters, matrices, total = _shown(fit)
    number, size = matrices.shape[:2]
    columns = min(math.ceil(math.sqrt(1.6 * number)), max(1, CELLS_IN_ROW // (size + 1)))
    width = new_width() - MARGIN
    cell = min(0.5, width / (columns * (size + 1)))
    pitch = size + max(1, math.ceil(0.22 / cell))
    ax = axes_or_new(ax, height=1.9 + -(-number // columns) * pitch * cell)
    left, top = (size + 1) * (np.arange(number) % columns), pitch * (np.arange(number) // columns)
    _draw(ax, matrices, left, top)
    names = shortened(raters, max(5, int(_characters(cell * (size + 1)))))
    for x, y, name in zip(left, top, names, strict=True):
        ax.text(x, y - 0.12, name, fontsize="x-small", color=Palette.of(ax).text, parse_math=False)
    categories = shortened(fit.ratings.categories, LINE)
    if cell >= TWO_LINES:
        categories = [wrapped(name, LINE, LONGEST_WORD) for name in fit.ratings.categories]
    _label_categories(ax, left, top, categories, width / cell, cell)
    ends = f"The {number // 2:,} most and the {number // 2:,} least informative of"
    shown = f"{ends} {total:,} raters. " if total > number else ""
    add_title(ax, _finding(fit), f"Posterior means. {shown}{source_text(fit)}", categories)
    return remove_frame(ax, "none")


def _shown(fit: Fit) -> tuple[list[Any], Array, int]:
    """Raters and matrices (M, K, K) that are shown, and the number of all raters."""
    mean = fit.quantities["confusion"].mean(("chain", "draw"))
    if "rater" not in mean.dims:
        return ["any rater"], mean.values[None], 1
    informativeness = fit.quantities["informativeness"].mean(("chain", "draw")).values
    order = np.argsort(-informativeness, kind="stable")
    half = max(1, MAX_CELLS // mean.sizes["category"] ** 2 // 2)
    if len(order) > 2 * half:
        order = np.append(order[:half], order[-half:])
    return list(fit.ratings.raters[order]), mean.values[order], len(informativeness)


def _draw(ax: Axes, matrices: Array, left: Array, top: Array) -> None:
    """Draw cells, shaded by probability and with the probability in them."""
    palette, size = Palette.of(ax), matrices.shape[1]
    edges = np.arange(size + 1)
    for matrix, x, y in zip(matrices, left, top, strict=True):
        ax.pcolormesh(
            x + edges, y + edges, matrix, cmap=palette.colormap(), vmin=0, vmax=1,
            edgecolors=[palette.background], linewidth=1,
        )  # fmt: skip
        for (row, column), value in np.ndenumerate(matrix):
            ax.text(
                x + column + 0.5, y + row + 0.5, f"{value:.2f}".removeprefix("0"),
                fontsize="x-small", ha="center", va="center",
                color=palette.background if value > 0.5 else palette.text,
            )  # fmt: skip


def _label_categories(
    ax: Axes, left: Array, top: Array, names: Sequence[str], width: float, cell: float
) -> None:
    """Label categories on the left of the matrices, and below the last of each column.

    Labels that do not fit below their columns are left out; the order is that of the rows.
    """
    size, rows = len(names), np.unique(top)
    centres = np.arange(size) + 0.5
    label_rows(ax, (rows[:, None] + centres).ravel(), len(rows) * list(names))
    lines = [line for name in names for line in name.split("\n")]
    fits = max(map(len, lines)) <= 1.2 * _characters(cell)
    depth = max(name.count("\n") for name in names) + 1
    for x in np.unique(left) if fits else []:
        below = top[left == x].max() + size + 0.12
        for centre, name in zip(centres, names, strict=True):
            ax.text(
                x + centre, below, name, fontsize="x-small", ha="center", va="top",
                color=Palette.of(ax).muted, parse_math=False,
            )  # fmt: skip
    ax.set_xticks([])
    bottom = rows[-1] + size + (0.12 + 0.16 * depth / cell if fits else 0.1)
    ax.set(xlim=(0, width), ylim=(bottom, -0.6), ylabel="true category")
    ax.set_xlabel("rating given" + ("" if fits else ", in the same order"), loc="left")


def _characters(inches: float) -> float:
    """How many characters of a small label fit into a width."""
    return 72 * inches / (WIDEST * font_size("x-small"))


def _finding(fit: Fit) -> str:
    """The true categories that raters recognise best and worst, if the model lets them differ."""
    known = next((fit.quantities[each] for each in KNOWN if each in fit.quantities), None)
    has_difficulty = "sd_delta" in fit.quantities  # and known is that of an average item
    if known is not None and "true_category" not in known.dims and not has_difficulty:
        each = (known.mean("rater") if "rater" in known.dims else known).median()
        return (
            f"On average, raters know the true category in {float(each):.0%} of cases, which "
            f"{type(fit.model).__name__} assumes to be the same for all categories"
        )
    matrices = fit.quantities["confusion"]
    of_all = matrices.mean("rater") if "rater" in matrices.dims else matrices
    draws = np.diagonal(of_all.values, axis1=-2, axis2=-1).reshape(-1, of_all.shape[-1])
    correct = draws.mean(axis=0)
    names, values = [short(name) for name in fit.ratings.categories], [f"{x:.0%}" for x in correct]
    highest, lowest = f"{correct.max():.0%}", f"{correct.min():.0%}"
    if highest == lowest:
        return f"On average, raters recognise all categories equally well ({highest} correct)"
    difference = draws[:, correct.argmax()] - draws[:, correct.argmin()]
    if np.mean(difference > 0) < CLEAR:
        return (
            f"On average, raters recognise no category clearly better than others ({lowest} to "
            f"{highest} correct)"
        )
    best, worst = (
        " and ".join(equal) if len(equal) < 4 else f"{len(equal)} categories"
        for equal in (tied(names, values, highest), tied(names, values, lowest))
    )
    return (
        f"On average, raters recognise {best} best ({highest} correct) and {worst} worst ({lowest})"
    )
