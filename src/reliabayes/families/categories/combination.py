"""Draws from runs of the sampler at several modes, combined by the modes' masses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from reliabayes.arrays import IN_CACHE, Array, Codes, Mask, blocks
from reliabayes.families.categories.density import states_at, states_at_each
from reliabayes.families.categories.family import Categories, Response
from reliabayes.families.categories.labels import relabelled_runs
from reliabayes.families.categories.problem import CategoricalProblem
from reliabayes.families.categories.starts import from_free, to_free
from reliabayes.inference.em import Point
from reliabayes.inference.log_density import log_densities
from reliabayes.inference.problem import stan_data
from reliabayes.inference.stan import Draws
from reliabayes.inference.warm_start import WarmStart
from reliabayes.results.bridge import Mass, bridge, shares
from reliabayes.results.chain_statistics import measures
from reliabayes.results.modes import Combined, Mode
from reliabayes.results.settings import Settings
from reliabayes.sampling.thresholds import MIXING


def combine(
    family: Categories,
    modes: Sequence[WarmStart],
    runs: Sequence[Draws],
    problem: CategoricalProblem,
    program: str,
    settings: Settings,
) -> Combined:
    """Draws of all runs, in proportion to the posterior's mass around their modes.

    A point belongs to the mode whose true categories its own come closest to. Where chains from all
    modes pass between them, and agree on how often, a mode has the share of all draws that are
    there. Otherwise its mass is estimated by bridge sampling from the draws that have stayed.

    Parameters
    ----------
    family : Categories
        What the model holds.
    modes : sequence of WarmStart
        Starts at each mode.
    runs : sequence of Draws
        From each of them, or one that did not start there.
    problem : CategoricalProblem
        That of the ratings.
    program : str
        Stan program of the model.
    settings : Settings
        With the number of draws of each chain, of which runs whose chains pass between modes may
        have fewer, and the seed of their order.

    Returns
    -------
    Combined
    """
    runs, relabelled = relabelled_runs(family, modes, runs, problem)
    if len(runs) < len(modes):
        found = _not_weighed(modes, runs[0])
    else:
        found = _weighed(family.response, modes, runs, problem, program, settings)
    return found._replace(relabelled=relabelled)


def _weighed(
    response: Response,
    modes: Sequence[WarmStart],
    runs: Sequence[Draws],
    problem: CategoricalProblem,
    program: str,
    settings: Settings,
) -> Combined:
    """Draws of the run from each mode, by the modes' masses."""
    if len(modes) == 1:
        return Combined(runs[0].parameters, runs[0].statistics)
    states = [states_at(response, mode.point, problem) for mode in modes]
    nearest = [_nearest(response, run.parameters, states, problem) for run in runs]
    passed = _passed(nearest)
    if passed is not None:
        return _of_all_runs(modes, runs, nearest, passed, settings)
    modes, runs, states, stayed = _separate(response, modes, runs, states, nearest, problem)
    if len(modes) > 1:
        rng = np.random.default_rng(settings.seed)
        mass = [
            _mass(response, at, states, modes[at], runs[at], stayed[at], problem, program, rng)
            for at in range(len(modes))
        ]
        share = shares(np.array([each.log for each in mass]))
        order = [at for at in np.argsort(-share) if share[at] >= MIXING.kept]
        share = share[order] / share[order].sum()
        modes, runs, stayed, mass = ([x[at] for at in order] for x in (modes, runs, stayed, mass))
        if len(modes) > 1:
            mixed, of_mode = interleaved(runs, stayed, share, rng, settings.draws)
            records = tuple(map(_record, modes, mass, share))
            statistics: dict[str, Any] = {**mixed.statistics, "mode": of_mode}
            return Combined(mixed.parameters, statistics, records)
    return Combined(runs[0].parameters, runs[0].statistics)


def chains_mix(
    family: Categories,
    modes: Sequence[WarmStart],
    runs: Sequence[Draws],
    problem: CategoricalProblem,
) -> bool:
    """Whether chains from all modes pass between them, and agree on the share of each."""
    runs, _ = relabelled_runs(family, modes, runs, problem)
    states = [states_at(family.response, mode.point, problem) for mode in modes]
    nearest = [_nearest(family.response, run.parameters, states, problem) for run in runs]
    return _passed(nearest) is not None


