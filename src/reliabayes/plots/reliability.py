"""Reliability: posteriors of the ICC, and the variance components of a rating."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from reliabayes.arrays import Array
from reliabayes.guidelines import Guideline, named
from reliabayes.plots.densities import density_rows
from reliabayes.plots.labels import short
from reliabayes.plots.layout import (
    add_title,
    axes_or_new,
    label_right,
    label_rows,
    percent_ticks,
    remove_frame,
)
from reliabayes.plots.palette import Palette
from reliabayes.results.estimates import (
    LATENT,
    RATINGS,
    draws_by_scale,
    estimate_text,
    median_interval,
    scalar_draws,
    source_text,
)
from reliabayes.wording import joined

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from reliabayes.results.fit import Fit

OF_RATERS = {"between raters": "inter_rater", "within raters": "intra_rater"}
SIGNAL, ERROR, RESIDUAL, FIXED = "signal", "error", "residual", "fixed"  # kinds of sources
SOURCES = {"items": SIGNAL, "raters": ERROR, "residual": RESIDUAL}


def icc(
    fit: Fit,
    *,
    guideline: str | Guideline | None = "koo_li",
    prob: float = 0.9,
    ax: Axes | None = None,
) -> Axes:
    """Posterior of the ICC, by pool if there are several, over the words of a guideline.

    Models of categories have two: that of the ratings and that of the latent score. Of a `GStudy`
    they are those between and within raters, or phi if no rater rated an item repeatedly.

    Parameters
    ----------
    fit : Fit
        Fit of a model that reports an ICC, or of a `GStudy`.
    guideline : str, Guideline or None, default "koo_li"
        One of `reliabayes.guidelines.GUIDELINES`, your own, or None for no words. The note says
        what it was proposed for.
    prob : float, default 0.9
        Probability of the equal-tailed intervals, strictly between 0 and 1.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        The model does not report an ICC, or the guideline does not exist.
    """
    rows = _iccs(fit)
    ax = axes_or_new(ax, height=1.9 + 0.6 * len(rows))
    labels = density_rows(ax, rows, prob, (0, 1))
    ax.set(xlim=(0, 1), xlabel="ICC: proportion of a single rating's variance due to the item")
    words = shade_guideline(ax, guideline)
    add_title(ax, _icc_finding(rows, prob), f"{source_text(fit)}. {words}", labels)
    return remove_frame(ax, "bottom")


def variance_shares(fit: Fit, *, prob: float = 0.9, ax: Axes | None = None) -> Axes:
    """Proportions of a single rating's variance by source.

    Bars and the numbers on the right are medians, with intervals. Those of skewed proportions need
    not add up to 100%. The sources are items, raters and residual, or those of the design of a
    `GStudy`, which are of the latent score if ratings are in categories. Other models of categories
    have two sets: one for the ratings and one for the latent score. Signal, error, and what is
    neither or not explained have colours of their own. The levels of a fixed facet shift all
    measurements alike: that is neither signal nor error.

    Parameters
    ----------
    fit : Fit
        Fit of a model that reports an ICC, or variances by source.
    prob : float, default 0.9
        Probability of the equal-tailed intervals, strictly between 0 and 1.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        The model does not report an ICC.
    """
    sources = _sources(fit) if "proportion" in fit.quantities else SOURCES
    proportions = _proportions(fit)
    ax = axes_or_new(ax, height=1.5 + 0.25 * len(sources) * len(proportions))
    at, names, texts = [], [], []
    palette = Palette.of(ax)
    inks = {SIGNAL: palette.series[0], ERROR: palette.series[1]}
    colours = [inks.get(kind, palette.muted) for kind in sources.values()]
    for group, (label, draws) in enumerate(proportions.items()):
        rows = (len(sources) + 0.6) * group + np.arange(len(sources))
        at += list(rows)
        names += [f"{short(label)}: {name}" if label else name for name in sources]
        intervals = [median_interval(of_source, prob) for of_source in draws]
        ax.barh(rows, [median for median, *_ in intervals], height=0.7, color=colours)
        for row, (median, lower, upper) in zip(rows, intervals, strict=True):
            ax.plot([lower, upper], [row, row], color=palette.text, linewidth=1.2)
            texts.append(f"{median:.0%} ({lower:.0%} to {upper:.0%})")
    label_rows(ax, at, names)
    label_right(ax, at, texts)
    percent_ticks(ax)
    is_latent = "phi_observed" in fit.quantities
    of = "the latent score's variance" if is_latent else "a single rating's variance"
    ax.set(xlim=(0, 1), xlabel=f"proportion of {of}")
    fixed = [name for name, kind in sources.items() if kind == FIXED]
    are = "are fixed, and" if len(fixed) > 1 else "is fixed, and"
    neither = f"{joined(fixed)} {are} neither signal nor error. " if fixed else ""
    note = f"Medians and {100 * prob:g}% intervals. {neither}{source_text(fit)}"
    if "proportion" in fit.quantities:
        variance = "variance of the latent score" if is_latent else "variance"
        finding = _sources_finding(sources, proportions[""], variance)
    else:
        finding = _variance_finding(proportions)
    add_title(ax, finding, note, names)
    ax.invert_yaxis()
    return remove_frame(ax, "bottom")


def shade_guideline(ax: Axes, guideline: str | Guideline | None) -> str:
    """Shade the ranges of a guideline and write its words at the top.

    Parameters
    ----------
    ax : matplotlib Axes
        Axes with the coefficient on the horizontal axis.
    guideline : str, Guideline or None
        None shades nothing.

    Returns
    -------
    str
        A sentence for the note on what the guideline was proposed for; empty without a guideline.
    """
    if guideline is None:
        return ""
    chosen = named(guideline)
    palette, (lowest, highest) = Palette.of(ax), ax.get_xlim()
    ends = [*chosen.lower[1:], math.inf]
    starts = [-math.inf, *chosen.lower[1:]]
    for number, (start, end, word) in enumerate(zip(starts, ends, chosen.words, strict=True)):
        left, right = max(start, lowest), min(end, highest)
        if right <= left:
            continue
        if number % 2:
            ax.axvspan(left, right, color=palette.faint, linewidth=0, zorder=0)
        room = max(4, int(44 * (right - left) / (highest - lowest)))
        ax.annotate(
            textwrap.fill(word, room, break_long_words=False), ((left + right) / 2, 1), (0, -3),
            xycoords=("data", "axes fraction"), textcoords="offset points", fontsize="x-small",
            color=palette.muted, ha="center", va="top", parse_math=False,
        )  # fmt: skip
    return f"Words of {chosen.name}, proposed for {chosen.made_for}."


def _iccs(fit: Fit) -> dict[str, Array]:
    """Draws of the ICCs of single ratings, by what tells them apart."""
    if "icc" in fit.quantities or "phi" not in fit.quantities:
        return draws_by_scale(fit, "icc")
    of_raters = {label: f"{name}_icc" for label, name in OF_RATERS.items()}
    if not {*of_raters.values()} <= {*map(str, fit.quantities)}:
        return {"": scalar_draws(fit, "phi")}
    return {label: scalar_draws(fit, name) for label, name in of_raters.items()}


def _icc_finding(rows: Mapping[str, Array], prob: float) -> str:
    rows = _scale_of_ratings(rows)
    if len(rows) == 1:
        (draws,) = rows.values()
        found = estimate_text(draws, prob, ".0%")
        return f"A single rating is {found.replace(' ', ' signal ', 1)}"
    median = {name: float(np.median(draws)) for name, draws in rows.items()}
    least, most = min(median, key=median.__getitem__), max(median, key=median.__getitem__)
    if f"{median[least]:.0%}" == f"{median[most]:.0%}":
        where = " between and within raters" if least in OF_RATERS else " in all pools"
        return f"A single rating is {median[least]:.0%} signal{where}"
    return (
        f"A single rating is {median[least]:.0%} ({short(least)}) to {median[most]:.0%} "
        f"({short(most)}) signal"
    )


def _scale_of_ratings(rows: Mapping[str, Array]) -> Mapping[str, Array]:
    """Draws by pool on the scale of the ratings, if there is a latent scale too."""
    observed = {name: x for name, x in rows.items() if not name.endswith(LATENT)}
    if len(observed) == len(rows):
        return rows
    return {name.removesuffix(RATINGS).removesuffix(", "): x for name, x in observed.items()}


def _proportions(fit: Fit) -> dict[str, Array]:
    """Draws (sources, S) of the proportions of variance, by pool and scale."""
    if "proportion" in fit.quantities:
        found = fit.quantities["proportion"]
        return {"": found.stack(sample=("chain", "draw")).transpose("source", "sample").values}
    items, raters = draws_by_scale(fit, "icc"), draws_by_scale(fit, "labeler_icc")
    return {name: np.array([x, raters[name], 1 - x - raters[name]]) for name, x in items.items()}


def _sources(fit: Fit) -> dict[str, str]:
    """The kind of each source of variance, with the residual last."""
    decision = fit.decision()
    measured, fixed = decision.design.measured, decision.fixed

    def kind(facets: frozenset[str]) -> str:
        if facets - measured - fixed:
            return ERROR
        return SIGNAL if facets & measured else FIXED

    *sources, _ = decision.sources
    return {source.name: kind(source.facets) for source in sources} | {"residual": RESIDUAL}


def _sources_finding(sources: Mapping[str, str], draws: Array, variance: str) -> str:
    """The signal, and the largest source of error."""
    names, kinds = list(sources), np.array(list(sources.values()))
    median = np.median(draws, axis=1)
    errors = np.flatnonzero((kinds == ERROR) | (kinds == RESIDUAL))
    largest = max(errors, key=lambda k: median[k])
    signal = float(np.median(draws[kinds == SIGNAL].sum(axis=0)))
    parts = joined([name for name in names if sources[name] == SIGNAL])
    return (
        f"Signal ({parts}) accounts for {signal:.0%} of the {variance}; the largest part of "
        f"the error is {'the ' * (kinds[largest] == RESIDUAL)}{names[largest]} "
        f"({median[largest]:.0%})"
    )


def _variance_finding(proportions: Mapping[str, Array]) -> str:
    """Composition of the variance; of several pools, the range of each part."""
    medians = [np.median(draws, axis=1) for draws in _scale_of_ratings(proportions).values()]
    items, raters, rest = (
        f"{low:.0%}" + (f" to {high:.0%}" if f"{low:.0%}" != f"{high:.0%}" else "")
        for low, high in zip(np.min(medians, axis=0), np.max(medians, axis=0), strict=True)
    )
    where = f" in {len(medians)} pools" if len(medians) > 1 else ""
    return (
        f"Items account for {items} of the variance{where}, rater severity for {raters} "
        f"and the residual for {rest}"
    )
