"""Distances and agreement weights of categories on nominal, ordered and numeric scales."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from reliabayes.agreement.arithmetic import ratio
from reliabayes.agreement.distance import (
    Absolute,
    Beyond,
    Custom,
    Distance,
    Nominal,
    Pairwise,
    Squared,
)
from reliabayes.agreement.set_distances import SetMetric, set_distances, sets_of
from reliabayes.agreement.whole import require_shared_categories, whole_of
from reliabayes.arrays import Array
from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings import Ratings
from reliabayes.ratings.label_sets import SEPARATOR, joined_labels, label_set
from reliabayes.reporting.methods import Meaning
from reliabayes.wording import listed

DistanceName = Literal["nominal", "absolute", "squared"]
WeightName = Literal[
    "linear",
    "quadratic",
    "ordinal",
    "radical",
    "ratio",
    "circular",
    "bipolar",
    "jaccard",
    "masi",
]
Weights = WeightName | ArrayLike | pd.DataFrame

ROUNDING = 1e-14  # of the sine of circular weights, at most

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
    weights : str or array (K, K) or None
        As for `cohen_kappa`.

    Returns
    -------
    Distance
        Distance between the K categories.
    """
    require_shared_categories(ratings)
    if weights is None:
        return Nominal(len(ratings.categories))
    return Custom(1 - agreement_weights(ratings, weights))


def distance_beyond(ratings: Ratings, tolerance: float) -> Beyond:
    """Return the distance that is 1 between ratings that differ by more than a tolerance.

    Parameters
    ----------
    ratings : Ratings
        Numeric or ordered.
    tolerance : float
        Largest difference of ratings that agree, in ranks for ordered categories.

    Returns
    -------
    Beyond
        Distance between the K categories.

    Raises
    ------
    RatingsError
        The categories are nominal.
    ValueError
        The tolerance is negative or no number.
    """
    require_shared_categories(ratings)
    if not 0 <= tolerance < np.inf:
        raise ValueError(f"tolerance must be a finite number of 0 or more, not {tolerance!r}.")
    return Beyond(category_positions(ratings), float(tolerance))


def agreement_weights(
    ratings: Ratings, weights: Weights | None, *, is_symmetric: bool = True
) -> Array:
    """Return the agreement weights of any two categories.

    Parameters
    ----------
    ratings : Ratings
        Have the categories.
    weights : str or array (K, K) or None
        As for `cohen_kappa`.
    is_symmetric : bool, default True
        Whether an array must be symmetric.

    Returns
    -------
    array of float, shape (K, K)
        Weights of at most 1, with 1 on the diagonal.

    Raises
    ------
    RatingsError
        The weights need an order or non-negative numbers, and the categories have none.
    ValueError
        There are no such weights, or they are no valid array.
    """
    require_shared_categories(ratings)
    size = len(ratings.categories)
    if weights is None:
        return np.eye(size)
    if isinstance(weights, str):
        check_weight_name(weights)
        if weights in get_args(SetMetric):
            sets = sets_of(ratings, f'the weights "{weights}"')
            return 1 - set_distances(sets, weights)
        if weights == "ratio":
            require_ratio_scale(ratings, 'the weights "ratio"')
        return _weights_by_distance(category_positions(ratings), weights)
    if isinstance(weights, pd.DataFrame):
        weights = _by_category(weights, ratings.categories)
    table = np.asarray(weights, np.float64)
    is_right = (
        table.shape == (size, size)
        and (np.diag(table) == 1).all()
        and (table <= 1).all()
        and not (is_symmetric and not np.allclose(table, table.T))
    )
    if not is_right:
        kind = "a symmetric array" if is_symmetric else "an array"
        raise ValueError(
            f"weights must be {kind} ({size}, {size}), by category, with 1 on the "
            f"diagonal and at most 1 elsewhere; found {table!r}."
        )
    return table


