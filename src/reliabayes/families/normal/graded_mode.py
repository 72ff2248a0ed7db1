"""Where chains of a G study of categories start, and relative to what the program samples."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import logit

from reliabayes.arrays import Array, Codes
from reliabayes.families.cut_points import sd_of_log_step
from reliabayes.families.normal.dependent_effects import Blocks
from reliabayes.families.normal.graded_problem import GradedProblem
from reliabayes.inference.effect_centring import EffectCentring
from reliabayes.inference.newton import Newton
from reliabayes.inference.time_limit import check_time
from reliabayes.inference.warm_start import WarmStart
from reliabayes.likelihoods.ordinal import CategoryProbabilities
from reliabayes.sampling.thresholds import GRADED_STEPS

# For the mode and sds: the last change of these, relatively, and the longest move of a latent score
# or a cut point, in log odds.
NEWTON = Newton(30, 0.01, 2.0)
LEAST_SD, LARGEST_SD = 0.1, 5.0  # to start from, in log odds
LEAST_STEP = 0.02  # between cut points
WIDENING = 1.4  # of cut points by effects of a usual size
PROBES, SEED = 12, 2001  # random vectors that estimate sums of variances
# A logistic curve averaged over normal scores is nearly that of their mean divided by the root of
# 1 + FLATTENING variance.
FLATTENING = (16 * math.sqrt(3) / (15 * math.pi)) ** 2
MOST_SPREAD = 1.2  # posterior sd of the log of a standard deviation that hardly any ratings inform


def warm_start(problem: GradedProblem) -> WarmStart:
    """Starting points around the mode of effects, at standard deviations that fit them."""
    sd, found = _search(problem)
    known = 1 / np.sqrt(2 * found.known + 1)
    # The less is known of a standard deviation, the longer the tail towards 0; and scores hardly
    # tell sources apart of which each effect has few ratings.
    spread = np.minimum(1.5 * (known + 2 * known**2), MOST_SPREAD)
    step, scores = np.diff(found.cut), _scores(problem)
    return WarmStart(
        mode={"spread": np.log(sd), "step": np.log(step), **scores},
        sd={
            "spread": spread,
            "step": sd_of_log_step(step, problem.by_category, problem.reference),
            **{name: np.ones_like(score) for name, score in scores.items()},
        },
        constrain=_constrain,
        step_size=0.3,
        target_acceptance=_acceptance(problem, found.known),
        centring=found.centring,
    )


def _acceptance(problem: GradedProblem, known: Array) -> float:
    """Longer steps where the ratings tell all large sources well apart: then draws mix anyway."""
    large = np.array(problem.effects.sizes) > GRADED_STEPS.levels
    are_known = large.any() and known[large].min() > GRADED_STEPS.known
    return GRADED_STEPS.acceptance if are_known else GRADED_STEPS.otherwise


def cold_start(problem: GradedProblem) -> WarmStart:
    """Starting points dispersed by about one unit around 0 on the unconstrained scale."""
    sizes = {"spread": len(problem.effects.sizes), "step": problem.n_categories - 2}
    mode = {**{name: np.zeros(size) for name, size in sizes.items()}, **_scores(problem)}
    sd = {name: np.ones_like(value) for name, value in mode.items()}
    return WarmStart(
        mode=mode, sd=sd, constrain=_constrain, target_acceptance=GRADED_STEPS.from_afar
    )


def _scores(problem: GradedProblem) -> dict[str, Array]:
    """Scores of all effects at their means."""
    n_core = problem.n_core
    return {"core_score": np.zeros(n_core + 1), "own_score": np.zeros(len(problem.source) - n_core)}


def _constrain(free: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters as the program declares them."""
    values = {name: np.asarray(value) for name, value in free.items()}
    positive = {name: np.exp(values[name]) for name in ("spread", "step")}
    return {name: value.tolist() for name, value in (values | positive).items()}


class _Point(NamedTuple):
    """Effects (Q,) and cut points after a step, and what their curvature says.

    Attributes
    ----------
    effect, cut : array of shapes (Q,) and (K - 1,)
        Closer to the mode.
    sd : array of shape (S,)
        Standard deviations that fit better.
    known : array of shape (S,)
        Of how many effects of each source the standard deviation is known, as it were.
    flattening : array of shape (N,)
        Factor of latent scores that makes probabilities at their means those over their posterior.
    centring : EffectCentring
        Information of the ratings.
    """

    effect: Array
    cut: Array
    sd: Array
    known: Array
    flattening: Array
    centring: EffectCentring


