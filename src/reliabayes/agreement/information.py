"""Agreement in bits: how much knowing one rating tells of another that agrees with it."""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

from reliabayes.agreement.cells import ratio
from reliabayes.agreement.coefficient import Coefficient
from reliabayes.agreement.pairs import PairTables
from reliabayes.arrays import Array
from reliabayes.ratings import Ratings


def information_agreement(ratings: Ratings) -> Coefficient:
    r"""P_I: share of the raters' entropy that is information in agreement, at most 1.

    .. math:: P_I = \frac{\sum_k p_{kk} \log_2 (p_{kk} / (p_{k+} p_{+k}))}{(H_1 + H_2) / 2}

    with p_kl the share of items that the first rater put into k and the second into l, and H the
    entropies of the raters' own categories. Averaged over all pairs of raters that share items; a
    pair whose raters know one category only has no entropy, and is left out.

    Parameters
    ----------
    ratings : Ratings
        By two raters or more.

    Returns
    -------
    Coefficient
        Parts "information in agreement" (the numerator), "entropy of the first" and "entropy of
        the second", in bits, averaged over pairs; a pair's raters stand in the order of their ids.

    Raises
    ------
    RatingsError
        The raters are anonymous.

    References
    ----------
    Klemens (2012), Mutual information as a measure of intercoder agreement. Journal of Official
    Statistics 28, 395-412.

    Examples
    --------
    >>> import numpy as np
    >>> import reliabayes as rb
    >>> ratings = rb.Ratings.from_wide(np.array([["a", "a"], ["b", "b"], ["b", "a"], ["a", "a"]]))
    >>> rb.agreement.information_agreement(ratings)
    Information-based agreement P_I: 0.5052
    """
    pairs = PairTables.of(ratings, "information_agreement")
    parts = {
        "information in agreement": _information,
        "entropy of the first": lambda tables: _entropy(tables.sum(-1)),
        "entropy of the second": lambda tables: _entropy(tables.sum(-2)),
    }
    return Coefficient.of(
        ratings,
        "Information-based agreement P_I",
        pairs.rows,
        pairs.averaged(_share),
        parts={name: pairs.averaged(formula) for name, formula in parts.items()},
        undefined="raters have one category only, so that a rating has no information (0/0)",
    )


def _share(tables: Array) -> Array:
    entropy = (_entropy(tables.sum(-1)) + _entropy(tables.sum(-2))) / 2
    return ratio(_information(tables), entropy)


def _information(tables: Array) -> Array:
    size = tables.sum((-2, -1))[..., None]
    agreed = np.diagonal(tables, axis1=-2, axis2=-1)
    by_chance = tables.sum(-1) * tables.sum(-2)
    bits = xlogy(agreed, ratio(agreed * size, by_chance, 1.0)) / np.log(2)
    return ratio(bits.sum(-1), size[..., 0])


def _entropy(counts: Array) -> Array:
    share = ratio(counts, counts.sum(-1, keepdims=True))
    bits = xlogy(share, ratio(1.0, share, 1.0)) / np.log(2)
    return np.asarray(bits.sum(-1))
