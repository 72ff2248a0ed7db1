"""Whether a saved fit is what was saved: its checksum, and what its parts must have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from reliabayes.inference.problem import Problem
from reliabayes.ratings import Ratings
from reliabayes.results.model import Model
from reliabayes.results.posterior import Posterior
from reliabayes.results.settings import Settings
from reliabayes.seals import Seal

# Follows the content; readers of HDF5 do not look beyond its end.
SEAL = Seal(b"\nreliabayes-sha256:")


def check_ratings(ratings: Ratings) -> None:
    """Refuse ratings whose arrays do not belong together.

    Parameters
    ----------
    ratings : Ratings
        Ratings as a file has them.

    Raises
    ------
    ValueError
        Positions or numbers are out of their range, or arrays have other lengths.
    """
    numeric = ratings.scale == "numeric"
    if ratings.scale not in ("nominal", "ordered", "numeric"):
        raise ValueError(f"the scale of its ratings is {ratings.scale!r}")
    given = ratings.given_categories
    if given is None and not numeric:
        raise ValueError("its ratings have no categories")
    size, levels = len(ratings.item), 0 if given is None else len(given)
    _check_codes("item", ratings.item, size, len(ratings.items))
    _check_codes("rater", ratings.rater, size, len(ratings.raters))
    _check_values("rating", ratings.rating, size, None if numeric else levels)
    if ratings.gold is not None:
        known = np.isfinite(ratings.gold) if numeric else ratings.gold != -1
        _check_shape("gold", ratings.gold, len(ratings.items))
        _check_values("gold", ratings.gold[known], int(known.sum()), None if numeric else levels)
    if ratings.rater_pool is not None:
        _check_codes("rater_pool", ratings.rater_pool, len(ratings.raters), len(ratings.pools))
    for name, places, ids in (
        ("item_group", ratings.item_group, ratings.groups),
        ("item_block", ratings.item_block, ratings.blocks),
    ):
        if places is not None:
            _check_shape(name, places, len(ratings.items))
            if (known := places[places != -1]).size:
                _check_codes(name, known, len(known), len(ids))
    for name, codes in ratings.facet.items():
        _check_codes(name, codes, size, len(ratings.facets[name]))
    for name, ids in {"items": ratings.items, "raters": ratings.raters, **ratings.facets}.items():
        if not isinstance(ids, pd.Index) or not ids.is_unique:
            raise ValueError(f"the ids of its {name} are not distinct")


def _check_shape(name: str, values: Any, size: int) -> None:
    if not isinstance(values, np.ndarray) or values.shape != (size,) or not size:
        raise ValueError(f"{name} of its ratings is not a column of {size} values")


def _check_codes(name: str, codes: Any, size: int, limit: int) -> None:
    _check_shape(name, codes, size)
    if codes.dtype.kind != "i" or codes.min() < 0 or codes.max() >= limit:
        raise ValueError(f"{name} of its ratings has positions outside 0..{limit - 1}")


def _check_values(name: str, values: Any, size: int, categories: int | None) -> None:
    if not size and name == "gold":
        return
    if categories is not None:
        _check_codes(name, values, size, categories)
        return
    _check_shape(name, values, size)
    if values.dtype.kind != "f" or not np.isfinite(values).all():
        raise ValueError(f"{name} of its ratings has values that are not finite numbers")


def check_draws(
    draws: xr.Dataset, sample_stats: xr.Dataset, parameters: tuple[str, ...], settings: Settings
) -> None:
    """Refuse draws that are not those that the settings tell of.

    Parameters
    ----------
    draws, sample_stats : Dataset
        Draws and the sampler's statistics as a file has them.
    parameters : tuple of str
        Names of the draws that are parameters.
    settings : Settings
        How the draws were made.

    Raises
    ------
    ValueError
        There are more or fewer, or some are missing.
    """
    expected = {"chain": settings.chains, "draw": settings.draws}
    for name, found in {"draws": draws, "sampler's statistics": sample_stats}.items():
        sizes = {dim: found.sizes.get(dim) for dim in expected}
        if sizes != expected:
            raise ValueError(f"its settings tell of {expected}, and its {name} have {sizes}")
    if missing := [name for name in parameters if name not in draws]:
        raise ValueError(f"it has no draws of {', '.join(missing)}")
    masses = [mode.mass for mode in settings.modes]
    if any(not 0 <= mass <= 1 for mass in masses if not np.isnan(mass)):
        raise ValueError(f"the masses of its modes are {masses}")


def check_numbers(drawn: Mapping[str, np.ndarray[Any, Any]]) -> None:
    """Refuse parameters that are not finite, in a file without a checksum.

    Parameters
    ----------
    drawn : mapping of str to array
        Draws by name.

    Raises
    ------
    ValueError
        Some are not finite.
    """
    for name, values in drawn.items():
        if values.dtype.kind != "f" or not np.isfinite(values).all():
            raise ValueError(f"the draws of {name} are not all finite numbers")


def check_model(
    model: Model, posterior: Posterior[Problem], saved: xr.Dataset, parameters: tuple[str, ...]
) -> None:
    """Refuse a model that does not compute, from its parameters, what the file says it reports.

    Parameters
    ----------
    model : Model
        The model.
    posterior : Posterior
        Its draws.
    saved : Dataset
        Parameters and quantities of the file.
    parameters : tuple of str
        Names of the former.

    Raises
    ------
    ValueError
        Its quantities have other names.
    """
    reported = set(map(str, model.quantities(posterior.thinned(1)))) - set(parameters)
    if reported != (found := set(map(str, saved)) - set(parameters)):
        differing = ", ".join(sorted(reported ^ found))
        raise ValueError(f"its quantities are not those of {type(model).__name__}: {differing}")
