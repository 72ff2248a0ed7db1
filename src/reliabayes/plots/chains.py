"""Whether chains agree: their traces, and how they share the ranks of all draws."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from reliabayes.arrays import Array
from reliabayes.plots.canvas import canvas, panels, titled
from reliabayes.plots.densities import about
from reliabayes.plots.inks import Inks
from reliabayes.plots.naming import short
from reliabayes.results.summaries import scalars

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from reliabayes.results.fit import Fit

MOST = 6  # quantities that are shown: those whose chains agree least
ACROSS, TALL = 2, 1.8  # panels side by side, and inches of one
BINS = 20  # of ranks
REACH = 2.58  # standard deviations to either side that hold 99%


def trace(fit: Fit, names: Sequence[str] | None = None, *, ax: Axes | None = None) -> Axes:
    """Draws of each chain in their order, of the six quantities whose chains agree least.

    Chains that agree look like one band without a trend.

    Parameters
    ----------
    fit : Fit
    names : sequence of str, optional
        Quantities to choose from, as for `Fit.summary`; by default those not of single raters.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure. Panels are its ``child_axes``.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        There is no such quantity.
    """
    return _by_quantity(fit, names, ax, _trace, "Draws in their order, a line for each chain")


def rank(fit: Fit, names: Sequence[str] | None = None, *, ax: Axes | None = None) -> Axes:
    """Ranks of the draws of each chain among all, of the six quantities whose chains agree least.

    Chains that agree have each a like share of low and of high ranks: their lines stay in the band,
    in which those of independent draws are with a probability of 99%, and waver about its middle.

    Parameters
    ----------
    fit : Fit
    names : sequence of str, optional
        Quantities to choose from, as for `Fit.summary`; by default those not of single raters.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure. Panels are its ``child_axes``.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        There is no such quantity.

    References
    ----------
    Vehtari et al. (2021), section 5. https://doi.org/10.1214/20-BA1221
    """
    return _by_quantity(fit, names, ax, _ranks, "Draws by rank among all, a line for each chain")


def _by_quantity(
    fit: Fit,
    names: Sequence[str] | None,
    ax: Axes | None,
    draw: Callable[[Axes, Array], None],
    note: str,
) -> Axes:
    """A panel for each quantity, under what the worst of them says."""
    table = fit.summary(names=names)[["r_hat", "ess_bulk"]]
    shown = table.sort_values(["r_hat", "ess_bulk"], ascending=[False, True])[:MOST].index
    draws = {
        label: values
        for name in dict.fromkeys(label.partition("[")[0] for label in table.index)
        for label, values in scalars(name, fit.quantities[name])
        if label in shown
    }
    ax = canvas(ax, 7.6, 0.9 + TALL * math.ceil(len(draws) / ACROSS))
    r_hat = {label: f": R-hat {value:.3f}" for label, value in table["r_hat"].dropna().items()}
    titles = [short(label, 40) + r_hat.get(label, "") for label in draws]
    for panel, values in zip(panels(ax, titles, ACROSS), draws.values(), strict=True):
        draw(panel, values)
    some = f"; the {len(shown)} of {len(table):,} that agree least" if len(table) > MOST else ""
    return titled(ax, _finding(table, fit.settings.chains), f"{note}{some}. {about(fit)}")


def _trace(panel: Axes, draws: Array) -> None:
    inks = Inks.of(panel)
    for chain, values in enumerate(draws):
        panel.plot(values, color=inks.of_series(chain), linewidth=0.4, alpha=0.7, rasterized=True)
    panel.set(xlim=(0, draws.shape[1]), xlabel="draw")


def _ranks(panel: Axes, draws: Array) -> None:
    inks, (chains, number) = Inks.of(panel), draws.shape
    rank = np.empty(draws.size)
    rank[np.argsort(draws, axis=None, kind="stable")] = np.arange(draws.size)
    edges = np.linspace(0, draws.size, BINS + 1)
    expected = number / BINS
    reach = REACH * math.sqrt(expected * (1 - 1 / BINS))
    panel.axhspan(expected - reach, expected + reach, color=inks.faint, linewidth=0)
    panel.axhline(expected, color=inks.muted, linewidth=0.6)
    for chain, ranks in enumerate(rank.reshape(chains, number)):
        counts, _ = np.histogram(ranks, edges)
        panel.stairs(
            counts, edges, color=inks.of_series(chain), linewidth=1.0, alpha=0.8, baseline=None
        )
    panel.set(
        xlim=(0, draws.size), ylim=(0, 2 * expected), xlabel="rank among all draws", ylabel="draws"
    )


def _finding(table: pd.DataFrame, chains: int) -> str:
    r_hat, ess = table["r_hat"], table["ess_bulk"].min()
    known = f"bulk ESS is {ess:,.0f} or more"
    if chains == 1:
        return f"One chain alone cannot show whether it converged; {known}"
    if not r_hat.max() <= 1.01:
        return f"The {chains} chains disagree: R-hat is up to {r_hat.max():.3f}; {known}"
    return f"The {chains} chains agree: R-hat is {r_hat.max():.3f} or less, {known}"
