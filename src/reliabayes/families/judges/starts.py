"""Where chains start: the mode given spreads, the spreads given the levels there."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from reliabayes.arrays import Array
from reliabayes.families.judges.centring import KINDS, PanelCentring
from reliabayes.families.judges.density import log_likelihood_with_gradient
from reliabayes.families.judges.parameters import declared
from reliabayes.families.judges.problem import PanelProblem
from reliabayes.inference.em import Point
from reliabayes.inference.problem import StanPart
from reliabayes.inference.time_limit import check_time
from reliabayes.inference.warm_start import WarmStart

FIRST_SPREAD = 0.5  # of levels between units, for the search of the mode
MOST_STEPS, SMALL_SLOPE = 300, 1e-3  # of the search
STEP = 1e-3  # of differences of the gradient
LARGEST_MOVE = 3.0  # between a level and what its answers alone say
SPREADS = np.geomspace(0.02, 5, 60)  # that are compared
# Parameters of which the program takes the transpose, so that none of them has a shape, too.
TRANSPOSED = ("own_log_odds", "slip_log_odds", "popularity")


@dataclass(frozen=True, eq=False)
class Mode:
    """Where the posterior density given spreads is largest.

    Attributes
    ----------
    point : Point
        Parameters there.
    path : tuple of float
        Log density after each step.
    converged : bool
        Whether the search ended by itself.
    """

    point: Point
    path: tuple[float, ...]
    converged: bool


def mode_given_spreads(problem: PanelProblem, spreads: Point) -> Mode:
    """The mode of the posterior density of all levels and their locations, given spreads."""
    from scipy.optimize import minimize

    names = [each.name for each in declared(problem) if each.support == "real"]
    first = {name: x for name, x in middle(problem).items() if name in names}
    shapes = {name: x.shape for name, x in first.items()}
    path: list[float] = []

    def point_of(x: Array) -> dict[str, Array]:
        found, used = dict[str, Array](), 0
        for name, shape in shapes.items():
            size = int(np.prod(shape))
            found[name], used = x[used : used + size].reshape(shape), used + size
        return found

    def negative(x: Array) -> tuple[float, Array]:
        check_time()
        value, gradient = log_density(point_of(x), spreads, problem)
        flat = np.concatenate([gradient[name].ravel() for name in shapes])
        return -value, -flat

    start = np.concatenate([x.ravel() for x in first.values()])
    path.append(-negative(start)[0])
    found = minimize(
        negative,
        start,
        jac=True,
        method="L-BFGS-B",
        callback=lambda x: path.append(-negative(x)[0]),
        options={"maxiter": MOST_STEPS, "gtol": SMALL_SLOPE, "maxcor": 30},
    )
    return Mode({**point_of(found.x), **spreads}, tuple(path), bool(found.success))


def log_density(point: Point, spreads: Point, problem: PanelProblem) -> tuple[float, Point]:
    """Log density of answers and of all levels and locations, given spreads, with its gradient."""
    value, by = log_likelihood_with_gradient(point, problem)
    gradient = {name: x.copy() for name, x in by.items()}

    def add(name: str, mean: Any, sd: Any) -> Array:
        nonlocal value
        score = (point[name] - mean) / sd
        value -= 0.5 * float((score**2).sum())
        gradient[name] = gradient.get(name, 0.0) - score / sd
        return np.asarray(score / sd)

    for at, kind in enumerate(KINDS):
        mean, sd = problem.priors[f"{kind}_location"]
        name = f"{kind}_log_odds"
        if not problem.pooled[at]:
            add(name, mean, sd)
            continue
        location = point[f"{kind}_location"]
        spread = spreads[f"{kind}_spread"]
        pull = add(name, location, spread[:, None] if kind == "misreading" else spread)
        add(f"{kind}_location", mean, sd)
        gradient[f"{kind}_location"] = gradient[f"{kind}_location"] + pull.sum(axis=0)
    for name, prior in (("own_log_odds", "own"), ("slip_log_odds", "slip")):
        add(name, *problem.priors[prior])
    if not problem.is_free:
        add("popularity", *problem.priors["popularity"])
        if problem.is_ordered:
            add("log_decay", *problem.priors["log_decay"])
    return value, gradient


def middle(problem: PanelProblem) -> dict[str, Array]:
    """Prior means of all parameters."""
    found = dict[str, Array]()
    for each in declared(problem):
        shape = tuple(map(problem.size, each.dims))
        kind = each.name.removesuffix("_log_odds").removesuffix("_location")
        prior = f"{kind}_location" if kind in KINDS else kind
        fill = FIRST_SPREAD if each.support == "positive" else problem.priors[prior][0]
        found[each.name] = np.full(shape, float(fill))
    return found


def first_spreads(problem: PanelProblem) -> dict[str, Array]:
    """Spreads that the search of a mode takes."""
    return {name: x for name, x in middle(problem).items() if name.endswith("_spread")}


def mode(problem: PanelProblem) -> Mode:
    """The mode, with the spreads that explain the levels there best."""
    found = mode_given_spreads(problem, first_spreads(problem))
    populated, _, _ = _populated(found.point, problem)
    spreads = {name: x for name, x in populated.items() if name.endswith("_spread")}
    return mode_given_spreads(problem, spreads) if spreads else found


def start_at_mode(problem: PanelProblem) -> WarmStart:
    """Starting points around the mode, and what the program samples relative to."""
    mode = mode_given_spreads(problem, first_spreads(problem))
    point, own, sds = _populated(mode.point, problem)
    whats = ("mean", "precision")
    centring = PanelCentring(
        **{f"{kind}_{what}": x for kind in KINDS for what, x in zip(whats, own[kind], strict=True)},
        spread_scale=np.array([0.5 * _typical_spread(point, kind) for kind in KINDS]),
        prior_location=np.array([problem.priors[f"{kind}_location"][0] for kind in KINDS]),
        prior_spread=np.array([problem.priors[f"{kind}_location"][1] for kind in KINDS]),
    )
    sampled = centring.sampled(point)
    for at, kind in enumerate(KINDS):
        name = f"{kind}_log_odds"
        sampled[name], sds[name] = np.zeros_like(sampled[name]), np.ones_like(sampled[name])
        if problem.pooled[at]:
            name = f"{kind}_spread"
            sds[name] = np.full_like(sampled[name], 1.5 * centring.spread_scale[at])
    names = [each.name for each in declared(problem)]
    return WarmStart(
        mode={name: sampled[name] for name in names},
        sd={name: sds[name] for name in names},
        constrain=partial(_constrained, centring),
        step_size=0.5,
        path=mode.path,
        centring=centring,
    )


def _populated(
    at_mode: Point, problem: PanelProblem
) -> tuple[dict[str, Array], dict[str, tuple[Array, Array]], dict[str, Array]]:
    """The point with spreads and locations that explain levels best; levels by answers; sds."""
    own, sds = _own_levels(at_mode, problem)
    point = dict(at_mode)
    for at, kind in enumerate(KINDS):
        if problem.pooled[at]:
            spread, location, sd = _population(own[kind], point, kind, problem)
            point |= {f"{kind}_spread": spread, f"{kind}_location": location}
            sds[f"{kind}_location"] = sd
    return point, own, sds


def cold_start(problem: PanelProblem, centring: StanPart | None) -> WarmStart:
    """Starting points dispersed by about one unit around 0 of what the program samples."""
    assert isinstance(centring, PanelCentring)
    none = {each.name: np.zeros(tuple(map(problem.size, each.dims))) for each in declared(problem)}
    return WarmStart(
        none,
        {name: np.full_like(x, 0.5) for name, x in none.items()},
        partial(_constrained, centring),
        target_acceptance=0.95,
    )


def _constrained(centring: PanelCentring, free: Point) -> dict[str, Any]:
    return {name: x.tolist() for name, x in centring.restored(free).items()}


def for_program(point: Mapping[str, Any], centring: PanelCentring) -> Mapping[str, Any]:
    """A point as the program declares it, with parameters that have no elements."""
    none = np.zeros(0)
    empty = {f"{kind}_location": none for kind in KINDS} | {"log_decay": none}
    empty |= {f"free_{kind}_spread": none for kind in KINDS}
    found = {**empty, **centring.for_program(point)}
    for name in TRANSPOSED:
        like = centring.prevalence_mean if name == "popularity" else centring.people_mean
        columns = int(like.shape[1])
        found[name] = np.reshape(found.get(name, none), (-1, columns)).T
    return found


def from_program(drawn: Mapping[str, Array], centring: PanelCentring) -> dict[str, Array]:
    """Draws of the parameters, of the program's draws (chains, draws, ...)."""
    levels = centring.people_mean.shape[1]
    found = dict[str, Array]()
    for name, x in drawn.items():
        if name.startswith("free_") or name.endswith("_score") or name == "log_score_density":
            continue
        found[name] = np.swapaxes(x, -1, -2) if name in TRANSPOSED else x
        if name in ("misreading_location", "misreading_log_odds"):
            found[name] = x.reshape(*x.shape[:-1], -1, levels)
    return found


