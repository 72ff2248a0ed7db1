"""Forest plots: raters or items in order of an estimate, with intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from reliabayes.arrays import Array
from reliabayes.choices import Stated
from reliabayes.plots.labels import named, short, shortened, tied
from reliabayes.plots.layout import (
    add_title,
    axes_or_new,
    font_size,
    label_right,
    label_rows,
    remove_frame,
    rows_fit,
    separated,
    write_inside,
)
from reliabayes.plots.palette import STYLES, Palette
from reliabayes.results.estimates import source_text
from reliabayes.results.rater_quality import by_pool, known_pools
from reliabayes.results.summaries import interval_bounds

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from reliabayes.results.fit import Fit

MAX_LABELS = 60  # rows up to which all are labelled
BETTER_IF_HIGH = ("accuracy", "informativeness")
EXTREMES = 3  # rows that are labelled at each end, if there are more
MAX_LINES = 600  # rows of a pool whose intervals are drawn one by one, half a point each
HEIGHT = 330  # points, nearly that of the Axes of a new figure with so many rows
WIDE = 1.5  # times the median width: an interval that less than half the usual information leaves
MAX_DOUBTFUL = 12  # of the rows with wide intervals, those that are named
WINDOW = 50  # number of parts of a pool over which the limits of more rows are averaged


def raters(
    fit: Fit,
    quantity: str | None = None,
    *,
    prob: float = 0.9,
    stated: Stated | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Raters in order of a quantity, such as accuracy or severity, with intervals.

    The least accurate or informative raters come first; by other quantities, the highest. Raters
    are by pool if there are several. Of more than 60 raters, all are drawn, and those at the ends
    and those with intervals much wider than the others are labelled. Of more than 600, a band shows
    the intervals, averaged over raters next to each other.

    Parameters
    ----------
    fit : Fit
        Fit of a model that estimates individual raters.
    quantity : str, optional
        One of `Fit.quantities` that is reported for each rater; by default accuracy if there is
        one. Models of scores report none: for these the plot shows rater effects, which tell how
        far a rater rates above or below the average.
    prob : float, default 0.9
        Probability of the equal-tailed intervals, strictly between 0 and 1.
    stated : {"model", "honest"}, optional
        Whose accuracies, as for `Fit.raters`.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        The model does not report the quantity for each rater.
    """
    known = [str(name) for name, x in fit.quantities.items() if x.dims[2:] == ("rater",)]
    if quantity is None and not known:
        return effects(fit, "raters", fit.raters(prob), prob, ax)
    name = quantity or ("accuracy" if "accuracy" in known else known[0])
    _require(name, known, fit)
    ratings = fit.ratings
    drawn = fit.accuracies("rater", stated=stated) if name == "accuracy" else fit.quantities[name]
    table = _intervals(drawn.values, ratings.raters, prob)
    if ratings.rater_pool is not None and len(ratings.pools) > 1:
        table["pool"] = ratings.pools[ratings.rater_pool]
    rows = _ordered(table, lowest_first=name in BETTER_IF_HIGH)
    ax = _forest(ax, rows, _finding(rows, name, "rater"), _note(fit, prob, rows), ".2f")
    ax.set_xlabel(_axis_label(name))
    return ax


