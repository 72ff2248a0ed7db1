"""Whether the errors of two raters are dependent: how often they agree, given what others say.

The true category of an item is taken as all others see it; the errors of both are estimated again
against that, since those of the fit take what the two agree on for the truth.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.special import softmax

from reliabayes.arrays import IN_MEMORY, Array, Codes
from reliabayes.crowds.estimates import Estimate, log_odds
from reliabayes.crowds.votes import PairsOfVotes, Votes

PSEUDO_RATINGS = 4.0  # by each rater and true category, at the errors of the fit
STEPS = 8  # of EM, after which errors hardly change
TINY = 1e-9


@dataclass(frozen=True, eq=False)
class Dependence:
    """Correlations of the errors of pairs of raters.

    Attributes
    ----------
    raters : array of int, shape (Q, 2)
        The pairs.
    items : array of int, shape (Q,)
        On how many items they are compared.
    excess : array of shape (Q,)
        Number of these on which they agree beyond what independent errors would give.
    raw : array of shape (Q,)
        Correlation of their errors.
    correlation : array of shape (Q,)
        The same, shrunk to the mean by its uncertainty.
    z : array of shape (Q,)
        How many standard errors it lies above the mean of the other pairs.
    mean : float
        Mean correlation of all pairs.
    mean_error : float
        Standard error of the mean; infinite without pairs.
    sd : float
        Standard deviation of correlations between pairs, beyond chance.
    """

    raters: Codes
    items: Codes
    excess: Array
    raw: Array
    correlation: Array
    z: Array
    mean: float
    mean_error: float
    sd: float

    def of_clear_pairs(self, least: float) -> Array:
        """Correlations (Q,), not shrunk, of pairs with a z of ``least`` or more; 0 of others."""
        return np.where(self.z >= least, np.clip(self.raw, 0, 1), 0.0)


def dependence(votes: Votes, pairs: PairsOfVotes, estimate: Estimate, weight: Array) -> Dependence:
    """Correlations of errors, pair by pair, each given the votes of the others.

    Of the items i that both rated, with weights p[i, h] of true categories by the other votes and
    re-estimated errors a[h, y], b[h, y]::

        c = sum_i (agree_i - sum_h p_h sum_y a b) / sum_i sum_h p_h sum_y sqrt(a (1-a) b (1-b))

    Parameters
    ----------
    votes : Votes
        The votes.
    pairs : PairsOfVotes
        Pairs of them.
    estimate : Estimate
        What the votes of each rater say.
    weight : array of shape (N,)
        How many independent votes each counts as in the estimate.

    Returns
    -------
    Dependence
    """
    sums = np.zeros((4, len(pairs.raters)))
    score = log_odds(estimate, votes, weight)
    weighted = weight[:, None] * estimate.log_vote
    for some in _chunks(pairs, votes.shape[2]):
        sums[:, some] = _sums_of(some, votes, pairs, score, weighted, estimate.confusion)
    items, excess, scale, noise = sums
    scale, noise = np.maximum(scale, TINY), np.maximum(noise, TINY)
    mean = float(excess.sum() / max(scale.sum(), TINY))
    mean_error = float(np.sqrt(noise.sum()) / scale.sum()) if len(scale) else np.inf
    others_scale = np.maximum(scale.sum() - scale, TINY)
    of_others = np.where(others_scale > TINY, (excess.sum() - excess) / others_scale, 0.0)
    z = (excess - np.clip(of_others, 0, 1) * scale) / np.sqrt(noise)
    raw, error, precision = excess / scale, noise / scale**2, scale**2 / noise
    between = (precision * ((raw - mean) ** 2 - error)).sum() / max(precision.sum(), TINY)
    between = max(float(between), 0.0)
    shrunk = mean + (raw - mean) * between / (between + error)
    return Dependence(
        pairs.raters, items.astype(int), excess, raw, shrunk, z, mean, mean_error, between**0.5
    )


def _sums_of(
    some: slice,
    votes: Votes,
    pairs: PairsOfVotes,
    score: Array,
    weighted: Array,
    confusion: Array,
) -> Array:
    """Items, excess of agreement, its scale and its variance (4, q) of some pairs of raters."""
    rows = slice(*np.searchsorted(pairs.pair, [some.start, some.stop]))
    first, second = pairs.first[rows], pairs.second[rows]
    pair, raters = pairs.pair[rows] - some.start, pairs.raters[some]
    known = votes.known[votes.item[first]]
    truth = softmax(score[votes.item[first]] - weighted[first] - weighted[second], axis=1)
    truth[known >= 0] = np.eye(votes.shape[2])[known[known >= 0]]
    one, two = (
        _errors(truth, pair, votes.category[which], confusion[raters[:, side]])
        for side, which in enumerate((first, second))
    )
    expected = (truth * (one * two).sum(axis=2)[pair]).sum(axis=1)
    sd = np.sqrt(np.maximum(one * (1 - one) * two * (1 - two), 0)).sum(axis=2)
    agree = votes.category[first] == votes.category[second]
    columns = (None, agree - expected, (truth * sd[pair]).sum(axis=1), expected * (1 - expected))
    return np.array([np.bincount(pair, column, len(raters)) for column in columns])


def _errors(truth: Array, pair: Codes, category: Codes, old: Array) -> Array:
    """Errors (q, K, K) of a rater of each pair given true categories (n, K), by EM."""
    n_pairs, k, _ = old.shape
    n = len(pair)
    sums = sp.csr_array((np.ones(n), (pair * k + category, np.arange(n))), shape=(n_pairs * k, n))
    found = old
    for _ in range(STEPS):
        share = truth * found[pair, :, category]
        share /= np.maximum(share.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        found = (sums @ share).reshape(n_pairs, k, k).swapaxes(1, 2) + PSEUDO_RATINGS * old
        found /= found.sum(axis=2, keepdims=True)
    return found


def _chunks(pairs: PairsOfVotes, n_categories: int) -> list[slice]:
    """Slices of the pairs of raters that fit in memory."""
    size = max(1, IN_MEMORY // n_categories**2)
    number = len(pairs.raters)
    return [slice(start, min(start + size, number)) for start in range(0, number, size)]
