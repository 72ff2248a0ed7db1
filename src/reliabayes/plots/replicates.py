"""Whether the model gives such ratings: what was observed, beside replicates."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from reliabayes.arrays import Array
from reliabayes.plots.canvas import canvas, panels, titled, whole_numbers
from reliabayes.plots.inks import Inks
from reliabayes.plots.naming import short
from reliabayes.results.predictive import PredictiveChecks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Draw = Callable[["Axes"], None]

MOST = 3  # categories whose votes are shown: those that deviate most
NOTABLE = 0.05  # p-value from which on replicates are said to look like the ratings
WORDS = {
    "votes": "votes",
    "ratings": "ratings",
    "items": "spreads of items",
    "raters": "ratings of single raters",
    "pairs": "agreement of pairs of raters",
}
ACROSS, TALL = 3, 2.7  # panels side by side, and inches of one


def check(checks: PredictiveChecks, *, ax: Axes | None = None) -> Axes:
    """Predictive checks: observed numbers as marks, those of replicates as intervals.

    Votes, ratings and spreads within items are shown by size; raters and pairs of them as observed
    against expected. What lies outside its interval is a cross: one in ten is expected to if these
    are of 90%.

    Parameters
    ----------
    checks : PredictiveChecks
        What `Fit.check` returns; the probability of its intervals is in force.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure. Panels are its ``child_axes``.

    Returns
    -------
    Axes
    """
    drawn = _panels(checks)
    ax = canvas(ax, 8.4, 0.9 + TALL * math.ceil(len(drawn) / ACROSS))
    titles = [title for title, _ in drawn]
    for panel, (_, draw) in zip(panels(ax, titles, ACROSS), drawn, strict=True):
        draw(panel)
    least = str(checks.p_values.idxmin())
    if checks.p_values[least] >= NOTABLE:
        finding = f"The model gives ratings like these: p = {checks.p_values[least]:.2f} or more"
    else:
        finding = f"The model does not give such {WORDS[least]}: p = {checks.p_values[least]:.3f}"
    note = f"Intervals of {checks.replicates:,} replicates; observed: dots within, crosses outside"
    return titled(ax, finding, note)


def _panels(checks: PredictiveChecks) -> list[tuple[str, Draw]]:
    """Title of each panel, and what to draw in it."""
    p = {name: f"p = {value:.3f}" for name, value in checks.p_values.items()}
    found: list[tuple[str, Draw]] = []
    if checks.votes is not None:
        deviating = checks.votes.groupby("category", observed=True)["p_value"].min()
        for category in deviating.nsmallest(MOST if len(deviating) > 2 else 1).index:
            table = checks.votes[checks.votes["category"] == category]
            title = f"votes for {short(category, 14)}; all: {p['votes']}"
            found.append((title, partial(_votes, table=table)))
    for name, of in {"ratings": "ratings", "items": "sd within items"}.items():
        if (table := getattr(checks, name)) is not None:
            found.append((f"{of}: {p[name]}", partial(_bands, table=table, of=of)))
    if checks.raters is not None and "statistic" in checks.raters:
        for statistic, table in checks.raters.groupby("statistic"):
            title = f"{statistic} of raters; both: {p['raters']}"
            found.append((title, partial(_against, table=table)))
    elif checks.raters is not None:
        title = f"ratings by rater and category: {p['raters']}"
        found.append((title, partial(_against, table=checks.raters)))
    if checks.pairs is not None:
        found.append((f"pairs of raters: {p['pairs']}", partial(_against, table=checks.pairs)))
    return found


def _votes(panel: Axes, table: pd.DataFrame) -> None:
    _ranges(panel, table["votes"].to_numpy(float), table)
    panel.set(xlabel="votes on an item", ylabel="items")
    whole_numbers(panel)


def _bands(panel: Axes, table: pd.DataFrame, of: str) -> None:
    place = np.arange(len(table), dtype=float)
    _ranges(panel, place, table)
    every = max(1, len(table) // 4)
    edges = table["up_to"].iloc[:-1:every]
    panel.set_xticks(place[:-1:every] + 0.5, [f"{edge:.3g}" for edge in edges])
    panel.set(xlabel=f"{of}, in bands", ylabel="ratings" if of == "ratings" else "items")


def _against(panel: Axes, table: pd.DataFrame) -> None:
    panel.axline(
        (float(table["mean"].mean()),) * 2, slope=1, color=Inks.of(panel).muted, linewidth=0.6
    )
    _ranges(panel, table["mean"].to_numpy(float), table)
    panel.set(xlabel="expected", ylabel="observed")


def _ranges(panel: Axes, place: Array, table: pd.DataFrame) -> None:
    """Intervals of the replicates, and what was observed, within them or outside."""
    inks = Inks.of(panel)
    lower, upper = (
        table.filter(regex=f"^{end}_").iloc[:, 0].to_numpy(float) for end in ("lower", "upper")
    )
    observed = table["observed"].to_numpy(float)
    is_within = (lower <= observed) & (observed <= upper)
    width = float(np.clip(120 / len(table), 0.5, 5))
    panel.vlines(place, lower, upper, color=inks.series[0], alpha=0.3, linewidth=width)
    for mark, chosen, colour in (
        ("o", is_within, inks.series[0]),
        ("x", ~is_within, inks.series[1]),
    ):
        panel.plot(
            place[chosen], observed[chosen], linestyle="", marker=mark, color=colour,
            markersize=np.clip(60 / len(table), 2, 4) + (mark == "x"),
        )  # fmt: skip