def _passed(nearest: Sequence[Codes]) -> list[Mass] | None:
    """Shares of the modes in the draws of all chains, if these pass between modes and agree."""
    there = np.concatenate(nearest)  # by chain and draw
    is_at = np.array([(there == mode).astype(float) for mode in range(len(nearest))])
    found, chains = measures(is_at), is_at.shape[1]
    share = is_at.mean(axis=(1, 2))
    r_hat, size = (
        np.where(share > 0, found[each], x) for each, x in (("r_hat", 1), ("ess_bulk", np.inf))
    )
    held = share >= MIXING.rare
    if not (r_hat[held].max() <= MIXING.r_hat and size[held].min() >= MIXING.ess * chains):
        return None  # nan is neither
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt((1 - share) / (share * size))
    log = [math.log(x) if x > 0 else -math.inf for x in share]
    return [Mass(*each) for each in zip(log, error.tolist(), strict=True)]


def _of_all_runs(
    modes: Sequence[WarmStart],
    runs: Sequence[Draws],
    nearest: Sequence[Codes],
    mass: Sequence[Mass],
    settings: Settings,
) -> Combined:
    """As many draws of each run, and the modes that hold a share of them, the heaviest first."""
    marked = []
    for run, at in zip(runs, nearest, strict=True):
        own: dict[str, Any] = {**run.statistics, "mode": at}
        marked.append(replace(run, statistics=own))
    every, equal = np.ones_like(nearest[0], bool), np.full(len(runs), 1 / len(runs))
    rng = np.random.default_rng(settings.seed)
    mixed, _ = interleaved(marked, [every] * len(runs), equal, rng, settings.draws)
    share = shares(np.array([each.log for each in mass]))
    order = [at for at in np.argsort(-share) if share[at] >= MIXING.kept]
    if len(order) == 1:
        statistics = {name: x for name, x in mixed.statistics.items() if name != "mode"}
        return Combined(mixed.parameters, statistics)
    place = np.zeros(len(modes), np.int32)  # draws at others count for the heaviest
    place[order] = np.arange(len(order))
    records = tuple(_record(modes[at], mass[at], share[at]) for at in order)
    of_draw: dict[str, Any] = {**mixed.statistics, "mode": place[mixed.statistics["mode"]]}
    return Combined(mixed.parameters, of_draw, records)


def _not_weighed(modes: Sequence[WarmStart], run: Draws) -> Combined:
    """Draws of one run that did not start at the modes, which have the mass nan."""
    unknown = tuple(_record(mode, Mass(0, math.inf), math.nan) for mode in modes)
    return Combined(run.parameters, run.statistics, unknown)


def interleaved(
    runs: Sequence[Draws],
    stayed: Sequence[Mask],
    share: Array,
    rng: np.random.Generator,
    draws: int | None = None,
) -> tuple[Draws, Codes]:
    """Chains in which each mode has its share of the draws, and the mode of each draw.

    The draws of a mode keep their order in a chain and lie between those of the others at random,
    so that the chains' autocorrelation and their agreement still show how each has mixed.

    Parameters
    ----------
    runs : sequence of Draws
        By mode, all with as many chains.
    stayed : sequence of array of bool, shape (chains, draws)
        Which of the draws are taken from; some of each run.
    share : array of shape (M,)
        Of the modes; the sum is 1.
    rng : Generator
        Source of the order.
    draws : int, optional
        Of each chain; by default as many as each run has.

    Returns
    -------
    Draws
    array of int, shape (chains, draws)
    """
    chains, most = stayed[0].shape
    draws = draws or most
    count = np.diff(np.round(np.cumsum(share) * draws).astype(int), prepend=0)
    of_mode = rng.permuted(np.tile(np.repeat(np.arange(len(runs)), count), (chains, 1)), axis=1)
    taken = [
        [_spread(own[chain], own, chain, number) for chain in range(chains)]
        for own, number in zip(stayed, count, strict=True)
    ]

    def mixed(kind: str, name: str) -> Array:
        by_run: list[Array] = [getattr(run, kind)[name] for run in runs]
        out = np.empty((chains, draws, *by_run[0].shape[2:]), by_run[0].dtype)
        for mode, values in enumerate(by_run):
            for chain in range(chains):
                out[chain, of_mode[chain] == mode] = values[taken[mode][chain]]
        return out

    found = replace(
        runs[0],
        parameters={name: mixed("parameters", name) for name in runs[0].parameters},
        statistics={name: mixed("statistics", name) for name in runs[0].statistics},
    )
    return found, of_mode.astype(np.int32)


