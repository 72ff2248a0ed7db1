"""Results from the probabilities of items' true categories, draw by draw."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd
import scipy.sparse as sp

from reliabayes.arrays import Array, Codes
from reliabayes.likelihoods.item_mixture import ItemMixture
from reliabayes.ratings import Ratings


def mean_probabilities(
    states: Iterable[Array], n_draws: int, ratings: Ratings, distinct: Codes
) -> pd.DataFrame:
    """Probability (I, K) of each true category of each item, averaged over draws.

    Parameters
    ----------
    states : iterable of array of shape (B, D, K)
        Probabilities of distinct items' true categories, for some draws at a time.
    n_draws : int
        Number of all draws.
    ratings : Ratings
        The data.
    distinct : array of int, shape (I,)
        Which of the distinct items each item is.
    """
    total = sum(found.sum(axis=0) for found in states)
    return pd.DataFrame(
        np.asarray(total / n_draws)[distinct],
        index=ratings.items.rename("item"),
        columns=ratings.categories.rename("true_category"),
    )


def numbers_correct(
    states: Iterable[Array],
    n_draws: int,
    ratings: Ratings,
    distinct: Codes,
    rng: np.random.Generator,
) -> Array:
    """Number (S, R) of each rater's ratings that equal true categories drawn with the draws.

    Parameters
    ----------
    states, n_draws, ratings, distinct
        As of `mean_probabilities`.
    rng : Generator
        Source of randomness.
    """
    k = len(ratings.categories)
    cell = ratings.rater.astype(np.int64) * k + ratings.category
    alike = ItemMixture.of(ratings.item, cell, ratings.n_raters * k, distinct)
    rated = alike.counts.tocoo()
    rater, category = np.divmod(rated.col, k)
    shape = (len(alike.kind) * k, ratings.n_raters)
    right = sp.csr_array((rated.data, (rated.row * k + category, rater)), shape=shape)
    number = alike.multiplicity.astype(np.int64)
    found = np.empty((n_draws, ratings.n_raters))
    of_draws = (each for some in states for each in some)
    for row, probability in zip(found, of_draws, strict=True):
        share = probability / probability.sum(axis=-1, keepdims=True)
        row[:] = rng.multinomial(number, share[alike.kind]).ravel() @ right
    return found
