"""Whether the errors of two raters are dependent: how often they agree, given what others say.

The true category of an item is taken as all others see it; the errors of both are estimated again
against that, since those of the fit take what the two agree on for the truth.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.special import softmax

from reliabayes.arrays import IN_MEMORY, Array, Codes, Mask
from reliabayes.crowds.estimates import Estimate, log_odds
from reliabayes.crowds.votes import PairsOfVotes, Votes

PSEUDO_RATINGS = 4.0  # by each rater and true category, at the errors of the fit
STEPS = 8  # of EM, after which errors hardly change
TINY = 1e-9
TINIEST = np.finfo(float).tiny


@dataclass(frozen=True, eq=False)
class Dependence:
    """Correlations of the errors of pairs of raters.

    Attributes
    ----------
    raters : array of int, shape (Q, 2)
        The pairs.
    items : array of int, shape (Q,)
        On how many items they are compared.
    scale : array of shape (Q,)
        How much more often they would agree if their errors were the same.
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
    """

    raters: Codes
    items: Codes
    scale: Array
    raw: Array
    correlation: Array
    z: Array
    mean: float
    mean_error: float

    def mean_without(self, are_left_out: Mask) -> float:
        """Mean correlation, from 0 to 1, of all pairs but some (Q,)."""
        scale = np.where(are_left_out, 0.0, self.scale)
        return float(np.clip((scale @ self.raw) / max(scale.sum(), TINY), 0, 1))

    def of_clear_pairs(self, least: float) -> Array:
        """Correlations (Q,), not shrunk, of pairs with a z of ``least`` or more; 0 of others."""
        return np.where(self.z >= least, np.clip(self.raw, 0, 1), 0.0)


@dataclass(frozen=True, eq=False)
class Together:
    """Some raters compared with one another and with each other rater, by votes of the rest.

    Attributes
    ----------
    raters : array of int, shape (q, 2)
        Pairs of which one is a member, or both.
    is_member : array of bool, shape (q, 2)
        Which of them are.
    items : array of int, shape (q,)
        On how many items they are compared.
    raw : array of shape (q,)
        Correlation of their errors.
    z : array of shape (q,)
        How many standard errors it lies above the mean of all pairs but those of two members.
    are_outvoted : bool
        Whether the others have cast as many votes as the members on what two members rated.
    """

    raters: Codes
    is_member: Mask
    items: Codes
    raw: Array
    z: Array
    are_outvoted: bool

    @property
    def inside(self) -> Mask:
        """Pairs (q,) of two members."""
        return np.asarray(self.is_member.all(axis=1))

    def of_others(self, n_raters: int) -> tuple[Array, Array]:
        """Sums (R,) of z of each other rater with the members, and how many of these each met."""
        other = self.raters[~self.inside][~self.is_member[~self.inside]]
        each = self.z[~self.inside], np.ones(len(other))
        total, met = (np.bincount(other, weight, n_raters).astype(float) for weight in each)
        return total, met


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
    items, excess, scale, noise = _compared(votes, pairs, estimate, weight)
    mean = float(excess.sum() / max(scale.sum(), TINY))
    mean_error = float(np.sqrt(noise.sum()) / scale.sum()) if len(scale) else np.inf
    others_scale = np.maximum(scale.sum() - scale, TINY)
    of_others = np.where(others_scale > TINY, (excess.sum() - excess) / others_scale, 0.0)
    z = (excess - np.clip(of_others, 0, 1) * scale) / np.sqrt(noise)
    raw, error, precision = excess / scale, noise / scale**2, scale**2 / noise
    between = (precision * ((raw - mean) ** 2 - error)).sum() / max(precision.sum(), TINY)
    between = max(float(between), 0.0)
    shrunk = mean + (raw - mean) * between / (between + error)
    return Dependence(pairs.raters, items.astype(int), scale, raw, shrunk, z, mean, mean_error)


def together(
    members: Codes,
    votes: Votes,
    pairs: PairsOfVotes,
    estimate: Estimate,
    weight: Array,
    found: Dependence,
) -> Together:
    """Correlations of errors of some raters, none of whose votes says what is true.

    Parameters
    ----------
    members : array of int, shape (G,)
        The raters.
    votes : Votes
        The votes.
    pairs : PairsOfVotes
        Pairs of them.
    estimate : Estimate
        What the votes of each rater say.
    weight : array of shape (N,)
        How many independent votes each counts as in the estimate.
    found : Dependence
        All pairs.

    Returns
    -------
    Together
    """
    is_one = np.zeros(votes.shape[1], dtype=bool)
    is_one[members] = True
    some, is_other = pairs.of_raters(is_one), ~is_one[votes.rater]
    items, excess, scale, noise = _compared(votes, some, estimate, weight * is_other)
    is_member = is_one[some.raters]
    are_members = is_member[:, 0] & is_member[:, 1]
    shared = votes.item[some.first[are_members[some.pair]]]
    by_others = votes.by_item @ is_other.astype(float)
    are_outvoted = bool(2 * by_others[shared].sum() >= votes.per_item[shared].sum())
    mean = found.mean_without(is_one[found.raters[:, 0]] & is_one[found.raters[:, 1]])
    z = (excess - mean * scale) / np.sqrt(noise)
    return Together(some.raters, is_member, items.astype(int), excess / scale, z, are_outvoted)


def _compared(votes: Votes, pairs: PairsOfVotes, estimate: Estimate, weight: Array) -> Array:
    """Items, excess of agreement, its scale and its variance (4, Q) of pairs of raters."""
    found = np.zeros((4, len(pairs.raters)))
    score = log_odds(estimate, votes, weight)
    weighted = weight[:, None] * estimate.log_vote
    for some in _chunks(pairs, votes.shape[2]):
        found[:, some] = _sums_of(some, votes, pairs, score, weighted, estimate.confusion)
    found[2:] = np.maximum(found[2:], TINY)
    return found


def _sums_of(
    some: slice,
    votes: Votes,
    pairs: PairsOfVotes,
    score: Array,
    weighted: Array,
    confusion: Array,
) -> Array:
    """The same of some pairs."""
    rows = slice(*np.searchsorted(pairs.pair, [some.start, some.stop]))
    first, second = pairs.first[rows], pairs.second[rows]
    pair, raters = pairs.pair[rows] - some.start, pairs.raters[some]
    truth = softmax(score[votes.item[first]] - weighted[first] - weighted[second], axis=1)
    one, two = (
        _errors(truth, pair, votes.category[which], confusion[raters[:, side]])
        for side, which in enumerate((first, second))
    )
    expected = np.einsum("nk,nk->n", truth, (one * two).sum(axis=2)[pair])
    sd = np.sqrt(np.maximum(one * (1 - one) * two * (1 - two), 0)).sum(axis=2)
    agree = votes.category[first] == votes.category[second]
    columns = (
        None,
        agree - expected,
        np.einsum("nk,nk->n", truth, sd[pair]),
        expected * (1 - expected),
    )
    return np.array([np.bincount(pair, column, len(raters)) for column in columns])


def _errors(truth: Array, pair: Codes, category: Codes, old: Array) -> Array:
    """Errors (q, K, K) of a rater of each pair given true categories (n, K), by EM."""
    n_pairs, k, _ = old.shape
    n = len(pair)
    sums = sp.csr_array((np.ones(n), (pair * k + category, np.arange(n))), shape=(n_pairs * k, n))
    found, ones = old, np.ones((k, 1))  # a product is a faster sum of few columns
    for _ in range(STEPS):
        share = truth * found[pair, :, category]
        share /= np.maximum(share @ ones, TINIEST)
        found = (sums @ share).reshape(n_pairs, k, k).swapaxes(1, 2) + PSEUDO_RATINGS * old
        found /= found.sum(axis=2, keepdims=True)
    return found


def _chunks(pairs: PairsOfVotes, n_categories: int) -> list[slice]:
    """Slices of the pairs of raters that fit in memory."""
    size = max(1, IN_MEMORY // n_categories**2)
    number = len(pairs.raters)
    return [slice(start, min(start + size, number)) for start in range(0, number, size)]
