"""How many independent votes a vote counts as, given the correlations of raters' errors."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from reliabayes.arrays import Array, distinct_rows
from reliabayes.crowds.dependence import Dependence
from reliabayes.crowds.votes import Votes

LARGEST = 0.95  # correlation
MOST_SOLVED = 60  # votes on an item, beyond which solving takes long
LEAST_EIGENVALUE = 0.05  # of the correlations of the raters of an item


def weights(votes: Votes, found: Dependence, correlation: Array) -> Array:
    """Weights ``R^-1 1`` of the votes on an item, R the correlations of its raters' errors.

    They sum to the effective votes of the item, those of as many independent raters.

    Parameters
    ----------
    votes : Votes
        The votes.
    found : Dependence
        Which pairs of raters have been compared.
    correlation : array of shape (Q,)
        Of the errors of each of these pairs; 0 for others.

    Returns
    -------
    array of shape (N,), in [0, 1]
    """
    n_raters = votes.shape[1]
    one, two = found.raters.T
    values = np.clip(correlation, 0, LARGEST)
    matrix = sp.csr_array((values, (one, two)), shape=(n_raters, n_raters))
    matrix = sp.csr_array(matrix + matrix.T)
    weight = np.ones(len(votes.item))
    for positions in votes.of_equal_items(2):
        by_rater = votes.rater[positions].argsort(axis=1)
        positions = np.take_along_axis(positions, by_rater, axis=1)
        raters, which = distinct_rows(votes.rater[positions])
        n = raters.shape[1]
        of_items = np.stack([matrix[some][:, some].toarray() for some in raters])
        of_items[:, range(n), range(n)] = 1
        weight[positions] = (_solved if n <= MOST_SOLVED else _averaged)(of_items)[which]
    return weight


def _solved(of_items: Array) -> Array:
    """Weights (items, n) by correlations (items, n, n), made positive definite."""
    n = of_items.shape[1]
    least = np.linalg.eigvalsh(of_items)[:, 0]
    of_items[:, range(n), range(n)] += np.maximum(LEAST_EIGENVALUE - least, 0)[:, None]
    solved = np.linalg.solve(of_items, np.ones((len(of_items), n, 1)))[..., 0]
    total, solved = solved.sum(axis=1, keepdims=True), np.maximum(solved, 0)
    return np.asarray(np.minimum(solved * total / solved.sum(axis=1, keepdims=True), 1))


def _averaged(of_items: Array) -> Array:
    """The same, where groups of raters are equally dependent, without solving."""
    return np.asarray(1 / of_items.sum(axis=2))
