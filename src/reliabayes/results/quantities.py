"""What the field reports, computed on draws.

Pure functions: arguments are floats, arrays or xarray objects of draws, alike in shape, and so is
the result. A quantity computed draw by draw has a posterior; one computed from posterior means
has not.
"""

from __future__ import annotations

import math
from typing import TypeVar, cast

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy.special import xlogy

from reliabayes.arrays import Array

Draws = TypeVar("Draws", float, NDArray[np.float64], xr.DataArray)


def icc(sd_item: Draws, sd_rater: Draws, sd_residual: Draws) -> Draws:
    r"""Intraclass correlation of single ratings, in [0, 1].

    .. math:: \sigma_{item}^2 / (\sigma_{item}^2 + \sigma_{rater}^2 + \sigma_{residual}^2)

    The correlation of two ratings of one item by two raters drawn at random: absolute agreement,
    not consistency, so differences in severity between raters count against it.

    References
    ----------
    Shrout & Fleiss (1979), ICC(2,1). https://doi.org/10.1037/0033-2909.86.2.420

    Examples
    --------
    >>> icc(2.0, 1.0, 1.0)
    0.6666666666666666
    """
    return sd_item**2 / (sd_item**2 + sd_rater**2 + sd_residual**2)


def labeler_icc(sd_item: Draws, sd_rater: Draws, sd_residual: Draws) -> Draws:
    r"""Share of the variance of a rating that is its rater's severity, in [0, 1].

    .. math:: \sigma_{rater}^2 / (\sigma_{item}^2 + \sigma_{rater}^2 + \sigma_{residual}^2)

    The correlation of two ratings by one rater of two items drawn at random.

    Examples
    --------
    >>> labeler_icc(2.0, 1.0, 1.0)
    0.16666666666666666
    """
    return sd_rater**2 / (sd_item**2 + sd_rater**2 + sd_residual**2)


def unnormalized_xcc(normalized_xcc: Draws, icc: Draws, other_icc: Draws) -> Draws:
    r"""Correlation of single ratings of an item by raters of two pools, in [-1, 1].

    .. math:: \rho \sqrt{\mathrm{ICC}_0} \sqrt{\mathrm{ICC}_1}

    with rho the correlation between pools of an item's effects. A parametric counterpart of
    cross-replication reliability (xRR): how close one rater's word comes to another pool's, so that
    disagreement within either pool counts against it.

    References
    ----------
    Wong, Paritosh & Aroyo (2021). https://doi.org/10.18653/v1/2021.acl-long.548

    Examples
    --------
    >>> unnormalized_xcc(0.5, 0.64, 0.25)
    0.2
    """
    reached: Draws = normalized_xcc * (icc**0.5 * other_icc**0.5)
    return reached


def normalized_xcc(unnormalized_xcc: Draws, icc: Draws, other_icc: Draws) -> Draws:
    r"""Correlation of what two pools have in mind of an item, in [-1, 1].

    .. math:: \mathrm{xCC} / (\sqrt{\mathrm{ICC}_0} \sqrt{\mathrm{ICC}_1})

    What unnormalized xCC would be if raters within a pool agreed: how close the mean of many
    ratings by one pool comes to that of the other. A correlation corrected for attenuation.

    References
    ----------
    Wong, Paritosh & Aroyo (2021). https://doi.org/10.18653/v1/2021.acl-long.548

    Examples
    --------
    >>> normalized_xcc(0.2, 0.64, 0.25)
    0.5
    """
    corrected: Draws = unnormalized_xcc / (icc**0.5 * other_icc**0.5)
    return corrected


def icc_k(icc: Draws, k: float) -> Draws:
    r"""Reliability of the mean of ``k`` ratings of an item by different raters, in [0, 1].

    .. math:: k \rho / (1 + (k - 1) \rho)

    References
    ----------
    Spearman (1910), https://doi.org/10.1111/j.2044-8295.1910.tb00206.x; Brown (1910),
    https://doi.org/10.1111/j.2044-8295.1910.tb00207.x

    Examples
    --------
    >>> icc_k(0.5, k=3)
    0.75
    """
    if not k >= 1:
        raise ValueError(f"k is a number of ratings and must be at least 1, not {k}.")
    return k * icc / (1 + (k - 1) * icc)


