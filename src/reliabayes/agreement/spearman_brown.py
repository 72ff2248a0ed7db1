"""The Spearman-Brown formula: the reliability of the mean of more or fewer ratings."""

from __future__ import annotations

from typing import Any

import numpy as np

from reliabayes.agreement.arithmetic import ratio

ROUNDING = 1e-12


def spearman_brown(reliability: Any, k: Any) -> Any:
    r"""Reliability of the mean of k times as many ratings, at most 1.

    .. math:: \rho_k = k \rho / (1 + (k - 1) \rho)

    The formula holds for intraclass correlations: of ICC(., 1) it gives ICC(., k), and of nominal
    alpha the reliability of the shares of k votes. It is too low for the mean of fixed raters who
    interact with items (Warrens 2017), and does not hold for majorities. With k below 1 it leads
    from the reliability of a mean back to that of fewer ratings. Not to be confused with `krr`,
    which needs neither a formula nor an ICC, but more ratings.

    Parameters
    ----------
    reliability : float or array of float
        Reliability; that of a single rating if k counts ratings.
    k : float or array of float
        Factor by which the number of ratings is multiplied, above 0.

    Returns
    -------
    float or array of float
        Of the broadcast shape; nan where the reliability is -1 / (k - 1) or less, so that the mean
        would have no positive variance.

    Raises
    ------
    ValueError
        k is not above 0.

    References
    ----------
    Spearman (1910), https://doi.org/10.1111/j.2044-8295.1910.tb00206.x; Brown (1910),
    https://doi.org/10.1111/j.2044-8295.1910.tb00207.x; Warrens (2017), Journal of Clinical
    Epidemiology 85, 14-16.

    Examples
    --------
    >>> spearman_brown(0.5905, 13).round(4)
    np.float64(0.9494)
    >>> spearman_brown(0.75, 1 / 3)
    np.float64(0.5)
    """
    if not np.all(np.asarray(k) > 0):
        raise ValueError(f"k must be above 0; found {np.min(k):g}.")
    return step_up(reliability, k)


def step_up(reliability: Any, k: Any) -> Any:
    """Apply the Spearman-Brown formula without a check of k; also to complex numbers.

    Parameters
    ----------
    reliability, k : float or array
        As for `spearman_brown`.

    Returns
    -------
    float or array
        As of `spearman_brown`.
    """
    single = np.asarray(reliability)
    denominator = 1 + (k - 1) * single
    return ratio(k * single, np.where(denominator.real > ROUNDING, denominator, 0))[()]
