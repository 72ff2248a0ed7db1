"""What a paper says of a fit: the quantity that it reports first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from reliabayes.arrays import Array
from reliabayes.partitions import AnyRatings
from reliabayes.reporting.methods import Clause, Meaning, MethodsSentence, Size
from reliabayes.reporting.numbers import estimate, number
from reliabayes.results.diagnostics import Diagnostics
from reliabayes.results.model import Model
from reliabayes.results.rater_quality import share_of_ratings
from reliabayes.results.settings import Settings
from reliabayes.results.summaries import interval_bounds, scalars

MOST_LISTED = 6  # values of a quantity by pool or pair of pools that a sentence lists
BETWEEN_ITEMS = "the proportion of the variance of a single rating that is between {items}, with "
RANDOM_RATERS = "{raters} drawn from a population, in absolute agreement"
# A sentence begins with the first of them that a model reports; each is at most 1.
HEADLINES: Mapping[str, tuple[str, Meaning]] = {
    "normalized_xcc": (
        "normalized xCC",
        Meaning("Agreement between pools of {raters}", "the correlation of their true scores"),
    ),
    "phi": (
        "Phi",
        Meaning(
            "Dependability of single ratings",
            "the proportion of their variance that is of the object of measurement",
            kind="icc",
        ),
    ),
    "icc_observed": (
        "ICC",
        Meaning(
            "Inter-rater reliability",
            f"{BETWEEN_ITEMS}{RANDOM_RATERS}, on the scale of the ratings",
            kind="icc",
        ),
    ),
    "icc": (
        "ICC",
        Meaning("Inter-rater reliability", f"{BETWEEN_ITEMS}{RANDOM_RATERS}", kind="icc"),
    ),
    "rate": (
        "rate",
        Meaning(
            "The proportion of ratings by people",
            "the expected proportion of ratings of {items} of a system that people give a category",
        ),
    ),
    "accuracy": (
        "accuracy",
        Meaning(
            "Validity of single ratings",
            "the probability that another rating by these {raters} is the true category, which is "
            "inferred",
        ),
    ),
    "a": (
        "a",
        Meaning(
            "Validity of single ratings",
            "the probability that one of the {raters} knows the true category",
        ),
    ),
}

STATED_HONESTLY = Clause(
    "its interval allows for errors that raters share and votes do not show, by calibration on "
    "public crowds with known answers"
)


def headline(
    model: Model,
    ratings: AnyRatings,
    quantities: xr.Dataset,
    write: Callable[[Any, bool], str],
    how: Sequence[Clause],
    version: str = "",
) -> MethodsSentence:
    """Say what a paper says of a fit or a point estimate.

    Parameters
    ----------
    model : RatingModel
        The model.
    ratings : Ratings or RatingsDataset
        The data.
    quantities : Dataset
        What the model reports, draw by draw or at a point.
    write : callable
        Writes a single quantity, and is told whether it is at most 1.
    how : sequence of Clause
        How it was estimated.
    version : str, optional
        Of this package, if not the one in use.

    Returns
    -------
    MethodsSentence
    """
    first = str(next(iter(quantities)))
    name = next((each for each in HEADLINES if each in quantities), first)
    symbol, meaning = HEADLINES.get(name, (name, Meaning()))
    said = [
        f"{label} = {write(value, name in HEADLINES)}"
        for label, value in scalars(symbol, _as_told(quantities[name], ratings))
    ]
    listed = ", ".join(said[:MOST_LISTED])
    if len(said) > MOST_LISTED:
        listed += f", and {len(said) - MOST_LISTED} more"
    statement = Clause(f"{meaning.subject} was {listed}" if meaning.subject else listed)
    clauses = [Clause(f"{symbol} is {meaning.estimand}")] if meaning.estimand else []
    size = Size.of(ratings)
    return MethodsSentence(statement, size, (*clauses, *how), meaning.kind, version)


def _as_told(values: xr.DataArray, ratings: AnyRatings) -> xr.DataArray:
    """The mean over ratings of a quantity of raters, and of two categories the second."""
    if values.sizes.get("category") == 2:
        values = values.isel(category=[1])
    if "rater" not in values.dims:
        return values
    return (values * xr.DataArray(share_of_ratings(ratings, None), dims="rater")).sum("rater")


def of_draws(prob: float, draws: Array, bounded: bool) -> str:
    """Write the median and the equal-tailed credible interval of draws."""
    lower, upper = interval_bounds(draws.ravel(), prob)
    level = f"{100 * prob:g}% CrI"
    return estimate(float(np.median(draws)), float(lower), float(upper), level, bounded=bounded)


def of_point(value: float, bounded: bool) -> str:
    """Write a point estimate."""
    return number(float(value), bounded=bounded)


def how_sampled(model: Model, settings: Settings, diagnostics: Diagnostics) -> list[Clause]:
    """Say what posterior was sampled, how, and whether its draws can be relied on."""
    draws = f"{settings.chains} chains of {settings.draws:,} draws by {settings.sampler_name}"
    ess = min(diagnostics.ess_bulk, diagnostics.ess_tail)
    r_hat = number(diagnostics.r_hat, 3)
    clauses = [
        Clause(
            f"medians and equal-tailed credible intervals (CrI) are of the posterior of the "
            f"Bayesian model {type(model).__name__}: {model.summary}",
            model.references,
        ),
        Clause(draws, ("carpenter2017",) if settings.stan_version else ()),
        Clause(
            f"largest R-hat {r_hat}, smallest effective sample size {ess:,.0f}", ("vehtari2021",)
        ),
    ]
    if diagnostics.problems:
        clauses.append(Clause("these draws cannot be trusted yet and should not be reported"))
    return clauses


def how_maximised(model: Model, *, is_searched: bool) -> list[Clause]:
    """Say what a point estimate is."""
    what = "maximum-likelihood estimates" if is_searched else "values at given parameters"
    said = f"these are {what} of the model {type(model).__name__}: {model.summary}"
    return [Clause(said, model.references)]