def first_cuts(problem: GradedProblem) -> Array:
    """Cut points (K - 1,) to start from, of how often each category is given."""
    proportion = (problem.by_category + 0.5) / (problem.by_category + 0.5).sum()
    return np.asarray(-WIDENING * logit(proportion[::-1].cumsum()[-2::-1]))


def _search(problem: GradedProblem) -> tuple[Array, _Point]:
    """Standard deviations (S,) by approximate EM, and the mode of the effects given them."""
    cut = first_cuts(problem)
    sd, effect = np.ones(len(problem.effects.sizes)), np.zeros(len(problem.source))
    incidence = _incidence(problem)
    found = _step(problem, incidence, sd, cut, effect, np.ones(len(problem.rating)))
    for _ in range(NEWTON.steps):
        check_time()
        before, sd = sd, found.sd
        found = _step(problem, incidence, sd, found.cut, found.effect, found.flattening)
        if np.abs(np.log(sd / before)).max() < NEWTON.last:
            break
    return sd, _step(problem, incidence, sd, found.cut, found.effect, found.flattening)


def _incidence(problem: GradedProblem) -> sp.csr_array:
    """(N, Q + 1) effects of the ratings, and the location, on which all depend."""
    n, n_sources = problem.has.shape
    location = np.full((n, 1), len(problem.source), np.int32)
    columns = np.hstack([problem.has, location]).ravel()
    starts = np.arange(n + 1) * (n_sources + 1)
    return sp.csr_array((np.ones(len(columns)), columns, starts), (n, len(problem.source) + 1))


def _step(
    problem: GradedProblem,
    incidence: sp.csr_array,
    sd: Array,
    cut: Array,
    effect: Array,
    flattening: Array,
) -> _Point:
    """A step of Newton's method, with the expected information, given standard deviations.

    Slopes and information are averages over the posterior of the latent scores. Those at its mode
    alone would make the standard deviations too small, and the information too large.
    """
    size, g = len(problem.source), problem.n_core
    rated = np.eye(problem.n_categories)[problem.rating]
    category = _flattened(incidence[:, :size] @ effect, cut, flattening)
    mean_cut, sd_cut = problem.priors["cut"]
    precision = np.append(sd[problem.source] ** -2, len(cut) / sd_cut**2)
    gradient = incidence.T @ category.slopes(rated)[0]
    gradient -= precision * np.append(effect, np.mean(mean_cut - cut))
    weight = flattening * category.information
    information = sp.csr_array(incidence.T @ (incidence * weight[:, None]))
    matrix = _ArrowheadSystem(
        information, precision, np.append(np.arange(g), size), np.arange(g, size)
    )

    move = matrix.solve(gradient[:, None])[:, 0]
    move *= _damping(incidence @ move)
    better = effect + move[:size]
    location = incidence[:, :size] @ better
    moved = _better_cut(problem, location, cut - move[size], rated, flattening)

    # Traces of the covariance, by source, from random signs; variances of scores from draws.
    rng = np.random.default_rng(SEED)
    sign = rng.choice([-1.0, 1.0], (size + 1, PROBES))
    part = (sign * matrix.solve(sign)).mean(axis=1)[:size]
    levels = np.bincount(problem.source)
    variance, square = (
        np.bincount(problem.source, values) / levels for values in (part, better**2)
    )
    variance = np.clip(variance, 0, sd**2)
    of_ratings = incidence.T @ (np.sqrt(weight)[:, None] * rng.normal(size=(len(weight), PROBES)))
    of_priors = np.sqrt(precision)[:, None] * rng.normal(size=(size + 1, PROBES))
    drawn = incidence @ matrix.solve(of_ratings + of_priors)
    return _Point(
        better,
        moved,
        np.clip(np.sqrt(square + variance), LEAST_SD, LARGEST_SD),
        levels * (1 - variance / sd**2) ** 2,
        1 / np.sqrt(1 + FLATTENING * (drawn**2).mean(axis=1)),
        matrix.centring(np.append(better, -moved[problem.reference]), problem.blocks),
    )


