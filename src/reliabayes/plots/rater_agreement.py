"""Agreement of pairs of raters on the items that both rated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reliabayes.agreement.arithmetic import ratio
from reliabayes.arrays import Array
from reliabayes.plots.labels import named, shortened, tied
from reliabayes.plots.layout import (
    add_title,
    axes_or_new,
    label_rows,
    percent_ticks,
    remove_frame,
    rows_fit,
)
from reliabayes.plots.palette import Palette
from reliabayes.ratings import Ratings
from reliabayes.ratings.likely_scale import likely_scale
from reliabayes.ratings.most_active_raters import MostActiveRaters, cross_product
from reliabayes.results.summaries import size_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_RATERS = 100  # that are shown
MAX_LABELS, MAX_NUMBERS = 45, 12  # raters up to which names, and numbers in cells, are written
MIN_COMMON = 3  # common items that a correlation needs


def agreement(ratings: Ratings, *, ax: Axes | None = None) -> Axes:
    """Agreement of each pair of raters on common items; the raters that agree most come first.

    For categories, it is the proportion of common items that both put into the same category; for
    numbers, the correlation of the ratings of three or more common items. Shades go from 0 to 1. It
    is not corrected for chance. Of more than 100 raters, the 100 with most ratings are shown.

    Parameters
    ----------
    ratings : Ratings
        Ratings by known raters.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    RatingsError
        The raters are anonymous.
    ValueError
        No two raters have enough items in common.

    Examples
    --------
    >>> import numpy as np
    >>> import reliabayes as rb
    >>> from matplotlib.figure import Figure
    >>> wide = np.array([["a", "a", "b"], ["b", "b", "b"], ["a", "a", "a"], ["b", "b", "a"]])
    >>> ax = agreement(rb.Ratings.from_wide(wide), ax=Figure().subplots())
    >>> print(ax.get_title(loc="left"))
    Pairs of raters agree on 67% of their common items on average; rater
    2 agrees least (50%)
    """
    ratings.require_known_raters("plots.agreement")
    most_active = MostActiveRaters.of(ratings, MAX_RATERS)
    is_numeric = ratings.scale == "numeric" and likely_scale(ratings).scale != "nominal"
    found = (_correlation if is_numeric else _proportion_same)(ratings, most_active)
    np.fill_diagonal(found, np.nan)
    if np.isnan(found).all():
        needed = f"{MIN_COMMON} common items" if is_numeric else "a common item"
        raise ValueError(f"ratings: at least two raters must have {needed}; no two have.")
    mean_by_rater = ratio(np.nansum(found, axis=0), (~np.isnan(found)).sum(axis=0), -np.inf)
    order = np.argsort(-mean_by_rater, kind="stable")
    names = shortened(ratings.raters[most_active.codes[order]], 18)
    ax = axes_or_new(ax, 6.4, 6.0 if len(found) > MAX_NUMBERS else 2.2 + 0.35 * len(found))
    _draw(ax, found[np.ix_(order, order)], is_numeric)
    labels = names if len(names) <= MAX_LABELS and rows_fit(ax, len(names)) else []
    label_rows(ax, np.arange(1, len(labels)), labels[1:])
    _label_diagonal(ax, labels[:-1])
    finding = _finding(float(np.nanmean(found)), mean_by_rater[order], names, is_numeric)
    shown = "" if len(found) == ratings.n_raters else f"The {len(found)} with most ratings. "
    add_title(ax, finding, f"{shown}{size_text(ratings)}", labels)
    return remove_frame(ax, "none")


def _finding(mean: float, by_rater: Array, names: list[str], is_numeric: bool) -> str:
    """The mean over pairs, and the raters with the lowest; ``by_rater`` is in decreasing order."""
    form = ".2f" if is_numeric else ".0%"
    values = [f"{value:{form}}" for value in by_rater[np.isfinite(by_rater)]]
    least = tied(names[: len(values)], values, values[-1])
    if is_numeric:
        finding = f"The ratings of two raters correlate {mean:.2f} on average"
        last = f"; those of {named(least, 'rater')} least ({values[-1]})"
    else:
        finding = f"Pairs of raters agree on {mean:.0%} of their common items on average"
        verb = "agrees" if len(least) == 1 else "agree"
        last = f"; {named(least, 'rater')} {verb} least ({values[-1]})"
    return finding if len(least) == len(values) else finding + last


def _proportion_same(ratings: Ratings, most_active: MostActiveRaters) -> Array:
    """Proportion (B, B) of common items with the same category."""
    ones = np.ones(len(most_active.rows))
    common = most_active.matrix(ones)
    same = most_active.matrix(ones, ratings.category[most_active.rows], len(ratings.categories))
    return ratio(cross_product(same, same), cross_product(common, common))


def _correlation(ratings: Ratings, most_active: MostActiveRaters) -> Array:
    """Correlation (B, B) of the ratings of common items."""
    value = ratings.values[most_active.rows] - ratings.values.mean()
    once, first, second = (most_active.matrix(value**power) for power in range(3))
    common = cross_product(once, once)
    mean = ratio(cross_product(first, once), common)
    variance = ratio(cross_product(second, once), common) - mean**2
    covariance = ratio(cross_product(first, first), common) - mean * mean.T
    varies = np.minimum(variance, variance.T) > 1e-12 * ratings.values.var()
    is_known = (common >= MIN_COMMON) & varies
    scale = np.sqrt(np.where(is_known, variance * variance.T, 1))
    return np.where(is_known, covariance / scale, np.nan)


def _draw(ax: Axes, found: Array, is_numeric: bool) -> None:
    """Draw the triangle below the diagonal, and a colour bar in the empty one."""
    palette, number = Palette.of(ax), len(found)
    lower = np.where(np.tri(number, k=-1, dtype=bool), found, np.nan)
    image = ax.pcolormesh(
        np.arange(number + 1) - 0.5, np.arange(number + 1) - 0.5, lower,
        cmap=palette.colormap(), vmin=0, vmax=1, rasterized=number > MAX_LABELS,
    )  # fmt: skip
    ax.set(xlim=(-0.5, number - 1.5), ylim=(number - 0.5, -0.5))
    if number <= MAX_NUMBERS:
        return _write_numbers(ax, lower, ".2f" if is_numeric else ".0%")
    scale = ax.inset_axes((0.55, 0.95, 0.43, 0.025))
    ax.figure.colorbar(image, cax=scale, orientation="horizontal")
    scale.set_xlabel("correlation" if is_numeric else "common items with the same category")
    if not is_numeric:
        percent_ticks(scale)
    remove_frame(scale, "none")


def _label_diagonal(ax: Axes, names: list[str]) -> None:
    """Label columns above their first cell, in the triangle that is empty."""
    ax.set_xticks([])
    for place, name in enumerate(names):
        ax.annotate(
            name, (place - 0.5, place), (3, 0), textcoords="offset points", fontsize="small",
            va="center", color=Palette.of(ax).muted, parse_math=False,
        )  # fmt: skip


def _write_numbers(ax: Axes, values: Array, form: str) -> None:
    """Write numbers in cells, legible on their shades."""
    palette = Palette.of(ax)
    for row, column in np.argwhere(~np.isnan(values)):
        value = values[row, column]
        colour = palette.background if value > 0.5 else palette.text
        text = f"{value:{form}}"
        ax.text(column, row, text, ha="center", va="center", fontsize="small", color=colour)
