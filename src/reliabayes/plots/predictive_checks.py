"""Posterior predictive checks: observed statistics beside those of replicated data."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from reliabayes.arrays import Array
from reliabayes.plots.labels import short
from reliabayes.plots.layout import add_title, axes_or_new, integer_ticks, panels
from reliabayes.plots.palette import Palette
from reliabayes.results.estimates import MISFIT
from reliabayes.results.predictive import PredictiveChecks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Draw = Callable[["Axes"], None]

MAX_CATEGORIES = 3  # whose votes are shown: those that deviate most
WORDS = {
    "votes": "votes per item",
    "ratings": "distribution of the ratings",
    "items": "variation within items",
    "raters": "ratings of individual raters",
    "pairs": "agreement of pairs of raters",
}
COLUMNS, PANEL_HEIGHT = 3, 2.7  # panels in a row, and inches of each


def check(checks: PredictiveChecks, *, ax: Axes | None = None) -> Axes:
    """Posterior predictive checks: observed statistics as markers, replicated ones as intervals.

    Votes, ratings and standard deviations within items are shown by size; raters and pairs of
    raters as observed against expected values. A value outside its interval is a cross: of 90%
    intervals, one in ten is expected to miss.

    Parameters
    ----------
    checks : PredictiveChecks
        Result of `Fit.check`, which also sets the probability of the intervals.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure. The panels are its ``child_axes``.

    Returns
    -------
    matplotlib Axes
    """
    drawn = _panels(checks)
    ax = axes_or_new(ax, 8.4, 0.9 + PANEL_HEIGHT * math.ceil(len(drawn) / COLUMNS))
    titles = [title for title, _ in drawn]
    for panel, (_, draw) in zip(panels(ax, titles, COLUMNS), drawn, strict=True):
        draw(panel)
    worst = str(checks.p_values.idxmin())
    p_value = checks.p_values[worst]
    if p_value >= MISFIT:
        finding = f"The model reproduces the ratings: each p-value is at least {p_value:.2f}"
    else:
        finding = f"The model does not reproduce the {WORDS[worst]} (p = {p_value:.3f})"
    note = (
        f"Lines: intervals of {checks.replicates:,} replicates. Observed values: dots inside "
        "their interval, crosses outside"
    )
    return add_title(ax, finding, note)


def _panels(checks: PredictiveChecks) -> list[tuple[str, Draw]]:
    """Title of each panel, and the function that draws it."""
    p = {name: f"p = {value:.3f}" for name, value in checks.p_values.items()}
    found: list[tuple[str, Draw]] = []
    if checks.votes is not None:
        deviating = checks.votes.groupby("category", observed=True)["p_value"].min()
        for category in deviating.nsmallest(MAX_CATEGORIES if len(deviating) > 2 else 1).index:
            table = checks.votes[checks.votes["category"] == category]
            title = f"votes for {short(category, 8)}; all: {p['votes']}"
            found.append((title, partial(_draw_votes, table=table)))
    for name, label in {"ratings": "ratings", "items": "sd within items"}.items():
        if (table := getattr(checks, name)) is not None:
            draw = partial(_draw_bands, table=table, label=label)
            found.append((f"{label}: {p[name]}", draw))
    if checks.raters is not None and "statistic" in checks.raters:
        for statistic, table in checks.raters.groupby("statistic"):
            title = f"{statistic} of raters; both: {p['raters']}"
            found.append((title, partial(_draw_expected, table=table)))
    elif checks.raters is not None:
        title = f"rater by category: {p['raters']}"
        found.append((title, partial(_draw_expected, table=checks.raters)))
    if checks.pairs is not None:
        draw = partial(_draw_expected, table=checks.pairs)
        found.append((f"pairs of raters: {p['pairs']}", draw))
    return found


def _draw_votes(panel: Axes, table: pd.DataFrame) -> None:
    _draw_intervals(panel, table["votes"].to_numpy(float), table)
    panel.set(xlabel="votes per item", ylabel="items")
    integer_ticks(panel)


def _draw_bands(panel: Axes, table: pd.DataFrame, label: str) -> None:
    place = np.arange(len(table), dtype=float)
    _draw_intervals(panel, place, table)
    every = max(1, len(table) // 4)
    edges = table["up_to"].iloc[:-1:every]
    panel.set_xticks(place[:-1:every] + 0.5, [f"{edge:.3g}" for edge in edges])
    panel.set(xlabel=f"{label}, binned", ylabel="ratings" if label == "ratings" else "items")


def _draw_expected(panel: Axes, table: pd.DataFrame) -> None:
    panel.axline(
        (float(table["mean"].mean()),) * 2, slope=1, color=Palette.of(panel).muted, linewidth=0.6
    )
    _draw_intervals(panel, table["mean"].to_numpy(float), table)
    panel.set(xlabel="expected", ylabel="observed")


def _draw_intervals(panel: Axes, place: Array, table: pd.DataFrame) -> None:
    """Draw intervals of the replicates, and observed values as dots inside or crosses outside."""
    palette = Palette.of(panel)
    lower, upper = (
        table.filter(regex=f"^{end}_").iloc[:, 0].to_numpy(float) for end in ("lower", "upper")
    )
    observed = table["observed"].to_numpy(float)
    is_within = (lower <= observed) & (observed <= upper)
    width = float(np.clip(120 / len(table), 0.5, 5))
    panel.vlines(place, lower, upper, color=palette.series[0], alpha=0.3, linewidth=width)
    for mark, chosen, colour in (
        ("o", is_within, palette.series[0]),
        ("x", ~is_within, palette.series[1]),
    ):
        panel.plot(
            place[chosen], observed[chosen], linestyle="", marker=mark, color=colour,
            markersize=np.clip(60 / len(table), 2, 4) + (mark == "x"),
        )  # fmt: skip
