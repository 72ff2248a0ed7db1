"""Published standard errors of kappas where raters agree by chance only."""

from __future__ import annotations

import numpy as np

from reliabayes.agreement.arithmetic import ratio
from reliabayes.agreement.count_table import require_once_per_rater
from reliabayes.agreement.whole import whole_of
from reliabayes.arrays import Array
from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings import Ratings


def cohen_null_error(table: Array, agreement: Array) -> float:
    r"""Standard error of Cohen's kappa where kappa is 0.

    .. math:: \frac{1}{n (1 - P_e)^2} \left[ \sum_{kl} p_{k+} p_{+l}
       (w_{kl} - \bar{w}_{k+} - \bar{w}_{+l})^2 - P_e^2 \right]

    for the square, where the mean weights are those of a category of one rater over the
    distribution of the other: Fleiss, Cohen & Everitt (1969), eq. 9 and 14,
    https://doi.org/10.1037/h0028106

    Parameters
    ----------
    table : array of float, shape (K, K)
        Numbers of items.
    agreement : array of float, shape (K, K)
        Agreement weights.

    Returns
    -------
    float
        The error; nan if chance alone gives perfect agreement.
    """
    n = table.sum()
    rows, columns = table.sum(1) / n, table.sum(0) / n
    mean = (agreement @ columns)[:, None] + rows @ agreement
    expected = rows @ agreement @ columns
    spread = rows @ (agreement - mean) ** 2 @ columns - expected**2
    return float(ratio(np.sqrt(max(spread, 0.0) / n), 1 - expected))


def fleiss_null_error(counts: Array, n_items: int, n_ratings: int) -> float:
    r"""Standard error of Fleiss' kappa, and for two ratings of Scott's pi, where it is 0.

    .. math:: \sqrt{\frac{2}{I m (m - 1)}} \frac{\sqrt{(\sum_k \pi_k q_k)^2 -
       \sum_k \pi_k q_k (q_k - \pi_k)}}{\sum_k \pi_k q_k},\quad q_k = 1 - \pi_k

    Fleiss, Nee & Landis (1979), eq. 12, https://doi.org/10.1037/0033-2909.86.5.974

    Parameters
    ----------
    counts : array of float, shape (K,)
        Frequencies of the categories, up to a factor.
    n_items : int
        Number I of items.
    n_ratings : int
        Number m of ratings of each item.

    Returns
    -------
    float
        The error; nan if all ratings are the same.
    """
    p = counts / counts.sum()
    variance = p * (1 - p)
    spread = np.sqrt(max(variance.sum() ** 2 - variance @ (1 - 2 * p), 0.0))
    n_pairs = n_items * n_ratings * (n_ratings - 1) / 2
    return float(ratio(spread, variance.sum()) / np.sqrt(n_pairs))


def ratings_of_each_item(ratings: Ratings, purpose: str) -> int:
    """Return how many ratings each item has, by different raters.

    Parameters
    ----------
    ratings : Ratings
        Any design.
    purpose : str
        What needs it, with which the message starts.

    Returns
    -------
    int
        The number.

    Raises
    ------
    RatingsError
        Items differ in it, or a rater rated an item twice; no formula is published for either.
    """
    refuse_repeats(ratings, purpose)
    if len(sizes := whole_of(ratings).sizes) > 1:
        rule = "all items must have the same number of ratings"
        remedy = 'Pass error="analytic", or select the items that have.'
        raise RatingsError([Fault(purpose, rule, f"{sizes[0]} to {sizes[-1]}", remedy)])
    return int(sizes[0])


def refuse_repeats(ratings: Ratings, purpose: str) -> None:
    """Raise if a rater rated an item more than once, also in another part of a dataset.

    Parameters
    ----------
    ratings : Ratings
        Any design.
    purpose : str
        What needs it, with which the message starts.

    Raises
    ------
    RatingsError
        A rater did.
    """
    require_once_per_rater(ratings, purpose)
    if whole_of(ratings).has_repeats:
        rule = "each rater must have rated an item at most once"
        remedy = 'Pass error="analytic", or select one occasion.'
        raise RatingsError([Fault(purpose, rule, "repeated ratings", remedy)])