class _ArrowheadSystem:
    """Information plus prior precision of all effects and the location, solved by parts.

    Parameters
    ----------
    information : sparse array of shape (Q + 1, Q + 1)
        Of the ratings.
    precision : array of shape (Q + 1,)
        Of the priors.
    core, own : array of int
        Positions of the core, the location last, and of the others.
    """

    def __init__(self, information: sp.csr_array, precision: Array, core: Codes, own: Codes):
        self.core, self.own, self.precision = core, own, precision
        self.shared = sp.csr_array(information[own][:, core])
        of_own = sp.csc_array(information[own][:, own])
        self.own_information = of_own
        of_core = information[core][:, core].toarray()
        of_core[-1, -1] += precision[-1]
        if len(own):
            self.factor = sp.linalg.splu(sp.csc_array(of_own + sp.diags_array(precision[own])))
            of_core -= self.shared.T @ self.factor.solve(self.shared.toarray())
        self.core_information = of_core
        self.core_precision = np.append(precision[core[:-1]], 0.0)
        self.covariance = np.linalg.inv(of_core + np.diag(self.core_precision))

    def solve(self, right: Array) -> Array:
        """Its inverse times vectors (Q + 1, C)."""
        found = np.empty_like(right)
        if not len(self.own):
            found[self.core] = self.covariance @ right[self.core]
            return found
        own = self.factor.solve(right[self.own])
        found[self.core] = self.covariance @ (right[self.core] - self.shared.T @ own)
        found[self.own] = self.factor.solve(right[self.own] - self.shared @ found[self.core])
        return found

    def centring(self, mode: Array, blocks: Blocks) -> EffectCentring:
        """The normal approximation with this mode (Q + 1,)."""
        core, own = mode[self.core], mode[self.own]
        first, entries, inside = _envelope(self.own_information, blocks)
        return EffectCentring(
            core_information=self.core_information,
            core_moment=self.core_information @ core + self.core_precision * core,
            core_mean=core,
            own_order=blocks.order,
            own_first=first,
            own_information=entries,
            own_moment=inside @ own + self.precision[self.own] * own,
            shared=self.shared.data,
            shared_column=self.shared.indices.astype(np.int32),
            shared_start=self.shared.indptr.astype(np.int32),
        )


def _envelope(information: sp.csc_array, blocks: Blocks) -> tuple[Codes, Array, sp.coo_array]:
    """Information within blocks: where rows of its lower triangle begin, their entries, and all.

    Rows are in the order of the blocks, and what is within blocks in that of the effects.
    """
    every, size = information.tocoo(), len(blocks.order)
    place = np.empty(size, np.int32)
    place[blocks.order] = np.arange(size)
    rows, columns = place[every.row], place[every.col]
    within = blocks.block[rows] == blocks.block[columns]
    inside = sp.coo_array((every.data[within], (every.row[within], every.col[within])), every.shape)
    lower = within & (columns <= rows)
    rows, columns = rows[lower], columns[lower]
    first = np.arange(size, dtype=np.int32)
    np.minimum.at(first, rows, columns)
    ends = np.cumsum(np.arange(size) - first + 1)
    entries = np.zeros(ends[-1] if size else 0)
    entries[ends[rows] - 1 - (rows - columns)] = every.data[lower]
    return first, entries, inside


def _damping(move: Array) -> float:
    """What to multiply a step by, so that nothing moves to where ratings say nothing."""
    return float(NEWTON.longest / max(np.abs(move).max(), NEWTON.longest))


def _flattened(location: Array, cut: Array, flattening: Array) -> CategoryProbabilities:
    """Probabilities over the posterior of latent scores with means (N,)."""
    each = flattening[:, None]
    return CategoryProbabilities.of(flattening * location, each * cut, "logit")


def _better_cut(
    problem: GradedProblem, location: Array, cut: Array, rated: Array, flattening: Array
) -> Array:
    """Cut points (K - 1,) after a step of Newton's method, with the expected information."""
    if len(cut) == 1:
        return cut
    category = _flattened(location, cut, flattening)
    mean, sd = problem.priors["cut"]
    gradient = category.slopes(rated)[1] - (cut - mean) / sd**2
    upper, lower, p = category.upper, category.lower, category.probability
    # A cut point is the lower end of one category and the upper end of the one before.
    own = flattening[:, None] * (lower[:, :-1] ** 2 / p[:, :-1] + upper[:, 1:] ** 2 / p[:, 1:])
    beside = -(flattening[:, None] * upper * lower / p)[:, 1:-1].sum(axis=0)
    information = np.diag(own.sum(axis=0) + sd**-2) + np.diag(beside, 1) + np.diag(beside, -1)
    move = np.linalg.solve(information, gradient)
    better = cut + move * _damping(move)
    step = np.maximum(np.diff(better), np.maximum(0.2 * np.diff(cut), LEAST_STEP))
    from_first = np.append(0, step.cumsum())
    return np.asarray(better[problem.reference] + from_first - from_first[problem.reference])
