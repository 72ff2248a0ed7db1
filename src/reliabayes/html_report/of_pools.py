"""How far pools of raters agree: what a fit with xCC answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from reliabayes.arrays import Array
from reliabayes.html_report.wording import (
    Answer,
    Figure,
    both,
    listed,
    number_figure,
    number_of_ratings,
    share,
    share_figure,
    split,
    sure,
    whole,
)
from reliabayes.plots.densities import interval, quantity
from reliabayes.plots.reliability import as_given
from reliabayes.results import quantities

if TYPE_CHECKING:
    from reliabayes.results.fit import Fit

NAMED = 4  # pools of which each is told


def of_pools(fit: Fit, prob: float, reliability: float) -> Answer:
    """How far pools agree, which are closest, and how consistent each is."""
    scale, pools = as_given(fit), len(fit.ratings.pools)
    mind, single = (quantity(fit, name + scale) for name in ("normalized_xcc", "unnormalized_xcc"))
    unknown = _without_common_items(fit)
    known = {pair: draws for pair, draws in mind.items() if pair not in unknown}
    if not known:
        return Answer(
            f"{pools} pools have no item in common: of how far they agree the ratings say nothing",
            (_consistency(fit, scale, prob, reliability),),
            _signals(fit, scale, prob),
        )
    ordered = sorted(known, key=lambda pair: float(np.median(known[pair])))
    best, worst = ordered[-1], ordered[0]
    median, range_ = split(mind[best], prob)
    close = f"have in mind of items correlates {median} ({range_})"
    headline = f"What pools {both(best)} {close}"
    if pools > 2:
        headline = f"Of {pools} pools, {both(best)} are closest: what they {close}"
    sentences = [
        f"So do means of many ratings by {both(best)}; single ratings of theirs correlate "
        f"{interval(single[best], prob)}.",
        *_differences(known, best, worst, prob),
        _consistency(fit, scale, prob, reliability),
        *_levels(fit, prob),
    ]
    if scale:
        latent = quantity(fit, "normalized_xcc")[best]
        sentences.append(
            "All this is of the ratings as given. The latent scores behind those of "
            f"{both(best)} correlate {interval(latent, prob)}."
        )
    if unknown:
        sentences.insert(
            0,
            f"No item was rated by both {' or by both '.join(map(both, unknown))}: of their "
            "correlation the ratings say nothing, and what is told of it is the prior's.",
        )
    shown = dict.fromkeys([best, worst])
    figures = [number_figure(f"{both(pair)}, many ratings", mind[pair], prob) for pair in shown]
    figures.append(number_figure(f"{both(best)}, single ratings", single[best], prob))
    return Answer(headline, tuple(sentences), (*figures, *_signals(fit, scale, prob)))


def _signals(fit: Fit, scale: str, prob: float) -> tuple[Figure, ...]:
    """Signal in a rating by each pool, of the first few."""
    icc = quantity(fit, "icc" + scale)
    return tuple(
        share_figure(f"signal in a rating by {pool}", icc[pool], prob) for pool in list(icc)[:NAMED]
    )


def _differences(known: Mapping[str, Array], best: str, worst: str, prob: float) -> list[str]:
    """How much closer the closest pair is than the one farthest apart."""
    if best == worst:
        return []
    closer = known[best] - known[worst]
    return [
        f"Farthest apart are {both(worst)}, at {interval(known[worst], prob)}. {sure(closer)} "
        f"{both(best)} are closer than they; the difference is {interval(closer, prob, '+.2f')}."
    ]


def _consistency(fit: Fit, scale: str, prob: float, reliability: float) -> str:
    """How much of a rating is signal in each pool, and how many are enough."""
    icc = quantity(fit, "icc" + scale)
    needed = {
        pool: whole(quantities.raters_needed(draws, reliability), prob)
        for pool, draws in icc.items()
    }
    pools = sorted(icc, key=lambda pool: float(np.median(icc[pool])))
    less, more = pools[0], pools[-1]
    shown, whose = (list(icc), "") if len(icc) <= NAMED else ([less, more], ", at the ends,")
    signals = listed([f"{share(icc[pool], prob)} by {pool}" for pool in shown])
    enough = listed(
        [f"{number_of_ratings(n)} by {pool} ({to})" for pool in shown for n, to in [needed[pool]]]
    )
    surer = "" if len(icc) > 2 else f" {sure(icc[more] - icc[less])} it is more by {more}."
    return (
        f"The signal in a single rating is{whose} {signals}.{surer} Means reach a reliability of "
        f"{reliability:g} with {enough}."
    )


def _levels(fit: Fit, prob: float) -> list[str]:
    """How much higher the one of two pools rates, where that is one number."""
    names = {"rate": f"the share of {fit.ratings.categories[-1]}", "mean": "the mean"}
    name = next((name for name in names if name in fit.quantities), None)
    if name is None or fit.quantities[name].dims[2:] != ("pool",) or len(fit.ratings.pools) > 2:
        return []
    (one, first), (other, second) = quantity(fit, name).items()
    high, low, more = (one, other, first - second)
    if np.mean(more > 0) < 0.5:
        high, low, more = other, one, second - first
    return [
        f"{sure(more)} {high} rates higher than {low}: {names[name]} differs by "
        f"{interval(more, prob)}."
    ]


def _without_common_items(fit: Fit) -> list[str]:
    """Pairs of pools that have no item in common."""
    ratings = fit.ratings
    if ratings.rater_pool is None:
        return []
    rated = np.zeros((ratings.n_items, len(ratings.pools)), bool)
    rated[ratings.item, ratings.rater_pool[ratings.rater]] = True
    common = rated.T.astype(float) @ rated
    pairs = zip(*np.triu_indices(len(common), 1), strict=True)
    names = ratings.pools.tolist()
    return [f"{names[a]}, {names[b]}" for a, b in pairs if not common[a, b]]
