"""A rater who has not rated yet: a draw from the population of raters at each posterior draw."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from reliabayes.arrays import Array
from reliabayes.results.summaries import describe, scalars


def drawn_effect(sd: xr.DataArray, rng: np.random.Generator) -> dict[str, Array]:
    """Draws (S,) of the effect of a new rater, or of one of each pool, by name.

    Parameters
    ----------
    sd : DataArray
        Standard deviation of raters' effects, dims (chain, draw) or (chain, draw, pool).
    rng : Generator
        Source of randomness.

    Returns
    -------
    dict of str to array
        ``effect``, or ``effect[pool]``.
    """
    effect = sd * rng.standard_normal(sd.shape)
    return {name: draws.ravel() for name, draws in scalars("effect", effect)}


def table_of_new_rater(drawn: Mapping[str, Array], prob: float) -> pd.DataFrame:
    """Median, mean, sd and interval of what a new rater has, a row each.

    Parameters
    ----------
    drawn : mapping of str to array of shape (S,)
        Draws by name.
    prob : float
        Probability of the equal-tailed intervals, in (0, 1).

    Returns
    -------
    DataFrame
    """
    rows = {name: describe(draws, prob) for name, draws in drawn.items()}
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("quantity")
    return table[["median", "mean", "sd", *table.columns[-2:]]]


def covariates_of_new_rater(known: Any, given: Mapping[str, float] | None) -> Array:
    """Covariates (X,) of a new rater in the order of a model's.

    Parameters
    ----------
    known : Covariates or None
        Those of the model.
    given : mapping of str to float or None
        Those of the new rater, by name.

    Raises
    ------
    ValueError
        A covariate is missing, unknown or not finite.
    """
    names = () if known is None else known.names
    found = dict(given or {})
    if set(found) != set(names) or not all(map(math.isfinite, found.values())):
        wanted = ", ".join(names) or "none, because the model has none"
        example = f"{{{', '.join(f'{name!r}: 1.0' for name in names)}}}" if names else "None"
        raise ValueError(
            f"covariates must have a finite number for each of the model's ({wanted}); found "
            f"{found or 'none'}. Pass covariates={example}."
        )
    return np.array([found[name] for name in names], float)
