"""Shares of the variance of a rating: the part of `quantities` that its other formulas build on."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import xarray as xr
from numpy.typing import NDArray

Draws = TypeVar("Draws", float, NDArray[np.float64], xr.DataArray)


def icc(sd_item: Draws, sd_rater: Draws, sd_residual: Draws) -> Draws:
    r"""Intraclass correlation of single ratings, in [0, 1].

    .. math:: \sigma_{item}^2 / (\sigma_{item}^2 + \sigma_{rater}^2 + \sigma_{residual}^2)

    The correlation between two ratings of the same item by two randomly drawn raters. It measures
    absolute agreement, not consistency: differences in rater severity lower it.

    Parameters
    ----------
    sd_item, sd_rater, sd_residual : float, array or DataArray
        Standard deviations, 0 or above, in the units of the ratings or of the latent scale.

    Returns
    -------
    float, array or DataArray
        The ICC.

    References
    ----------
    Shrout & Fleiss (1979), ICC(2,1). https://doi.org/10.1037/0033-2909.86.2.420

    Examples
    --------
    >>> icc(2.0, 1.0, 1.0)
    0.6666666666666666
    """
    return sd_item**2 / (sd_item**2 + sd_rater**2 + sd_residual**2)


def icc_consistency(sd_item: Draws, sd_residual: Draws) -> Draws:
    r"""Intraclass correlation of single ratings by the same raters, in [0, 1].

    .. math:: \sigma_{item}^2 / (\sigma_{item}^2 + \sigma_{residual}^2)

    The correlation between the ratings of items by one rater and by another. Differences in rater
    severity shift all ratings of a rater alike and do not lower it: it suits raters who rate all
    items, where only comparisons between items count. `icc` suits raters drawn at random.

    Parameters
    ----------
    sd_item, sd_residual : float, array or DataArray
        Standard deviations, 0 or above, in the units of the ratings or of the latent scale.

    Returns
    -------
    float, array or DataArray
        The consistency ICC, at least as large as `icc`.

    References
    ----------
    Shrout & Fleiss (1979), ICC(3,1). https://doi.org/10.1037/0033-2909.86.2.420

    Examples
    --------
    >>> icc_consistency(2.0, 1.0)
    0.8
    """
    return sd_item**2 / (sd_item**2 + sd_residual**2)


def labeler_icc(sd_item: Draws, sd_rater: Draws, sd_residual: Draws) -> Draws:
    r"""Proportion of the variance of single ratings due to rater severity, in [0, 1].

    .. math:: \sigma_{rater}^2 / (\sigma_{item}^2 + \sigma_{rater}^2 + \sigma_{residual}^2)

    The correlation between two ratings by the same rater of two randomly drawn items.

    Parameters
    ----------
    sd_item, sd_rater, sd_residual : float, array or DataArray
        Standard deviations, 0 or above, in the units of the ratings or of the latent scale.

    Returns
    -------
    float, array or DataArray
        The labeler ICC.

    Examples
    --------
    >>> labeler_icc(2.0, 1.0, 1.0)
    0.16666666666666666
    """
    return sd_rater**2 / (sd_item**2 + sd_rater**2 + sd_residual**2)
