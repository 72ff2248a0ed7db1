"""Answers and their figures: numbers with intervals, shown in large type."""

from __future__ import annotations

from dataclasses import dataclass

from reliabayes.arrays import Array
from reliabayes.html_report.answers.phrases import split_estimate, split_percentage
from reliabayes.results.estimates import median_interval


@dataclass(frozen=True)
class Figure:
    """A number of the answer, with its interval.

    Attributes
    ----------
    name : str
        What the number is.
    value : str
        The number.
    interval : str
        Its interval or range; may be empty.
    span : tuple of three floats, optional
        Lower end, median and upper end on a scale from 0 to 1, drawn as a bar; None for numbers
        on other scales.
    """

    name: str
    value: str
    interval: str = ""
    span: tuple[float, float, float] | None = None


@dataclass(frozen=True)
class Answer:
    """What a fit says about the question that its model answers.

    Attributes
    ----------
    headline : str
        The answer in a sentence, without a full stop.
    sentences : tuple of str
        The answer in more detail.
    figures : tuple of Figure
        Its main numbers.
    """

    headline: str
    sentences: tuple[str, ...]
    figures: tuple[Figure, ...]


def percentage_figure(name: str, draws: Array, prob: float) -> Figure:
    """Figure of a proportion, as a percentage.

    Parameters
    ----------
    name : str
        What the number is.
    draws : array of float, shape (S,)
        Draws of the proportion, from 0 to 1.
    prob : float
        Probability of the interval.

    Returns
    -------
    Figure
    """
    value, interval = split_percentage(draws, prob)
    return Figure(name, value, interval, _span(draws, prob))


def number_figure(name: str, draws: Array, prob: float, has_bar: bool = True) -> Figure:
    """Figure of a number with two decimals.

    Parameters
    ----------
    name : str
        What the number is.
    draws : array of float, shape (S,)
        Draws of the number.
    prob : float
        Probability of the interval.
    has_bar : bool, default True
        Whether to draw the interval on a scale from 0 to 1.

    Returns
    -------
    Figure
    """
    value, interval = split_estimate(draws, prob)
    return Figure(name, value, interval, _span(draws, prob) if has_bar else None)


def _span(draws: Array, prob: float) -> tuple[float, float, float]:
    median, lower, upper = (min(1.0, max(0.0, x)) for x in median_interval(draws, prob))
    return lower, median, upper
