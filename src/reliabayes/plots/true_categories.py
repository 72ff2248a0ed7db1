"""True categories of items: how probable each is, and how much is left open."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reliabayes.arrays import Array
from reliabayes.plots.canvas import bare, beside, canvas, name_rows, percentages, titled
from reliabayes.plots.densities import about
from reliabayes.plots.forests import effects
from reliabayes.plots.inks import Inks
from reliabayes.plots.naming import shortened
from reliabayes.results import quantities

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from reliabayes.results.fit import Fit

MOST, FEWEST = 30, 5  # items that are shown, if as many are open
OPEN = 0.01  # bits from which on an item is shown
SETTLED = 0.9  # probability from which on a category counts as known


def items(fit: Fit, *, prob: float = 0.9, ax: Axes | None = None) -> Axes:
    """Items: probabilities of their true categories, or their effects in order.

    Of true categories, up to 30 items of highest entropy are shown, with it in bits; `entropies`
    shows all. Of effects, all are drawn, and named up to 60.

    Parameters
    ----------
    fit : Fit
        Of any model.
    prob : float
        Probability of the equal-tailed intervals of effects.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    Axes
    """
    if not hasattr(fit.model, "category_probabilities"):
        return effects(fit, "items", fit.items(prob), prob, ax)
    probability = fit.category_probabilities()
    entropy = quantities.entropy(probability.to_numpy())
    open_ones = max(FEWEST, int((entropy >= OPEN).sum()))
    worst = np.argsort(-entropy, kind="stable")[: min(MOST, open_ones)]
    names = shortened(probability.index[worst])
    ax = canvas(ax, height=1.9 + 0.18 * len(worst))
    _bars(ax, probability.to_numpy()[worst], shortened(probability.columns))
    name_rows(ax, range(len(worst)), names)
    beside(ax, range(len(worst)), [f"{bits:.2f} bits" for bits in entropy[worst]])
    ax.set(xlim=(0, 1), ylim=(len(worst) - 0.4, -0.6), xlabel="probability of the true category")
    percentages(ax)
    settled, total = int((probability.max(axis=1) >= SETTLED).sum()), len(probability)
    finding = f"{settled:,} of {total:,} items are settled: a category is at least 90% probable"
    shown = f"The {len(worst)} least certain, by entropy. " if total > len(worst) else ""
    titled(ax, finding, f"{shown}{about(fit)}", names)
    return bare(ax, "bottom")


def entropies(fit: Fit, *, ax: Axes | None = None) -> Axes:
    """Entropy of the true category of each item, from the least certain to the most.

    The area below is the number of bits that the ratings leave open.

    Parameters
    ----------
    fit : Fit
        Of a model of categories.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    Axes

    Raises
    ------
    AttributeError
        The model has no true categories.
    """
    entropy = np.sort(quantities.entropy(fit.category_probabilities().to_numpy()))[::-1]
    ax = canvas(ax)
    inks, most = Inks.of(ax), float(np.log2(len(fit.ratings.categories)))
    ax.stairs(entropy, np.arange(len(entropy) + 1), fill=True, color=inks.series[0], alpha=0.35)
    ax.stairs(entropy, np.arange(len(entropy) + 1), color=inks.series[0], baseline=None)
    ax.axhline(most, color=inks.muted, linewidth=0.8, linestyle=(0, (4, 3)))
    beside(ax, [most], ["nothing known"])
    ax.set(xlim=(0, len(entropy)), ylim=(0, 1.08 * most), ylabel="entropy, bits")
    ax.set_xlabel("items, the least certain first")
    total, cumulated = entropy.sum(), np.cumsum(entropy)
    half = 1 + int(np.searchsorted(cumulated, total / 2)) if total else 0
    bits = f"{total:,.0f}" if total >= 100 else f"{total:.1f}"
    finding = (
        f"The ratings leave {bits} bits open on the true categories of {len(entropy):,} items, "
        f"half of them in {half:,}"
    )
    return titled(ax, finding, about(fit))


def _bars(ax: Axes, probability: Array, names: list[str]) -> None:
    """A bar for each item, its parts the probabilities of the categories."""
    from matplotlib import colormaps
    from matplotlib.transforms import ScaledTranslation

    shades = colormaps["cividis"](np.linspace(0.1, 0.95, len(names)))
    start = np.cumsum(probability, axis=1) - probability
    for width, left, shade, name in zip(probability.T, start.T, shades, names, strict=True):
        ax.barh(range(len(width)), width, left=left, height=0.8, color=shade, label=name)
    below = ax.transAxes + ScaledTranslation(0, -0.5, ax.figure.dpi_scale_trans)
    legend = ax.legend(
        loc="upper left", bbox_to_anchor=(0, 0), bbox_transform=below, frameon=False,
        ncols=min(len(names), 4), fontsize="small", borderpad=0, handlelength=1,
    )  # fmt: skip
    for text in legend.get_texts():
        text.set(color=Inks.of(ax).text, parse_math=False)
