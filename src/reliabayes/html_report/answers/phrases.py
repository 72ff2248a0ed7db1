"""Phrases of the answers: percentages, intervals, probabilities and lists in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reliabayes.arrays import Array
from reliabayes.results.estimates import (
    estimate_text,
    median_interval,
    whole_median_interval,
    whole_text,
)
from reliabayes.wording import joined


def percentage(draws: Array, prob: float) -> str:
    """Median and interval of a proportion: ``30% (90% interval 8% to 66%)``.

    Parameters
    ----------
    draws : array of float, shape (S,)
        Draws of the proportion, from 0 to 1.
    prob : float
        Probability of the interval.

    Returns
    -------
    str
    """
    return estimate_text(draws, prob, _percent_form(draws))


def split_percentage(draws: Array, prob: float) -> tuple[str, str]:
    """Median and interval of a proportion: ``30%`` and ``8% to 66%``.

    Parameters
    ----------
    draws : array of float, shape (S,)
        Draws of the proportion, from 0 to 1.
    prob : float
        Probability of the interval.

    Returns
    -------
    tuple of two str
    """
    return split_estimate(draws, prob, _percent_form(draws))


def split_estimate(draws: Array, prob: float, form: str = ".2f") -> tuple[str, str]:
    """Median and interval: ``0.64`` and ``0.53 to 0.77``.

    Parameters
    ----------
    draws : array of float, shape (S,)
        Posterior draws.
    prob : float
        Probability of the interval.
    form : str, default ".2f"
        Format of each number.

    Returns
    -------
    tuple of two str
    """
    median, lower, upper = median_interval(draws, prob)
    return f"{median:{form}}", f"{lower:{form}} to {upper:{form}}"


def split_whole(draws: Array, prob: float) -> tuple[str, str]:
    """Median and interval of whole numbers: ``10`` and ``3 to 44``.

    Parameters
    ----------
    draws : array of float, shape (S,)
        Whole numbers, or infinity.
    prob : float
        Probability of the interval.

    Returns
    -------
    tuple of two str
    """
    median, lower, upper = map(whole_text, whole_median_interval(draws, prob))
    return median, f"{lower} to {upper}"


def number_of_ratings(number: str) -> str:
    """A number of ratings: ``1 rating`` or ``3 ratings``.

    Parameters
    ----------
    number : str
        The number.

    Returns
    -------
    str
    """
    return "1 rating" if number == "1" else f"{number} ratings"


def pool_names(pair: str) -> str:
    """The names of a pair of pools: ``crowd and expert``.

    Parameters
    ----------
    pair : str
        The label of the pair, ``crowd, expert``.

    Returns
    -------
    str
    """
    return " and ".join(pair.split(", "))


def misfit_caution(misfit: Sequence[str]) -> str:
    """What a failed predictive check means for a claim.

    Parameters
    ----------
    misfit : sequence of str
        What the model does not reproduce of the ratings.

    Returns
    -------
    str
        Empty if it reproduces everything that was checked.
    """
    if not misfit:
        return ""
    return (
        f"The model does not reproduce {joined([*misfit])} (see the predictive checks): take this "
        "as a rough figure"
    )


def with_probability(difference: Array) -> str:
    """Beginning of a sentence: the probability that a difference is positive.

    Parameters
    ----------
    difference : array of float, shape (S,)
        Draws of the difference.

    Returns
    -------
    str
        Such as ``With probability 0.983``.
    """
    above = float(np.mean(difference > 0))
    if above > 0.9995:
        return "With a probability above 0.999"
    return f"With probability {above:.3f}"


def _percent_form(draws: Array) -> str:
    """Format of a percentage: with a decimal where whole percents would say too little."""
    is_near_end = not 0.015 <= np.median(draws) < 0.985
    return ".1%" if is_near_end or np.std(draws) < 0.005 else ".0%"
