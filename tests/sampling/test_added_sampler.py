"""A sampler that somebody adds is one class, and needs no change elsewhere."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import pytest

import reliabayes as rb
from reliabayes.inference.independence import NearNormal
from reliabayes.inference.stan import Draws
from reliabayes.results.settings import Settings
from reliabayes.sampling.loop import Aim, Chains, fit_until
from reliabayes.sampling.plan import Step, chosen_settings
from tests.models.test_gstudy import rated
from tests.monte_carlo import standard_errors


@dataclass(frozen=True, eq=False)
class RandomWalk:
    """Metropolis steps of all chains, in units of the curvature at the mode."""

    sampler: ClassVar[Literal["independence"]] = "independence"

    posterior: NearNormal

    def sample(self, **options: Any) -> Draws:
        chains, warmup, draws = (options[name] for name in ("chains", "warmup", "draws"))
        rng, size = np.random.default_rng(options["seed"]), len(self.posterior.mode)
        root = 2.4 / np.sqrt(size) * np.linalg.cholesky(self.posterior.covariance)
        at = self.posterior.mode + rng.standard_normal((chains, size)) @ root.T
        density, numbers = self.posterior.evaluate(at)
        kept: list[tuple[Any, ...]] = []
        for iteration in range(warmup + draws):
            then = at + rng.standard_normal((chains, size)) @ root.T
            there, found = self.posterior.evaluate(then)
            moves = np.log(rng.random(chains)) < there - density
            at, density = np.where(moves[:, None], then, at), np.where(moves, there, density)
            numbers = np.where(moves[:, None], found, numbers)
            if iteration >= warmup:
                kept.append((at, numbers, density, moves.astype(float)))
        points, others, lp, rate = (np.stack(x, axis=1) for x in zip(*kept, strict=True))
        parameters = self.posterior.finish(points, others, rng)
        return Draws(dict(parameters), {"lp": lp, "acceptance_rate": rate})


@pytest.mark.slow
def test_random_walk_goes_on_until_draws_are_precise_enough() -> None:
    model = rb.GStudy(design="item x rater")
    ratings = rated("item x rater", 0.9)
    problem, modes = model.prepared(ratings)
    posterior = model.near_normal(problem, modes[0])
    assert posterior is not None
    step = Step(RandomWalk(posterior))
    usual = Settings.checked(chains=4, warmup=200, draws=500, seed=1)
    settings = chosen_settings(usual, step, modes, 200, 500)
    chains = Chains(model, problem, [(modes[0], modes[0])], step, settings, {})

    fit = fit_until(
        Aim(ess=150),
        [step],
        lambda step: chains.started(),
        lambda each: model.fit_of_runs(ratings, problem, modes, each.runs, each.settings),
        may_go_on=True,
    )

    assert min(fit.diagnostics().ess_bulk, fit.diagnostics().ess_tail) >= 150
    expected = model.fit(ratings, seed=2, sampler="independence", progress=False)
    error = math.hypot(*(standard_errors(each, "mean")["phi"] for each in (fit, expected)))
    difference = fit.summary()["mean"]["phi"] - expected.summary()["mean"]["phi"]
    assert abs(difference) < 5 * error
    assert (fit.posterior.sizes["chain"], fit.posterior.sizes["draw"]) == (4, 500)
