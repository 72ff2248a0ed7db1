"""Reliability, validity and information: the quantities that models report.

Pure functions. Arguments are floats, arrays or DataArrays of draws that broadcast against each
other, and the result is of the same kind. A quantity computed draw by draw has a posterior; a
quantity computed from posterior means has none.
"""

from __future__ import annotations

import math
from typing import cast

import numpy as np

from reliabayes.arrays import Array
from reliabayes.results.variance_shares import Draws, icc, icc_consistency, labeler_icc

__all__ = [
    "accuracy",
    "bits_per_rating",
    "entropy",
    "family_variance",
    "icc",
    "icc_consistency",
    "icc_k",
    "informativeness",
    "labeler_icc",
    "normalized_xcc",
    "random_share",
    "raters_needed",
    "unnormalized_xcc",
]


def unnormalized_xcc(normalized_xcc: Draws, icc: Draws, other_icc: Draws) -> Draws:
    r"""Correlation between single ratings of an item by raters of two pools, in [-1, 1].

    .. math:: \rho \sqrt{\mathrm{ICC}_0} \sqrt{\mathrm{ICC}_1}

    where rho is the correlation between the pools' item effects. The parametric counterpart of
    cross-replication reliability (xRR): disagreement within either pool lowers it.

    Parameters
    ----------
    normalized_xcc : float, array or DataArray
        Correlation rho between the item effects, in [-1, 1].
    icc, other_icc : float, array or DataArray
        Intraclass correlation of each pool, in [0, 1].

    Returns
    -------
    float, array or DataArray
        The unnormalized xCC.

    References
    ----------
    Wong, Paritosh & Aroyo (2021). https://doi.org/10.18653/v1/2021.acl-long.548

    Examples
    --------
    >>> unnormalized_xcc(0.5, 0.64, 0.25)
    0.2
    """
    attenuated: Draws = normalized_xcc * (icc**0.5 * other_icc**0.5)
    return attenuated


def normalized_xcc(unnormalized_xcc: Draws, icc: Draws, other_icc: Draws) -> Draws:
    r"""Correlation between the true scores that two pools give an item, in [-1, 1].

    .. math:: \mathrm{xCC} / (\sqrt{\mathrm{ICC}_0} \sqrt{\mathrm{ICC}_1})

    The correlation between the means of many ratings by each pool: unnormalized xCC corrected for
    attenuation by disagreement within the pools.

    Parameters
    ----------
    unnormalized_xcc : float, array or DataArray
        Correlation between single ratings by raters of the two pools, in [-1, 1].
    icc, other_icc : float, array or DataArray
        Intraclass correlation of each pool, in (0, 1].

    Returns
    -------
    float, array or DataArray
        The normalized xCC.

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


def family_variance(sd_item: Draws, normalized_xcc: Draws) -> Draws:
    r"""Variance of item effects that a family of raters shares, and people do not; 0 or above.

    .. math:: \sigma_{item}^2 (1 - \rho^2)

    where sigma and rho are the standard deviation of item effects in the family's pool, and their
    correlation with those of people: the variance that is left of what the family sees in items,
    once what people see is known. LLM judges of one family that misread the same answers have a
    large one, and no number of them averages it out.

    Parameters
    ----------
    sd_item : float, array or DataArray
        Standard deviation of item effects in the pool of the family, 0 or above.
    normalized_xcc : float, array or DataArray
        Correlation of item effects between this pool and that of people, in [-1, 1].

    Returns
    -------
    float, array or DataArray
        The variance, in squared units of the ratings or of the latent scale.

    Examples
    --------
    >>> family_variance(2.0, 0.5)
    3.0
    """
    return sd_item**2 * (1 - normalized_xcc**2)


def icc_k(icc: Draws, k: float) -> Draws:
    r"""Reliability of the mean of ``k`` ratings of an item by different raters, in [0, 1].

    .. math:: k \rho / (1 + (k - 1) \rho)

    Parameters
    ----------
    icc : float, array or DataArray
        Reliability rho of a single rating, in [0, 1].
    k : float
        Number of ratings per item, at least 1.

    Returns
    -------
    float, array or DataArray
        The reliability of the mean.

    Raises
    ------
    ValueError
        ``k`` is below 1.

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
        raise ValueError(f"k must be at least 1, not {k}: it is a number of ratings.")
    return k * icc / (1 + (k - 1) * icc)


