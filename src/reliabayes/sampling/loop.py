"""Draws until they are good enough: chains go on where they ended, then other samplers follow."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from reliabayes.arrays import Array
from reliabayes.inference import crossed_gibbs, gibbs, gibbs_in_parts, independence, stan
from reliabayes.inference.conjugate import Conjugate
from reliabayes.inference.crossed_effects import CrossedEffects
from reliabayes.inference.gibbs_in_parts import ConjugateInParts
from reliabayes.inference.independence import NearNormal
from reliabayes.inference.problem import stan_data
from reliabayes.inference.stan import Draws
from reliabayes.inference.warm_start import Start, WarmStart
from reliabayes.results.diagnostics import DOUBTFUL_ESS_PER_CHAIN
from reliabayes.results.fit import Fit
from reliabayes.results.settings import Settings
from reliabayes.sampling.plan import (
    AS_USUAL,
    AddedSampler,
    HasConjugate,
    SampledModel,
    SamplerOptions,
    Step,
    WeighsModes,
    acceptance_of,
    for_program,
    from_program,
    geometry_of,
)
from reliabayes.sampling.sweeps import with_sweeps, work_of_draw
from reliabayes.sampling.thresholds import BUDGET, LONGER

TRIALS = 10, 40  # draws of one chain, from which the time of all is estimated


@dataclass(frozen=True)
class Aim:
    """When draws are good enough.

    Attributes
    ----------
    ess : float
        Smallest effective sample size, bulk and tail, of all reported quantities.
    mcse : mapping of str to float
        Largest Monte Carlo standard errors of means, by quantity.
    keeps : bool
        Whether the number of draws is fixed.
    """

    ess: float = 0.0
    mcse: Mapping[str, float] = field(default_factory=dict)
    keeps: bool = False

    @property
    def is_precision(self) -> bool:
        """Whether a precision was asked for, beyond draws that are in no doubt."""
        return bool(self.ess or self.mcse)

    def settings(self, usual: Settings) -> Settings:
        """Settings to begin with, of more draws than usual where an ESS needs them."""
        wanted = 0 if self.keeps else math.ceil(LONGER.for_each * self.ess / usual.chains)
        return replace(usual, draws=max(usual.draws, wanted))

    def least_ess(self, settings: Settings) -> float:
        """Effective sample size below which chains go on."""
        return max(self.ess, DOUBTFUL_ESS_PER_CHAIN * settings.chains)

    def next(self, fit: Fit) -> tuple[int, int]:
        """Times as many iterations for each draw, and draws of each chain, likely to meet the aim.

        The first is a power of 2. Where chains disagree, the ESS is less than it seems.
        """
        checks, settings = fit.diagnostics(), fit.settings
        size = min(checks.ess_bulk, checks.ess_tail)
        most = max(self.ess, checks.doubtful_ess) / size if size > 0 else LONGER.most
        draws = settings.draws
        for name, error in self.mcse.items():
            table = fit.summary(names=[name])
            most = max(most, float((table["mcse"] / error).max()) ** 2)
            wanted = LONGER.for_each * float((table["sd"] / error).max()) ** 2 / settings.chains
            draws = draws if self.keeps else max(draws, math.ceil(wanted))
        longer = LONGER.spare * most * settings.draws / draws
        is_enough = (
            longer <= 1 if draws > settings.draws else size >= LONGER.saturated * checks.draws
        )
        power = 0 if is_enough else math.ceil(math.log2(max(longer, LONGER.least)))
        return int(min(2**power, LONGER.most)), draws

    def is_met(self, fit: Fit) -> bool:
        """Whether draws are as precise as asked for, and in no doubt."""
        return not (fit.diagnostics().draws_are_in_doubt or self.missed(fit))

    def missed(self, fit: Fit) -> str:
        """What was asked for and is not reached, in words; empty if all is."""
        checks = fit.diagnostics()
        size, said = min(checks.ess_bulk, checks.ess_tail), []
        if size < self.ess:
            said.append(f"ess={self.ess:g} was asked for, and the smallest is only {size:.0f}")
        for name, most in self.mcse.items():
            error = float(fit.summary(names=[name])["mcse"].max())
            if not error <= most:
                said.append(f"mcse={most:g} was asked for {name}, and it is {error:.2g}")
        return "; ".join(said)


@dataclass(frozen=True, eq=False)
class Chains:
    """Chains from one start or several, which can go on.

    Attributes
    ----------
    model : SampledModel
        The model.
    problem : Problem
        What the posterior depends on.
    places : sequence of pair of Start and WarmStart
        Where chains start, and the mode that they start around.
    step : Step
        How they are sampled.
    settings : Settings
        Numbers of chains and iterations.
    options : mapping of str to Any
        Options of all samplers.
    output_dir : path-like, optional
        Folder that keeps Stan's files.
    every : int
        Times the usual number of sweeps or iterations for each draw.
    runs : tuple of Draws
        Draws from each place.
    """

    model: SampledModel
    problem: Any
    places: Sequence[tuple[Start, WarmStart]]
    step: Step
    settings: Settings
    options: Mapping[str, Any]
    output_dir: str | os.PathLike[str] | None = None
    every: int = 1
    runs: tuple[Draws, ...] = ()

    def started(self) -> Chains:
        """Chains with their first draws.

        Those of Gibbs sampling from several places share the draws of one fit if they pass between
        the modes; otherwise each goes on until it has as many.
        """
        part = self.settings.draws
        if isinstance(self.step.own, Conjugate):
            part = max(math.ceil(part / len(self.places)), min(LONGER.part, part))
        return self._with(self._drawn(part, self.settings.warmup))._completed(part)

    def seconds(self) -> float:
        """About how long the first draws take, by a trial of a few with one chain."""
        one = replace(self, settings=replace(self.settings, chains=1))
        took = []
        for draws in TRIALS:
            started = time.perf_counter()
            one._drawn(draws, 0)
            took.append(time.perf_counter() - started)
        iteration = max(took[1] - took[0], 0.0) / (TRIALS[1] - TRIALS[0])
        settings = self.settings
        at_once = min(settings.chains, os.cpu_count() or 1)
        number = settings.chains * (settings.warmup + settings.draws) / at_once
        return took[0] + number * iteration

    def gone_on(self, factor: int, draws: int, fit: Fit) -> Chains:
        """Chains of so many draws, which stand for so many times as many iterations.

        Of the draws of a fit, one in so many stays if its chains agree; otherwise all were warm-up.
        Chains over parts, over crossed effects and of independence sampling start anew.
        """
        number = _draws_of(self.runs[0]) + draws - self.settings.draws
        settings = replace(self.settings, draws=draws)
        longer = replace(self, every=factor * self.every, settings=settings)
        if self.step.own is not None and not isinstance(self.step.own, Conjugate):
            return longer._with(longer._drawn(draws, settings.warmup))
        if fit.diagnostics().chains_disagree:
            return longer._with(longer._drawn(number, 0, self.runs))._completed(number)
        kept = [_one_in(factor, run) for run in self.runs]
        runs = longer._drawn(number - _draws_of(kept[0]), 0, self.runs)
        return longer._with(map(_joined, kept, runs))._completed(number)

    def affordable(self, factor: int, draws: int, fit: Fit) -> int:
        """Times as many iterations, of so many, for which chains can go on; 0 if they cannot."""
        own = self.step.own
        draws *= self.settings.chains * len(self.runs)
        if isinstance(own, Conjugate):
            usual = own

            def by_gibbs(factor: int) -> float:
                return draws * work_of_draw(with_sweeps(usual, factor * self.every))

            return _halved(factor, by_gibbs, BUDGET.gibbs)
        if isinstance(own, NearNormal):
            proposals = draws * self.every * own.thinning
            return _halved(factor, lambda factor: factor * proposals, BUDGET.proposals)
        if own is not None:
            passes = draws * self.every * len(fit.ratings)
            return _halved(factor, lambda factor: factor * passes, BUDGET.gibbs)
        if self.settings.sampler != "nuts" or self.output_dir is not None:
            return 0
        is_adapted = all(len(run.adapted) == self.settings.chains for run in self.runs)
        if not is_adapted or fit.diagnostics().needs_smaller_steps:
            return 0
        if len(fit.ratings) > BUDGET.retried:
            return 0
        steps = max(float(run.statistics["n_steps"].mean()) for run in self.runs)
        thinning = max(mode.thinning for _, mode in self.places)
        work = draws * self.every * thinning * steps * (len(fit.ratings) + BUDGET.step)
        return _halved(factor, lambda factor: factor * work, BUDGET.nuts)

    def _with(self, runs: Any) -> Chains:
        return replace(self, runs=tuple(runs))

    def _completed(self, number: int) -> Chains:
        """With as many draws from each place as a fit has, unless chains pass between the modes."""
        missing = self.settings.draws - number
        modes = [mode for _, mode in self.places]
        if not missing or (
            isinstance(self.model, WeighsModes)
            and self.model.chains_mix_modes(modes, self.runs, self.problem)
        ):
            return self
        rest = self._drawn(missing, 0, self.runs)
        return self._with(map(_joined, self.runs, rest))

    def _drawn(self, draws: int, warmup: int, before: Sequence[Draws] = ()) -> list[Draws]:
        """So many draws from each place, or from where each run before ended."""
        return [
            self._sampled(number, place, draws, warmup, before[number] if before else None)
            for number, place in enumerate(self.places)
        ]

    def _sampled(
        self,
        number: int,
        place: tuple[Start, WarmStart],
        draws: int,
        warmup: int,
        before: Draws | None,
    ) -> Draws:
        """Draws of all chains from a place, by the Stan program or a sampler of our own.

        Chains of other places have other random numbers: with the same ones, those that pass
        between modes become alike.
        """
        (start, mode), own = place, self.step.own
        settings = replace(self.settings, draws=draws, warmup=warmup)
        options, later = dict(self.options), self.every.bit_length() - 1
        first_chain = (later * len(self.places) + number) * settings.chains
        if own is None:
            arguments = program_arguments(
                self.model, self.problem, mode, start, settings, self.step.care, before
            )
            arguments["thinning"] *= self.every
            run = stan.sample(
                self.model.program(self.problem),
                **arguments,
                rough=None if mode.rough is None else stan_data(mode.rough, mode.centring),
                output_dir=self.output_dir,
                first_chain=first_chain,
                **options,
            )
            return from_program(self.model, run, mode.centring)
        if isinstance(own, NearNormal):
            own = replace(own, thinning=self.every * own.thinning)
            return independence.sample(own, **_lengths(settings), **options)
        options["inits"] = start.create_inits(seed=settings.seed, chains=settings.chains)
        if isinstance(own, Conjugate):
            own, options["first_chain"] = self._swept(own), first_chain
            if before is not None:
                options |= {"inits": _last_of(before), "done": before.iterations}
            run = gibbs.sample(own, **_lengths(settings), **options)
        else:
            settings = replace(settings, draws=self.every * draws)
            run = _one_in(self.every, _sampler(own)(**_lengths(settings), **options))
        if not isinstance(self.model, HasConjugate):
            return run
        return self.model.as_by_program(run, mode.centring)

    def _swept(self, own: Conjugate) -> Conjugate:
        """What is swept: items whose state hardly changes less often, once draws show which."""
        own = with_sweeps(own, self.every)
        if not (own.passes and self.runs and self.every > 1):
            return own
        names = [each.name for each in own.layout.parameters]
        return own.with_settled(
            {name: self.runs[0].parameters[name].mean(axis=(0, 1)) for name in names}
        )


def fit_until(
    aim: Aim,
    steps: Sequence[Step],
    started: Callable[[Step], Chains],
    fit_of: Callable[[Chains], Fit],
    *,
    may_go_on: bool,
) -> Fit:
    """The fit of the first draws that meet an aim.

    Parameters
    ----------
    aim : Aim
        When draws are good enough.
    steps : sequence of Step
        Ways to sample, tried in turn.
    started : callable
        Chains of a step, with their first draws.
    fit_of : callable
        The fit that the draws of chains make.
    may_go_on : bool
        Whether chains may go on; otherwise their first draws are those of the fit.

    Returns
    -------
    Fit
        Of the last draws, if none meet the aim.
    """
    for step in steps:
        chains = started(step)
        fit = fit_of(chains)
        few = fit.settings.chains < 2 or fit.settings.chains * fit.settings.draws < LONGER.telling
        if not may_go_on or (few and not aim.is_precision):
            return fit
        while not aim.is_met(fit):
            factor, draws = aim.next(fit)
            factor = chains.affordable(factor, draws, fit)
            if factor == 0 or (factor == 1 and draws == fit.settings.draws):
                break
            chains = chains.gone_on(factor, draws, fit)
            fit = fit_of(chains)
        else:
            return fit
    return fit


def program_arguments(
    model: SampledModel,
    problem: Any,
    mode: WarmStart,
    start: Start,
    settings: Settings,
    care: SamplerOptions = AS_USUAL,
    before: Draws | None = None,
) -> dict[str, Any]:
    """What the program of a model reads, and how to sample from it, from a start around a mode.

    With draws before, chains start at the last ones, with metric and step size as adapted there.
    """
    points = start.create_inits(seed=settings.seed, chains=settings.chains)
    if before is not None:
        points = _last_of(before)
    return {
        "data": stan_data(problem, mode.centring),
        "inits": [for_program(model, point, mode.centring) for point in points],
        **_lengths(settings),
        "geometry": before.adapted if before else geometry_of(start, settings.sampler, care),
        "acceptance": acceptance_of(start, settings.sampler, care),
        "thinning": max(mode.thinning, care.thinning),
    }


def _sampler(own: ConjugateInParts | CrossedEffects | AddedSampler) -> Callable[..., Draws]:
    """What draws from a posterior in parts, of crossed effects, or by a sampler that is added."""
    if isinstance(own, ConjugateInParts):
        return partial(gibbs_in_parts.sample, own)
    return partial(crossed_gibbs.sample, own) if isinstance(own, CrossedEffects) else own.sample


def _lengths(settings: Settings) -> dict[str, Any]:
    return {
        "chains": settings.chains,
        "warmup": settings.warmup,
        "draws": settings.draws,
        "seed": settings.seed,
    }


def _draws_of(run: Draws) -> int:
    """Draws of each chain."""
    return len(next(iter(run.parameters.values()))[0])


def _halved(factor: int, work: Callable[[int], float], most: float) -> int:
    """A power of 2, halved until its work is not more than it may be; 0 if even 1 is too much."""
    while factor > 0 and work(factor) > most:
        factor //= 2
    return factor


def _one_in(factor: int, run: Draws) -> Draws:
    """One in so many draws of each chain, the last one among them."""
    first = (_draws_of(run) - 1) % factor
    return replace(
        run,
        parameters={name: x[:, first::factor] for name, x in run.parameters.items()},
        statistics={name: x[:, first::factor] for name, x in run.statistics.items()},
    )


def _joined(first: Draws, second: Draws) -> Draws:
    """The draws of each chain, and those with which it went on."""

    def both(one: Mapping[str, Array], other: Mapping[str, Array]) -> dict[str, Array]:
        return {name: np.concatenate([x, other[name]], axis=1) for name, x in one.items()}

    return replace(
        second,
        parameters=both(first.parameters, second.parameters),
        statistics=both(first.statistics, second.statistics),
    )


def _last_of(run: Draws) -> list[dict[str, Any]]:
    """The last draw of each chain."""
    chains = range(len(next(iter(run.parameters.values()))))
    return [{name: x[chain, -1] for name, x in run.parameters.items()} for chain in chains]
