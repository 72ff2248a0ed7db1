"""Who is right, and how sure true categories are: what a fit of categories answers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from reliabayes.arrays import Array
from reliabayes.html_report.wording import (
    Answer,
    Figure,
    draws_of,
    number_figure,
    share,
    share_figure,
    split_share,
)
from reliabayes.plots.densities import interval
from reliabayes.plots.true_categories import SETTLED

if TYPE_CHECKING:
    import pandas as pd

    from reliabayes.results.fit import Fit

RANDOM = 0.5  # share of a rater's ratings from which on they are called mostly random


def of_categories(fit: Fit, prob: float, items: pd.DataFrame) -> Answer:
    """How many ratings are right, who gives them, and how sure the true categories are."""
    accuracy, ratings = fit.quantities["accuracy"], fit.ratings
    of_raters = "rater" in accuracy.dims
    right = draws_of(fit, "accuracy")
    if of_raters:
        right = accuracy.values.reshape(-1, ratings.n_raters) @ (
            ratings.ratings_per_rater / len(ratings)
        )
    settled, total = int((items["probability"] >= SETTLED).sum()), len(items)
    sentences = [
        "A rating is right if it is the true category, be it by knowledge or by luck; an item is "
        f"settled if a category is at least {SETTLED:.0%} probable."
    ]
    figures = [share_figure("of ratings are right", right, prob)]
    if of_raters:
        sentences += _who_is_right(fit, prob)
        figures += [
            share_figure(f"right: {end}, {rater}", draws, prob)
            for end, (rater, draws) in zip(("best", "worst"), _extremes(fit), strict=True)
        ]
    if settled < total:
        sentences.append(
            f"{'The other' if settled else 'All'} {total - settled:,} need a closer look or more "
            "ratings; the table of items has them first."
        )
    figures.append(
        Figure("of items are settled", f"{settled / total:.0%}", f"{settled:,} of {total:,}")
    )
    if "bits_per_rating" in fit.quantities:
        bits, size = draws_of(fit, "bits_per_rating"), len(ratings.categories)
        sentences.append(
            f"To tell a rating takes {interval(bits, prob, '.3f')} bits if one knows the model, "
            f"and {math.log2(size):.2f} if one knows but the {size} categories."
        )
        figures.append(number_figure("bits per rating", bits, prob, is_share=False))
    percent, range_ = split_share(right, prob)
    return Answer(
        f"{percent} of ratings are right ({range_}); {settled:,} of {total:,} items are settled",
        tuple(sentences),
        tuple(figures),
    )


def _who_is_right(fit: Fit, prob: float) -> list[str]:
    """The best and the worst rater, and how many give ratings that may be random."""
    (best, high), (worst, low) = _extremes(fit)
    sentences = [
        f"Rater {best} is right most often, in {share(high, prob)} of ratings; rater {worst} least "
        f"often, in {share(low, prob)}."
    ]
    if "random_share" in fit.quantities:
        random = fit.quantities["random_share"].median(("chain", "draw")).values
        number, are = int((random > RANDOM).sum()), len(random)
        sentences.append(
            f"{f'{number:,}' if number else 'None'} of {are:,} raters may give more than half of "
            "their ratings with no regard to the true category."
        )
    return sentences


def _extremes(fit: Fit) -> tuple[tuple[Any, Array], tuple[Any, Array]]:
    """Raters of highest and of lowest median accuracy, with its draws."""
    draws = fit.quantities["accuracy"].values.reshape(-1, fit.ratings.n_raters)
    median = np.median(draws, axis=0)
    best, worst = int(median.argmax()), int(median.argmin())
    raters = fit.ratings.raters
    return (raters[best], draws[:, best]), (raters[worst], draws[:, worst])


def of_followers(fit: Fit, prob: float) -> Answer:
    """How often raters know, if otherwise they follow the others."""
    known = fit.quantities["a"]
    draws = (known.mean("rater") if "rater" in known.dims else known).values.ravel()
    return Answer(
        f"Raters know the true category in {share(draws, prob)} of cases, and else follow the "
        "others",
        (
            "The shares of an item's votes contain each rating and explain it nearly by "
            "themselves. Where raters may follow each other, their ratings hardly tell how "
            "accurate they are: a small number here is no proof that raters do not know.",
        ),
        (share_figure("of true categories are known", draws, prob),),
    )
