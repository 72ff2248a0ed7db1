"""Decision studies: what means over several levels of facets would be worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reliabayes.arrays import Array
from reliabayes.plots.layout import add_title, axes_or_new, integer_ticks, label_right, separated
from reliabayes.plots.palette import STYLES, Palette
from reliabayes.results.estimates import estimate_text
from reliabayes.results.summaries import interval_bounds
from reliabayes.wording import joined

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

    from reliabayes.results.fitted_decisions import DStudy

GAP = 0.07  # between labels, as a proportion of the height
MOST_BANDS = 2  # lines from which on bands are paler
MOST_LINES = 8
MOST_TICKS = 10  # numbers of levels that are marked one by one
RELIABILITIES = {"phi": "Phi", "g": "G"}
MEANINGS = {
    "phi": "Phi, reliability for absolute decisions",
    "g": "G, reliability for comparisons",
    "sem_relative": "standard error for comparisons",
    "sem_absolute": "standard error of measurement",
    "mdc": "minimal detectable change",
}


def d_study(
    study: DStudy,
    quantity: str = "phi",
    *,
    target: float | None = None,
    prob: float = 0.9,
    ax: Axes | None = None,
) -> Axes:
    """Reliability or error of means of ratings by the numbers of levels of one or two facets.

    Parameters
    ----------
    study : DStudy
        Result of `Fit.d_study`. Of the facets with several numbers of levels, the first is along
        the axis, and the second, if there is one, has a line for each number, at most eight.
    quantity : str, default "phi"
        One of "phi", "g", "sem_relative", "sem_absolute" and "mdc".
    target : float, optional
        What is to be reached: a reliability strictly between 0 and 1, or an error above 0.
    prob : float, default 0.9
        Probability of the equal-tailed bands, strictly between 0 and 1.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        No facet or more than two have several numbers of levels, or an argument is out of range.
    """
    is_error = _is_error(quantity, target)
    study.table(quantity, prob)  # refuses what is no quantity or probability
    along, lines, others = _arranged(study.draws[quantity])
    ax = axes_or_new(ax)
    palette = Palette.of(ax)
    if target is not None:
        ax.axhline(target, color=palette.muted, linewidth=0.8, linestyle=(0, (4, 3)))
    k = along[along.dims[-1]].values
    ends = []
    for number, draws in enumerate(along.values):
        colour, (mark, line) = palette.series_colour(number), STYLES[number % len(STYLES)]
        lower, upper = interval_bounds(draws, prob)
        alpha = 0.2 if len(along) <= MOST_BANDS else 0.09
        ax.fill_between(k, lower, upper, color=colour, alpha=alpha, linewidth=0)
        median = np.median(draws, axis=0)
        marked = mark if len(k) <= MOST_TICKS else ""
        (drawn,) = ax.plot(k, median, color=colour, linestyle=line, marker=marked, markersize=4)
        drawn.set_clip_on(False)
        ends.append(float(median[-1]))
    highest = interval_bounds(along.values.max(axis=2).T, prob)[1].max()
    top = 1.05 * max(float(highest), target or 0) if is_error else 1.02
    if lines:
        heights = separated(ends, GAP * top, 0.98 * top)
        for number, (height, text) in enumerate(zip(heights, lines, strict=True)):
            label_right(ax, [height], [text], color=palette.label_colour(number))
    ax.set(xlim=(k[0], k[-1]), ylim=(0, top), xlabel=f"levels of {along.dims[-1]}")
    ax.set_ylabel(MEANINGS[quantity])
    if len(k) <= MOST_TICKS:
        ax.set_xticks(k)
    else:
        integer_ticks(ax)
    note = f"Medians and {100 * prob:g}% intervals{others}. {study.draws.attrs.get('source', '')}"
    return add_title(ax, _finding(along, lines, quantity, target, prob), note.rstrip())


def _is_error(quantity: str, target: float | None) -> bool:
    """Whether less is better."""
    is_error = quantity not in RELIABILITIES
    if target is not None and not 0 < target < (np.inf if is_error else 1):
        rule = "above 0" if is_error else "strictly between 0 and 1"
        raise ValueError(f"target must lie {rule}, not {target}.")
    return is_error


def _arranged(found: xr.DataArray) -> tuple[xr.DataArray, list[str], str]:
    """Draws (lines, S, numbers of levels), labels of the lines, and levels of other facets."""
    several = [str(dim) for dim in found.dims[2:] if found.sizes[dim] > 1]
    single = [str(dim) for dim in found.dims[2:] if found.sizes[dim] == 1]
    if not 1 <= len(several) <= 2 or any(found.sizes[dim] > MOST_LINES for dim in several[1:]):
        sizes = joined([f"{found.sizes[dim]} of {dim}" for dim in (*several, *single)]) or "none"
        raise ValueError(
            "study must have several numbers of levels of one facet, or of two, with up to "
            f"{MOST_LINES} of the second; found {sizes}. Ask fit.d_study for these."
        )
    found = found.stack(sample=("chain", "draw")).squeeze(single, drop=False)
    fixed = joined([f"{int(found[dim])} of {dim}" for dim in single]) if single else ""
    along, *second = several
    if not second:
        found = found.expand_dims("line")
        return found.transpose("line", "sample", along), [], fixed and f"; {fixed}"
    labels = [f"{number} of {second[0]}" for number in found[second[0]].values]
    return found.transpose(second[0], "sample", along), labels, fixed and f"; {fixed}"


def _finding(
    along: xr.DataArray, lines: list[str], quantity: str, target: float | None, prob: float
) -> str:
    """What the largest numbers of levels give, or the fewest that reach the target."""
    facet, k = along.dims[-1], along[along.dims[-1]].values.tolist()
    median: Array = np.median(along.values, axis=1)
    of = RELIABILITIES.get(quantity, MEANINGS[quantity])

    def levels(line: int, column: int) -> str:
        more = f" and {lines[line]}" if lines else ""
        return f"{k[column]} level{'s' * (k[column] != 1)} of {facet}{more}"

    if target is None:
        best = estimate_text(along.values[-1, :, -1], prob)
        return f"Means over {levels(-1, -1)} have a {of} of {best}"
    is_enough = median <= target if quantity not in RELIABILITIES else median >= target
    ways: list[tuple[int, int]] = []  # line and column, in the order of the second facet
    for line in np.argsort(along[along.dims[0]].values):
        enough = np.flatnonzero(is_enough[line])
        fewest = min(enough, key=lambda column: k[column], default=None)
        if fewest is not None and (not ways or k[fewest] < k[ways[-1][1]]):
            ways.append((int(line), int(fewest)))
    if not ways:
        return f"None of these numbers of levels reaches a {of} of {target:g}"
    shown = [levels(*way) for way in dict.fromkeys([ways[0], ways[-1]])]
    reach = "reaches" if shown == [f"1 level of {facet}"] else "reach"
    return f"{', or '.join(shown)}{',' * (len(shown) > 1)} {reach} a {of} of {target:g}"
