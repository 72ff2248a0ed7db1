"""The answer of models with an ICC: how reliable ratings are, and how many are enough."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reliabayes.html_report.answers.figures import (
    Answer,
    Figure,
    number_figure,
    percentage_figure,
)
from reliabayes.html_report.answers.phrases import (
    number_of_ratings,
    percentage,
    split_percentage,
    split_whole,
)
from reliabayes.results import quantities
from reliabayes.results.estimates import estimate_text, observed_suffix, scalar_draws

if TYPE_CHECKING:
    from reliabayes.ratings import Ratings
    from reliabayes.results.fit import Fit


def reliability_answer(fit: Fit, prob: float, reliability: float) -> Answer:
    """How much of a rating is signal, and how many ratings are enough.

    Parameters
    ----------
    fit : Fit
        Fit of a model with an ICC and without pools.
    prob : float
        Probability of the intervals.
    reliability : float
        Target reliability of means of ratings.

    Returns
    -------
    Answer
    """
    scale = observed_suffix(fit)
    icc, severity = (scalar_draws(fit, name + scale) for name in ("icc", "labeler_icc"))
    needed, needed_interval = split_whole(quantities.raters_needed(icc, reliability), prob)
    signal, signal_interval = split_percentage(icc, prob)
    now = round(float(np.median(fit.ratings.ratings_per_item)))
    reached = quantities.icc_k(icc, now)
    level = f"{100 * prob:g}% interval"
    sentences = [
        f"Of the variance of a single rating, {signal} comes from true differences between the "
        f"items and the rest from rater severity and noise (the ICC; {level} {signal_interval}). "
        f"For means with a reliability of {reliability:g}, each item needs "
        f"{number_of_ratings(needed)} by different raters ({level} {needed_interval}).",
        f"Rater severity accounts for {percentage(severity, prob)} of that variance.",
        f"{_ratings_per_item(fit.ratings, now)} a reliability of {estimate_text(reached, prob)}.",
    ]
    if fit.note:
        sentences.append(_on_few(fit, prob))
    if scale:
        sentences.append(
            "These figures are on the scale of the ratings. On the latent scale, items account "
            f"for {percentage(scalar_draws(fit, 'icc'), prob)} of the variance."
        )
    reach = f"{number_of_ratings(needed)} per item {'reaches' if needed == '1' else 'reach'}"
    return Answer(
        f"A single rating is {signal} signal; {reach} a reliability of {reliability:g} "
        f"({needed_interval})",
        tuple(sentences),
        (
            percentage_figure("signal in a single rating", icc, prob),
            percentage_figure("rater severity in a single rating", severity, prob),
            Figure(
                f"ratings per item for a reliability of {reliability:g}", needed, needed_interval
            ),
            number_figure(
                f"reliability with {number_of_ratings(str(now))} per item, as now", reached, prob
            ),
        ),
    )


def _on_few(fit: Fit, prob: float) -> str:
    """What drives the interval where raters or items are few, and what does not depend on it."""
    same = percentage(scalar_draws(fit, "icc_consistency"), prob)
    scale = " of the latent score" if observed_suffix(fit) else ""
    return (
        f"{fit.note} If the same raters rate all items and only comparisons count, the signal"
        f"{scale} is {same} (the consistency ICC)."
    )


def _ratings_per_item(ratings: Ratings, median: int) -> str:
    counts = ratings.ratings_per_item
    which = "Each" if counts.min() == counts.max() else "The median"
    each = "which has" if median == 1 else "whose mean has"
    return f"{which} item has {number_of_ratings(str(median))}, {each}"
