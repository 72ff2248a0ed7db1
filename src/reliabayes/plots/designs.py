"""The design: which rater rated which item."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reliabayes.arrays import Array, Codes
from reliabayes.plots.labels import short, shortened
from reliabayes.plots.layout import (
    add_title,
    axes_or_new,
    label_columns,
    label_right,
    label_rows,
    remove_frame,
    rows_fit,
)
from reliabayes.plots.palette import Palette
from reliabayes.ratings import Ratings
from reliabayes.results.summaries import size_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_LABELS = 45  # raters, or items, up to which all are labelled
MAX_CELLS = (160, 480)  # rows and columns; more raters or items share them


def design(ratings: Ratings, *, ax: Axes | None = None) -> Axes:
    """Which rater rated which item: a row per rater, a column per item, dark if there is a rating.

    Raters are ordered by pool and then by their number of ratings, items by who rated them. Of
    more than 160 raters or 480 items, several share a row or column, whose shade is the proportion
    of pairs that were rated. Labels that have no room are left out. Of a complete design there is
    only the sentence that every rater rated every item.

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

    Examples
    --------
    >>> import numpy as np
    >>> import reliabayes as rb
    >>> from matplotlib.figure import Figure
    >>> ratings = rb.Ratings.from_wide(np.array([[1, 2, np.nan], [3, 3, 5], [2, np.nan, 4]]))
    >>> print(design(ratings, ax=Figure().subplots()).get_title(loc="left"))
    78% of the rater-item pairs have a rating: 2 to 3 ratings per item, 2
    to 3 per rater
    """
    ratings.require_known_raters("plots.design")
    raters = np.lexsort((-ratings.ratings_per_rater, _pool_codes(ratings)))
    items = _item_order(ratings, raters)
    if ratings.is_complete:
        return _complete(ratings, axes_or_new(ax, 7.0, 0.7))
    filled = _proportion_rated(ratings, raters, items)
    ax = axes_or_new(ax, 7.0, float(np.clip(1.6 + 0.16 * len(filled), 2.4, 6.0)))
    palette = Palette.of(ax)
    ax.pcolormesh(
        np.linspace(0, ratings.n_items, filled.shape[1] + 1),
        np.linspace(0, ratings.n_raters, filled.shape[0] + 1),
        filled, cmap=palette.colormap(), vmin=0, vmax=1, rasterized=True,
        edgecolors=[palette.background] if len(items) <= 2 * MAX_LABELS else "none", linewidth=1,
    )  # fmt: skip
    is_labelled = len(raters) <= MAX_LABELS and rows_fit(ax, len(raters))
    names = shortened(ratings.raters[raters]) if is_labelled else []
    label_rows(ax, np.arange(len(names)) + 0.5, names)
    if len(items) <= MAX_LABELS:
        at = np.arange(len(items)) + 0.5
        label_columns(ax, at, shortened(ratings.items[items], 18), 1 / len(items))
    _label_pools(ax, ratings)
    ax.set(xlim=(0, ratings.n_items), ylim=(ratings.n_raters, 0))
    ax.set(xlabel="items, ordered by who rated them", ylabel="" if names else "raters")
    add_title(ax, _finding(ratings), size_text(ratings), names)
    return remove_frame(ax, "bottom")


def _complete(ratings: Ratings, ax: Axes) -> Axes:
    """Of a complete design, the sentence alone: every cell would be filled."""
    ax.set_axis_off()
    return add_title(ax, _finding(ratings), size_text(ratings))


def _item_order(ratings: Ratings, raters: Codes) -> Codes:
    """Items ordered by the mean row of their raters."""
    place = np.argsort(raters)[ratings.rater]
    total = np.bincount(ratings.item, place)
    return np.argsort(total / ratings.ratings_per_item, kind="stable")


def _pool_codes(ratings: Ratings) -> Codes:
    return (
        np.zeros(ratings.n_raters, np.int32) if ratings.rater_pool is None else ratings.rater_pool
    )


def _proportion_rated(ratings: Ratings, raters: Codes, items: Codes) -> Array:
    """Proportion of the pairs of rater and item that have a rating, by row and column."""
    item, rater = ratings.incidence.nonzero()
    row, column = np.argsort(raters)[rater], np.argsort(items)[item]
    shape = ratings.n_raters, ratings.n_items
    bins = [min(most, n) for most, n in zip(MAX_CELLS, shape, strict=True)]
    limits = [(-0.5, n - 0.5) for n in shape]
    pairs, _, _ = np.histogram2d(row, column, bins, limits)
    cells = [
        np.histogram(np.arange(n), number, limit)[0]
        for n, number, limit in zip(shape, bins, limits, strict=True)
    ]
    return np.asarray(pairs / np.outer(*cells))


def _label_pools(ax: Axes, ratings: Ratings) -> None:
    """Label pools beside their raters, with a line between them."""
    ends = np.cumsum(np.bincount(_pool_codes(ratings)))
    for start, end, pool in zip(np.append(0, ends[:-1]), ends, ratings.pools, strict=False):
        label_right(ax, [(start + end) / 2], [short(pool)])
        ax.axhline(end, color=Palette.of(ax).background, linewidth=4)


def _finding(ratings: Ratings) -> str:
    if ratings.n_components > 1:
        return f"The design has {ratings.n_components} parts that share neither items nor raters"
    if ratings.is_complete:
        return "Every rater rated every item"
    proportion = ratings.n_pairs / (ratings.n_items * ratings.n_raters)
    per_item, per_rater = (
        f"{counts.min():,}" + (f" to {counts.max():,}" if counts.max() > counts.min() else "")
        for counts in (ratings.ratings_per_item, ratings.ratings_per_rater)
    )
    return (
        f"{proportion:.0%} of the rater-item pairs have a rating: {per_item} ratings per item, "
        f"{per_rater} per rater"
    )
