"""Information-based agreement: the proportion of the raters' entropy that agreement explains."""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

from reliabayes.agreement.arithmetic import ratio
from reliabayes.agreement.coefficient import Coefficient
from reliabayes.agreement.over_parts import of_datasets
from reliabayes.agreement.rater_pairs import RaterPairTables
from reliabayes.arrays import Array
from reliabayes.ratings import Ratings
from reliabayes.reporting.methods import Meaning


@of_datasets
def information_agreement(ratings: Ratings) -> Coefficient:
    r"""P_I: information in agreement as a proportion of the raters' entropy, at most 1.

    .. math:: P_I = \frac{\sum_k p_{kk} \log_2 (p_{kk} / (p_{k+} p_{+k}))}{(H_1 + H_2) / 2}

    where p_kl is the proportion of items that the first rater put into category k and the second
    into l, and H_1 and H_2 are the entropies of the raters' category proportions. It is averaged
    over all pairs of raters who share items; pairs in which both raters use a single category have
    no entropy and are left out.

    Parameters
    ----------
    ratings : Ratings or RatingsDataset
        By at least two raters.

    Returns
    -------
    Coefficient
        With parts "information in agreement" (the numerator), "entropy of the first" and "entropy
        of the second" rater, in bits, averaged over pairs of raters in the order of their ids.

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
    pairs = RaterPairTables.of(ratings, "information_agreement")
    parts = {
        "information in agreement": _information,
        "entropy of the first": lambda tables: _entropy(tables.sum(-1)),
        "entropy of the second": lambda tables: _entropy(tables.sum(-2)),
    }
    return Coefficient.of(
        ratings,
        "Information-based agreement P_I",
        pairs.rows,
        pairs.mean_over_pairs(_normalized_information),
        parts={name: pairs.mean_over_pairs(formula) for name, formula in parts.items()},
        bounds_of_parts={
            "information in agreement": (None, None),
            "entropy of the first": (0.0, None),
            "entropy of the second": (0.0, None),
        },
        meaning=Meaning(
            estimand="the information in the agreement of two {raters} divided by the mean of "
            "their entropies",
            references=("klemens2012",),
        ),
        undefined="raters use one category only, so that their entropy is 0 (0/0)",
    )


def _normalized_information(tables: Array) -> Array:
    entropy = (_entropy(tables.sum(-1)) + _entropy(tables.sum(-2))) / 2
    return ratio(_information(tables), entropy)


def _information(tables: Array) -> Array:
    size = tables.sum((-2, -1))[..., None]
    agreed = np.diagonal(tables, axis1=-2, axis2=-1)
    by_chance = tables.sum(-1) * tables.sum(-2)
    bits = xlogy(agreed, ratio(agreed * size, by_chance, 1.0)) / np.log(2)
    return ratio(bits.sum(-1), size[..., 0])


def _entropy(counts: Array) -> Array:
    p = ratio(counts, counts.sum(-1, keepdims=True))
    bits = xlogy(p, ratio(1.0, p, 1.0)) / np.log(2)
    return np.asarray(bits.sum(-1))