def _spread(own: Mask, every: Mask, chain: int, number: int) -> tuple[Codes, Codes]:
    """So many draws of a chain, spread evenly over those that stayed; of any chain if none did."""
    at = own.nonzero()[0]
    rows, columns = (np.full(len(at), chain), at) if len(at) else every.nonzero()
    chosen = np.arange(number) * len(rows) // max(number, 1)
    return rows[chosen].astype(np.int32), columns[chosen].astype(np.int32)


def _separate(
    response: Response,
    modes: Sequence[WarmStart],
    runs: Sequence[Draws],
    states: Sequence[Array],
    nearest: Sequence[Codes],
    problem: CategoricalProblem,
) -> tuple[list[WarmStart], list[Draws], list[Array], list[Mask]]:
    """Modes with draws, the run that has those of each, their states, and which draws are there.

    If chains have left their mode, its draws are those of all runs; it is dropped if these are few.
    """
    modes, runs, states, at = list(modes), list(runs), list(states), list(nearest)
    while len(modes) > 1:
        number = [sum(int((own == mode).sum()) for own in at) for mode in range(len(modes))]
        left = [
            mode
            for mode, own in enumerate(at)
            if number[mode] < MIXING.few and (own == mode).mean() < MIXING.stayed
        ]
        if not left:
            break
        least = min(left, key=number.__getitem__)
        for each in (modes, runs, states):
            del each[least]
        at = [_nearest(response, run.parameters, states, problem) for run in runs]
    if len(modes) == 1:
        return modes, runs, states, [np.ones_like(runs[0].statistics["lp"], dtype=bool)]
    stayed = [own == mode for mode, own in enumerate(at)]
    found = list(runs)
    for mode in range(len(modes)):
        if stayed[mode].mean() < MIXING.stayed:
            found[mode] = _pooled(runs)
            stayed[mode] = np.concatenate(at, axis=1) == mode
    return modes, found, states, stayed


def _pooled(runs: Sequence[Draws]) -> Draws:
    """Chains with the draws of all runs, one run after another."""

    def joined(kind: str) -> dict[str, Array]:
        names = getattr(runs[0], kind)
        return {
            name: np.concatenate([getattr(run, kind)[name] for run in runs], 1) for name in names
        }

    return replace(runs[0], parameters=joined("parameters"), statistics=joined("statistics"))


def _nearest(
    response: Response, draws: Point, states: Sequence[Array], problem: CategoricalProblem
) -> Codes:
    """The mode (...) whose true categories those at each draw (...) come closest to."""
    known, weight = np.array(states)[:, None], problem.mixture.multiplicity[:, None]
    first = problem.parameters[0]
    shape = draws[first.name].shape[: draws[first.name].ndim - len(first.dims)]
    every = {
        p.name: draws[p.name].reshape(-1, *draws[p.name].shape[len(shape) :])
        for p in problem.parameters
    }
    found = np.empty(math.prod(shape), np.int32)
    for some in blocks(len(found), IN_CACHE // states[0].size):
        state = states_at_each(response, {name: x[some] for name, x in every.items()}, problem)
        found[some] = (weight * np.abs(known - state)).sum(axis=(2, 3)).argmin(axis=0)
    return found.reshape(shape)


def _mass(
    response: Response,
    at: int,
    states: Sequence[Array],
    mode: WarmStart,
    run: Draws,
    stayed: Mask,
    problem: CategoricalProblem,
    program: str,
    rng: np.random.Generator,
) -> Mass:
    """Log mass of the posterior around a mode."""
    data = stan_data(problem, mode.centring)

    def evaluate(points: Array) -> Array:
        drawn = from_free(points, problem, mode.centring)
        there = _nearest(response, drawn, states, problem) == at
        return np.where(there, log_densities(program, data, points), -np.inf)

    draws = to_free(run.parameters, problem, mode.centring)[stayed]
    # Runs from other modes have densities relative to other centrings.
    return bridge(draws, log_densities(program, data, draws), evaluate, rng)


def _record(start: WarmStart, mass: Mass, share: float) -> Mode:
    return Mode(float(share), mass.error, start.path[-1], start.climbs)
