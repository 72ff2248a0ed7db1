"""How good raters are: their quantities, and what they lack of a typical rater's information."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from reliabayes.arrays import Array, Codes
from reliabayes.partitions import AnyRatings, RatingsDataset
from reliabayes.results.summaries import interval_bounds

LOW = 0.5  # proportion of a typical rater's information below which a rater is called poor
FEW_CATEGORIES = 4  # that have columns of their own; with more these would hide the others


def draws_by_rater(quantities: xr.Dataset) -> dict[str, Array]:
    """Draws (S, R) of the quantities with a value for each rater, of dims (chain, draw, ...)."""
    own = {str(name): x for name, x in quantities.items() if x.dims[2:] == ("rater",)}
    return {name: _stacked(x) for name, x in own.items()}


def draws_by_category(quantities: xr.Dataset, guess: str | None) -> dict[str, Array]:
    """Draws (S, R) of what each rater has for each of few categories, by column.

    Parameters
    ----------
    quantities : Dataset
        What a model reports, dims (chain, draw, ...).
    guess : str or None
        Name of the probabilities of guesses; None if raters have no guesses of their own.

    Returns
    -------
    dict of str to array
        ``accuracy[k]``, the probability of a correct rating if the true category is k (the diagonal
        of ``confusion``), and, if there is a prevalence, ``bias[k]``, how much more often k is
        guessed than true.
    """
    found = {}
    confusion = quantities.get("confusion")
    if confusion is not None and "rater" in confusion.dims:
        for position, category in enumerate(_few(confusion.indexes["category"])):
            right = confusion.isel(true_category=position, category=position)
            found[f"accuracy[{category}]"] = right
    if guess is not None and "prevalence" in quantities:
        for category in _reported(quantities.indexes["category"]):
            guessed = quantities[guess].sel(category=category, drop=True)
            true = quantities["prevalence"].sel(true_category=category, drop=True)
            found[f"bias[{category}]"] = guessed - true
    return {name: _stacked(x) for name, x in found.items()}


def _stacked(values: xr.DataArray) -> Array:
    """Draws (S, R), chain by chain."""
    ordered = values.transpose("chain", "draw", "rater").values
    return np.asarray(ordered.reshape(-1, values.sizes["rater"]))


def _few(categories: pd.Index[Any]) -> pd.Index[Any]:
    """Categories, unless there are many."""
    return categories if len(categories) <= FEW_CATEGORIES else categories[:0]


def _reported(categories: pd.Index[Any]) -> pd.Index[Any]:
    """The second of two categories, which says all, or each of few."""
    return categories[1:] if len(categories) == 2 else _few(categories)


def known_pools(ratings: AnyRatings) -> Codes:
    """Pool (R,) of each rater.

    Parameters
    ----------
    ratings : Ratings or RatingsDataset
        The data.

    Raises
    ------
    ValueError
        The ratings have no pools.
    """
    if ratings.rater_pool is None:
        raise ValueError("the ratings have no pools: pass pool=... with the ratings.")
    return ratings.rater_pool


def rater_quality(
    own: Mapping[str, Array],
    by_category: Mapping[str, Array],
    ratings: AnyRatings,
    prob: float | None,
) -> pd.DataFrame:
    """Table of raters: medians of their quantities, information lost, and most used category.

    Parameters
    ----------
    own, by_category : mapping of str to array of shape (S, R)
        Draws of each rater's quantities by name, and of those for each category, which come last.
    ratings : Ratings or RatingsDataset
        The ratings.
    prob : float or None
        Probability of the interval of the first quantity; None for a point estimate.

    Returns
    -------
    DataFrame
        As `Fit.raters` describes it; no columns if there are no quantities.
    """
    columns: dict[str, Array] = {}
    for name, draws in own.items():
        if not columns and prob is not None:
            lower, upper = interval_bounds(draws, prob)
            percent = f"{100 * prob:g}"
            first = {name: np.median(draws, axis=0), "sd": draws.std(axis=0, ddof=1)}
            columns = {**first, f"lower_{percent}": lower, f"upper_{percent}": upper}
        else:
            columns[name] = np.median(draws, axis=0)
    table = pd.DataFrame(columns, index=ratings.raters.rename("rater"))
    if "informativeness" in own:
        information = own["informativeness"]
        typical = np.median(information, axis=1, keepdims=True)
        table["information_lost"] = np.median(typical - information, axis=0)
        if prob is not None:
            table["pr_poor"] = (information < LOW * typical).mean(axis=0)
        counts = ratings_by_category(ratings)
        table["most_used"] = ratings.categories[counts.argmax(axis=1)]
        share = counts / counts.sum(axis=1, keepdims=True)
        table["share_most_used"] = share.max(axis=1)
        for category in _reported(ratings.categories):
            table[f"rate[{category}]"] = share[:, ratings.categories.get_loc(category)]
    return table.assign(**{name: np.median(x, axis=0) for name, x in by_category.items()})


def ratings_by_category(ratings: AnyRatings) -> NDArray[np.int64]:
    """Number (R, K) of ratings by each rater in each category.

    Parameters
    ----------
    ratings : Ratings or RatingsDataset
        The ratings.
    """
    if isinstance(ratings, RatingsDataset):
        return ratings.sum(ratings_by_category)
    shape = ratings.n_raters, len(ratings.categories)
    cell = ratings.rater.astype(np.int64) * shape[1] + ratings.category
    return np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape)


def by_pool(quantities: xr.Dataset, ratings: AnyRatings) -> xr.Dataset:
    """Quantities of raters as those of a rating of each pool: means weighted by their ratings.

    Parameters
    ----------
    quantities : Dataset
        Draws of quantities, dims (chain, draw, ...).
    ratings : Ratings
        Ratings with pools.

    Returns
    -------
    Dataset
        Those with the dims (chain, draw, rater), with a dim pool instead; empty without pools.
    """
    if ratings.rater_pool is None:
        return xr.Dataset()
    is_of = ratings.rater_pool == np.arange(len(ratings.pools))[:, None]
    weight = is_of * ratings.ratings_per_rater
    share = xr.DataArray(
        weight / weight.sum(axis=1, keepdims=True), {"pool": ratings.pools}, ("pool", "rater")
    )
    own = [name for name, x in quantities.items() if x.dims[2:] == ("rater",)]
    return xr.Dataset(
        {
            name: (quantities[name] * share).sum("rater").transpose("chain", "draw", "pool")
            for name in own
        }
    )


def agreeing_pairs(ratings: AnyRatings) -> NDArray[np.float64]:
    """Pairs of ratings of an item, the first of a pool: how many are equal, and how many there are.

    Parameters
    ----------
    ratings : Ratings or RatingsDataset
        Ratings with pools.

    Returns
    -------
    array of shape (2, G)
    """
    if isinstance(ratings, RatingsDataset):
        return ratings.sum(agreeing_pairs)
    assert ratings.rater_pool is not None
    pool, number = ratings.rater_pool[ratings.rater], len(ratings.pools)
    equal = ratings.counts[ratings.item, ratings.category] - 1
    others = ratings.ratings_per_item[ratings.item] - 1
    return np.array([np.bincount(pool, each, number) for each in (equal, others)])


def pool_quality(
    accuracy: xr.DataArray, information: xr.DataArray, ratings: AnyRatings, prob: float
) -> pd.DataFrame:
    """Table of pools, the worst first, as `Fit.pools` describes it.

    Parameters
    ----------
    accuracy, information : DataArray (chain, draw, pool)
        Draws of the accuracy and of the information of a rating of each pool.
    ratings : Ratings or RatingsDataset
        Ratings with pools.
    prob : float
        Probability of the interval of the accuracy.
    """
    pool = known_pools(ratings)
    right, bits = (each.values.reshape(-1, len(ratings.pools)) for each in (accuracy, information))
    lower, upper = interval_bounds(right, prob)
    is_of = pool == np.arange(len(ratings.pools))[:, None]
    equal, others = agreeing_pairs(ratings)
    table = pd.DataFrame(
        {
            "raters": np.bincount(pool),
            "ratings": is_of @ ratings.ratings_per_rater,
            "accuracy": np.median(right, axis=0),
            f"lower_{100 * prob:g}": lower,
            f"upper_{100 * prob:g}": upper,
            "pr_lowest": (right == right.min(axis=1, keepdims=True)).mean(axis=0),
            "informativeness": np.median(bits, axis=0),
            "agreement": np.divide(equal, others, where=others > 0, out=equal * np.nan),
        },
        index=ratings.pools.rename("pool"),
    )
    return table.sort_values("accuracy", kind="stable")


def proportion_correct(correct: xr.DataArray, ratings: AnyRatings, by: str) -> xr.DataArray:
    """Proportion of the ratings that are correct, of all, of each pool or of each rater.

    Parameters
    ----------
    correct : DataArray (chain, draw, rater)
        Number of each rater's correct ratings.
    ratings : Ratings or RatingsDataset
        The ratings; with pools if these are asked for.
    by : {"all", "pool", "rater"}
        What the proportions are of.
    """
    rated = xr.DataArray(ratings.ratings_per_rater, dims="rater")
    if by == "all":
        return correct.sum("rater") / rated.sum()
    share = (correct / rated).assign_coords(rater=ratings.raters).rename(correct.name)
    if by == "pool":
        return by_pool(share.to_dataset(), ratings)[correct.name]
    return share


def share_of_ratings(ratings: AnyRatings, pool: object) -> Array:
    """Proportion (R,) of the ratings that are by each rater, of all or of one pool.

    Parameters
    ----------
    ratings : Ratings or RatingsDataset
        The ratings.
    pool : object
        Id of the pool; None for all raters.

    Raises
    ------
    ValueError
        There is no such pool.
    """
    weight = ratings.ratings_per_rater.astype(float)
    if pool is not None:
        if ratings.rater_pool is None or pool not in ratings.pools:
            names = ", ".join(map(str, ratings.pools)) or "none"
            raise ValueError(f"{pool!r} is not a pool. Choose from: {names}.")
        weight = weight * (ratings.pools[ratings.rater_pool] == pool)
    return np.asarray(weight / weight.sum())
