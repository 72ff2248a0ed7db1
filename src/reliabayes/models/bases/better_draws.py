"""Draws in doubt: how to tell early, and how to sample again."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TypeAlias

from reliabayes.arrays import Array
from reliabayes.inference.conjugate import Conjugate
from reliabayes.inference.crossed_effects import CrossedEffects
from reliabayes.inference.gibbs_in_parts import ConjugateInParts
from reliabayes.inference.host import IN_BROWSER
from reliabayes.inference.independence import NearNormal
from reliabayes.models.bases.sampling import (
    AS_USUAL,
    FEW_DRAWS,
    LONG_TREES,
    SMALL_STEPS,
    Care,
    Own,
)
from reliabayes.results.convergence import Convergence
from reliabayes.results.fit import Fit
from reliabayes.results.settings import Settings

FEW_RATINGS = 20_000  # from which NUTS draws in about half a minute
MANY_RATINGS = 60_000  # up to which more sweeps of Gibbs sampling take seconds
ENOUGH_DRAWS = 1_000  # of all chains, to tell a bad sampler from few draws
# If draws are in doubt, times the usual sweeps of each: at most so many, and times ratings so many.
MOST_THINNING, THINNED_RATINGS = 40, 50_000
ONLY_THINNING = 10  # times the usual iterations for each draw, where NUTS cannot run instead
# Of a hierarchy at least so many, and at most so many wherever it has few ratings, before NUTS, of
# which a draw takes ten times as long; then so many times as many.
LEAST_THINNING, HIERARCHY_THINNING, THEN = 2, 5, 3
AGAIN = 2  # the same where states are drawn given one another
# The same where no rating is guessed: the work of a draw is at most that of so many ratings, which
# takes seconds, and the smallest ESS is to be so large. With more parameters NUTS mixes no better.
QUICK_THINNING, QUICK_RATINGS, FEW_PARAMETERS = 400, 550_000, 500
QUICK_GIVEN_OTHERS = 780_000  # where states are drawn given one another, which is quicker
AIM = 1_200
# That of each chain of a hierarchy, and where ratings may be guessed, of which many are swept at
# most so many times as often.
AIM_PER_CHAIN, MOST_OF_MANY = 60, 3
ESS_OF_FEW = 20  # of all draws of a hierarchy, where few of them only say that it is small
# Where so few counts of distinct items stand for all, and so many times the sweeps are due, so many
# moves of all parameters follow a sweep, which is then worth so many.
FEW_COUNTS, MOVED_THINNING, MOVES, WORTH_OF_MOVES = 100, 4, 300, 36
CAREFUL_RATINGS = 2_000  # NUTS in doubt is repeated in smaller steps of at most so many

# Where no rating is guessed, a fifth of all draws or less comes first. If a prevalence then has a
# larger R-hat, all draws would be in doubt: it was 1.42 and more on real ratings where draws were
# far from good, and at most 1.27 elsewhere. Where parameters could move by differences instead, a
# small ESS for each draw says so, too. Other hierarchies are judged by all draws.
FEW_OF_ALL, LARGEST_R_HAT, SMALL_ESS = 5, 1.35, 0.075

Way: TypeAlias = tuple[Own | None, Care]


def mixed_well(
    own: Own | None, settings: Settings, sample: Callable[[Own | None, Care], Fit]
) -> Fit:
    """A fit, and if its draws are in doubt one by NUTS, more carefully, or by many more sweeps.

    Few draws come first where they may show that all would be in doubt.

    Where raters are few and hardly better than chance, a sweep of Gibbs sampling changes
    probabilities little, and ridges are long for NUTS. Where a category may be all but empty
    besides, the posterior bends too sharply for NUTS. Where no rating is guessed, and in a
    hierarchy, more sweeps cost less.

    Parameters
    ----------
    own : Conjugate or NearNormal, optional
        What the sampler needs that suits the posterior; None if that is NUTS.
    settings : Settings
        How the model is to be fitted.
    sample : callable
        Draws: by the sampler that needs this or by NUTS, with such care.

    Returns
    -------
    Fit
    """
    ways: Sequence[Way] = []
    if _may_show_doubt(own, settings) and _is_in_clear_doubt(own, fit := sample(own, FEW_DRAWS)):
        ways = _other_ways(own, fit)
    if not ways:
        fit = sample(own, AS_USUAL)
        if not _mixes_badly(fit):
            return fit
        ways = _other_ways(own, fit)
    for other, care in ways:
        fit = sample(other, care)
        if not _mixes_badly(fit):
            break
    return fit


def _other_ways(own: Own | None, fit: Fit) -> Sequence[Way]:
    """What to sample by, and with what care, in turn, if draws are in doubt."""
    if IN_BROWSER or isinstance(own, (ConjugateInParts, CrossedEffects)):
        return []
    is_small, has_few = len(fit.ratings) <= CAREFUL_RATINGS, len(fit.ratings) <= FEW_RATINGS
    by_nuts: list[Way] = [(None, AS_USUAL)]
    if isinstance(own, NearNormal) and own.is_only:
        return [(replace(own, thinning=ONLY_THINNING * own.thinning), AS_USUAL)]
    if not isinstance(own, Conjugate):
        # Their largest depth is 0 where there were none.
        had_short_trees = own is None and fit.settings.max_tree_depth < LONG_TREES.tree_depth
        longer: list[Way] = [(None, LONG_TREES)] * had_short_trees
        return by_nuts * (own is not None) + longer + [(None, SMALL_STEPS)] * is_small
    if own.hierarchy is not None:
        by_sweeps = [
            _swept_more(replace(own, before=before), fit, more)
            for before, more in pairwise([1, *_sweeps_of_hierarchy(own, fit)])
        ]
        return [*by_sweeps, *[(None, SMALL_STEPS if is_small else AS_USUAL)] * has_few]
    more = _more_sweeps(own, fit)
    thinnings = [more] if more > 1 else []
    if own.has_urns:
        own = own.with_settled({name: x.mean(axis=(0, 1)) for name, x in _drawn(fit, own).items()})
        thinnings += [AGAIN * each for each in thinnings]
    by_more: list[Way] = [
        (replace(own, thinning=each, before=before), AS_USUAL)
        for before, each in pairwise([1, *thinnings])
    ]
    if own.outcomes.guessed:
        return [*by_nuts * has_few, *by_more]
    return [*by_more, *by_nuts * (has_few and own.n_parameters <= FEW_PARAMETERS)]


def _swept_more(own: Conjugate, fit: Fit, more: int) -> Way:
    """So many times the sweeps; or fewer, between which all parameters move by differences."""
    if not _may_move(own) or more < MOVED_THINNING:
        return replace(own, thinning=more), AS_USUAL
    drawn = _drawn(fit, own)
    every = {name: x.reshape(-1, *x.shape[2:]) for name, x in drawn.items()}
    thinning, earlier = more / WORTH_OF_MOVES, own.slots.free(every)
    return replace(own, thinning=thinning, moves=MOVES, earlier=earlier), AS_USUAL


def _may_move(own: Own | None) -> bool:
    """Whether so few counts stand for all that moves of all parameters take little time."""
    return isinstance(own, Conjugate) and own.hierarchy is not None and len(own.cell) <= FEW_COUNTS


def _drawn(fit: Fit, own: Conjugate) -> dict[str, Array]:
    return {each.name: fit.posterior[each.name].to_numpy() for each in own.slots.parameters}


def _sweeps_of_hierarchy(own: Conjugate, fit: Fit) -> list[int]:
    """Times the usual sweeps that the ESS asks for, and more if these leave draws in doubt."""
    checks = fit.diagnostics()
    least = ESS_OF_FEW if fit.settings.draws == FEW_DRAWS.draws else 1.0
    size = max(least, min(checks.ess_bulk, checks.ess_tail))
    cheap = int(QUICK_RATINGS / (own.work * own.sweeps))
    few = min(HIERARCHY_THINNING, THINNED_RATINGS // len(fit.ratings))
    most = min(MOST_THINNING, max(cheap, few))
    more = min(most, _for_aim(fit, size))
    return [each for each in (more, THEN * more) if 1 < each <= most]


def _for_aim(fit: Fit, size: float) -> int:
    """Times the sweeps with which this ESS is well above one that is in doubt."""
    return max(LEAST_THINNING, math.ceil(AIM_PER_CHAIN * fit.settings.chains / size))


def _more_sweeps(own: Conjugate, fit: Fit) -> int:
    """Times the usual sweeps that are worth trying, and take seconds."""
    checks = fit.diagnostics()
    size = max(1.0, min(checks.ess_bulk, checks.ess_tail))
    if own.outcomes.guessed and len(fit.ratings) > FEW_RATINGS:
        return min(MOST_OF_MANY, _for_aim(fit, size))
    if own.outcomes.guessed:
        return min(MOST_THINNING, THINNED_RATINGS // len(fit.ratings))
    needed = max(MOST_THINNING, math.ceil(AIM / size))
    quick = QUICK_GIVEN_OTHERS / own.n_ratings if own.has_urns else QUICK_RATINGS / own.work
    return min(needed, QUICK_THINNING, int(quick))


def _may_show_doubt(own: Own | None, settings: Settings) -> bool:
    """Whether few draws may tell that all would be in doubt, where others are quick."""
    if settings.chains < 2 or settings.draws < FEW_OF_ALL * FEW_DRAWS.draws:
        return False
    if not isinstance(own, Conjugate) or own.outcomes.guessed or "prevalence" not in own.slots.at:
        return False
    if own.hierarchy is not None and not _may_move(own):
        return False
    return _could_mix_better(own.n_ratings, settings)


def _is_in_clear_doubt(own: Own | None, fit: Fit) -> bool:
    """Whether prevalences say so already, of which there are few."""
    found = Convergence(fit.posterior[["prevalence"]]).monitored
    is_small = found["ess_bulk"].min() < SMALL_ESS * fit.settings.chains * fit.settings.draws
    return bool(found["r_hat"].max() > LARGEST_R_HAT or (is_small and _may_move(own)))


def _mixes_badly(fit: Fit) -> bool:
    """Whether draws are in doubt where they could be better, in time worth waiting for."""
    most = MANY_RATINGS if fit.settings.sampler == "gibbs" else FEW_RATINGS
    if not _could_mix_better(len(fit.ratings), fit.settings, most):
        return False
    return bool(fit.diagnostics().problems)


def _could_mix_better(n_ratings: float, settings: Settings, most: int = FEW_RATINGS) -> bool:
    """Whether there are few enough ratings, and enough draws to tell."""
    return n_ratings <= most and settings.chains * settings.draws >= ENOUGH_DRAWS
