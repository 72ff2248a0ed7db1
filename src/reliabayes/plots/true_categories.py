"""True categories of items: their probabilities, and the uncertainty that remains."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reliabayes.arrays import Array
from reliabayes.plots.forest_plots import effects
from reliabayes.plots.labels import shortened
from reliabayes.plots.layout import (
    add_title,
    axes_or_new,
    integer_ticks,
    label_right,
    label_rows,
    percent_ticks,
    remove_frame,
    text_width,
    write_inside,
)
from reliabayes.plots.palette import Palette, category_colours
from reliabayes.results import quantities
from reliabayes.results.estimates import SETTLED, source_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from reliabayes.results.fit import Fit

MAX_ITEMS, MIN_ITEMS = 30, 5  # that are shown
LEGEND_GAP = 5  # characters as wide as the square before a name in the legend and the gap behind it
MOST_NAMED = 5  # items of highest entropy that are named beside the curve
UNCERTAIN = 0.01  # bits of entropy from which on more than the fewest items are shown


def items(fit: Fit, *, prob: float = 0.9, ax: Axes | None = None) -> Axes:
    """Items: the probabilities of their true categories, or their effects in order.

    For models with true categories, up to 30 items of highest entropy are shown, with the entropy
    in bits; `entropies` shows all items. For models of scores, all effects are drawn, and up to 60
    are labelled. Of more items, those at the ends and those with intervals much wider than the
    others are labelled; of more than 600, a band shows the intervals, averaged over items next to
    each other. Ordered categories have shades of one scale, others have inks of their own.

    Parameters
    ----------
    fit : Fit
        Fit of any model.
    prob : float, default 0.9
        Probability of the equal-tailed intervals of effects, strictly between 0 and 1.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
    """
    if not fit.model.has_true_categories:
        return effects(fit, "items", fit.items(prob), prob, ax)
    probability = fit.category_probabilities()
    entropy = quantities.entropy(probability.to_numpy())
    uncertain = max(MIN_ITEMS, int((entropy >= UNCERTAIN).sum()))
    worst = np.argsort(-entropy, kind="stable")[: min(MAX_ITEMS, uncertain)]
    names = shortened(probability.index[worst])
    ax = axes_or_new(ax, height=1.9 + 0.18 * len(worst))
    categories, is_ordered = shortened(probability.columns), fit.ratings.scale == "ordered"
    _draw_bars(ax, probability.to_numpy()[worst], categories, is_ordered)
    label_rows(ax, range(len(worst)), names)
    label_right(ax, range(len(worst)), [f"{bits:.2f} bits" for bits in entropy[worst]])
    ax.set(xlim=(0, 1), ylim=(len(worst) - 0.4, -0.6), xlabel="probability of the true category")
    percent_ticks(ax)
    settled, total = int((probability.max(axis=1) >= SETTLED).sum()), len(probability)
    finding = (
        f"{settled:,} of {total:,} items are settled: one category has a probability of at least "
        f"{SETTLED:.0%}"
    )
    shown = f"The {len(worst)} items of highest entropy. " if total > len(worst) else ""
    add_title(ax, finding, f"{shown}{source_text(fit)}", names)
    return remove_frame(ax, "bottom")


def entropies(fit: Fit, *, ax: Axes | None = None) -> Axes:
    """Entropy of the true category of each item, in decreasing order.

    The area under the curve is the total uncertainty that the ratings leave, in bits. The five
    items of highest entropy are named.

    Parameters
    ----------
    fit : Fit
        Fit of a model with true categories.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    AttributeError
        The model has no true categories.
    """
    if not fit.model.has_true_categories:
        fit.category_probabilities()  # says so
    of_items = fit.items()["entropy"].sort_values(ascending=False, kind="stable")
    entropy = of_items.to_numpy()
    ax = axes_or_new(ax)
    palette, most = Palette.of(ax), float(np.log2(len(fit.ratings.categories)))
    first = np.flatnonzero(np.diff(entropy, prepend=np.inf))  # items alike share a step
    steps, edges = entropy[first], np.append(first, len(entropy))
    ax.stairs(steps, edges, fill=True, color=palette.series[0], alpha=0.35)
    ax.stairs(steps, edges, color=palette.series[0], baseline=None)
    ax.axhline(most, color=palette.muted, linewidth=0.8, linestyle=(0, (4, 3)))
    label_right(ax, [most], ["maximum"])
    ax.set(xlim=(0, len(entropy)), ylim=(0, 1.08 * most), ylabel="entropy, bits")
    ax.set_xlabel("items in order of entropy")
    integer_ticks(ax)
    doubtful = of_items[of_items >= UNCERTAIN].iloc[:MOST_NAMED]
    names = shortened(doubtful.index)
    lines = [f"{name}  {bits:.2f}" for name, bits in zip(names, doubtful, strict=True)]
    if lines:
        lines = ["items of highest entropy", *lines]
        write_inside(ax, lines, (0.99, 0.97 / 1.08), "right", "top")
    total, cumulated = entropy.sum(), np.cumsum(entropy)
    half = 1 + int(np.searchsorted(cumulated, total / 2))
    bits = f"{total:,.0f}" if total >= 100 else f"{total:.1f}"
    about = f"about the true categories of {len(entropy):,} items"
    finding = f"{bits} bits of uncertainty remain {about}, half of it in {half:,} of them"
    if bits == "0.0":
        finding = f"No uncertainty remains {about}"
    return add_title(ax, finding, source_text(fit))


def _draw_bars(ax: Axes, probability: Array, names: list[str], is_ordered: bool) -> None:
    """Draw a bar for each item, divided by the probabilities of the categories."""
    from matplotlib.transforms import ScaledTranslation

    shades = category_colours(len(names), is_ordered)
    start = np.cumsum(probability, axis=1) - probability
    for width, left, shade, name in zip(probability.T, start.T, shades, names, strict=True):
        ax.barh(range(len(width)), width, left=left, height=0.8, color=shade, label=name)
    room = text_width(ax.bbox.width, ax) // (max(map(len, names)) + LEGEND_GAP)
    columns = max(1, min(room, len(names), 4))
    below = ax.transAxes + ScaledTranslation(0, -0.5, ax.figure.dpi_scale_trans)
    legend = ax.legend(
        loc="upper left", bbox_to_anchor=(0, 0), bbox_transform=below, frameon=False,
        ncols=columns, fontsize="small", borderpad=0, handlelength=1,
    )  # fmt: skip
    for text in legend.get_texts():
        text.set(color=Palette.of(ax).text, parse_math=False)
