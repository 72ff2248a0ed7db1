"""The Spearman-Brown formula: from the reliability of a mean to that of a longer or shorter one."""

from __future__ import annotations

from typing import Any

import numpy as np

from reliabayes.agreement.cells import ratio

ROUNDING = 1e-12


def spearman_brown(reliability: Any, k: Any) -> Any:
    r"""Reliability of the mean of k times as many ratings, at most 1.

    .. math:: \rho_k = k \rho / (1 + (k - 1) \rho)

    It holds for intraclass correlations, and with k below 1 it leads from the reliability of a mean
    back to that of fewer ratings. Not to be confused with `krr`, which needs no formula and
    no ICC, but more ratings.

    Parameters
    ----------
    reliability : float or array
        That of a single rating, if k is to count ratings.
    k : float or array
        Above 0: by how much the number of ratings is multiplied.

    Returns
    -------
    float or array
        Of the shape that both together have; nan where the reliability is so negative that means
        would have no variance, -1 / (k - 1) or less.

    Raises
    ------
    ValueError
        k is not above 0.

    References
    ----------
    Spearman (1910), https://doi.org/10.1111/j.2044-8295.1910.tb00206.x; Brown (1910),
    https://doi.org/10.1111/j.2044-8295.1910.tb00207.x

    Examples
    --------
    >>> spearman_brown(0.5905, 13).round(4)
    np.float64(0.9494)
    >>> spearman_brown(0.75, 1 / 3)
    np.float64(0.5)
    """
    if not np.all(np.asarray(k) > 0):
        raise ValueError(f"k must be above 0; found {np.min(k):g}.")
    return stepped_up(reliability, k)


def stepped_up(reliability: Any, k: Any) -> Any:
    """The formula itself, for complex numbers too; nan where means would have no variance."""
    share = np.asarray(reliability)
    spread = 1 + (k - 1) * share
    return ratio(k * share, np.where(spread.real > ROUNDING, spread, 0))[()]