def pools(
    fit: Fit,
    quantity: str = "accuracy",
    *,
    prob: float = 0.9,
    stated: Stated | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Pools of raters, such as vendors, in order of a quantity, with intervals.

    The least accurate or informative pool comes first; by other quantities, the highest. The
    quantity of a pool is that of one of its ratings: the mean over its raters, weighted by their
    numbers of ratings. Small circles are the medians of its raters.

    Parameters
    ----------
    fit : Fit
        Fit of a model that estimates individual raters, to ratings with pools.
    quantity : str, default "accuracy"
        One of `Fit.quantities` that is reported for each rater.
    prob : float, default 0.9
        Probability of the equal-tailed intervals, strictly between 0 and 1.
    stated : {"model", "honest"}, optional
        Whose accuracies, as for `Fit.pools`.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        The ratings have no pools, or the model does not report the quantity for each rater.
    """
    ratings = fit.ratings
    pool = known_pools(ratings)
    found = by_pool(fit.quantities, ratings)
    _require(quantity, [str(name) for name in found], fit)
    of_pools, of_raters = found[quantity], fit.quantities[quantity]
    if quantity == "accuracy":
        of_pools, of_raters = (fit.accuracies(by, stated=stated) for by in ("pool", "rater"))
    table = _intervals(of_pools.values, ratings.pools, prob)
    rows = _ordered(table, lowest_first=quantity in BETTER_IF_HIGH)
    note = _note(fit, prob, rows, "; circles are medians of raters")
    ax = _forest(ax, rows, _finding(rows, quantity, "pool"), note, ".2f")
    medians = of_raters.median(("chain", "draw")).values
    ax.plot(
        medians, rows.loc[ratings.pools, "at"].to_numpy()[pool],
        color=Palette.of(ax).muted, marker="o", markersize=4, markerfacecolor="none", linestyle="",
        markeredgewidth=0.8, zorder=1,
    )  # fmt: skip
    ax.set_xlabel(_axis_label(quantity))
    return ax


def effects(fit: Fit, what: str, table: pd.DataFrame, prob: float, ax: Axes | None) -> Axes:
    """Effects of raters or items in order, with intervals.

    Parameters
    ----------
    fit : Fit
        Fit of a model of scores.
    what : str
        Either ``"raters"`` or ``"items"``.
    table : DataFrame
        Result of `Fit.raters` or `Fit.items`.
    prob : float
        Probability of the intervals in the table.
    ax : matplotlib Axes or None
        Axes to draw on; None for those of a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        The model does not estimate individual raters or items.
    """
    percent = f"{100 * prob:g}"
    if f"lower_{percent}" not in table:
        raise ValueError(f"fit: {type(fit.model).__name__} does not estimate individual {what}.")
    if "pool" in table.index.names:
        table = table.reset_index("pool")
    limits = {f"{end}_{percent}": end for end in ("lower", "upper")}
    rows = _ordered(table.rename(columns=limits))
    form = f"+.{max(0, 1 - math.floor(math.log10(rows['median'].abs().max() or 1)))}f"
    verbs = ("rates", "rate") if what == "raters" else ("is rated", "are rated")
    one = what.removesuffix("s")
    ends = _extremes(rows, form, one, verbs)
    finding = f"All {len(rows):,} {what} {verbs[1]} alike"
    if ends is not None and ((rows["lower"] <= 0) & (rows["upper"] >= 0)).all():
        finding = f"No {one} {verbs[0]} clearly higher or lower than the average"
    elif ends is not None:
        finding = f"{ends[0]} highest and {ends[1]} lowest, relative to the average"
    ax = _forest(ax, rows, finding, _note(fit, prob, rows), form)
    ax.axvline(0, color=Palette.of(ax).muted, linewidth=0.8, zorder=0)
    unit = "units of the rating" if fit.model.continuous else "units of the latent score"
    ax.set_xlabel(f"{one} effect, relative to the average, in {unit}")
    return ax


def _require(quantity: str, known: Sequence[str], fit: Fit) -> None:
    if quantity not in known:
        raise ValueError(
            f"quantity: it must be one that {type(fit.model).__name__} reports for each rater; "
            f"found {quantity!r}. Choose from {', '.join(known) or 'none'}."
        )


def _intervals(draws: Array, index: pd.Index[Any], prob: float) -> pd.DataFrame:
    """Medians and intervals of draws (chains, draws, rows)."""
    draws = draws.reshape(-1, len(index))
    lower, upper = interval_bounds(draws, prob)
    columns = {"median": np.median(draws, axis=0), "lower": lower, "upper": upper}
    return pd.DataFrame(columns, index=index)


def _finding(rows: pd.DataFrame, quantity: str, what: str) -> str:
    """Which raters or pools have the lowest and the highest median."""
    words, lowest_first = quantity.replace("_", " "), quantity in BETTER_IF_HIGH
    ends = _extremes(rows, ".2f", what, ("has", "have"), lowest_first=lowest_first)
    if ends is None:
        return f"All {len(rows):,} {what}s have the same {words} ({rows['median'].iloc[0]:.2f})"
    one, other = ("lowest", "highest") if lowest_first else ("highest", "lowest")
    return f"{ends[0]} the {one} {words}, {ends[1]} the {other}"


def _axis_label(quantity: str) -> str:
    unit = ", bits per rating" if quantity == "informativeness" else ""
    return quantity.replace("_", " ") + unit


def _ordered(table: pd.DataFrame, *, lowest_first: bool = False) -> pd.DataFrame:
    """Rows from the top, pool by pool and in order, with their heights and pool numbers."""
    pool = table["pool"] if "pool" in table else pd.Series("", table.index)
    number = pd.factorize(pool, sort=True)[0]
    order = np.lexsort((table["median"] * (1 if lowest_first else -1), number))
    names = shortened(table.index)
    rows = table.assign(pool=pool, number=number, name=names).iloc[order]
    gap = max(1.5, len(rows) / 40)
    width = rows["upper"] - rows["lower"]
    wide = width[width > WIDE * width.median()].nlargest(MAX_DOUBTFUL)
    is_doubtful = rows.index.isin(wide.index) & (len(rows) > MAX_LABELS)
    return rows.assign(at=np.arange(len(rows)) + gap * rows["number"], is_doubtful=is_doubtful)


def _forest(ax: Axes | None, rows: pd.DataFrame, finding: str, note: str, form: str) -> Axes:
    """Medians with intervals, one row each."""
    is_labelled = len(rows) <= MAX_LABELS
    ax = axes_or_new(ax, height=1.5 + 0.17 * len(rows) if is_labelled else 6.0)
    is_labelled &= rows_fit(ax, len(rows))
    for _, part in rows.groupby("number"):
        _draw_pool(ax, part, is_labelled)
    ax.set_ylim(rows["at"].iloc[-1] + 0.8, -0.8)
    named_rows = rows if is_labelled else rows[rows["is_doubtful"]]
    names = list(named_rows["name"])
    label_rows(ax, named_rows["at"], names)
    if not is_labelled:
        if names:
            _label_doubtful(ax, named_rows)
        if not rows["number"].any():
            _label_extremes(ax, rows, form)
    add_title(ax, finding, note, names)
    return remove_frame(ax, "bottom")


def _draw_pool(ax: Axes, rows: pd.DataFrame, is_labelled: bool) -> None:
    number = int(rows["number"].iloc[0])
    palette, mark = Palette.of(ax), STYLES[number % len(STYLES)][0]
    colour = palette.series_colour(number)
    if len(rows) > MAX_LINES:
        window = len(rows) // WINDOW
        ends = rows[["lower", "upper"]].rolling(window, center=True, min_periods=1).mean()
        ax.fill_betweenx(
            rows["at"], ends["lower"], ends["upper"], color=colour, alpha=0.3, linewidth=0
        )
        ax.plot(rows["median"], rows["at"], color=colour, linewidth=1.6)
    else:
        _draw_intervals(ax, rows, colour, mark, is_labelled)
    pool = short(rows["pool"].iloc[0])
    label_right(ax, [rows["at"].mean()], [pool], color=palette.label_colour(number))


def _draw_intervals(
    ax: Axes, rows: pd.DataFrame, colour: str, mark: str, is_labelled: bool
) -> None:
    """Draw the median of each row as a marker on its interval."""
    ax.hlines(
        rows["at"], rows["lower"], rows["upper"], color=colour, alpha=0.55,
        linewidth=1.6 if is_labelled else np.clip(HEIGHT / len(rows), 0.3, 1.6),
    )  # fmt: skip
    ax.plot(
        rows["median"], rows["at"], color=colour, marker=mark, linestyle="",
        markersize=4.5 if is_labelled else 1.5,
    )  # fmt: skip


def _label_doubtful(ax: Axes, rows: pd.DataFrame) -> None:
    """Draw rows with wide intervals above the others, and label them with lines to the labels."""
    colour, (bottom, top) = Palette.of(ax).text, ax.get_ylim()
    room = 1.2 * font_size("small") * (bottom - top) / (72 * ax.bbox.height / ax.figure.dpi)
    heights = separated(rows["at"].to_numpy(), room, bottom)
    heights += max(0.0, top - heights.min())
    ax.hlines(rows["at"], rows["lower"], rows["upper"], color=colour, linewidth=1, zorder=3)
    ax.plot(
        rows["median"], rows["at"], color=colour, marker="o", markersize=3, linestyle="", zorder=3
    )
    label_rows(ax, heights, list(rows["name"]))
    for height, at, end in zip(heights, rows["at"], rows["lower"], strict=True):
        ax.annotate(
            "", (end, at), (0, height), xycoords="data", textcoords=("axes fraction", "data"),
            arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.4, "alpha": 0.6,
                        "shrinkA": 0, "shrinkB": 0},
        )  # fmt: skip


def _label_extremes(ax: Axes, rows: pd.DataFrame, form: str) -> None:
    """Label the first and the last rows in the corners that the ordered rows leave empty."""
    rises = rows["median"].iloc[0] < rows["median"].iloc[-1]
    for end, part in {"top": rows.iloc[:EXTREMES], "bottom": rows.iloc[-EXTREMES:]}.items():
        values = zip(part["name"], part["median"], strict=True)
        lines = [f"{name}  {value:{form}}" for name, value in values]
        side = "right" if (end == "top") == rises else "left"
        write_inside(
            ax, lines, (0.99 if side == "right" else 0.01, 0.99 * (end == "top")), side, end
        )


def _extremes(
    rows: pd.DataFrame, form: str, what: str, verbs: tuple[str, str], *, lowest_first: bool = False
) -> tuple[str, str] | None:
    """Who has the highest median, with a verb, and who the lowest; None if all are equal.

    Medians that are written alike are tied.
    """
    names, values = list(rows["name"]), [f"{median:{form}}" for median in rows["median"]]
    ends = values[int(rows["median"].argmax())], values[int(rows["median"].argmin())]
    if ends[0] == ends[1]:
        return None
    if lowest_first:
        ends = ends[::-1]
    first, last = (tied(names, values, end) for end in ends)
    subject = named(first, what)
    return (
        f"{subject[0].upper()}{subject[1:]} ({ends[0]}) {verbs[len(first) > 1]}",
        f"{named(last, what)} ({ends[1]})",
    )


def _note(fit: Fit, prob: float, rows: pd.DataFrame, more: str = "") -> str:
    intervals = f"{100 * prob:g}% intervals"
    shown = f"Medians and {intervals}{more}"
    if len(rows) > MAX_LABELS:
        if rows["number"].value_counts().max() > MAX_LINES:
            shown = f"{len(rows):,} medians in order; {intervals}, averaged over neighbours"
        else:
            shown = f"{shown}; all {len(rows):,} in order"
        number, wide = rows["is_doubtful"].sum(), f"over {WIDE:g} times as wide as the median one"
        widest = f"the {number} widest are named" if number > 1 else "the widest is named"
        shown += f"; {widest}, {wide}" if number else f"; no interval is {wide}"
    return f"{shown}. {source_text(fit)}"
