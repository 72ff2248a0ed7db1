"""Who rated what."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reliabayes.arrays import Array, Codes
from reliabayes.plots.canvas import bare, beside, canvas, name_columns, name_rows, titled
from reliabayes.plots.densities import size
from reliabayes.plots.inks import Inks
from reliabayes.plots.naming import short, shortened
from reliabayes.ratings import Ratings

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAMED = 45  # raters, or items, that are all named

MOST = (160, 480)  # rows of raters and columns of items; where there are more, several share one


def design(ratings: Ratings, *, ax: Axes | None = None) -> Axes:
    """Who rated what: a row for each rater, a column for each item, dark where there is a rating.

    Raters stand pool by pool, those with most ratings first; items by the raters that they have.
    Of more than 160 raters or 480 items, several share a row or column, shaded by how much of
    it is filled.

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

    Examples
    --------
    >>> import numpy as np
    >>> import reliabayes as rb
    >>> from matplotlib.figure import Figure
    >>> ratings = rb.Ratings.from_wide(np.array([[1, 2, np.nan], [3, 3, 5], [2, np.nan, 4]]))
    >>> design(ratings, ax=Figure().subplots()).get_title(loc="left")
    '78% of all pairs are rated: 2 to 3 ratings an item, 2 to 3 a rater'
    """
    ratings.require_known_raters("plots.design")
    raters = np.lexsort((-ratings.ratings_per_rater, _pool(ratings)))
    items = _in_order(ratings, raters)
    filled = _filled(ratings, raters, items)
    ax = canvas(ax, 7.0, float(np.clip(1.6 + 0.16 * len(filled), 2.4, 6.0)))
    ax.pcolormesh(
        np.linspace(0, ratings.n_items, filled.shape[1] + 1),
        np.linspace(0, ratings.n_raters, filled.shape[0] + 1),
        filled, cmap=Inks.of(ax).shades(), vmin=0, vmax=1, rasterized=True,
        edgecolors=[Inks.of(ax).paper] if len(items) <= 2 * NAMED else "none", linewidth=1,
    )  # fmt: skip
    names = shortened(ratings.raters[raters]) if len(raters) <= NAMED else []
    name_rows(ax, np.arange(len(names)) + 0.5, names)
    if len(items) <= NAMED:
        name_columns(ax, np.arange(len(items)) + 0.5, shortened(ratings.items[items], 18))
    _name_pools(ax, ratings)
    ax.set(xlim=(0, ratings.n_items), ylim=(ratings.n_raters, 0))
    ax.set(xlabel="items, by the raters that they have", ylabel="" if names else "raters")
    titled(ax, _finding(ratings), size(ratings), names)
    return bare(ax, "bottom")


def _in_order(ratings: Ratings, raters: Codes) -> Codes:
    """Items in the order of the mean place of their raters."""
    place = np.argsort(raters)[ratings.rater]
    total = np.bincount(ratings.item, place)
    return np.argsort(total / ratings.ratings_per_item, kind="stable")


def _pool(ratings: Ratings) -> Codes:
    return (
        np.zeros(ratings.n_raters, np.int32) if ratings.rater_pool is None else ratings.rater_pool
    )


def _filled(ratings: Ratings, raters: Codes, items: Codes) -> Array:
    """Share of the pairs of rater and item that have a rating, by row and column."""
    item, rater = ratings.incidence.nonzero()
    row, column = np.argsort(raters)[rater], np.argsort(items)[item]
    shape = ratings.n_raters, ratings.n_items
    bins = [min(most, n) for most, n in zip(MOST, shape, strict=True)]
    limits = [(-0.5, n - 0.5) for n in shape]
    pairs, _, _ = np.histogram2d(row, column, bins, limits)
    cells = [
        np.histogram(np.arange(n), number, limit)[0]
        for n, number, limit in zip(shape, bins, limits, strict=True)
    ]
    return np.asarray(pairs / np.outer(*cells))


def _name_pools(ax: Axes, ratings: Ratings) -> None:
    """Name pools beside their raters, a line between them."""
    ends = np.cumsum(np.bincount(_pool(ratings)))
    for start, end, pool in zip(np.append(0, ends[:-1]), ends, ratings.pools, strict=False):
        beside(ax, [(start + end) / 2], [short(pool)])
        ax.axhline(end, color=Inks.of(ax).paper, linewidth=4)


def _finding(ratings: Ratings) -> str:
    if ratings.n_components > 1:
        return f"The design falls into {ratings.n_components} parts without common items or raters"
    if ratings.is_complete:
        return "Every rater rated every item"
    share = ratings.n_pairs / (ratings.n_items * ratings.n_raters)
    each = (
        f"{counts.min():,}" + (f" to {counts.max():,}" if counts.max() > counts.min() else "")
        for counts in (ratings.ratings_per_item, ratings.ratings_per_rater)
    )
    per_item, per_rater = each
    return f"{share:.0%} of all pairs are rated: {per_item} ratings an item, {per_rater} a rater"