def complete(point: Point, problem: PanelProblem) -> Point:
    """A point, or several, with parameters that have no elements."""
    lead = point["prevalence_log_odds"].shape[:-2]
    shapes = {each.name: tuple(map(problem.size, each.dims)) for each in declared(problem)}
    none = {name: np.zeros((*lead, *shape)) for name, shape in shapes.items()}
    return {name: point.get(name, empty) for name, empty in none.items()}


def _typical_spread(point: Point, kind: str) -> float:
    return float(np.mean(point.get(f"{kind}_spread", FIRST_SPREAD)))


def _own_levels(
    point: Point, problem: PanelProblem
) -> tuple[dict[str, tuple[Array, Array]], dict[str, Array]]:
    """Mean and precision of each level's likelihood, others given; and sds of other numbers."""
    centre = log_likelihood_with_gradient(point, problem)[1]
    own, sds = dict[str, tuple[Array, Array]](), dict[str, Array]()
    for name, slope in centre.items():
        bend = np.empty(slope.shape)
        for place in np.ndindex(slope.shape):
            moved = {**point, name: point[name].copy()}
            moved[name][place] += STEP
            bend[place] = (slope - log_likelihood_with_gradient(moved, problem)[1][name])[place]
        precision = np.maximum(bend / STEP, 0.0)
        kind = name.removesuffix("_log_odds")
        if kind not in KINDS:
            sds[name] = 1 / np.sqrt(precision + problem.priors[kind][1] ** -2)
            continue
        move = np.divide(slope, precision, out=np.zeros_like(slope), where=precision > 0)
        mean = point[name] + np.clip(move, -LARGEST_MOVE, LARGEST_MOVE)
        shape = len(mean), math.prod(mean.shape[1:])
        own[kind] = (mean.reshape(shape), precision.reshape(shape))
    return own, sds