def raters_needed(icc: Draws, reliability: float) -> Draws:
    r"""Smallest number of ratings per item whose mean reaches a reliability; infinite at icc = 0.

    .. math:: \lceil r (1 - \rho) / (\rho (1 - r)) \rceil, \text{ at least } 1

    The Spearman-Brown formula solved for k.

    Examples
    --------
    >>> float(raters_needed(0.5, reliability=0.8))
    4.0
    """
    if not 0 < reliability < 1:
        raise ValueError(f"reliability must lie strictly between 0 and 1, not {reliability}.")
    with np.errstate(divide="ignore"):
        k = np.divide(reliability * (1 - icc), icc * (1 - reliability))
    # A hair below the whole number it should be must not be rounded up a whole rating.
    return cast(Draws, np.maximum(np.ceil(k * (1 - 1e-12)), 1.0))


def accuracy(prevalence: Array, confusion: Array) -> Array:
    r"""Probability that a rating is the true category, in [0, 1].

    .. math:: \sum_h w_h \pi_{hh}

    Of an item drawn at random, right by knowledge or by luck. Not to be confused with the accuracy
    a of the t-a-p models, the probability that the rater knows.

    Parameters
    ----------
    prevalence : (..., K), probabilities of the true categories
    confusion : (..., K, K), probabilities of a rating by true category (rows)

    Examples
    --------
    >>> float(accuracy(np.array([0.5, 0.5]), np.array([[0.9, 0.1], [0.3, 0.7]])))
    0.8
    """
    return cast(Array, (prevalence * np.diagonal(confusion, axis1=-2, axis2=-1)).sum(-1))


def informativeness(prevalence: Array, confusion: Array) -> Array:
    r"""Mutual information of a rating and the true category, in bits, from 0 to log2 K.

    .. math:: \sum_h w_h \sum_k \pi_{hk} \log_2 (\pi_{hk} / \sum_g w_g \pi_{gk})

    A rater who is always wrong in the same way is as informative as one who is always right.

    Parameters
    ----------
    prevalence, confusion : as for `accuracy`

    Examples
    --------
    >>> float(informativeness(np.array([0.5, 0.5]), np.array([[0.0, 1.0], [1.0, 0.0]])))
    1.0
    """
    expected = np.einsum("...h,...hk->...k", prevalence, confusion)[..., None, :]
    surprise = xlogy(confusion, confusion) - xlogy(confusion, np.where(expected > 0, expected, 1))
    return cast(Array, (prevalence * surprise.sum(-1)).sum(-1) / np.log(2))


def random_share(confusion: Array) -> Array:
    r"""Largest share of ratings that may have nothing to do with the true category, in [0, 1].

    .. math:: \sum_k \min_h \pi_{hk}

    Whatever the true category, a rating falls into category k at least that often. It is 1 - theta
    in MACE, and 1 - a in the t-a-p models.

    Parameters
    ----------
    confusion : (..., K, K), probabilities of a rating by true category (rows)

    Examples
    --------
    >>> float(random_share(np.array([[0.75, 0.25], [0.5, 0.5]])))
    0.75
    """
    return cast(Array, confusion.min(axis=-2).sum(-1))


def entropy(probability: Array) -> Array:
    r"""Entropy of a distribution over categories, in bits, from 0 to log2 K.

    .. math:: -\sum_k q_k \log_2 q_k

    Parameters
    ----------
    probability : (..., K)

    Examples
    --------
    >>> float(entropy(np.array([0.5, 0.5])))
    1.0
    """
    return cast(Array, np.abs(xlogy(probability, probability).sum(-1)) / np.log(2))


def bits_per_rating(log_likelihood: Draws, n_ratings: int) -> Draws:
    r"""Bits needed to tell a rating to one who knows the model and its parameters.

    .. math:: -\log_2 p(\text{ratings}) / N

    The true categories are summed out, so that models with different hidden causes compare; the
    lower, the better.

    Examples
    --------
    >>> bits_per_rating(-30 * math.log(2), 10)
    3.0
    """
    return -log_likelihood / (math.log(2) * n_ratings)
