"""Which model foretells best: bits per rating of items left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from reliabayes.plots.canvas import bare, beside, canvas, name_rows, titled
from reliabayes.plots.inks import Inks
from reliabayes.plots.naming import short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ERRORS = 2.0  # standard errors to either side; a difference of less may be chance


def compare(table: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Bits per rating of each model, and how far it may be from the best.

    A line reaches two standard errors of its difference from the best to either side, items being
    paired: where it crosses the best, the difference may be chance. Standard errors of bits per
    rating themselves, which models share, are not drawn.

    Parameters
    ----------
    table : DataFrame
        What `reliabayes.compare` returns.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import pandas as pd
    >>> from matplotlib.figure import Figure
    >>> found = {"bits_per_rating": [0.5, 0.6], "difference": [0.0, 0.1], "weight": [1.0, 0.0]}
    >>> table = pd.DataFrame(found, ["A", "B"]).assign(se_difference=[0.0, 0.06], n_high_k=0)
    >>> print(compare(table, ax=Figure().subplots()).get_title(loc="left"))
    A foretells best, with 0.500 bits per rating; B needs 0.100 more,
    which may be chance
    """
    ax = canvas(ax, height=1.7 + 0.36 * len(table))
    inks, rows = Inks.of(ax), range(len(table))
    bits, reach = table["bits_per_rating"], ERRORS * table["se_difference"]
    ax.axvline(bits.iloc[0], color=inks.muted, linewidth=0.8, linestyle=(0, (4, 3)))
    ax.hlines(rows, bits - reach, bits + reach, color=inks.series[0], alpha=0.55, linewidth=2)
    ax.plot(bits, rows, color=inks.series[0], marker="o", linestyle="")
    names = [short(name) for name in table.index]
    name_rows(ax, rows, names)
    beside(ax, rows, [_told(row) for _, row in table.iterrows()])
    ax.set(
        ylim=(len(table) - 0.4, -0.6), xlabel="bits per rating of items left out: less is better"
    )
    worst = int(table["n_high_k"].max())
    caution = f" PSIS is not to be trusted for up to {worst:,} items." if worst else ""
    note = f"Beside: bits more than the best ± {ERRORS:g} standard errors, and weight.{caution}"
    titled(ax, _finding(table, names), note, names)
    return bare(ax, "bottom")


def _told(row: pd.Series[float]) -> str:
    if not row["difference"]:
        return f"best; weight {row['weight']:.2f}"
    return f"+{row['difference']:.3f} ± {ERRORS * row['se_difference']:.3f}; {row['weight']:.2f}"


def _finding(table: pd.DataFrame, names: list[str]) -> str:
    second = table.iloc[1]
    clear = second["difference"] > ERRORS * second["se_difference"]
    return (
        f"{names[0]} foretells best, with {table['bits_per_rating'].iloc[0]:.3f} bits per rating; "
        f"{names[1]} needs {second['difference']:.3f} more"
        f"{'' if clear else ', which may be chance'}"
    )
