"""One run of the sampler from a start, and the arguments of a fit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reliabayes.inference import stan
from reliabayes.inference.stan import Draws, Geometry
from reliabayes.inference.warm_start import Start, WarmStart
from reliabayes.ratings import Ratings
from reliabayes.results.settings import Settings, whole_number


def sampled(
    program: str, data: Mapping[str, Any], start: Start, settings: Settings, **options: Any
) -> Draws:
    """Draws of a program's chains from a start; options as of `stan.sample`."""
    return stan.sample(
        program,
        data,
        chains=settings.chains,
        warmup=settings.warmup,
        draws=settings.draws,
        seed=settings.seed,
        inits=start.create_inits(seed=settings.seed, chains=settings.chains),
        geometry=geometry_of(start),
        acceptance=start.target_acceptance if isinstance(start, WarmStart) else 0.8,
        **options,
    )


def geometry_of(start: Start) -> Geometry | None:
    """Metric and step size, where the start knows them."""
    return start.geometry if isinstance(start, WarmStart) else None


def check_arguments(
    ratings: object, warm_start: object, parallel_chains: int | None, timeout: float | None
) -> None:
    """Refuse arguments of a fit that mean nothing."""
    if not isinstance(ratings, Ratings):
        raise TypeError(
            f"ratings must be Ratings, not {type(ratings).__name__}. Make them with "
            "Ratings.from_frame(table, item=..., rater=..., rating=...)."
        )
    if not isinstance(warm_start, bool) and not hasattr(warm_start, "create_inits"):
        raise TypeError(f"warm_start must be True, False or a fit, not {warm_start!r}.")
    if parallel_chains is not None:
        whole_number("parallel_chains", parallel_chains, least=1)
    if timeout is not None and not timeout > 0:
        raise ValueError(f"timeout must be a number of seconds above 0, not {timeout!r}.")
