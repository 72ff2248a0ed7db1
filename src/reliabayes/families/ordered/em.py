"""Expectation maximisation over the effects of items of one population, and curvature at a mode."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import scipy

from reliabayes.arrays import Array
from reliabayes.families.cut_points import sd_of_log_step
from reliabayes.families.integration import coarse_nodes
from reliabayes.families.ordered.centring import Levels, reference_cuts
from reliabayes.families.ordered.density import (
    by_rater,
    by_state,
    cut_points,
    expected_at,
    information,
    middle_cut,
    rater_effects,
    state_log_probabilities,
)
from reliabayes.families.ordered.moments import moment_estimates
from reliabayes.families.ordered.problem import SDS, OrderedProblem
from reliabayes.inference.densities import log_half_t, log_normal, slope_half_t
from reliabayes.inference.em import Climb, Point, climb
from reliabayes.inference.widening import WIDENING
from reliabayes.likelihoods.item_mixture import Expected
from reliabayes.likelihoods.ordinal import CategoryProbabilities

ITERATIONS, TOLERANCE = 300, 1e-4
MIN_SD_RATER = 0.05  # to start from
SHRINKAGE_STEPS = 50  # of the fixed point of the sd of raters
WEAK_PRECISION = 1 / 25  # of levels, where only their own ratings count


def climbed(problem: OrderedProblem) -> Climb:
    """EM with the sd of raters held, because at the joint mode all raters are the same.

    Then the raters' levels give the sd.
    """
    found = _with_sd_held(replace(problem, nodes=coarse_nodes(problem.nodes)))
    known = information(found.point, expected_at(found.point, problem), problem)
    effect, sd = rater_effects(found.point, problem), float(found.point["sd_rater"])
    unshrunk = effect * (1 + 1 / (known * sd**2))
    for _ in range(SHRINKAGE_STEPS):
        variance = 1 / (known + sd**-2)
        sd = float(np.sqrt(np.mean((unshrunk * known * variance) ** 2 + variance)))
    sd = max(sd, MIN_SD_RATER)
    point = {**found.point, "sd_rater": np.array(sd)}
    effect = unshrunk * known / (known + sd**-2)
    return found._replace(point={**point, "level": point["mean"] + effect})


def _with_sd_held(problem: OrderedProblem) -> Climb:
    """EM from estimates by moments."""
    guess = moment_estimates(problem)

    def evaluate(point: Point) -> tuple[float, Callable[[], Point]]:
        log_probability, state = problem.mixture.posterior(*state_log_probabilities(point, problem))
        objective = problem.mixture.total(log_probability) + _log_prior(point, problem)
        return objective, lambda: _maximised(point, problem.mixture.expected(state), problem)

    return climb(
        evaluate,
        _maximised(guess, expected_at(guess, problem), problem),
        max_iterations=ITERATIONS,
        tolerance=TOLERANCE,
        is_allowed=lambda point: all(each.holds(point[each.name]) for each in problem.parameters),
        held=lambda point, _: {each.name: point[each.name] for each in problem.parameters},
    )


def _log_prior(point: Point, problem: OrderedProblem) -> float:
    """Log density of location, steps and levels given the sd of raters."""
    sd_item, sd_rater = float(point["sd_item"]), float(point["sd_rater"])
    return float(
        log_normal(cut_points(point), *problem.priors["cut"].tolist()).sum()
        + log_half_t(sd_item, problem.priors["sd_item"])
        + np.log(sd_item)
        + np.log(point["step"]).sum()
        + log_normal(rater_effects(point, problem), 0.0, sd_rater).sum()
    )


def _maximised(point: Point, expected: Expected, problem: OrderedProblem) -> Point:
    """A few quasi-Newton steps in all parameters but the sd of raters: the M step."""
    ratings = by_state(expected.ratings, problem)
    node, sd_rater = problem.nodes.node, float(point["sd_rater"])
    mean_cut, sd_cut = problem.priors["cut"].tolist()
    prior_sd_item = problem.priors["sd_item"]
    n_steps = problem.n_categories - 2

    def negative(x: Array) -> tuple[float, Array]:
        (mean, log_sd), level = x[:2], x[2 + n_steps :]
        sd_item, step = np.exp(log_sd), np.exp(x[2 : 2 + n_steps])
        from_first = np.append(0.0, np.cumsum(step))
        location = level + sd_item * node[:, None]
        category = CategoryProbabilities.of(location, from_first, problem.link)
        by_location, by_cut = category.slopes(ratings)
        off, deviation = from_first - mean - mean_cut, level - mean
        value = (
            (ratings * np.log(category.probability)).sum()
            - 0.5 * (off @ off) / sd_cut**2
            - 0.5 * (deviation @ deviation) / sd_rater**2
            + log_half_t(sd_item, prior_sd_item)
            + x[1 : 2 + n_steps].sum()
        )
        by_mean = off.sum() / sd_cut**2 + deviation.sum() / sd_rater**2
        by_sd = (by_location * node[:, None]).sum() + slope_half_t(sd_item, prior_sd_item)
        by_cut = by_cut - off / sd_cut**2
        by_step = by_cut[:0:-1].cumsum()[::-1][:n_steps]
        by_level = by_location.sum(axis=0) - deviation / sd_rater**2
        slope = [[by_mean, sd_item * by_sd + 1], step * by_step + 1, by_level]
        return -float(value), -np.concatenate(slope)

    level = point["mean"] + rater_effects(point, problem)
    logs = [np.log(point["sd_item"]), *np.log(point["step"])]
    start = np.concatenate([[point["mean"]], logs, level])
    found = scipy.optimize.minimize(
        negative, start, jac=True, method="L-BFGS-B", options={"maxiter": 25}
    ).x
    better: dict[str, Array] = {
        **point,
        "mean": np.asarray(found[0]),
        "sd_item": np.exp(found[1]),
        "step": np.exp(found[2 : 2 + n_steps]),
    }
    return {**better, "level": found[2 + n_steps :]}


def posterior_sd(point: Point, expected: Expected, problem: OrderedProblem) -> Point:
    """Approximate posterior standard deviations at a mode, on Stan's unconstrained scale.

    Those if the ratings that are expected there were observed; of the sds, from numbers of units.
    """
    sd_item, sd_rater = float(point["sd_item"]), float(point["sd_rater"])
    known = information(point, expected, problem)
    n_items, n_raters = expected.items.sum(), problem.n_raters
    by_category = by_state(expected.ratings, problem).sum(axis=(0, 1))
    # Information of its ratings on an item, relative to the prior.
    reliability = known.sum() / n_items * sd_item**2
    of_raters = (1 + np.mean(1 / known) / sd_rater**2) / np.sqrt(2 * n_raters)
    of_raters += min(of_raters**2, 0.1)  # for its longer tails
    return {
        "sd_item": np.array(min((1 + 1 / reliability) / np.sqrt(2 * n_items), 1.0)),
        "sd_rater": np.array(min(of_raters, 1.5)),
        "step": sd_of_log_step(point["step"], by_category, int(middle_cut(problem)[0])),
        "mean": np.array(1.0),
        "level": np.ones(n_raters),
    }


def levels_at(point: Point, expected: Expected, problem: OrderedProblem) -> Levels:
    """Each rater's level by their own ratings alone, without shrinkage to the others.

    A rater who always gives the same category would have an infinite level: a weak prior keeps it
    finite.
    """
    mean, sd_item, sd_rater = (by_rater(point[name], problem) for name in ("mean", *SDS))
    known = information(point, expected, problem)
    own = rater_effects(point, problem) * (known + sd_rater**-2) / (known + WEAK_PRECISION)
    items = sd_item**2 / problem.mixture.multiplicity.sum()
    reference = middle_cut(problem)
    from_first = reference_cuts(np.reshape(point["step"], (1, -1)), reference)
    return Levels(
        mean + own - from_first,
        1 / (known + WEAK_PRECISION) + items,
        reference=reference,
        known_sd_item=np.reshape(point["sd_item"], -1),
        widening=WIDENING[problem.link],
    )
