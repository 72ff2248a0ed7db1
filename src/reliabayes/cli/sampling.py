"""Fitting models by sampling: the options of the sampler, and a loop over models."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

import reliabayes as rb
from reliabayes.choices import Sampler
from reliabayes.cli.fit_results import print_diagnostics
from reliabayes.cli.output import print_message
from reliabayes.cli.seeds import METAVAR, seed_of

if TYPE_CHECKING:
    from reliabayes.models import RatingModel
    from reliabayes.partitions import AnyRatings


@dataclass(frozen=True)
class Sampling:
    """Options of the sampler.

    Attributes
    ----------
    chains : int, default 4
        Number of Markov chains.
    draws : int, optional
        Number of draws per chain, after warmup.
    ess : float, optional
        Effective sample size that all quantities are to have.
    seed : int, default 1
        Seed of the sampler.
    sampler : {"auto", "nuts", "hmc", "gibbs", "independence"}
        What draws.
    """

    chains: Annotated[int, typer.Option(min=1, help="Number of Markov chains.")] = 4
    draws: Annotated[
        int | None,
        typer.Option(
            min=4,
            show_default=False,
            help="Number of draws per chain; by default 1000, or more if --ess needs them.",
        ),
    ] = None
    ess: Annotated[
        float | None,
        typer.Option(
            min=4,
            show_default=False,
            help="Effective sample size that all quantities are to have; chains go on until then.",
        ),
    ] = None
    seed: Annotated[
        int,
        typer.Option(
            parser=seed_of,
            metavar=METAVAR,
            help="Seed; the same seed gives the same draws with the same build. With random, each "
            "call draws a new one and prints it.",
        ),
    ] = 1
    sampler: Annotated[
        Sampler,
        typer.Option(
            help="NUTS, Hamiltonian Monte Carlo near a normal distribution, Gibbs or independence "
            "sampling, or the fastest of these."
        ),
    ] = "auto"


def fit_models(
    models: Iterable[RatingModel[Any]],
    ratings: AnyRatings,
    sampling: Sampling,
    *,
    are_recommended: bool,
) -> dict[RatingModel[Any], rb.Fit]:
    """Fit models to the same ratings, and print the diagnostics of each.

    Parameters
    ----------
    models : iterable of RatingModel
        The models.
    ratings : Ratings or RatingsDataset
        The ratings.
    sampling : Sampling
        Options of the sampler.
    are_recommended : bool
        Whether the models were recommended, which was said.

    Returns
    -------
    dict from RatingModel to Fit
        The fit of each model, in the given order.
    """
    fits = {}
    for model in models:
        print_message(f"fitting {model.name()}")
        fits[model] = model.fit(ratings, **asdict(sampling))
        print_diagnostics(fits[model], is_recommended=are_recommended)
    return fits