def raters_needed(icc: Draws, reliability: float) -> Draws:
    r"""Smallest number of ratings per item whose mean reaches a given reliability.

    .. math:: \lceil r (1 - \rho) / (\rho (1 - r)) \rceil, \text{ at least } 1

    The Spearman-Brown formula solved for k.

    Parameters
    ----------
    icc : float, array or DataArray
        Reliability rho of a single rating, in [0, 1].
    reliability : float
        Target reliability r of the mean, strictly between 0 and 1.

    Returns
    -------
    float, array or DataArray
        Whole numbers from 1; infinite where ``icc`` is 0.

    Raises
    ------
    ValueError
        ``reliability`` is not strictly between 0 and 1.

    Examples
    --------
    >>> float(raters_needed(0.5, reliability=0.8))
    4.0
    """
    if not 0 < reliability < 1:
        raise ValueError(f"reliability must lie strictly between 0 and 1, not {reliability}.")
    with np.errstate(divide="ignore"):
        k = np.divide(reliability * (1 - icc), icc * (1 - reliability))
    # Without the factor, a rounding error above a whole number would cost a whole rating.
    return cast(Draws, np.maximum(np.ceil(k * (1 - 1e-12)), 1.0))


def accuracy(prevalence: Array, confusion: Array) -> Array:
    r"""Probability that a rating equals the true category of its item, in [0, 1].

    .. math:: \sum_h w_h \pi_{hh}

    For a randomly drawn item, correct guesses included. Not to be confused with the accuracy a of
    the t-a-p models, which is the probability that the rater knows the true category.

    Parameters
    ----------
    prevalence : array of float, shape (..., K)
        Probabilities of the true categories; they sum to 1.
    confusion : array of float, shape (..., K, K)
        Probabilities of the rated categories (columns) given the true category (rows).

    Returns
    -------
    array of float, shape (...)
        The accuracy.

    Examples
    --------
    >>> float(accuracy(np.array([0.5, 0.5]), np.array([[0.9, 0.1], [0.3, 0.7]])))
    0.8
    """
    return cast(Array, (prevalence * np.diagonal(confusion, axis1=-2, axis2=-1)).sum(-1))


def informativeness(prevalence: Array, confusion: Array) -> Array:
    r"""Mutual information between a rating and the true category in bits, from 0 to log2 K.

    .. math:: \sum_h w_h \sum_k \pi_{hk} \log_2 (\pi_{hk} / \sum_g w_g \pi_{gk})

    A rater who is always wrong in the same way is as informative as one who is always right.

    Parameters
    ----------
    prevalence : array of float, shape (..., K)
        Probabilities of the true categories; they sum to 1.
    confusion : array of float, shape (..., K, K)
        Probabilities of the rated categories (columns) given the true category (rows).

    Returns
    -------
    array of float, shape (...)
        The mutual information.

    Examples
    --------
    >>> float(informativeness(np.array([0.5, 0.5]), np.array([[0.0, 1.0], [1.0, 0.0]])))
    1.0
    """
    marginal = np.einsum("...h,...hk->...k", prevalence, confusion)
    given = np.einsum("...h,...hk->...", prevalence, _plogp(confusion))
    return cast(Array, np.maximum(given - _plogp(marginal).sum(-1), 0) / np.log(2))


def _plogp(probability: Array) -> Array:
    """Probabilities times their logarithms, which NumPy takes faster than SciPy's xlogy."""
    found: Array = np.log(np.maximum(probability, np.finfo(float).tiny))
    found *= probability
    return found


def random_share(confusion: Array) -> Array:
    r"""Largest proportion of ratings that may be unrelated to the true category, in [0, 1].

    .. math:: \sum_k \min_h \pi_{hk}

    Each term is the smallest probability of a rating k over all true categories. The sum equals
    1 - theta in MACE and 1 - a in the t-a-p models.

    Parameters
    ----------
    confusion : array of float, shape (..., K, K)
        Probabilities of the rated categories (columns) given the true category (rows).

    Returns
    -------
    array of float, shape (...)
        The proportion.

    Examples
    --------
    >>> float(random_share(np.array([[0.75, 0.25], [0.5, 0.5]])))
    0.75
    """
    return cast(Array, confusion.min(axis=-2).sum(-1))


def entropy(probability: Array) -> Array:
    r"""Entropy of a distribution over categories in bits, from 0 to log2 K.

    .. math:: -\sum_k q_k \log_2 q_k

    Parameters
    ----------
    probability : array of float, shape (..., K)
        Probabilities of the categories; they sum to 1.

    Returns
    -------
    array of float, shape (...)
        The entropy.

    Examples
    --------
    >>> float(entropy(np.array([0.5, 0.5])))
    1.0
    """
    return cast(Array, np.abs(_plogp(probability).sum(-1)) / np.log(2))


def bits_per_rating(log_likelihood: Draws, n_ratings: int) -> Draws:
    r"""Bits needed to encode a rating, given the model and its parameters; lower is better.

    .. math:: -\log_2 p(\text{ratings}) / N

    Hidden states are marginalised, so that models with different latent structure are comparable.

    Parameters
    ----------
    log_likelihood : float, array or DataArray
        Marginal log-likelihood of all ratings, in nats.
    n_ratings : int
        Number N of ratings, at least 1.

    Returns
    -------
    float, array or DataArray
        Bits per rating.

    Examples
    --------
    >>> bits_per_rating(-30 * math.log(2), 10)
    3.0
    """
    return -log_likelihood / (math.log(2) * n_ratings)
