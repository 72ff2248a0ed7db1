"""How pairs of raters agree on the items that both rated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reliabayes.agreement.arithmetic import ratio
from reliabayes.arrays import Array
from reliabayes.plots.canvas import bare, canvas, name_columns, name_rows, percentages, titled
from reliabayes.plots.densities import size
from reliabayes.plots.inks import Inks
from reliabayes.plots.naming import shortened
from reliabayes.ratings import Ratings
from reliabayes.ratings.most_active_raters import MostActiveRaters, cross_product

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST = 100  # raters that are shown
NAMED, WRITTEN = 45, 12  # raters whose names, and whose numbers, are written
LEAST = 3  # ratings in common that make a correlation


def agreement(ratings: Ratings, *, ax: Axes | None = None) -> Axes:
    """Agreement of each pair of raters on common items; the raters that agree most come first.

    Of categories, the share of their ratings of common items that are the same; of numbers, the
    correlation of these, if there are three or more. Chance is not taken off. Of more than 100
    raters, the 100 with most ratings are shown.

    Parameters
    ----------
    ratings : Ratings
        Of known raters.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    Axes

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
    Two raters agree on 67% of common items on average, rater 2 least
    (50%)
    """
    ratings.require_known_raters("plots.agreement")
    busy = MostActiveRaters.of(ratings, MOST)
    is_numeric = ratings.scale == "numeric"
    found = (_correlation if is_numeric else _same)(ratings, busy)
    np.fill_diagonal(found, np.nan)
    if np.isnan(found).all():
        least = f"{LEAST} items" if is_numeric else "an item"
        raise ValueError(f"ratings: two raters must have {least} in common; no two have.")
    of_rater = ratio(np.nansum(found, axis=0), (~np.isnan(found)).sum(axis=0), -np.inf)
    order = np.argsort(-of_rater, kind="stable")
    names = shortened(ratings.raters[busy.codes[order]], 18)
    ax = canvas(ax, 6.4, 6.0 if len(found) > WRITTEN else 2.2 + 0.35 * len(found))
    _draw(ax, found[np.ix_(order, order)], is_numeric)
    labels = names if len(names) <= NAMED else []
    _name(ax, labels)
    form = ".2f" if is_numeric else ".0%"
    worst = int(np.isfinite(of_rater).sum()) - 1
    mean = f"{np.nanmean(found):{form}}"
    does = f"correlate {mean}" if is_numeric else f"agree on {mean} of common items"
    whose = f"rater {names[worst]} least ({of_rater[order[worst]]:{form}})"
    shown = "" if len(found) == ratings.n_raters else f"The {len(found)} with most ratings. "
    titled(ax, f"Two raters {does} on average, {whose}", f"{shown}{size(ratings)}", labels)
    return bare(ax, "none")


def _same(ratings: Ratings, busy: MostActiveRaters) -> Array:
    """Share (B, B) of the ratings of common items that are the same."""
    ones = np.ones(len(busy.rows))
    common = busy.matrix(ones)
    same = busy.matrix(ones, ratings.category[busy.rows], len(ratings.categories))
    return ratio(cross_product(same, same), cross_product(common, common))


def _correlation(ratings: Ratings, busy: MostActiveRaters) -> Array:
    """Correlation (B, B) of the ratings of common items."""
    value = ratings.values[busy.rows] - ratings.values.mean()
    once, first, second = (busy.matrix(value**power) for power in range(3))
    common = cross_product(once, once)
    mean = ratio(cross_product(first, once), common)
    variance = ratio(cross_product(second, once), common) - mean**2
    covariance = ratio(cross_product(first, first), common) - mean * mean.T
    is_known = (common >= LEAST) & (np.minimum(variance, variance.T) > 1e-12 * ratings.values.var())
    scale = np.sqrt(np.where(is_known, variance * variance.T, 1))
    return np.where(is_known, covariance / scale, np.nan)


def _draw(ax: Axes, found: Array, is_numeric: bool) -> None:
    """The triangle below the diagonal, and its scale in the empty one."""
    inks, number = Inks.of(ax), len(found)
    lower = np.where(np.tri(number, k=-1, dtype=bool), found, np.nan)
    image = ax.pcolormesh(
        np.arange(number + 1) - 0.5, np.arange(number + 1) - 0.5, lower, cmap=inks.shades(),
        rasterized=number > NAMED,
    )  # fmt: skip
    ax.set(xlim=(-0.5, number - 1.5), ylim=(number - 0.5, 0.5))
    if number <= WRITTEN:
        return _write(ax, lower, ".2f" if is_numeric else ".0%")
    scale = ax.inset_axes((0.55, 0.95, 0.43, 0.025))
    ax.figure.colorbar(image, cax=scale, orientation="horizontal")
    scale.set_xlabel("correlation" if is_numeric else "share of ratings that are the same")
    if not is_numeric:
        percentages(scale)
    bare(scale, "none")


def _write(ax: Axes, values: Array, form: str) -> None:
    """Numbers in cells, readable on their shades."""
    inks, middle = Inks.of(ax), (np.nanmin(values) + np.nanmax(values)) / 2
    for row, column in np.argwhere(~np.isnan(values)):
        value = values[row, column]
        colour = inks.paper if value > middle else inks.text
        text = f"{value:{form}}"
        ax.text(column, row, text, ha="center", va="center", fontsize="small", color=colour)


def _name(ax: Axes, names: list[str]) -> None:
    name_rows(ax, np.arange(1, len(names)), names[1:])
    name_columns(ax, np.arange(len(names[:-1])), names[:-1])
