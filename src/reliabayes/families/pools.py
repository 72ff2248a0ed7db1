"""Pools of raters, and quantities of pairs of pools."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from reliabayes.arrays import Codes
from reliabayes.errors import Fault, RatingsError
from reliabayes.partitions import AnyRatings
from reliabayes.ratings import Ratings
from reliabayes.results import quantities

XCC = ("normalized_xcc", "unnormalized_xcc")


def pool_of_raters(model: object, ratings: AnyRatings) -> Codes:
    """Position (R,) of each rater's pool; refuse ratings that are not by two pools or more."""
    return required_pools(type(model).__name__, ratings)


def required_pools(name: str, ratings: AnyRatings) -> Codes:
    """As `pool_of_raters`, by the name of the model."""
    if isinstance(ratings, Ratings):
        ratings.require_known_raters(name)
    if ratings.rater_pool is None or len(ratings.pools) < 2:
        pools = ratings.pools.tolist()
        found = f"one pool, {pools[0]!r}" if pools else "no pools"
        rule = f"raters must belong to two pools or more, because {name} estimates their agreement"
        remedy = "Pass pool=... with the column of the raters' pools; use an ICC for one pool."
        raise RatingsError([Fault("pool", rule, found, remedy)])
    return ratings.rater_pool


def pair_labels(pools: pd.Index[Any]) -> list[str]:
    """Names of the pairs of pools: ``"crowd, expert"``, the pools in the order of their ids."""
    return [f"{one}, {other}" for one, other in combinations(pools, 2)]


def agreement(
    factor: xr.DataArray, icc: xr.DataArray, pools: pd.Index[Any]
) -> Mapping[str, xr.DataArray]:
    """Normalized and unnormalized xCC of each pair of pools (chain, draw, pair).

    ``factor`` (chain, draw, pool, factor) is the Cholesky factor of the correlation of an item's
    effects, ``icc`` is (chain, draw, pool).
    """
    sides = [xr.DataArray(side, dims="pair") for side in np.triu_indices(len(pools), 1)]
    labels = {"pair": pair_labels(pools)}
    rows, iccs = (
        [values.drop_vars("pool").isel(pool=side).assign_coords(labels) for side in sides]
        for values in (factor, icc)
    )
    correlation = (rows[0] * rows[1]).sum("factor")
    unnormalized = quantities.unnormalized_xcc(correlation, *iccs)
    return dict(zip(XCC, (correlation, unnormalized), strict=True))
