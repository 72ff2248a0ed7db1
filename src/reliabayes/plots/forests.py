"""Raters, and items by their effects, in order: what is known of each, with its interval."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from reliabayes.plots.canvas import bare, beside, canvas, name_rows, titled
from reliabayes.plots.densities import about
from reliabayes.plots.inks import STYLES, Inks
from reliabayes.plots.naming import short, shortened
from reliabayes.results.summaries import bounds

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from reliabayes.results.fit import Fit

MOST = 60  # rows that are all named
EXTREMES = 3  # rows that are named at either end, of more of them


def raters(
    fit: Fit, quantity: str | None = None, *, prob: float = 0.9, ax: Axes | None = None
) -> Axes:
    """Raters in order of a quantity, such as accuracy or severity, with intervals.

    Of more than 60 raters, all are drawn and those at either end named.

    Parameters
    ----------
    fit : Fit
        Of a model that tells raters apart.
    quantity : str, optional
        One of `Fit.quantities` that is of raters; by default accuracy where there is one. Models of
        scores have none: theirs are effects, how far a rater rates above the average or below it.
    prob : float
        Probability of the equal-tailed intervals.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        The model does not tell that of each rater.
    """
    known = [str(name) for name, x in fit.quantities.items() if x.dims[2:] == ("rater",)]
    if quantity is None and not known:
        return effects(fit, "raters", fit.raters(prob), prob, ax)
    name = quantity or ("accuracy" if "accuracy" in known else known[0])
    if name not in known:
        raise ValueError(
            f"quantity: it must be one that {type(fit.model).__name__} tells of each rater; found "
            f"{name!r}. There are {', '.join(known) or 'none'}."
        )
    draws = fit.quantities[name].values.reshape(-1, fit.ratings.n_raters)
    lower, upper = bounds(draws, prob)
    columns = {"median": np.median(draws, axis=0), "lower": lower, "upper": upper}
    rows = _ordered(pd.DataFrame(columns, index=fit.ratings.raters))
    words = name.replace("_", " ")
    best, worst = _ends(rows, ".2f")
    finding = f"Rater {best} has the highest {words}, {worst} the lowest"
    ax = _forest(ax, rows, finding, _note(fit, prob, rows), ".2f")
    ax.set_xlabel(words + (", bits per rating" if name == "informativeness" else ""))
    return ax


def effects(fit: Fit, what: str, table: pd.DataFrame, prob: float, ax: Axes | None) -> Axes:
    """Effects of raters or items in order, from what `Fit.raters` or `Fit.items` tells of them."""
    percent = f"{100 * prob:g}"
    if f"lower_{percent}" not in table:
        raise ValueError(f"fit: {type(fit.model).__name__} tells nothing of single {what}.")
    if "pool" in table.index.names:
        table = table.reset_index("pool")
    ends = {f"{end}_{percent}": end for end in ("lower", "upper")}
    rows = _ordered(table.rename(columns=ends))
    form = f"+.{max(0, 1 - math.floor(math.log10(rows['median'].abs().max() or 1)))}f"
    best, worst = _ends(rows, form)
    verb = "Rater {} rates highest" if what == "raters" else "Item {} is rated highest"
    finding = f"{verb.format(best)}, {worst} lowest, 0 being the average"
    ax = _forest(ax, rows, finding, _note(fit, prob, rows), form)
    ax.axvline(0, color=Inks.of(ax).muted, linewidth=0.8, zorder=0)
    unit = "units of the rating" if fit.model.continuous else "units of the latent score"
    ax.set_xlabel(f"effect of {what}, above or below the average: {unit}")
    return ax


def _ordered(table: pd.DataFrame) -> pd.DataFrame:
    """Rows from the top: the highest first, pool by pool; with their heights and pool numbers."""
    pool = table["pool"] if "pool" in table else pd.Series("", table.index)
    number = pd.factorize(pool, sort=True)[0]
    order = np.lexsort((-table["median"], number))
    names = shortened(table.index)
    rows = table.assign(pool=pool, number=number, name=names).iloc[order]
    gap = max(1.5, len(rows) / 40)
    return rows.assign(at=np.arange(len(rows)) + gap * rows["number"])


def _forest(ax: Axes | None, rows: pd.DataFrame, finding: str, note: str, form: str) -> Axes:
    """Medians with intervals, row by row, under what they say."""
    is_named = len(rows) <= MOST
    ax = canvas(ax, height=1.5 + 0.17 * len(rows) if is_named else 6.0)
    for _, part in rows.groupby("number"):
        _draw(ax, part, is_named)
    names = list(rows["name"]) if is_named else []
    name_rows(ax, rows["at"] if is_named else [], names)
    if not is_named and not rows["number"].any():
        _name_extremes(ax, rows, form)
    ax.set_ylim(rows["at"].iloc[-1] + 0.8, -0.8)
    titled(ax, finding, note, names)
    return bare(ax, "bottom")


def _draw(ax: Axes, rows: pd.DataFrame, is_named: bool) -> None:
    number = int(rows["number"].iloc[0])
    colour, mark = Inks.of(ax).of_series(number), STYLES[number % len(STYLES)][0]
    ax.hlines(
        rows["at"], rows["lower"], rows["upper"], color=colour, alpha=0.55,
        linewidth=1.6 if is_named else np.clip(250 / len(rows), 0.3, 1.6),
        rasterized=len(rows) > 1000,
    )  # fmt: skip
    ax.plot(
        rows["median"], rows["at"], color=colour, marker=mark, linestyle="",
        markersize=4.5 if is_named else 1.5, rasterized=len(rows) > 1000,
    )  # fmt: skip
    beside(
        ax, [rows["at"].mean()], [short(rows["pool"].iloc[0])], color=Inks.of(ax).of_words(number)
    )


def _name_extremes(ax: Axes, rows: pd.DataFrame, form: str) -> None:
    """Name the highest and the lowest in the corners that their order leaves empty."""
    ends = {"left": rows.iloc[:EXTREMES], "right": rows.iloc[-EXTREMES:]}
    for side, part in ends.items():
        values = zip(part["name"], part["median"], strict=True)
        lines = [f"{name}  {value:{form}}" for name, value in values]
        place = (0.01, 0.99) if side == "left" else (0.99, 0.01)
        ax.annotate(
            "\n".join(lines), place, xycoords="axes fraction", fontsize="small", ha=side,
            va="top" if side == "left" else "bottom", color=Inks.of(ax).text, parse_math=False,
        )  # fmt: skip


def _ends(rows: pd.DataFrame, form: str) -> tuple[str, str]:
    """Who has the highest median and who the lowest, with it."""
    median = rows["median"].to_numpy()
    highest, lowest = (
        f"{rows['name'].iloc[at]} ({median[at]:{form}})"
        for at in (int(median.argmax()), int(median.argmin()))
    )
    return highest, lowest


def _note(fit: Fit, prob: float, rows: pd.DataFrame) -> str:
    shown = "" if len(rows) <= MOST else f"; all {len(rows):,} in order"
    return f"Medians and {100 * prob:g}% intervals{shown}. {about(fit)}"
