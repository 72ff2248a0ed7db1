"""Correlations of the errors of pairs of raters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reliabayes.plots.layout import add_title, axes_or_new, remove_frame
from reliabayes.plots.palette import Palette
from reliabayes.results.summaries import size_text
from reliabayes.wording import rater_names, sentence_start

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from reliabayes.results.fit import Fit

LEAST_ITEMS = 5  # of pairs that are drawn: the correlation of fewer errors says nothing


def dependence(fit: Fit, *, ax: Axes | None = None) -> Axes:
    """Correlation of the errors of each pair of raters, by the number of items it is based on.

    Pairs of raters who make the same errors are marked; correlations of the others scatter around
    their mean, the more so the fewer items they are based on. Pairs with fewer than five items are
    not drawn.

    Parameters
    ----------
    fit : Fit
        Fit of a model with true categories, to ratings by three known raters or more.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    AttributeError
        The model has no true categories.
    ValueError
        There are fewer than three known raters, or no two have five items in common with others.
    """
    fit.dependence()  # raises where there are no pairs to compare
    assert fit.crowd is not None
    found = fit.crowd.found
    shown = found.items >= LEAST_ITEMS
    if not shown.any():
        raise ValueError(
            f"two raters must have {LEAST_ITEMS} items in common that others rated, too; "
            f"the most are {found.items.max(initial=0)}."
        )
    inside = np.zeros(len(shown), dtype=bool)
    for group in fit.crowd.groups:
        inside |= np.isin(found.raters, group.raters).all(axis=1)
    ax = axes_or_new(ax)
    palette = Palette.of(ax)
    values = np.clip(found.raw, -1, 1)
    for some, colour, size in (~inside & shown, palette.muted, 9), (inside, palette.series[0], 36):
        ax.scatter(found.items[some], values[some], s=size, color=[colour], alpha=0.7, linewidths=0)
    ax.axhline(found.mean, color=palette.muted, linewidth=1)
    ax.set_xlim(0, 1.08 * found.items.max())
    ax.set(xlabel="items that both and others rated", ylabel="correlation of errors")
    pairs = f"{shown.sum():,} pairs of raters; the line is the mean of all, {found.mean:.2f}."
    return remove_frame(add_title(ax, _finding(fit), f"{pairs} {size_text(fit.ratings)}"), "left")


def _finding(fit: Fit) -> str:
    assert fit.crowd is not None
    groups = fit.crowd.groups
    if not groups:
        return "No raters make the same errors beyond chance"
    first = sentence_start(rater_names(fit.ratings.raters[groups[0].raters]))
    more = "" if len(groups) == 1 else f" (and {len(groups) - 1} more groups)"
    votes = f"{len(groups[0].raters)} votes of theirs count as {groups[0].effective_votes:.1f}"
    return f"{first} make the same errors: {votes}{more}"
