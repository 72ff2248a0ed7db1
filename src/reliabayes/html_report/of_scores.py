"""How consistent ratings are: what a fit with an ICC answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reliabayes.html_report.wording import (
    Answer,
    Figure,
    draws_of,
    number_figure,
    number_of_ratings,
    share,
    share_figure,
    split_share,
    whole,
)
from reliabayes.plots.densities import interval
from reliabayes.plots.reliability import as_given
from reliabayes.results import quantities

if TYPE_CHECKING:
    from reliabayes.results.fit import Fit


def of_scores(fit: Fit, prob: float, reliability: float) -> Answer:
    """How much of a rating is signal, and how many ratings are enough."""
    scale = as_given(fit)
    icc, severity = (draws_of(fit, name + scale) for name in ("icc", "labeler_icc"))
    needed = quantities.raters_needed(icc, reliability)
    median, range_ = whole(needed, prob)
    signal, signal_range = split_share(icc, prob)
    now = round(float(np.median(fit.ratings.ratings_per_item)))
    reached = quantities.icc_k(icc, now)
    level = f"{100 * prob:g}% interval"
    sentences = [
        f"Of the variance of a single rating, {signal} comes from true differences between the "
        f"items, the rest from who rated and from chance (the ICC; {level} {signal_range}); for "
        f"means with a reliability of {reliability:g}, each item needs {number_of_ratings(median)} "
        f"by different raters ({level} {range_}).",
        f"How strict or mild raters are makes {share(severity, prob)} of that variance.",
        f"{_each(fit)}: the reliability of {'their mean' if now > 1 else 'each'} is "
        f"{interval(reached, prob)}.",
    ]
    if scale:
        sentences.append(
            "All this is of the ratings as given. Of the latent score behind them, "
            f"{share(draws_of(fit, 'icc'), prob)} is the item's."
        )
    return Answer(
        f"A single rating is {signal} signal; {_reach(median)} a reliability of {reliability:g} "
        f"({range_})",
        tuple(sentences),
        (
            share_figure("signal in a single rating", icc, prob),
            share_figure("severity of raters in it", severity, prob),
            Figure(f"ratings per item for {reliability:g}", f"{median}", range_),
            number_figure(f"reliability of {now} per item, as now", reached, prob),
        ),
    )


def _reach(number: str) -> str:
    return f"{number_of_ratings(number)} per item {'reaches' if number == '1' else 'reach'}"


def _each(fit: Fit) -> str:
    """How many ratings items have."""
    counts = fit.ratings.ratings_per_item
    middle_ = round(float(np.median(counts)))
    if counts.min() == counts.max():
        return f"Items have {number_of_ratings(str(middle_))} each"
    return f"The median item has {number_of_ratings(str(middle_))}"
