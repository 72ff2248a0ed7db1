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
class Claim:
    """A sentence of the verdict, with what limits it.

    Attributes
    ----------
    text : str
        The sentence, without a full stop.
    caution : str
        What the model gets wrong or cannot know that the sentence depends on; may be empty.
    """

    text: str
    caution: str = ""


@dataclass(frozen=True)
class Answer:
    """What a fit says about the question that its model answers.

    Attributes
    ----------
    claims : tuple of Claim
        The verdict in one to three sentences that can be read aloud, with medians.
    figures : tuple of Figure
        Its main numbers, four at most.
    sentences : tuple of str
        More about these and other numbers, with intervals.
    """

    claims: tuple[Claim, ...]
    figures: tuple[Figure, ...]
    sentences: tuple[str, ...]

    @property
    def headline(self) -> str:
        """The first sentence of the verdict, without a full stop."""
        return self.claims[0].text

    @property
    def verdict(self) -> str:
        """All sentences of the verdict."""
        return " ".join(f"{claim.text}." for claim in self.claims)

    @property
    def limits(self) -> tuple[str, ...]:
        """What the verdict depends on."""
        return tuple(dict.fromkeys(claim.caution for claim in self.claims if claim.caution))


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
    if interval == f"{value} to {value}":  # nothing is unknown
        return Figure(name, value)
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
