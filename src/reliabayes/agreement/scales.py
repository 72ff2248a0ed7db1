"""Distances and agreement weights of categories on nominal, ordered and numeric scales."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reliabayes.agreement.distance import Absolute, Custom, Distance, Nominal, Pairwise, Squared
from reliabayes.agreement.whole import require_shared_categories, whole_of
from reliabayes.arrays import Array
from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings import Ratings
from reliabayes.wording import listed

DistanceName = Literal["nominal", "absolute", "squared"]
Weights = Literal["linear", "quadratic"] | ArrayLike

DEFAULT_DISTANCE: dict[str, DistanceName] = {
    "nominal": "nominal",
    "ordered": "absolute",
    "numeric": "squared",
}


def distance_between(ratings: Ratings, distance: DistanceName | Pairwise | None) -> Distance:
    """Return the distance between the categories of some ratings.

    Parameters
    ----------
    ratings : Ratings
        Have the categories.
    distance : {"nominal", "absolute", "squared"} or callable or None
        None is "nominal", "absolute" or "squared" for nominal, ordered and numeric ratings.

    Returns
    -------
    Distance
        Distance between the K categories.

    Raises
    ------
    RatingsError
        The distance needs numbers or an order, and the categories are nominal.
    ValueError
        There is no such distance.
    """
    name = DEFAULT_DISTANCE[ratings.scale] if distance is None else distance
    if name == "squared":
        return squared(ratings)
    require_shared_categories(ratings)
    if callable(distance):
        return Custom.of(category_values(ratings), distance)
    if name not in get_args(DistanceName):
        known = ", ".join(get_args(DistanceName))
        raise ValueError(f"distance must be one of {known}, or a function, not {distance!r}.")
    if name == "nominal":
        return Nominal(len(ratings.categories))
    return Absolute(category_positions(ratings))


def squared(ratings: Ratings) -> Squared:
    """Return the squared difference of two ratings.

    Parameters
    ----------
    ratings : Ratings
        Ordered or numeric.

    Returns
    -------
    Squared
        Squared differences, with positions centred for precision; the origin is the same in all
        parts of a dataset.
    """
    position = category_positions(ratings)
    is_shared = ratings.scale != "numeric" or ratings.given_categories is not None
    return Squared(position - (position.mean() if is_shared else whole_of(ratings).mean))


def category_values(ratings: Ratings) -> NDArray[Any]:
    """Return the categories as the user's own distance function receives them.

    Parameters
    ----------
    ratings : Ratings
        Have the categories.

    Returns
    -------
    array, shape (K,)
        Numbers for numeric ratings, otherwise labels.
    """
    return (
        category_positions(ratings) if ratings.scale == "numeric" else ratings.categories.to_numpy()
    )


def category_positions(ratings: Ratings) -> Array:
    """Return the position of each category on its scale.

    Parameters
    ----------
    ratings : Ratings
        Ordered or numeric.

    Returns
    -------
    array of float, shape (K,)
        Numeric categories themselves, or ranks from 0 of ordered ones; ascending.

    Raises
    ------
    RatingsError
        The categories are nominal.
    """
    if ratings.scale == "numeric":
        return ratings.categories.to_numpy(np.float64)
    if ratings.scale == "ordered":
        return np.arange(len(ratings.categories), dtype=np.float64)
    rule = "categories must be ordered or numeric for this coefficient"
    found = f"the nominal categories {listed(ratings.categories)}"
    remedy = 'Pass scale="ordered" and categories=..., lowest first, when reading the table.'
    raise RatingsError([Fault("rating", rule, found, remedy)])


def distance_from_weights(ratings: Ratings, weights: Weights | None) -> Distance:
    """Return the distance that is 1 minus the agreement weight of two categories.

    Parameters
    ----------
    ratings : Ratings
        Have the categories.
    weights : {"linear", "quadratic"} or array (K, K) or None
        As for `cohen_kappa`.

    Returns
    -------
    Distance
        Distance between the K categories.
    """
    require_shared_categories(ratings)
    if weights is None:
        return Nominal(len(ratings.categories))
    return Custom(1 - weight_table(ratings, weights))


def weight_table(ratings: Ratings, weights: Weights | None) -> Array:
    """Return the agreement weights of any two categories.

    Parameters
    ----------
    ratings : Ratings
        Have the categories.
    weights : {"linear", "quadratic"} or array (K, K) or None
        As for `cohen_kappa`.

    Returns
    -------
    array of float, shape (K, K)
        Weights of at most 1, with 1 on the diagonal.

    Raises
    ------
    RatingsError
        Linear or quadratic weights are asked for, and the categories are nominal.
    ValueError
        There are no such weights, or they are no valid array.
    """
    require_shared_categories(ratings)
    size = len(ratings.categories)
    if weights is None:
        return np.eye(size)
    if isinstance(weights, str):
        return _weights_by_distance(category_positions(ratings), weights)
    table = np.asarray(weights, np.float64)
    is_right = (
        table.shape == (size, size)
        and (np.diag(table) == 1).all()
        and (table <= 1).all()
        and np.allclose(table, table.T)
    )
    if not is_right:
        raise ValueError(
            f"weights must be a symmetric array ({size}, {size}), by category, with 1 on the "
            f"diagonal and at most 1 elsewhere; found {table!r}."
        )
    return table


def least_weight(weights: Weights | None) -> float:
    """Return the smallest agreement weight that there may be.

    Parameters
    ----------
    weights : {"linear", "quadratic"} or array (K, K) or None
        As for `cohen_kappa`.

    Returns
    -------
    float
        0, or less if an array has negative weights.
    """
    return 0.0 if weights is None or isinstance(weights, str) else min(0.0, float(np.min(weights)))


def _weights_by_distance(position: Array, weights: str) -> Array:
    """(K, K) weights that decrease with the distance, or with its square, from 1 to 0."""
    powers = {"linear": 1, "quadratic": 2}
    if weights not in powers:
        known = ", ".join(powers)
        raise ValueError(f"weights must be {known}, an array or None, not {weights!r}.")
    far = np.abs(position[:, None] - position) / np.ptp(position)
    return np.asarray(1 - far ** powers[weights])
