"""Confusion matrices: what raters say of items of each true category."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from reliabayes.arrays import Array
from reliabayes.plots.canvas import bare, canvas, name_columns, name_rows, titled
from reliabayes.plots.densities import about, quantity
from reliabayes.plots.inks import Inks
from reliabayes.plots.naming import short, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from reliabayes.results.fit import Fit

MOST, ACROSS = 160, 21  # cells that are shown in all, and side by side
WIDTH = 5.4  # inches of those side by side
LONGEST = 12  # letters of a category
LETTERS = 14  # of a rater on an inch


def confusion(fit: Fit, *, ax: Axes | None = None) -> Axes:
    """Posterior mean of each rater's confusion matrix, the most informative rater first.

    A row is a true category, a column what is said of it. Where all matrices together have more
    than 160 cells, as those of more than 40 raters and two categories have, only those of the most
    and of the least informative raters are shown.

    Parameters
    ----------
    fit : Fit
        Of a model of categories.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        The model has no confusion matrices.
    """
    quantity(fit, "confusion")
    raters, matrices, total = _shown(fit)
    number, size = matrices.shape[:2]
    columns = min(math.ceil(math.sqrt(1.6 * number)), max(1, ACROSS // (size + 1)))
    cell = min(0.5, WIDTH / (columns * (size + 1)))
    pitch = size + max(1, math.ceil(0.22 / cell))
    ax = canvas(ax, height=1.9 + -(-number // columns) * pitch * cell)
    left, top = (size + 1) * (np.arange(number) % columns), pitch * (np.arange(number) // columns)
    _draw(ax, matrices, left, top)
    names = shortened(raters, max(5, int(LETTERS * cell * (size + 1))))
    for x, y, name in zip(left, top, names, strict=True):
        ax.text(x, y - 0.12, name, fontsize="x-small", color=Inks.of(ax).text, parse_math=False)
    categories = shortened(fit.ratings.categories, LONGEST)
    _name_categories(ax, np.unique(left), np.unique(top), categories, WIDTH / cell)
    shown = f"The most and the least informative of {total:,} raters. " if total > number else ""
    titled(ax, _finding(fit), f"Posterior means. {shown}{about(fit)}", categories)
    bare(ax, "none")
    return ax


def _shown(fit: Fit) -> tuple[list[Any], Array, int]:
    """Raters and matrices (M, K, K) of those that are shown, and how many raters there are."""
    mean = fit.quantities["confusion"].mean(("chain", "draw"))
    if "rater" not in mean.dims:
        return ["any rater"], mean.values[None], 1
    told = fit.quantities["informativeness"].mean(("chain", "draw")).values
    order = np.argsort(-told, kind="stable")
    half = max(1, MOST // mean.sizes["category"] ** 2 // 2)
    if len(order) > 2 * half:
        order = np.append(order[:half], order[-half:])
    return list(fit.ratings.raters[order]), mean.values[order], len(told)


def _draw(ax: Axes, matrices: Array, left: Array, top: Array) -> None:
    """Cells shaded by probability, with the probability in them."""
    inks, size = Inks.of(ax), matrices.shape[1]
    edges = np.arange(size + 1)
    for matrix, x, y in zip(matrices, left, top, strict=True):
        ax.pcolormesh(
            x + edges, y + edges, matrix, cmap=inks.shades(), vmin=0, vmax=1,
            edgecolors=[inks.paper], linewidth=1,
        )  # fmt: skip
        for (row, column), value in np.ndenumerate(matrix):
            ax.text(
                x + column + 0.5, y + row + 0.5, f"{value:.2f}".removeprefix("0"),
                fontsize="x-small", ha="center", va="center",
                color=inks.paper if value > 0.5 else inks.text,
            )  # fmt: skip


def _name_categories(ax: Axes, left: Array, top: Array, names: Sequence[str], wide: float) -> None:
    """Categories beside the matrices on the left, and below those at the bottom."""
    size, centres = len(names), np.arange(len(names)) + 0.5
    name_columns(ax, (left[:, None] + centres).ravel(), len(left) * list(names))
    name_rows(ax, (top[:, None] + centres).ravel(), len(top) * list(names))
    ax.set(
        xlim=(0, wide), ylim=(top[-1] + size + 0.1, -0.6),
        ylabel="true category",
    )  # fmt: skip
    ax.set_xlabel("rating given", loc="left")


def _finding(fit: Fit) -> str:
    """Which true category is seen best, and which least, by raters on average."""
    mean = fit.quantities["confusion"].mean(("chain", "draw"))
    matrix = (mean.mean("rater") if "rater" in mean.dims else mean).values
    right, names = np.diagonal(matrix), fit.ratings.categories
    best, worst = (
        f"{short(names[int(at)])} in {right[at]:.0%}" for at in (right.argmax(), right.argmin())
    )
    return f"Raters on average recognise {best} of the items where it is true, {worst}"
