"""How consistent ratings are: posteriors of the ICC, and what a rating's variance is made of."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from reliabayes.arrays import Array
from reliabayes.guidelines import Guideline, named
from reliabayes.plots.canvas import bare, beside, canvas, name_rows, percentages, titled
from reliabayes.plots.densities import about, interval, middle, quantity, ridges
from reliabayes.plots.inks import Inks
from reliabayes.plots.naming import short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from reliabayes.results.fit import Fit

OBSERVED = "_observed"  # of the ratings as given, beside the latent score
RATINGS, LATENT = "ratings", "latent score"
SOURCES = ("items", "raters", "residual")


def icc(
    fit: Fit,
    *,
    guideline: str | Guideline | None = "koo_li",
    prob: float = 0.9,
    ax: Axes | None = None,
) -> Axes:
    """Posterior of the ICC, of each pool if there are several, over the words of a guideline.

    Of models of categories there are two: of the ratings as given, and of the latent score.

    Parameters
    ----------
    fit : Fit
        Of a model with an ICC.
    guideline : str, Guideline or None
        One of `reliabayes.guidelines.GUIDELINES`, your own, or None for no words; what it was
        proposed for stands in the note.
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
        The model has no ICC, or there is no such guideline.
    """
    rows = by_scale(fit, "icc")
    ax = canvas(ax, height=1.9 + 0.6 * len(rows))
    ridges(ax, rows, prob, (0, 1))
    ax.set(xlim=(0, 1), xlabel="ICC: share of the variance of a single rating that is the item's")
    words = bands(ax, guideline)
    labels = list(rows) if len(rows) > 1 else []
    titled(ax, _signal(rows, prob), f"{about(fit)}. {words}", labels)
    return bare(ax, "bottom")


def variance_shares(fit: Fit, *, prob: float = 0.9, ax: Axes | None = None) -> Axes:
    """Shares of the variance of a single rating: items, raters and residual, adding up to 100%.

    Each bar is a posterior mean and starts where the last one ends; intervals stand beside. Of
    models of categories, shares of the ratings as given and of the latent score.

    Parameters
    ----------
    fit : Fit
        Of a model with an ICC.
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
        The model has no ICC.
    """
    shares = _shares(fit)
    ax = canvas(ax, height=1.5 + 0.75 * len(shares))
    at, names, texts = [], [], []
    for group, (label, draws) in enumerate(shares.items()):
        rows = 3.6 * group + np.arange(3)
        width = draws.mean(axis=1)
        colours = [*Inks.of(ax).series[:2], Inks.of(ax).muted]
        ax.barh(rows, width, left=np.cumsum(width) - width, height=0.7, color=colours)
        at += list(rows)
        names += [f"{short(label)}: {name}" if label else name for name in SOURCES]
        texts += [
            f"{share:.0%} ({lower:.0%} to {upper:.0%})"
            for share, (_, lower, upper) in zip(
                width, (middle(x, prob) for x in draws), strict=True
            )
        ]
    name_rows(ax, at, names)
    beside(ax, at, texts)
    percentages(ax)
    ax.set(xlim=(0, 1), xlabel="share of the variance of a single rating")
    note = f"Posterior means, {100 * prob:g}% intervals beside. {about(fit)}"
    titled(ax, _composition(shares), note, names)
    ax.invert_yaxis()
    return bare(ax, "bottom")


def by_scale(fit: Fit, name: str) -> dict[str, Array]:
    """Draws by pool; by scale too where ratings and the latent score have their own."""
    latent = quantity(fit, name)
    if not as_given(fit):
        return latent
    scales = {RATINGS: quantity(fit, name + OBSERVED), LATENT: latent}
    return {
        ", ".join(filter(None, (pool, scale))): draws
        for scale, pools in scales.items()
        for pool, draws in pools.items()
    }


def as_given(fit: Fit) -> str:
    """What ends the names of quantities of the ratings as given, beside the latent score."""
    return OBSERVED if "icc" + OBSERVED in fit.quantities else ""


def bands(ax: Axes, guideline: str | Guideline | None) -> str:
    """Shade the ranges of a guideline and name them at the top; returns what to say of it."""
    if guideline is None:
        return ""
    chosen = named(guideline)
    inks, (lowest, highest) = Inks.of(ax), ax.get_xlim()
    ends = [*chosen.lower[1:], math.inf]
    starts = [-math.inf, *chosen.lower[1:]]
    for number, (start, end, word) in enumerate(zip(starts, ends, chosen.words, strict=True)):
        left, right = max(start, lowest), min(end, highest)
        if right <= left:
            continue
        if number % 2:
            ax.axvspan(left, right, color=inks.faint, linewidth=0, zorder=0)
        room = max(4, int(44 * (right - left) / (highest - lowest)))
        ax.annotate(
            textwrap.fill(word, room, break_long_words=False), ((left + right) / 2, 1), (0, -3),
            xycoords=("data", "axes fraction"), textcoords="offset points", fontsize="x-small",
            color=inks.muted, ha="center", va="top", parse_math=False,
        )  # fmt: skip
    return f"Words of {chosen.name}, proposed for {chosen.made_for}."


def _signal(rows: Mapping[str, Array], prob: float) -> str:
    rows = _of_given(rows)
    if len(rows) == 1:
        (draws,) = rows.values()
        found = interval(draws, prob, ".0%")
        return f"A single rating is {found.replace(' ', ' signal ', 1)}"
    median = {name: float(np.median(draws)) for name, draws in rows.items()}
    least, most = min(median, key=median.__getitem__), max(median, key=median.__getitem__)
    return (
        f"A single rating is {median[least]:.0%} ({short(least)}) to {median[most]:.0%} "
        f"({short(most)}) signal"
    )


def _of_given(rows: Mapping[str, Array]) -> Mapping[str, Array]:
    """Rows of ratings as given, by pool, not of the latent score, where there are both."""
    given = {name: x for name, x in rows.items() if not name.endswith(LATENT)}
    if len(given) == len(rows):
        return rows
    return {name.removesuffix(RATINGS).removesuffix(", "): x for name, x in given.items()}


def _shares(fit: Fit) -> dict[str, Array]:
    """Draws (3, S) of the shares, by pool and scale."""
    items, raters = by_scale(fit, "icc"), by_scale(fit, "labeler_icc")
    return {name: np.array([x, raters[name], 1 - x - raters[name]]) for name, x in items.items()}


def _composition(shares: Mapping[str, Array]) -> str:
    """What the first of the shares says, or which has most of the items."""
    shares = _of_given(shares)
    best = max(shares, key=lambda name: shares[name][0].mean())
    items, raters, rest = shares[best].mean(axis=1)
    whose = f" by {short(best)}" if len(shares) > 1 else ""
    return (
        f"Of the variance of a single rating{whose}, {items:.0%} comes from items, {raters:.0%} "
        f"from raters, {rest:.0%} is residual"
    )
