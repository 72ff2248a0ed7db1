"""Comparison of models by how well they predict held-out items."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from reliabayes.plots.labels import short
from reliabayes.plots.layout import add_title, axes_or_new, label_right, label_rows, remove_frame
from reliabayes.plots.palette import Palette
from reliabayes.results.comparison import STANDARD_ERRORS, comparison_in_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def compare(table: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Bits per held-out rating of each model, with the uncertainty of the difference to the best.

    The line of a model extends two standard errors of its paired difference from the best model
    to either side: if it crosses the best model's value, the difference may be due to chance. The
    standard errors of bits per rating themselves, most of which the models share, are not drawn.

    Parameters
    ----------
    table : DataFrame
        Result of `reliabayes.compare`.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import pandas as pd
    >>> from matplotlib.figure import Figure
    >>> found = {"bits_per_rating": [0.5, 0.6], "difference": [0.0, 0.1], "weight": [1.0, 0.0]}
    >>> table = pd.DataFrame(found, ["A", "B"]).assign(se_difference=[0.0, 0.06], n_high_k=0)
    >>> print(compare(table, ax=Figure().subplots()).get_title(loc="left"))
    A predicts held-out items best, with 0.500 bits per rating; B needs
    0.100 more, which may be due to chance
    """
    ax = axes_or_new(ax, height=1.7 + 0.36 * len(table))
    palette, rows = Palette.of(ax), range(len(table))
    bits, reach = table["bits_per_rating"], STANDARD_ERRORS * table["se_difference"]
    ax.axvline(bits.iloc[0], color=palette.muted, linewidth=0.8, linestyle=(0, (4, 3)))
    ax.hlines(rows, bits - reach, bits + reach, color=palette.series[0], alpha=0.55, linewidth=2)
    ax.plot(bits, rows, color=palette.series[0], marker="o", linestyle="")
    names = [short(name) for name in table.index]
    label_rows(ax, rows, names)
    label_right(ax, rows, [_row_text(row) for _, row in table.iterrows()])
    ax.set(
        ylim=(len(table) - 0.4, -0.6), xlabel="bits per rating of held-out items (lower is better)"
    )
    worst = int(table["n_high_k"].max())
    caution = f" PSIS is unreliable for up to {worst:,} items." if worst else ""
    note = (
        f"On the right: difference from the best ± {STANDARD_ERRORS:g} standard errors; stacking "
        f"weight.{caution}"
    )
    add_title(ax, comparison_in_words(table.set_axis(names)), note, names)
    return remove_frame(ax, "bottom")


def _row_text(row: pd.Series[float]) -> str:
    if not row["difference"]:
        return f"best; weight {row['weight']:.2f}"
    reach = STANDARD_ERRORS * row["se_difference"]
    return f"+{row['difference']:.3f} ± {reach:.3f}; {row['weight']:.2f}"
