"""Differences of coefficients of agreement."""

from __future__ import annotations

from reliabayes.agreement.coefficient import Coefficient


def difference(one: Coefficient, other: Coefficient) -> Coefficient:
    r"""Difference of two coefficients, with items and raters paired by id.

    .. math:: \kappa_1 - \kappa_2

    Both coefficients are computed on the same samples of items, so that errors they share cancel:
    the interval is shorter than two separate intervals suggest. Items that only one of them has
    are resampled as well.

    Parameters
    ----------
    one, other : Coefficient
        Of the same ratings or of different ones, such as before and after a new guideline.

    Returns
    -------
    Coefficient
        The difference; also written ``one - other``.

    Examples
    --------
    >>> import numpy as np
    >>> import reliabayes as rb
    >>> ratings = rb.Ratings.from_wide(np.array([[1, 1], [2, 2], [3, 4], [4, 4]]))
    >>> nominal = rb.agreement.krippendorff_alpha(ratings, "nominal")
    >>> interval = rb.agreement.krippendorff_alpha(ratings, "interval")
    >>> round(float(rb.agreement.difference(interval, nominal)), 3)
    0.231
    """
    return one - other
