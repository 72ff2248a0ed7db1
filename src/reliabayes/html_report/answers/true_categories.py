"""The answers of models of categories: who is correct, and which true categories are settled."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from reliabayes.arrays import Array
from reliabayes.html_report.answers.figures import (
    Answer,
    Figure,
    number_figure,
    percentage_figure,
)
from reliabayes.html_report.answers.phrases import joined, percentage, split_percentage
from reliabayes.results.estimates import SETTLED, estimate_text, scalar_draws

if TYPE_CHECKING:
    import pandas as pd

    from reliabayes.results.fit import Fit

MOSTLY_RANDOM = 0.5  # random_share above which a rater is counted as mostly random


def true_categories_answer(
    fit: Fit, prob: float, items: pd.DataFrame, misfit: Sequence[str] = ()
) -> Answer:
    """How many ratings are correct, whose they are, and how many true categories are settled.

    Parameters
    ----------
    fit : Fit
        Fit of a model that reports accuracy.
    prob : float
        Probability of the intervals.
    items : DataFrame
        Result of `Fit.items`.
    misfit : sequence of str
        What the model does not reproduce of the ratings, by predictive checks.

    Returns
    -------
    Answer
    """
    ratings = fit.ratings
    by_rater = "rater" in fit.quantities["accuracy"].dims
    correct = fit.correct_share(draws=items.attrs.get("draws")).values.ravel()
    settled, total = int((items["probability"] >= SETTLED).sum()), len(items)
    n_pools = len(ratings.pools)
    equal = f"equal the consensus of {n_pools} pools" if n_pools > 1 else "are correct"
    sentences = [
        "A rating is correct if it equals the true category, whether by knowledge or by luck. An "
        f"item is settled if one category has a probability of at least {SETTLED:.0%}."
    ]
    figures = [percentage_figure(f"of ratings {equal}", correct, prob)]
    if misfit:
        sentences.insert(
            0,
            f"The model does not reproduce {joined([*misfit])}; see the predictive checks. All "
            "figures here hold only as far as the model does: if raters err together, more ratings "
            "and more settled items are wrong than stated.",
        )
    if n_pools > 1:
        pooled, of_pools = _pools(fit, prob, items)
        sentences += pooled
        figures += of_pools
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
        f"{'If the model holds, ' * bool(misfit)}{percent} of ratings {equal} ({interval}); "
        f"{settled:,} of {total:,} items are settled",
        tuple(sentences),
        tuple(figures),
    )


def _pools(fit: Fit, prob: float, items: pd.DataFrame) -> tuple[list[str], list[Figure]]:
    """Against what the raters of pools are judged, and how often each pool agrees with it."""
    ratings, share = fit.ratings, fit.correct_share("pool", items.attrs.get("draws"))
    of_pool = {str(pool): share.sel(pool=pool).values.ravel() for pool in ratings.pools}
    given = ratings.to_frame().groupby("pool", observed=True)["rating"]
    rates = given.value_counts(normalize=True).unstack("pool", fill_value=0)
    apart = int(np.ptp(rates.to_numpy(), axis=1).argmax())
    agreeing = [f"{percentage(draws, prob)} in {pool}" for pool, draws in of_pool.items()]
    differing = [f"{rate:.0%} in {pool}" for pool, rate in rates.iloc[apart].items()]
    sentences = [
        fit.model.caution(ratings),
        f"Ratings that equal the consensus: {joined(agreeing)}.",
        f"Ratings of category {rates.index[apart]}: {joined(differing)}. To judge raters by the "
        "standard of their own pool, fit each pool alone: ratings.subset(pools=[...]).",
    ]
    figures = [
        percentage_figure(f"of ratings by pool {pool} equal the consensus", draws, prob)
        for pool, draws in of_pool.items()
    ]
    return sentences, figures


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
    has_pools = len(fit.ratings.pools) > 1
    standard = "consensus" if has_pools else "true category"
    right = "agrees with the consensus" if has_pools else "is correct"
    sentences = [
        f"Rater {best} {right} most often, in {percentage(high, prob)} of ratings, and rater "
        f"{worst} least often, in {percentage(low, prob)}."
    ]
    if "random_share" in fit.quantities:
        random = fit.quantities["random_share"].median(("chain", "draw")).values
        number, total = int((random > MOSTLY_RANDOM).sum()), f"{len(random):,} raters"
        sentences.append(
            f"For {number:,} of the {total}, more than half of the ratings may be unrelated to the "
            f"{standard}."
            if number
            else f"For each of the {total}, at least half of the ratings reflect the {standard}."
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
