"""Answers, and how their numbers are put into words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reliabayes.arrays import Array
from reliabayes.plots.densities import interval, middle

if TYPE_CHECKING:
    from reliabayes.results.fit import Fit


@dataclass(frozen=True)
class Figure:
    """A number of the answer, and its interval, on the scale from 0 to 1 if it is a share."""

    name: str
    value: str
    interval: str = ""
    span: tuple[float, float, float] | None = None  # lower, median, upper


@dataclass(frozen=True)
class Answer:
    """What a fit says: in one sentence, in several, and in figures."""

    headline: str
    sentences: tuple[str, ...]
    figures: tuple[Figure, ...]


def share(draws: Array, prob: float) -> str:
    """Median and interval of a share: ``30% (90% interval 8% to 66%)``."""
    return interval(draws, prob, _percent(draws))


def split_share(draws: Array, prob: float) -> tuple[str, str]:
    """Median and interval of a share: ``30%`` and ``8% to 66%``."""
    return split(draws, prob, _percent(draws))


def draws_of(fit: Fit, name: str) -> Array:
    """Draws (S,) of a quantity that is one number."""
    return np.asarray(fit.quantities[name].values.ravel())


def _percent(draws: Array) -> str:
    """Form of a share, with a decimal where whole percents would say 0% or 100%."""
    return ".0%" if 0.015 <= np.median(draws) < 0.985 else ".1%"


def split(draws: Array, prob: float, form: str = ".2f") -> tuple[str, str]:
    """Median and interval: ``0.64`` and ``0.53 to 0.77``."""
    median, lower, upper = middle(draws, prob)
    return f"{median:{form}}", f"{lower:{form}} to {upper:{form}}"


def whole(needed: Array, prob: float) -> tuple[str, str]:
    """Median and range of whole numbers."""
    tails = [0.5, (1 - prob) / 2, (1 + prob) / 2]
    numbers = np.quantile(needed, tails, method="higher")
    median, lower, upper = (f"{x:,.0f}" if math.isfinite(x) else "∞" for x in numbers)
    return median, f"{lower} to {upper}"


def number_of_ratings(number: str) -> str:
    """``1 rating`` or ``3 ratings``."""
    return "1 rating" if number == "1" else f"{number} ratings"


def both(pair: str) -> str:
    """A pair of pools in words: ``crowd and expert``."""
    return " and ".join(pair.split(", "))


def listed(parts: list[str]) -> str:
    """Parts with commas between, and ``and`` before the last."""
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))


def sure(difference: Array) -> str:
    """With what probability a difference is above 0."""
    above = float(np.mean(difference > 0))
    if above > 0.9995:
        return "With a probability above 0.999"
    return f"With probability {above:.3f}"


def share_figure(name: str, draws: Array, prob: float) -> Figure:
    """A share as percentage."""
    value, range_ = split_share(draws, prob)
    return Figure(name, value, range_, _span(draws, prob))


def number_figure(name: str, draws: Array, prob: float, is_share: bool = True) -> Figure:
    """A number with two decimals, which mostly lies between 0 and 1."""
    value, range_ = split(draws, prob)
    return Figure(name, value, range_, _span(draws, prob) if is_share else None)


def _span(draws: Array, prob: float) -> tuple[float, float, float]:
    median, lower, upper = (min(1.0, max(0.0, x)) for x in middle(draws, prob))
    return lower, median, upper
