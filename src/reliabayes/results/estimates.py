"""Medians, intervals and draws by label, as plots and the report state them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from reliabayes.arrays import Array
from reliabayes.results.summaries import interval_bounds, scalars, size_text

if TYPE_CHECKING:
    from reliabayes.results.fit import Fit

OBSERVED = "_observed"  # suffix of quantities on the scale of the ratings
RATINGS, LATENT = "ratings", "latent score"  # labels of the two scales
SETTLED = 0.9  # probability of a category from which on an item counts as settled
MISFIT = 0.05  # p-value of a predictive check below which the model counts as misfitting
ROUNDING = 1e-9  # difference of draws of a proportion that are alike


def is_by_rater(fit: Fit, name: str) -> bool:
    """Whether a fit reports a quantity for each rater.

    Parameters
    ----------
    fit : Fit
        The fit.
    name : str
        Name of the quantity.

    Returns
    -------
    bool
        False if the model does not report it, or reports it for all raters together.
    """
    return name in fit.quantities and "rater" in fit.quantities[name].dims


def draws_by_label(fit: Fit, name: str) -> dict[str, Array]:
    """Draws of a quantity, by pool, pair of pools or rater.

    Parameters
    ----------
    fit : Fit
        The fit that reports the quantity.
    name : str
        One of ``fit.quantities``.

    Returns
    -------
    dict of str to array of float, shape (S,)
        The draws of all chains; the label of a quantity that is a single number is empty.

    Raises
    ------
    ValueError
        The model does not report the quantity.
    """
    if name not in fit.quantities:
        raise ValueError(
            f"fit: this needs a model that reports {name}; {type(fit.model).__name__} reports "
            f"{', '.join(map(str, fit.quantities))}."
        )
    labelled = scalars(name, fit.quantities[name])
    return {label[len(name) + 1 : -1]: draws.ravel() for label, draws in labelled}


def draws_by_scale(fit: Fit, name: str) -> dict[str, Array]:
    """Draws of a quantity by pool, and by scale if the model has a latent scale too.

    Parameters
    ----------
    fit : Fit
        The fit that reports the quantity.
    name : str
        Name of the quantity without the suffix of a scale.

    Returns
    -------
    dict of str to array of float, shape (S,)
        Labels name the pool, the scale (`RATINGS` or `LATENT`), or both.
    """
    latent = draws_by_label(fit, name)
    if not observed_suffix(fit):
        return latent
    scales = {RATINGS: draws_by_label(fit, name + OBSERVED), LATENT: latent}
    return {
        ", ".join(filter(None, (pool, scale))): draws
        for scale, pools in scales.items()
        for pool, draws in pools.items()
    }


def scalar_draws(fit: Fit, name: str) -> Array:
    """Draws of a quantity that is a single number.

    Parameters
    ----------
    fit : Fit
        The fit that reports the quantity.
    name : str
        One of ``fit.quantities``.

    Returns
    -------
    array of float, shape (S,)
        The draws of all chains.
    """
    return np.asarray(fit.quantities[name].values.ravel())


def observed_suffix(fit: Fit) -> str:
    """Suffix of the quantities on the scale of the ratings.

    Parameters
    ----------
    fit : Fit
        Any fit.

    Returns
    -------
    str
        `OBSERVED` for models that report the ICC on a latent scale too; else the empty string.
    """
    return OBSERVED if "icc" + OBSERVED in fit.quantities else ""


def median_interval(draws: Array, prob: float) -> tuple[float, float, float]:
    """Median and equal-tailed interval.

    Parameters
    ----------
    draws : array of float, shape (S,)
        Posterior draws.
    prob : float
        Probability of the interval, strictly between 0 and 1.

    Returns
    -------
    tuple of three floats
        The median, the lower end and the upper end.

    Examples
    --------
    >>> median_interval(np.arange(5.0), 0.5)
    (2.0, 1.0, 3.0)
    """
    lower, upper = interval_bounds(draws, prob)
    return float(np.median(draws)), float(lower), float(upper)


def whole_median_interval(draws: Array, prob: float) -> tuple[float, float, float]:
    """Median and equal-tailed interval of whole numbers, each of them one of the draws.

    Parameters
    ----------
    draws : array of float, shape (S,)
        Whole numbers, or infinity.
    prob : float
        Probability of the interval, strictly between 0 and 1.

    Returns
    -------
    tuple of three floats
        The median, the lower end and the upper end.

    Examples
    --------
    >>> whole_median_interval(np.array([3, 4, 5, np.inf, np.inf]), 0.5)
    (5.0, 4.0, inf)
    """
    median, lower, upper = np.quantile(
        draws, [0.5, (1 - prob) / 2, (1 + prob) / 2], method="higher"
    )
    return float(median), float(lower), float(upper)


def whole_text(number: float) -> str:
    """A whole number with commas between thousands; infinity as its sign.

    Parameters
    ----------
    number : float
        A whole number or infinity.

    Returns
    -------
    str

    Examples
    --------
    >>> whole_text(1200.0), whole_text(math.inf)
    ('1,200', '∞')
    """
    return f"{number:,.0f}" if math.isfinite(number) else "∞"


def estimate_text(draws: Array, prob: float, form: str = ".2f") -> str:
    """Median and equal-tailed interval in words; no interval where all draws are alike.

    Parameters
    ----------
    draws : array of float, shape (S,)
        Posterior draws.
    prob : float
        Probability of the interval, strictly between 0 and 1.
    form : str, default ".2f"
        Format of each number.

    Returns
    -------
    str

    Examples
    --------
    >>> estimate_text(np.linspace(0, 1, 101), 0.9)
    '0.50 (90% interval 0.05 to 0.95)'
    >>> estimate_text(np.full(101, 0.5), 0.9)
    '0.50'
    """
    median, lower, upper = median_interval(draws, prob)
    if np.allclose(draws, median, rtol=0, atol=ROUNDING):
        return f"{median:{form}}"
    return f"{median:{form}} ({100 * prob:g}% interval {lower:{form}} to {upper:{form}})"


def source_text(fit: Fit) -> str:
    """Model and size of the ratings of a fit.

    Parameters
    ----------
    fit : Fit
        Any fit.

    Returns
    -------
    str
        Such as ``GaussianICC, 24 ratings of 6 items by 4 raters``.
    """
    return f"{type(fit.model).__name__}, {size_text(fit.ratings)}"
