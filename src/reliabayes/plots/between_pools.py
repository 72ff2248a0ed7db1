"""How far pools of raters agree: posteriors of xCC, and of differences with Pr(> 0)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from reliabayes.arrays import Array
from reliabayes.guidelines import Guideline
from reliabayes.plots.canvas import canvas, titled
from reliabayes.plots.densities import about, interval, middle, quantity, ridges
from reliabayes.plots.inks import Inks
from reliabayes.plots.naming import short
from reliabayes.plots.reliability import OBSERVED, bands
from reliabayes.results.contrast import Contrast
from reliabayes.results.summaries import scalars

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from reliabayes.results.fit import Fit

MOST = 6  # pairs of pools that are shown
KINDS = ("normalized_xcc", "unnormalized_xcc")


def xcc(
    fit: Fit,
    *,
    guideline: str | Guideline | None = "koo_li",
    prob: float = 0.9,
    ax: Axes | None = None,
) -> Axes:
    """Posteriors of normalized and unnormalized xCC of each pair of pools, over a guideline.

    Of more than 6 pairs, those are shown of which least is known.

    Parameters
    ----------
    fit : Fit
        Of a model of pools.
    guideline : str, Guideline or None
        As for `icc`; none was proposed for xCC.
    prob : float
        Probability of the equal-tailed intervals.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        The model has no xCC, or there is no such guideline.
    """
    found = _by_pair(fit)
    rows = _labelled(_least_known(found, prob))
    ax = canvas(ax, height=1.9 + 0.55 * len(rows))
    ridges(ax, rows, prob, (-1, 1))
    lowest = min(draws.min() for draws in rows.values())
    ax.set(xlim=(0 if lowest >= 0 else max(-1, lowest - 0.05), 1))
    ax.set_xlabel("xCC: correlation between pools, of many ratings an item or of single ones")
    left_out = f" The {MOST} least known of {len(found)} pairs." if len(found) > MOST else ""
    note = f"{about(fit)}.{left_out} {bands(ax, guideline)}"
    longest = max((line for label in rows for line in label.split("\n")), key=len)
    return titled(ax, _agreement(found, prob), note, [longest])


def contrast(difference: Contrast, *, ax: Axes | None = None) -> Axes:
    """Posterior of a difference between pools, or pairs of them, with Pr(> 0).

    Parameters
    ----------
    difference : Contrast
        What `Fit.contrast` returns; the probability of its intervals is in force.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    Axes
    """
    rows = {
        label: draws.ravel()
        for name, values in difference.draws.items()
        for label, draws in scalars(str(name), values)
    }
    ax = canvas(ax, height=1.7 + 0.75 * len(rows))
    above = {label: float(np.mean(draws > 0)) for label, draws in rows.items()}
    named = {f"{label}\nPr(> 0) = {above[label]:.3f}": draws for label, draws in rows.items()}
    ridges(ax, named, difference.prob, form="+.2f")
    ax.axvline(0, color=Inks.of(ax).muted, linewidth=1)
    one, other = short(difference.one, 32), short(difference.other, 32)
    ax.set_xlabel(f"{one} less {other}")
    label, draws = next(iter(rows.items()))
    more, sure = ("higher", above[label]) if above[label] >= 0.5 else ("lower", 1 - above[label])
    how = f"{sure:.3f}" if sure <= 0.9995 else "above 0.999"
    finding = f"{label} is {more} in {one} than in {other} with probability {how}"
    note = f"{label}: {interval(draws, difference.prob, '+.2f')}"
    return titled(ax, finding, note, [max(rows, key=len)])


def _by_pair(fit: Fit) -> dict[str, dict[str, Array]]:
    """Draws of all kinds of xCC, by pair of pools."""
    kinds = [name for kind in KINDS for name in (kind + OBSERVED, kind) if name in fit.quantities]
    by_kind = {name: quantity(fit, name) for name in kinds or KINDS}
    return {
        pair: {name: draws[pair] for name, draws in by_kind.items()} for pair in by_kind[KINDS[0]]
    }


def _least_known(
    found: Mapping[str, Mapping[str, Array]], prob: float
) -> dict[str, Mapping[str, Array]]:
    def width(pair: str) -> float:
        _, lower, upper = middle(found[pair][KINDS[0]], prob)
        return lower - upper

    kept = set(sorted(found, key=width)[:MOST])
    return {pair: draws for pair, draws in found.items() if pair in kept}


def _labelled(found: Mapping[str, Mapping[str, Array]]) -> dict[str, Array]:
    """Draws by what stands beside them: the kind of xCC, below the pair if there are several."""
    return {
        (f"{short(pair)}\n" if len(found) > 1 else "") + _kind(name, kinds): draws
        for pair, kinds in found.items()
        for name, draws in kinds.items()
    }


def _kind(name: str, kinds: Mapping[str, Array]) -> str:
    kind = name.partition("_")[0]
    if len(kinds) == len(KINDS):
        return kind
    return f"{kind}, {'ratings' if name.endswith(OBSERVED) else 'latent score'}"


def _agreement(found: Mapping[str, Mapping[str, Array]], prob: float) -> str:
    draws = {pair: next(iter(kinds.values())) for pair, kinds in found.items()}
    best = max(draws, key=lambda pair: float(np.median(draws[pair])))
    closest = "" if len(found) == 1 else "Closest: what "
    return (
        f"{closest or 'What '}{' and '.join(short(best, 40).split(', '))} have in mind of items "
        f"correlates {interval(draws[best], prob)}"
    )
