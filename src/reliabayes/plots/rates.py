"""How often each pool gives a category."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reliabayes.agreement.arithmetic import ratio
from reliabayes.agreement.coefficient import Coefficient
from reliabayes.agreement.count_table import CountTable
from reliabayes.arrays import Array
from reliabayes.plots.labels import named, short, shortened, tied
from reliabayes.plots.layout import (
    add_title,
    axes_or_new,
    label_right,
    label_rows,
    percent_ticks,
    remove_frame,
)
from reliabayes.plots.palette import Palette
from reliabayes.ratings import Ratings
from reliabayes.results.rater_quality import known_pools
from reliabayes.results.summaries import size_text
from reliabayes.wording import listed

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def rates(
    ratings: Ratings, category: Any = None, *, prob: float = 0.95, ax: Axes | None = None
) -> Axes:
    """How often each pool of raters gives a category, as bars with confidence intervals.

    Intervals are for other items, and for other raters unless a pool has a single one. Equal rates
    are no sign of agreement: pools may give a category equally often to different items.

    Parameters
    ----------
    ratings : Ratings
        Ratings in categories, by raters of pools.
    category : object, optional
        One of ``ratings.categories``; by default the second of two.
    prob : float, default 0.95
        Nominal coverage of the intervals, strictly between 0 and 1.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        The ratings have no pools, there is no such category, or none is named of more than two.

    Examples
    --------
    >>> import numpy as np
    >>> import reliabayes as rb
    >>> from matplotlib.figure import Figure
    >>> wide = np.array([["no", "no", "yes"], ["yes", "no", "yes"], ["no", "no", "no"]])
    >>> pool = {0: "a", 1: "a", 2: "b"}
    >>> ax = rates(rb.Ratings.from_wide(wide, pool=pool), ax=Figure().subplots())
    >>> print(ax.get_title(loc="left"))
    Pool b gives yes most often (67% of ratings), pool a least (17%)
    """
    pool = known_pools(ratings)
    code = _code(ratings, category)
    table = CountTable.from_ratings(ratings)
    inside = np.eye(len(ratings.pools))[:, pool]
    found = [_rate(ratings, table, code, is_in) for is_in in inside]
    values = [rate.value for rate in found]
    names = shortened(ratings.pools)
    ax = axes_or_new(ax, height=1.5 + 0.4 * len(names))
    palette, rows = Palette.of(ax), np.arange(len(names))
    ax.barh(rows, values, height=0.7, color=palette.series[0])
    texts = []
    for row, rate in zip(rows, found, strict=True):
        interval = rate.interval(prob)
        ax.plot([interval.lower, interval.upper], [row, row], color=palette.text, linewidth=1.2)
        texts.append(f"{rate.value:.0%} ({interval.lower:.0%} to {interval.upper:.0%})")
    label_rows(ax, rows, names)
    label_right(ax, rows, texts)
    percent_ticks(ax)
    given = short(ratings.categories[code])
    ax.set(xlim=(0, 1), xlabel=f"proportion of ratings in category {given}")
    note = f"{100 * prob:g}% intervals. {size_text(ratings)}"
    add_title(ax, _finding(names, values, given), note, names)
    ax.invert_yaxis()
    return remove_frame(ax, "bottom")


def _code(ratings: Ratings, category: Any) -> int:
    """Position of the category, by default that of the second of two."""
    if category is None and len(ratings.categories) == 2:
        return 1
    known = ratings.categories.tolist()
    if category not in known:
        found = "none" if category is None else repr(category)
        raise ValueError(f"category: it must be one of {listed(known)}; found {found}.")
    return known.index(category)


def _rate(ratings: Ratings, table: CountTable, code: int, is_in: Array) -> Coefficient:
    """The proportion of a category among the ratings by raters ``is_in`` (R,) a pool."""

    def rows(weights: Array | None) -> Array:
        counts = table.counts(is_in if weights is None else is_in * weights)
        given = counts.sum_by_item(counts.n * (counts.category == code))
        return np.column_stack([given, counts.n_ratings])

    def formula(sums: Array) -> Array:
        return ratio(sums[..., 0], sums[..., 1])

    return Coefficient.of(ratings, "Rate", rows, formula, least=0.0)


def _finding(names: list[str], values: list[float], given: str) -> str:
    """Which pools give the category most and least often; rates that are written alike are tied."""
    shown = [f"{value:.0%}" for value in values]
    most, least = shown[int(np.argmax(values))], shown[int(np.argmin(values))]
    if most == least:
        return f"All pools give {given} in {most} of ratings"
    high, low = (named(tied(names, shown, end), "pool") for end in (most, least))
    verb = "gives" if shown.count(most) == 1 else "give"
    often = f"{verb} {given} most often ({most} of ratings)"
    return f"{high[0].upper()}{high[1:]} {often}, {low} least ({least})"