def _population(
    own: tuple[Array, Array], point: Point, kind: str, problem: PanelProblem
) -> tuple[Array, Array, Array]:
    """Spread, location, and sd of the location, that explain the levels of units best."""
    mean, precision = own
    prior_mean, prior_sd = problem.priors[f"{kind}_location"]
    df, scale = problem.priors[f"{kind}_spread"]
    shape = point[f"{kind}_location"].shape
    number = problem.size("family") if kind == "misreading" else 1
    best = [], [], []  # type: tuple[list[float], list[Array], list[Array]]
    columns = mean.shape[1] // number
    for at in range(number):
        some = slice(at * columns, (at + 1) * columns)
        m, variance = mean[:, some], 1 / np.maximum(precision[:, some], 1e-6)
        values, locations, sds = [], [], []
        for spread in SPREADS:
            weight = 1 / (spread**2 + variance)
            total = weight.sum(axis=0) + prior_sd**-2
            location = ((weight * m).sum(axis=0) + prior_mean / prior_sd**2) / total
            value = 0.5 * np.log(weight).sum() - 0.5 * (weight * (m - location) ** 2).sum()
            value -= 0.5 * (((location - prior_mean) / prior_sd) ** 2 + np.log(total)).sum()
            ratio = (spread / scale) ** 2
            value -= 0.5 * ratio if np.isinf(df) else 0.5 * (df + 1) * np.log1p(ratio / df)
            values.append(value + np.log(spread))
            locations.append(location)
            sds.append(total**-0.5)
        top = int(np.argmax(values))
        best[0].append(float(SPREADS[top]))
        best[1].append(locations[top])
        best[2].append(sds[top])
    location, sd = (np.concatenate(each).reshape(shape) for each in best[1:])
    return np.array(best[0]), location, sd