def weight_table(
    categories: Iterable[Any], name: WeightName, *, separator: str = SEPARATOR
) -> pd.DataFrame:
    r"""Agreement weights of any two categories, from 0 to 1.

    .. math:: w_{kl} = 1 - d_{kl} / \max_{mn} d_{mn}

    where the distance d of the categories at c and e on their scale is

    - "linear": :math:`|c - e|`
    - "quadratic": :math:`(c - e)^2`
    - "radical": :math:`\sqrt{|c - e|}`
    - "ordinal": :math:`r (r + 1) / 2`, where r is how many ranks they are apart
    - "ratio": :math:`((c - e) / (c + e))^2`, for non-negative numbers
    - "circular": :math:`\sin^2(\pi (c - e) / U)`, where U is 1 + the largest minus the smallest
      category: declare all categories, such as the hours 0 to 23. Three categories in a circle are
      all equally far apart and have weights of 0.
    - "bipolar": :math:`(c - e)^2 / ((c + e - 2 c_{min}) (2 c_{max} - c - e))`

    Weights of sets of labels are m s, where s is the number of labels in both sets divided by the
    number of those in either, and m is 1 for "jaccard". For "masi" m is 1 if the sets are equal,
    2/3 if one contains the other, and 1/3 if they overlap otherwise.

    Parameters
    ----------
    categories : iterable, K values
        Numbers, which are positions on the scale; labels in their order, lowest first, which are 1
        apart; or sets of labels, as lists or as texts.
    name : str
        The kind of weights.
    separator : str, default ";"
        What is between the labels of sets that are texts.

    Returns
    -------
    DataFrame, shape (K, K)
        Weights, with 1 on the diagonal; rows and columns are the categories. `cohen_kappa` and all
        other functions with ``weights=`` take the table as well as the name.

    Raises
    ------
    ValueError
        There are no such weights; a category is listed twice; or weights "ratio" are asked for
        categories that are no non-negative numbers.
    RatingsError
        A label of a list holds the separator.

    Notes
    -----
    These are the weights of irrCAC. The weight of "ratio" is 1 for two zeros, where irrCAC has NaN.

    References
    ----------
    Gwet (2014), Handbook of inter-rater reliability, 4th ed., ISBN 978-0970806284, section 3.5.
    Linear and quadratic: Cohen (1968), https://doi.org/10.1037/h0026256. MASI: Passonneau (2006),
    https://aclanthology.org/L06-1392/

    Examples
    --------
    >>> weight_table(["low", "medium", "high"], "ordinal").round(2)
             low  medium  high
    low     1.00    0.67  0.00
    medium  0.67    1.00  0.67
    high    0.00    0.67  1.00
    """
    check_weight_name(name)
    of_sets = name in get_args(SetMetric)
    values = [
        joined_labels(each, separator, "categories") if of_sets else each for each in categories
    ]
    index: pd.Index[Any] = pd.Index(values, tupleize_cols=False)
    if not index.is_unique:
        raise ValueError(f"categories must be listed once each; found {listed(index)}.")
    if of_sets:
        sets = [label_set(each, separator) for each in values]
        table = 1 - set_distances(sets, name)
        return pd.DataFrame(table, index, index)
    is_number = pd.api.types.is_numeric_dtype(index) and not pd.api.types.is_bool_dtype(index)
    position = index.to_numpy(np.float64) if is_number else np.arange(len(index), dtype=np.float64)
    if name == "ratio" and not (is_number and (position >= 0).all()):
        found = listed(index)
        raise ValueError(f'categories must be non-negative numbers for "ratio"; found {found}.')
    return pd.DataFrame(_weights_by_distance(position, name), index, index)


def check_weight_name(name: str) -> None:
    """Raise if there are no weights of this name.

    Parameters
    ----------
    name : str
        The name.

    Raises
    ------
    ValueError
        There are none.
    """
    if name not in get_args(WeightName):
        known = ", ".join(get_args(WeightName))
        raise ValueError(f"weights must be {known}, an array or None, not {name!r}.")


