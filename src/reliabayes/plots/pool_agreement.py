"""Agreement between pools: posteriors of xCC, and of differences between pools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from reliabayes.arrays import Array
from reliabayes.guidelines import Guideline
from reliabayes.plots.densities import density_rows
from reliabayes.plots.labels import short
from reliabayes.plots.layout import add_title, axes_or_new
from reliabayes.plots.palette import Palette
from reliabayes.plots.reliability import shade_guideline
from reliabayes.results.contrast import Contrast
from reliabayes.results.estimates import (
    OBSERVED,
    draws_by_label,
    estimate_text,
    median_interval,
    source_text,
)
from reliabayes.results.summaries import scalars

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from reliabayes.results.fit import Fit

MAX_PAIRS = 6  # pairs of pools that are shown
KINDS = ("normalized_xcc", "unnormalized_xcc")


def xcc(
    fit: Fit,
    *,
    guideline: str | Guideline | None = None,
    prob: float = 0.9,
    ax: Axes | None = None,
) -> Axes:
    """Posteriors of normalized and unnormalized xCC of each pair of pools.

    Of more than 6 pairs, the 6 with the widest intervals are shown.

    Parameters
    ----------
    fit : Fit
        Fit of a model of pools.
    guideline : str, Guideline or None, optional
        As for `icc`; by default none, because no guideline has been proposed for xCC.
    prob : float, default 0.9
        Probability of the equal-tailed intervals, strictly between 0 and 1.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        The model does not report xCC, or the guideline does not exist.
    """
    found = _draws_by_pair(fit)
    rows = _rows(_most_uncertain(found, prob))
    ax = axes_or_new(ax, height=1.9 + 0.55 * len(rows))
    density_rows(ax, rows, prob, (-1, 1))
    lowest = min(draws.min() for draws in rows.values())
    ax.set(xlim=(0 if lowest >= 0 else max(-1, lowest - 0.05), 1))
    ax.set_xlabel("xCC: correlation of true scores (normalized) or single ratings (unnormalized)")
    shown = (
        f" The {MAX_PAIRS} most uncertain of {len(found)} pairs." if len(found) > MAX_PAIRS else ""
    )
    note = f"{source_text(fit)}.{shown} {shade_guideline(ax, guideline)}"
    longest = max((line for label in rows for line in label.split("\n")), key=len)
    return add_title(ax, _xcc_finding(found, prob), note, [longest])


def contrast(difference: Contrast, *, ax: Axes | None = None) -> Axes:
    """Posterior of a difference between pools, or between pairs of pools, with Pr(> 0).

    Parameters
    ----------
    difference : Contrast
        Result of `Fit.contrast`, which also sets the probability of the intervals.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
    """
    rows = {
        label: draws.ravel()
        for name, values in difference.draws.items()
        for label, draws in scalars(str(name), values)
    }
    ax = axes_or_new(ax, height=1.7 + 0.75 * len(rows))
    above = {label: float(np.mean(draws > 0)) for label, draws in rows.items()}
    labelled = {f"{label}\nPr(> 0) = {above[label]:.3f}": draws for label, draws in rows.items()}
    density_rows(ax, labelled, difference.prob, form="+.2f")
    ax.axvline(0, color=Palette.of(ax).muted, linewidth=1)
    one, other = short(difference.one, 32), short(difference.other, 32)
    ax.set_xlabel(f"{one} minus {other}")
    label, draws = next(iter(rows.items()))
    is_higher = above[label] >= 0.5
    probability = above[label] if is_higher else 1 - above[label]
    finding = (
        f"{label} is {'higher' if is_higher else 'lower'} in {one} than in {other} with "
        f"probability {f'{probability:.3f}' if probability <= 0.9995 else 'above 0.999'}"
    )
    note = f"Difference in {label}: {estimate_text(draws, difference.prob, '+.2f')}"
    return add_title(ax, finding, note, [max(rows, key=len)])


def _draws_by_pair(fit: Fit) -> dict[str, dict[str, Array]]:
    """Draws of each kind of xCC, by pair of pools."""
    kinds = [name for kind in KINDS for name in (kind + OBSERVED, kind) if name in fit.quantities]
    by_kind = {name: draws_by_label(fit, name) for name in kinds or KINDS}
    return {
        pair: {name: draws[pair] for name, draws in by_kind.items()} for pair in by_kind[KINDS[0]]
    }


def _most_uncertain(
    found: Mapping[str, Mapping[str, Array]], prob: float
) -> dict[str, Mapping[str, Array]]:
    """The pairs of pools with the widest intervals, in their own order."""

    def width(pair: str) -> float:
        _, lower, upper = median_interval(found[pair][KINDS[0]], prob)
        return upper - lower

    kept = set(sorted(found, key=width, reverse=True)[:MAX_PAIRS])
    return {pair: draws for pair, draws in found.items() if pair in kept}


def _rows(found: Mapping[str, Mapping[str, Array]]) -> dict[str, Array]:
    """Draws by row label: the kind of xCC, below the pair if there are several."""
    return {
        (f"{short(pair)}\n" if len(found) > 1 else "") + _kind_label(name, kinds): draws
        for pair, kinds in found.items()
        for name, draws in kinds.items()
    }


def _kind_label(name: str, kinds: Mapping[str, Array]) -> str:
    kind = name.partition("_")[0]
    if len(kinds) == len(KINDS):
        return kind
    return f"{kind}, {'ratings' if name.endswith(OBSERVED) else 'latent score'}"


def _xcc_finding(found: Mapping[str, Mapping[str, Array]], prob: float) -> str:
    draws = {pair: next(iter(kinds.values())) for pair, kinds in found.items()}
    best = max(draws, key=lambda pair: float(np.median(draws[pair])))
    pools = " and ".join(short(best, 40).split(", "))
    correlation = f"correlate {estimate_text(draws[best], prob)}"
    if len(found) == 1:
        return f"The true scores of pools {pools} {correlation}"
    values = [f"{np.median(each):.2f}" for each in draws.values()]
    if len(set(values)) == 1:
        return f"The true scores of all {len(found)} pairs of pools correlate {values[0]}"
    equal = values.count(f"{np.median(draws[best]):.2f}") - 1
    others = f", with {equal} other pair{'s' * (equal > 1)}" if equal else ""
    return f"Pools {pools} agree most{others}: their true scores {correlation}"
