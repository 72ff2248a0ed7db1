"""Which distance there is between ratings of a scale."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reliabayes.agreement.distance import Absolute, Custom, Distance, Nominal, Pairwise, Squared
from reliabayes.arrays import Array
from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings import Ratings
from reliabayes.wording import listed

DistanceName = Literal["nominal", "absolute", "squared"]
Weights = Literal["linear", "quadratic"] | ArrayLike

USUAL: dict[str, DistanceName] = {
    "nominal": "nominal",
    "ordered": "absolute",
    "numeric": "squared",
}


def measured(ratings: Ratings, distance: DistanceName | Pairwise | None) -> Distance:
    """Distance of categories (K,); by default what suits the scale."""
    if callable(distance):
        return Custom.of(numbers_or_labels(ratings), distance)
    name = USUAL[ratings.scale] if distance is None else distance
    if name not in get_args(DistanceName):
        known = ", ".join(get_args(DistanceName))
        raise ValueError(f"distance must be one of {known}, or a function, not {distance!r}.")
    if name == "nominal":
        return Nominal(len(ratings.categories))
    position = positions(ratings)
    return Absolute(position) if name == "absolute" else Squared(position - position.mean())


def numbers_or_labels(ratings: Ratings) -> NDArray[Any]:
    """(K,) what a function of two arrays is given: numbers, or labels if there are none."""
    return positions(ratings) if ratings.scale == "numeric" else ratings.categories.to_numpy()


def positions(ratings: Ratings) -> Array:
    """(K,) where each category lies, ascending: the number it is, or its place in the order."""
    if ratings.scale == "numeric":
        return ratings.categories.to_numpy(np.float64)
    if ratings.scale == "ordered":
        return np.arange(len(ratings.categories), dtype=np.float64)
    rule = "categories must be ordered or numbers here"
    found = f"the nominal categories {listed(ratings.categories)}"
    remedy = 'Pass scale="ordered" and categories=..., lowest first, when reading them.'
    raise RatingsError([Fault("rating", rule, found, remedy)])


def weighted(ratings: Ratings, weights: Weights | None) -> Distance:
    """Distance of categories (K,) in 0..1, 1 less their weights of agreement."""
    if weights is None:
        return Nominal(len(ratings.categories))
    return Custom(1 - weight_table(ratings, weights))


def weight_table(ratings: Ratings, weights: Weights | None) -> Array:
    """(K, K) weights of agreement of two categories, 1 if they are the same."""
    size = len(ratings.categories)
    if weights is None:
        return np.eye(size)
    if isinstance(weights, str):
        return _falling(positions(ratings), weights)
    table = np.asarray(weights, np.float64)
    is_right = (
        table.shape == (size, size)
        and (np.diag(table) == 1).all()
        and (table <= 1).all()
        and np.allclose(table, table.T)
    )
    if not is_right:
        raise ValueError(
            f"weights must be a symmetric array ({size}, {size}), by category, with 1 on its "
            f"diagonal and at most 1 elsewhere; found {table!r}."
        )
    return table


def _falling(position: Array, weights: str) -> Array:
    """Weights that fall with the distance, or with its square, from 1 to 0."""
    powers = {"linear": 1, "quadratic": 2}
    if weights not in powers:
        known = ", ".join(powers)
        raise ValueError(f"weights must be {known}, an array or None, not {weights!r}.")
    far = np.abs(position[:, None] - position) / np.ptp(position)
    return np.asarray(1 - far ** powers[weights])