def with_weights(meaning: Meaning, weights: Weights | None, reference: str) -> Meaning:
    """Say of a kappa which weights it has.

    Parameters
    ----------
    meaning : Meaning
        Of the kappa without weights.
    weights : str or array (K, K) or None
        As for `cohen_kappa`.
    reference : str
        Key of the reference of the weights.

    Returns
    -------
    Meaning
    """
    if weights is None:
        return meaning
    named = f"{weights} weights" if isinstance(weights, str) else "weights of our own"
    return replace(
        meaning,
        estimand=f"{meaning.estimand}, with {named}",
        references=(*meaning.references, reference),
        kind="weighted kappa",
    )


def least_weight(weights: Weights | None) -> float:
    """Return the smallest agreement weight that there may be.

    Parameters
    ----------
    weights : str or array (K, K) or None
        As for `cohen_kappa`.

    Returns
    -------
    float
        0, or less if an array has negative weights.
    """
    if weights is None or isinstance(weights, str):
        return 0.0
    return min(0.0, float(np.min(np.asarray(weights, np.float64))))


def require_ratio_scale(ratings: Ratings, purpose: str) -> None:
    """Raise unless the categories are non-negative numbers.

    Parameters
    ----------
    ratings : Ratings
        Any design.
    purpose : str
        What needs it.

    Raises
    ------
    RatingsError
        They are not.
    """
    if ratings.scale != "numeric":
        rule = f"ratings must be on a numeric scale for {purpose}"
        found = f"the {ratings.scale} categories {listed(ratings.categories)}"
        remedy = 'If they are numbers, read them with scale="numeric".'
        raise RatingsError([Fault("rating", rule, found, remedy)])
    if ratings.categories[0] < 0:
        rule = f"ratings must be non-negative numbers for {purpose}"
        remedy = 'Use "quadratic" weights, or the metric "interval".'
        raise RatingsError([Fault("rating", rule, listed(ratings.categories), remedy)])


def distance_on_scale(name: str, low: float, high: float) -> Pairwise:
    """Return a distance of two numbers on a scale that ends at two others.

    Parameters
    ----------
    name : {"linear", "quadratic", "radical", "ratio", "circular", "bipolar"}
        The kind of distance, as for `weight_table`.
    low, high : float
        Smallest and largest number of the scale.

    Returns
    -------
    callable
        Function of two arrays.
    """
    distances: dict[str, Pairwise] = {
        "linear": lambda c, e: np.abs(c - e),
        "quadratic": lambda c, e: (c - e) ** 2,
        "radical": lambda c, e: np.sqrt(np.abs(c - e)),
        "ratio": lambda c, e: ratio(c - e, c + e, 0.0) ** 2,
        "circular": lambda c, e: np.sin(np.pi * (c - e) / (1 + high - low)) ** 2,
        "bipolar": lambda c, e: ratio((c - e) ** 2, (c + e - 2 * low) * (2 * high - c - e), 0.0),
    }
    return distances[name]


def _weights_by_distance(position: Array, name: str) -> Array:
    """(K, K) weights that decrease with a distance from 1 to 0."""
    if name == "ordinal":
        rank = np.unique(position, return_inverse=True)[1]
        apart = np.abs(rank[:, None] - rank)
        far = apart * (apart + 1.0)
    else:
        distance = distance_on_scale(name, position.min(), position.max())
        far = np.asarray(distance(position[:, None], position), np.float64)
    weights = 1 - ratio(far, far.max(), 0.0)
    return np.where(weights > ROUNDING, weights, 0.0)


def _by_category(weights: pd.DataFrame, categories: pd.Index[Any]) -> pd.DataFrame:
    """The weights in the order of the categories, if rows and columns are named by them."""
    is_named = categories.isin(weights.index).all() and categories.isin(weights.columns).all()
    return weights.loc[categories, categories] if is_named else weights
