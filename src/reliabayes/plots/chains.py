"""Agreement of chains: their traces, and the ranks of their draws."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from reliabayes.arrays import Array
from reliabayes.plots.labels import short
from reliabayes.plots.layout import add_title, axes_or_new, panels, text_width
from reliabayes.plots.palette import Palette
from reliabayes.results.diagnostics import largest_r_hat
from reliabayes.results.estimates import source_text
from reliabayes.results.summaries import scalars

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from reliabayes.results.fit import Fit

MAX_QUANTITIES = 6  # that are shown: those whose chains agree least
COLUMNS, PANEL_HEIGHT = 2, 1.8  # panels in a row, and inches of each
BINS = 20  # of ranks
SDS_OF_BAND = 2.58  # standard deviations to either side that hold 99%


def trace(fit: Fit, names: Sequence[str] | None = None, *, ax: Axes | None = None) -> Axes:
    """Draws of each chain in sampling order, for the six quantities whose chains agree least.

    Chains that agree look like a single band without a trend.

    Parameters
    ----------
    fit : Fit
        Fit of any model.
    names : sequence of str, optional
        Quantities to choose from, as for `Fit.summary`; by default all except those of individual
        raters.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure. The panels are its ``child_axes``.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        The fit has no quantity of that name.
    """
    return _by_quantity(fit, names, ax, _draw_trace, "Draws in sampling order, one line per chain")


def rank(fit: Fit, names: Sequence[str] | None = None, *, ax: Axes | None = None) -> Axes:
    """Ranks of each chain's draws among all draws, for the six quantities that agree least.

    Chains that agree have ranks of all sizes in equal proportions: their lines vary around the
    middle of the band, which holds those of independent draws with a probability of 99%.

    Parameters
    ----------
    fit : Fit
        Fit of any model.
    names : sequence of str, optional
        Quantities to choose from, as for `Fit.summary`; by default all except those of individual
        raters.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure. The panels are its ``child_axes``.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        The fit has no quantity of that name.

    References
    ----------
    Vehtari et al. (2021), section 5. https://doi.org/10.1214/20-BA1221
    """
    note = "Ranks of the draws among all chains, one line per chain"
    return _by_quantity(fit, names, ax, _draw_ranks, note)


def _by_quantity(
    fit: Fit,
    names: Sequence[str] | None,
    ax: Axes | None,
    draw: Callable[[Axes, Array], None],
    note: str,
) -> Axes:
    """A panel for each quantity; the title gives the worst R-hat and ESS of all quantities."""
    table = fit.summary(names=names)[["r_hat", "ess_bulk"]]
    worst = table.sort_values(["r_hat", "ess_bulk"], ascending=[False, True])
    shown = worst[:MAX_QUANTITIES].index
    draws = {
        label: values
        for name in dict.fromkeys(label.partition("[")[0] for label in table.index)
        for label, values in scalars(name, fit.quantities[name])
        if label in shown
    }
    ax = axes_or_new(ax, 7.6, 0.9 + PANEL_HEIGHT * math.ceil(len(draws) / COLUMNS))
    r_hat = {label: f": R-hat {value:.3f}" for label, value in table["r_hat"].dropna().items()}
    room = text_width(ax.bbox.width / COLUMNS, ax) - len(": R-hat 1.003")
    titles = [short(label, min(40, max(12, room))) + r_hat.get(label, "") for label in draws]
    for panel, values in zip(panels(ax, titles, COLUMNS), draws.values(), strict=True):
        draw(panel, values)
    if len(table) > MAX_QUANTITIES:
        note += f"; the {len(shown)} of {len(table):,} quantities whose chains agree least"
    chains, monitored = fit.settings.chains, len(fit._convergence.monitored)
    limit = largest_r_hat(chains, chains * fit.settings.draws, monitored)
    return add_title(ax, _finding(table, chains, limit), f"{note}. {source_text(fit)}")


def _draw_trace(panel: Axes, draws: Array) -> None:
    palette = Palette.of(panel)
    for chain, values in enumerate(draws):
        colour = palette.series_colour(chain)
        panel.plot(values, color=colour, linewidth=0.4, alpha=0.7, rasterized=True)
    panel.set(xlim=(0, draws.shape[1]), xlabel="draw")


def _draw_ranks(panel: Axes, draws: Array) -> None:
    palette, (chains, number) = Palette.of(panel), draws.shape
    rank = np.empty(draws.size)
    rank[np.argsort(draws, axis=None, kind="stable")] = np.arange(draws.size)
    edges = np.linspace(0, draws.size, BINS + 1)
    expected = number / BINS
    reach = SDS_OF_BAND * math.sqrt(expected * (1 - 1 / BINS))
    panel.axhspan(expected - reach, expected + reach, color=palette.faint, linewidth=0)
    panel.axhline(expected, color=palette.muted, linewidth=0.6)
    for chain, ranks in enumerate(rank.reshape(chains, number)):
        counts, _ = np.histogram(ranks, edges)
        colour = palette.series_colour(chain)
        panel.stairs(counts, edges, color=colour, linewidth=1.0, alpha=0.8, baseline=None)
    panel.set(
        xlim=(0, draws.size), ylim=(0, 2 * expected), xlabel="rank among all draws", ylabel="draws"
    )


def _finding(table: pd.DataFrame, chains: int, max_r_hat: float) -> str:
    r_hat, ess = table["r_hat"], table["ess_bulk"].min()
    if chains == 1:
        return f"A single chain cannot show convergence; bulk ESS is at least {ess:,.0f}"
    if not r_hat.max() <= max_r_hat:
        return (
            f"The {chains} chains disagree: R-hat is up to {r_hat.max():.3f} and bulk ESS as low "
            f"as {ess:,.0f}"
        )
    return (
        f"The {chains} chains agree: R-hat is at most {r_hat.max():.3f} and bulk ESS at least "
        f"{ess:,.0f}"
    )
