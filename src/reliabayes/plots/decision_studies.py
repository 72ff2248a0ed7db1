"""Decision studies: what means over several levels of facets would be worth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reliabayes.arrays import Array
from reliabayes.plots.layout import add_title, axes_or_new, integer_ticks, label_right, separated
from reliabayes.plots.palette import STYLES, Palette
from reliabayes.results.decision_study import DStudy
from reliabayes.results.estimates import estimate_text
from reliabayes.results.summaries import interval_bounds
from reliabayes.wording import counted, joined, several

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

EDGE = 0.06  # of a map, without labels, as a proportion of its width
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
    TypeError
        ``study`` is something else, such as a fit.
    ValueError
        No facet or more than two have several numbers of levels, or an argument is out of range.
    """
    _require_study(study)
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
    ax.set(xlim=(k[0], k[-1]), ylim=(0, top), xlabel=several(str(along.dims[-1])))
    ax.set_ylabel(MEANINGS[quantity])
    if len(k) <= MOST_TICKS:
        ax.set_xticks(k)
    else:
        integer_ticks(ax)
    note = f"Medians and {100 * prob:g}% intervals{others}. {study.draws.attrs.get('source', '')}"
    return add_title(ax, _finding(along, lines, quantity, target, prob), note.rstrip())


def d_study_surface(
    study: DStudy,
    quantity: str = "phi",
    *,
    target: float | None = None,
    prob: float = 0.9,
    ax: Axes | None = None,
) -> Axes:
    """Reliability or error of means of ratings over the numbers of levels of two facets, as a map.

    Parameters
    ----------
    study : DStudy
        Result of `Fit.d_study`, with several numbers of levels of two facets: the first is along
        the horizontal axis, the second along the vertical one.
    quantity : str, default "phi"
        One of "phi", "g", "sem_relative", "sem_absolute" and "mdc".
    target : float, optional
        What is to be reached: a reliability strictly between 0 and 1, or an error above 0.
    prob : float, default 0.9
        Posterior probability with which the target is reached beyond the dashed line, strictly
        between 0 and 1; beyond the solid one it is a half.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    TypeError
        ``study`` is something else, such as a fit.
    ValueError
        Not two facets have several numbers of levels, or an argument is out of range.
    """
    _require_study(study)
    is_error = _is_error(quantity, target)
    study.table(quantity, prob)  # refuses what is no quantity or probability
    draws = study.draws[quantity]
    draws = draws.sortby([str(dim) for dim in draws.dims[2:]])
    along, lines, others = _arranged(draws, fewest=2, most_lines=np.inf)
    ax = axes_or_new(ax, height=4.2)
    palette = Palette.of(ax)
    axes = [along[dim].values for dim in (along.dims[-1], along.dims[0])]
    median: Array = np.median(along.values, axis=1)
    levels = _ticks(median)
    ax.contourf(*axes, median, levels, cmap=palette.colormap(), alpha=0.55)
    thin = levels[~np.isclose(levels, np.nan if target is None else target)]
    labelled = ax.contour(*axes, median, thin, colors=[palette.muted], linewidths=0.6)
    ax.clabel(
        labelled, fontsize="small", fmt="%g", manual=_on_diagonal(axes[0], axes[1], median, thin)
    )
    note = "Medians"
    if target is not None:
        sure = np.quantile(along.values, prob if is_error else 1 - prob, axis=1)
        for values, style in ((median, "-"), (sure, "--")):
            if values.min() < target < values.max():
                ax.contour(
                    *axes, values, [target], colors=[palette.text], linestyles=style, linewidths=2
                )
        note += f"; lines where {target:g} is reached with probability 0.5 and, dashed, {prob:g}"
    ax.set(xlabel=several(str(along.dims[-1])), ylabel=several(str(along.dims[0])))
    for axis in ("x", "y"):
        integer_ticks(ax, axis)
    note += f"{others}. {study.draws.attrs.get('source', '')}"
    return add_title(ax, _finding(along, lines, quantity, target, prob), note.rstrip())


