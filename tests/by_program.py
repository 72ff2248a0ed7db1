"""Draws of what a Stan program samples, in the units of a start."""

from __future__ import annotations

from typing import Any

from reliabayes.inference import stan
from reliabayes.inference.problem import stan_data
from reliabayes.inference.warm_start import WarmStart
from reliabayes.sampling.plan import for_program


def draws_by_program(
    model: Any, problem: Any, start: WarmStart, *, chains: int, draws: int, seed: int
) -> stan.Draws:
    """Draws from a start, with its metric, before they become parameters of the model."""
    points = start.create_inits(seed=seed, chains=chains)
    return stan.sample(
        model.program(problem),
        stan_data(problem, start.centring),
        chains=chains,
        warmup=150,
        draws=draws,
        seed=seed,
        inits=[for_program(model, point, start.centring) for point in points],
        geometry=start.geometry,
        rough=None if start.rough is None else stan_data(start.rough, start.centring),
        progress=False,
    )
