"""Runs of the sampler from one start or several."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from reliabayes.arrays import Array
from reliabayes.inference import crossed_gibbs, gibbs, gibbs_in_parts, independence, stan
from reliabayes.inference.commands import TURN_ACCEPTANCE
from reliabayes.inference.conjugate import Conjugate
from reliabayes.inference.crossed_effects import CrossedEffects
from reliabayes.inference.gibbs_in_parts import ConjugateInParts
from reliabayes.inference.independence import NearNormal
from reliabayes.inference.problem import stan_data
from reliabayes.inference.stan import Draws
from reliabayes.inference.warm_start import Start, WarmStart
from reliabayes.models.bases.sampling import AS_USUAL, Care, Own, SampledModel, geometry_of
from reliabayes.results.settings import Settings

# Of chains that go on where those in doubt ended, times the sweeps up to which earlier draws are
# kept, too.
MOST_KEPT = 5
LEAST_PART = 100  # of each chain, from which on they tell whether they pass between modes
REST, AGAIN = 1, 2  # of chains that go on: for the rest of their draws, or after draws in doubt

BY_GIBBS = {
    Conjugate: gibbs,
    ConjugateInParts: gibbs_in_parts,
    CrossedEffects: crossed_gibbs,
}


def all_runs(
    model: SampledModel,
    problem: Any,
    places: Sequence[tuple[Start, WarmStart]],
    own: Own | None,
    settings: Settings,
    output_dir: str | os.PathLike[str] | None,
    care: Care,
    earlier: list[list[Draws]],
    **options: Any,
) -> list[Draws]:
    """A run from each start, around a mode; those by Gibbs sampling are added to the earlier ones.

    Of earlier ones only the last have draws, from which chains go on. Of these draws some are kept
    if not many more sweeps make a draw now, and all if as many do. Runs by Gibbs sampling
    from several starts share the draws of one run if their chains pass between the modes. If not,
    they go on until each has as many.
    """
    modes = [mode for _, mode in places]

    def runs_of(before: Sequence[Draws | None], after: int, **changes: Any) -> list[Draws]:
        how = replace(settings, **changes), output_dir, care
        return [
            _sampled(model, problem, mode, own, start, *how, last, after, number, **options)
            for number, ((start, mode), last) in enumerate(zip(places, before, strict=True))
        ]

    if not isinstance(own, Conjugate):
        return runs_of([None] * len(places), 0)
    part = max(math.ceil(settings.draws / len(places)), min(LEAST_PART, settings.draws))
    every = int(own.thinning / own.before) if earlier and not own.moves else 0
    found = _draws_of(earlier[-1]) if earlier else 0  # few of them are kept only if they are usual
    is_kept = 0 < every <= MOST_KEPT and (own.is_usual or found >= part)
    kept = min(part, found) // every if is_kept else 0
    after = AGAIN * len(earlier)
    before: Sequence[Draws | None] = earlier[-1] if earlier else [None] * len(places)
    changes = {"warmup": 0} if earlier and own.is_usual else {}
    last = [_last(run, kept * every) for run in earlier[-1]] if kept else []
    runs = last if kept == part else runs_of(before, after, draws=part - kept, **changes)
    if 0 < kept < part:
        runs = [_joined(*both, every) for both in zip(last, runs, strict=True)]
    if part < settings.draws and not model.passes_between(modes, runs, problem):
        rest = runs_of(runs, after + REST, warmup=0, draws=settings.draws - part)
        runs = [_joined(*both) for both in zip(runs, rest, strict=True)]
    for each in earlier:
        each.clear()
    earlier.append(runs)
    return runs


def _sampled(
    model: SampledModel,
    problem: Any,
    mode: WarmStart,
    own: Own | None,
    start: Start,
    settings: Settings,
    output_dir: str | os.PathLike[str] | None,
    care: Care,
    earlier: Draws | None,
    goes_on: int,
    number: int,
    **options: Any,
) -> Draws:
    """Draws of all chains from a start, by the sampler that suits the posterior, or by NUTS.

    Gibbs sampling goes on where earlier draws end, if there are any. Runs of other numbers have
    other random numbers: with the same ones, chains that pass between modes become alike.
    """
    chains: dict[str, Any] = {
        "chains": settings.chains,
        "warmup": settings.warmup,
        "draws": settings.draws,
        "seed": settings.seed,
    }
    if isinstance(own, NearNormal):
        return independence.sample(own, **chains, **options)
    if own is None or isinstance(own, Conjugate):
        options = {**options, "first_chain": number * settings.chains}
    if own is not None:
        points = start.create_inits(seed=settings.seed, chains=settings.chains)
        if isinstance(own, Conjugate) and earlier is not None:
            points, options = _last_of(earlier), {**options, "goes_on": goes_on}
        by_gibbs: Any = BY_GIBBS[type(own)]
        run = by_gibbs.sample(own, inits=points, **chains, **options)
        return model.as_by_program(run, mode.centring)
    run = stan.sample(
        model.program(problem),
        **program_arguments(model, problem, mode, start, settings, care),
        rough=None if mode.rough is None else stan_data(mode.rough, mode.centring),
        output_dir=output_dir,
        **options,
    )
    return model.from_program(run, mode.centring)


def program_arguments(
    model: SampledModel,
    problem: Any,
    mode: WarmStart,
    start: Start,
    settings: Settings,
    care: Care = AS_USUAL,
) -> dict[str, Any]:
    """What the program of a model reads, and how to sample from it, from a start around a mode."""
    points = start.create_inits(seed=settings.seed, chains=settings.chains)
    acceptance = start.target_acceptance if isinstance(start, WarmStart) else 0.8
    if settings.sampler == "hmc":
        acceptance = TURN_ACCEPTANCE
    return {
        "data": stan_data(problem, mode.centring),
        "inits": [model.for_program(point, mode.centring) for point in points],
        "chains": settings.chains,
        "warmup": settings.warmup,
        "draws": settings.draws,
        "seed": settings.seed,
        "geometry": geometry_of(start, settings.sampler, care),
        "acceptance": max(acceptance, care.acceptance),
        "thinning": max(mode.thinning, care.thinning),
    }


def _draws_of(runs: Sequence[Draws]) -> int:
    """Draws of each chain."""
    return len(next(iter(runs[0].parameters.values()))[0])


def _last(run: Draws, number: int) -> Draws:
    """The last draws of each chain."""
    return replace(
        run,
        parameters={name: x[:, -number:] for name, x in run.parameters.items()},
        statistics={name: x[:, -number:] for name, x in run.statistics.items()},
    )


def _joined(first: Draws, second: Draws, every: int = 1) -> Draws:
    """One in so many of the draws of each chain, and those of its second part."""

    def both(one: Mapping[str, Array], other: Mapping[str, Array]) -> dict[str, Array]:
        return {
            name: np.concatenate([x[:, every - 1 :: every], other[name]], axis=1)
            for name, x in one.items()
        }

    return replace(
        second,
        parameters=both(first.parameters, second.parameters),
        statistics=both(first.statistics, second.statistics),
    )


def _last_of(run: Draws) -> list[dict[str, Any]]:
    """The last draw of each chain."""
    chains = range(len(next(iter(run.parameters.values()))))
    return [{name: x[chain, -1] for name, x in run.parameters.items()} for chain in chains]