def _on_diagonal(x: Array, y: Array, values: Array, levels: Array) -> list[tuple[float, float]]:
    """Where contours cross the diagonal of a map, at some distance from its edges."""
    from scipy.interpolate import RegularGridInterpolator  # slow to import

    part = np.linspace(EDGE, 1 - EDGE, 200)
    at = np.stack([y[0] + part * (y[-1] - y[0]), x[0] + part * (x[-1] - x[0])], axis=1)
    above = RegularGridInterpolator((y, x), values)(at) > levels[:, None]
    crossings = (np.flatnonzero(np.diff(each)) for each in above)
    return [(float(at[k, 1]), float(at[k, 0])) for found in crossings for k in found[:1]]


def _ticks(values: Array) -> Array:
    """Round values for contours, from below the least to above the greatest."""
    from matplotlib.ticker import MaxNLocator

    return np.asarray(MaxNLocator(10).tick_values(values.min(), values.max()))


def _require_study(study: Any) -> None:
    if not isinstance(study, DStudy):
        example = "fit.d_study({'rater': range(1, 9), 'occasion': [1, 2]})"
        raise TypeError(
            "study must be the result of Fit.d_study, which takes the numbers of levels, such as "
            f"{example}; found {type(study).__name__}."
        )


def _is_error(quantity: str, target: float | None) -> bool:
    """Whether less is better."""
    is_error = quantity not in RELIABILITIES
    if target is not None and not 0 < target < (np.inf if is_error else 1):
        rule = "above 0" if is_error else "strictly between 0 and 1"
        raise ValueError(f"target must lie {rule}, not {target}.")
    return is_error


def _arranged(
    found: xr.DataArray, fewest: int = 1, most_lines: float = MOST_LINES
) -> tuple[xr.DataArray, list[str], str]:
    """Draws (lines, S, numbers of levels), labels of the lines, and levels of other facets."""
    facets = [str(dim) for dim in found.dims[2:]]
    varied = [name for name in facets if found.sizes[name] > 1]
    single = [name for name in facets if found.sizes[name] == 1]
    if not fewest <= len(varied) <= 2 or any(found.sizes[name] > most_lines for name in varied[1:]):
        numbers = [f"{found.sizes[name]} for {several(name)}" for name in (*varied, *single)]
        rule = f"one facet, or of two, with up to {MOST_LINES} of the second (for more there is "
        rule = "two facets" if fewest > 1 else f"{rule}d_study_surface)"
        raise ValueError(
            f"study must have several numbers of levels of {rule}; found "
            f"{joined(numbers or ['none'])}. Ask fit.d_study for these."
        )
    found = found.stack(sample=("chain", "draw")).squeeze(single, drop=False)
    fixed = joined([counted(int(found[name]), name) for name in single]) if single else ""
    along, *second = varied
    if not second:
        found = found.expand_dims("line")
        return found.transpose("line", "sample", along), [], fixed and f"; {fixed}"
    labels = [counted(number, second[0]) for number in found[second[0]].values.tolist()]
    return found.transpose(second[0], "sample", along), labels, fixed and f"; {fixed}"


def _finding(
    along: xr.DataArray, lines: list[str], quantity: str, target: float | None, prob: float
) -> str:
    """What the largest numbers of levels give, or the fewest that reach the target."""
    facet = str(along.dims[-1])
    k = along[facet].values.tolist()
    median: Array = np.median(along.values, axis=1)
    of = RELIABILITIES.get(quantity, MEANINGS[quantity])

    def levels(line: int, column: int) -> str:
        more = f" and {lines[line]}" if lines else ""
        return f"{counted(k[column], facet)}{more}"

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
    reach = "reaches" if shown == [counted(1, facet)] else "reach"
    return f"{', or '.join(shown)}{',' * (len(shown) > 1)} {reach} a {of} of {target:g}"
