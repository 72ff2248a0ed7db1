"""How many independent votes a vote counts as, given the correlations of raters' errors."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from reliabayes.arrays import Array
from reliabayes.crowds.dependence import Dependence
from reliabayes.crowds.votes import Votes

LARGEST = 0.95  # correlation
LEAST_EIGENVALUE = 0.05  # of the correlations of the raters of an item


def weights(votes: Votes, found: Dependence, correlation: Array, mean: float) -> Array:
    """Weights ``R^-1 1`` of the votes on an item, R the correlations of its raters' errors.

    They sum to the effective votes of the item, those of as many independent raters.

    Parameters
    ----------
    votes : Votes
        The votes.
    found : Dependence
        Which pairs of raters have been compared.
    correlation : array of shape (Q,)
        Of the errors of each of these pairs.
    mean : float
        The same of other pairs.

    Returns
    -------
    array of shape (N,), in [0, 1]
    """
    # Differences from the mean, so that pairs which have not been compared are no entries.
    weight, (n_raters, mean) = np.ones(len(votes.item)), (votes.shape[1], _within(mean))
    one, two = found.raters.T
    values = np.clip(correlation, 0, LARGEST) - mean
    matrix = sp.csr_array((values, (one, two)), shape=(n_raters, n_raters))
    matrix = sp.csr_array(matrix + matrix.T)
    for positions in votes.of_equal_items(2):
        rater, n = votes.rater[positions], positions.shape[1]
        rows = np.broadcast_to(rater[:, :, None], (*rater.shape, n)).ravel()
        columns = np.broadcast_to(rater[:, None, :], (*rater.shape, n)).ravel()
        of_items = mean + np.asarray(matrix[rows, columns]).reshape(len(rater), n, n)
        of_items[:, range(n), range(n)] = 1
        least = np.linalg.eigvalsh(of_items)[:, 0]
        of_items[:, range(n), range(n)] += np.maximum(LEAST_EIGENVALUE - least, 0)[:, None]
        solved = np.linalg.solve(of_items, np.ones((len(rater), n, 1)))[..., 0]
        total, solved = solved.sum(axis=1, keepdims=True), np.maximum(solved, 0)
        weight[positions] = np.minimum(solved * total / solved.sum(axis=1, keepdims=True), 1)
    return weight


def _within(correlation: float) -> float:
    return float(np.clip(correlation, 0, LARGEST))
