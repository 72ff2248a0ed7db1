"""The answers of models of categories: who is correct, and which true categories are settled."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from reliabayes.arrays import Array
from reliabayes.html_report.answers.figures import (
    Answer,
    Figure,
    number_figure,
    percentage_figure,
)
from reliabayes.html_report.answers.phrases import percentage, split_percentage
from reliabayes.results.estimates import SETTLED, estimate_text, scalar_draws

if TYPE_CHECKING:
    import pandas as pd

    from reliabayes.results.fit import Fit

MOSTLY_RANDOM = 0.5  # random_share above which a rater is counted as mostly random


def true_categories_answer(fit: Fit, prob: float, items: pd.DataFrame) -> Answer:
    """How many ratings are correct, whose they are, and how many true categories are settled.

    Parameters
    ----------
    fit : Fit
        Fit of a model that reports accuracy.
    prob : float
        Probability of the intervals.
    items : DataFrame
        Result of `Fit.items`.

    Returns
    -------
    Answer
    """
    accuracy, ratings = fit.quantities["accuracy"], fit.ratings
    by_rater = "rater" in accuracy.dims
    correct = scalar_draws(fit, "accuracy")
    if by_rater:
        correct = accuracy.values.reshape(-1, ratings.n_raters) @ (
            ratings.ratings_per_rater / len(ratings)
        )
    settled, total = int((items["probability"] >= SETTLED).sum()), len(items)
    sentences = [
        "A rating is correct if it equals the true category, whether by knowledge or by luck. An "
        f"item is settled if one category has a probability of at least {SETTLED:.0%}."
    ]
    figures = [percentage_figure("of ratings are correct", correct, prob)]
    if by_rater:
        sentences += _rater_sentences(fit, prob)
        figures += [
            percentage_figure(f"correct ratings by the {end} rater, {rater}", draws, prob)
            for end, (rater, draws) in zip(("best", "worst"), _best_and_worst(fit), strict=True)
        ]
    if settled < total:
        sentences.append(_unsettled_sentence(settled, total))
    figures.append(
        Figure("of items are settled", f"{settled / total:.0%}", f"{settled:,} of {total:,}")
    )
    if "bits_per_rating" in fit.quantities:
        bits, size = scalar_draws(fit, "bits_per_rating"), len(ratings.categories)
        sentences.append(
            f"Encoding a rating costs {estimate_text(bits, prob, '.3f')} bits with the model, "
            f"against {math.log2(size):.2f} for uniform guessing among {size} categories."
        )
        figures.append(number_figure("bits per rating", bits, prob, has_bar=False))
    percent, interval = split_percentage(correct, prob)
    return Answer(
        f"{percent} of ratings are correct ({interval}); {settled:,} of {total:,} items are "
        "settled",
        tuple(sentences),
        tuple(figures),
    )


def knowledge_answer(fit: Fit, prob: float) -> Answer:
    """How often raters know the true category, if they otherwise follow the other raters.

    Parameters
    ----------
    fit : Fit
        Fit of a model that reports knowledge ``a`` but no accuracy.
    prob : float
        Probability of the intervals.

    Returns
    -------
    Answer
    """
    known = fit.quantities["a"]
    draws = (known.mean("rater") if "rater" in known.dims else known).values.ravel()
    figures = (percentage_figure("of true categories are known", draws, prob),)
    caution = fit.model.caution(fit.ratings)
    if caution:
        return Answer(
            "This model cannot show how often raters know the true category",
            (caution, "A low figure here does not mean that raters do not know."),
            figures,
        )
    return Answer(
        f"Raters know the true category in {percentage(draws, prob)} of cases and otherwise "
        "follow an earlier rating",
        ("This holds if raters rated in the order of their ids and saw the earlier ratings.",),
        figures,
    )


def _rater_sentences(fit: Fit, prob: float) -> list[str]:
    """The best and the worst rater, and how many raters may be mostly random."""
    (best, high), (worst, low) = _best_and_worst(fit)
    sentences = [
        f"Rater {best} is correct most often, in {percentage(high, prob)} of ratings, and rater "
        f"{worst} least often, in {percentage(low, prob)}."
    ]
    if "random_share" in fit.quantities:
        random = fit.quantities["random_share"].median(("chain", "draw")).values
        number, total = int((random > MOSTLY_RANDOM).sum()), f"{len(random):,} raters"
        sentences.append(
            f"For {number:,} of the {total}, more than half of the ratings may be unrelated to the "
            "true category."
            if number
            else f"For each of the {total}, at least half of the ratings reflect the true category."
        )
    return sentences


def _best_and_worst(fit: Fit) -> tuple[tuple[Any, Array], tuple[Any, Array]]:
    """Raters of highest and of lowest median accuracy, with their draws."""
    draws = fit.quantities["accuracy"].values.reshape(-1, fit.ratings.n_raters)
    median = np.median(draws, axis=0)
    best, worst = int(median.argmax()), int(median.argmin())
    raters = fit.ratings.raters
    return (raters[best], draws[:, best]), (raters[worst], draws[:, worst])


def _unsettled_sentence(settled: int, total: int) -> str:
    number = total - settled
    if number == 1:
        which = "The other item needs" if settled else "The item needs"
    else:
        which = f"{'The other' if settled else 'All'} {number:,} items need"
    return f"{which} a closer look or more ratings; see the table of items."
