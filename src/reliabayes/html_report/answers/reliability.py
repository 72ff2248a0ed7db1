"""The answer of models with an ICC: whether means of ratings are reliable, and who is severe."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from reliabayes.arrays import Array
from reliabayes.html_report.answers.figures import (
    Answer,
    Claim,
    Figure,
    number_figure,
    percentage_figure,
)
from reliabayes.html_report.answers.phrases import (
    misfit_caution,
    number_of_ratings,
    percentage,
    split_percentage,
    split_whole,
)
from reliabayes.html_report.answers.severity import claims_on_raters, severity_claim
from reliabayes.html_report.answers.typical_item import TypicalItem
from reliabayes.results import quantities
from reliabayes.results.estimates import estimate_text, observed_suffix, scalar_draws

if TYPE_CHECKING:
    from reliabayes.results.fit import Fit

SURE = 0.95  # probability from which on the verdict is plain


def reliability_answer(
    fit: Fit, prob: float, reliability: float, misfit: Sequence[str] = ()
) -> Answer:
    """Whether the ratings at hand are reliable, how many are enough, and who is severe.

    Parameters
    ----------
    fit : Fit
        Fit of a model with an ICC and without pools.
    prob : float
        Probability of the intervals.
    reliability : float
        Target reliability of means of ratings.
    misfit : sequence of str
        What the model does not reproduce of the ratings, by predictive checks.

    Returns
    -------
    Answer
    """
    scale = observed_suffix(fit)
    icc, severity = _icc_and_severity(fit)
    enough = quantities.raters_needed(icc, reliability)
    needed, needed_interval = split_whole(enough, prob)
    signal, signal_interval = split_percentage(icc, prob)
    typical = TypicalItem.of(fit.ratings)
    now, reached = typical.ratings, _reached(icc, severity, typical)
    level = f"{100 * prob:g}% interval"
    sentences = [
        f"Of the variance of a single rating, {signal} comes from true differences between the "
        f"items and the rest from rater severity and noise (the ICC; {level} {signal_interval}). "
        f"For means with a reliability of {reliability:g}, each item needs "
        f"{number_of_ratings(needed)} by different raters ({level} {needed_interval}).",
        f"Rater severity accounts for {percentage(severity, prob)} of that variance.",
        f"{_ratings_per_item(typical)} a reliability of {estimate_text(reached, prob)}.",
    ]
    if fit.note:
        sentences.append(_on_few(fit, prob))
    if scale:
        sentences.append(
            "These figures are on the scale of the ratings. On the latent scale, items account "
            f"for {percentage(scalar_draws(fit, 'icc'), prob)} of the variance."
        )
    have = _have(typical)
    claims = [Claim(_verdict(reached, have, str(now), needed, reliability), misfit_caution(misfit))]
    claims += claims_on_raters(fit)
    if severe := severity_claim(fit):
        claims.append(Claim(severe))
    return Answer(
        tuple(claims),
        (
            number_figure(
                f"reliability with {number_of_ratings(str(now))} an item, as now", reached, prob
            ),
            Figure(
                f"ratings an item for a reliability of {reliability:g}", needed, needed_interval
            ),
            percentage_figure("signal in a single rating", icc, prob),
            percentage_figure("rater severity in a single rating", severity, prob),
        ),
        tuple(sentences),
    )


def reliability_to_report(fit: Fit, prob: float) -> str:
    """The reliability of a single rating and of an item's mean, as papers should report both.

    Parameters
    ----------
    fit : Fit
        Fit of a model with an ICC and without pools.
    prob : float
        Probability of the intervals.

    Returns
    -------
    str
    """
    icc, severity = _icc_and_severity(fit)
    typical = TypicalItem.of(fit.ratings)
    mean = _reached(icc, severity, typical)
    return (
        f"{estimate_text(icc, prob)} for a single rating (inter-rater reliability, IRR) and "
        f"{estimate_text(mean, prob)} for the mean of {number_of_ratings(str(typical.ratings))} "
        f"(k-rater reliability, kRR)"
    )


def _icc_and_severity(fit: Fit) -> tuple[Array, Array]:
    """Draws of the proportions of the variance of a rating that items and raters account for."""
    scale = observed_suffix(fit)
    return scalar_draws(fit, "icc" + scale), scalar_draws(fit, "labeler_icc" + scale)


def _reached(icc: Array, severity: Array, typical: TypicalItem) -> Array:
    """Draws of the reliability of the mean of the ratings of a typical item.

    Ratings of an item by the same rater share the rater's severity.
    """
    if not typical.has_repeats:
        return quantities.icc_k(icc, typical.ratings)
    noise = 1 - icc - severity
    found: Array = icc / (icc + severity / typical.independent + noise / typical.ratings)
    return found


def _have(typical: TypicalItem) -> str:
    """How many ratings a typical item has, as the subject of a sentence with its verb."""
    by = ""
    if typical.has_repeats:
        by = f" by {typical.raters} rater{'s' * (typical.raters != 1)}"
    number = number_of_ratings(str(typical.ratings))
    return f"{number} an item{by} {'gives' if typical.ratings == 1 else 'give'}"


def _verdict(reached: Array, have: str, now: str, needed: str, wanted: float) -> str:
    """Whether the ratings at hand have the wanted reliability, and how many would have it."""
    sure = float(np.mean(reached >= wanted))
    level = f"{np.median(reached):.2f}"
    is_rounded = sure < 0.5 and level == f"{wanted:.2f}"
    found = f"{have} a reliability {f'just below {level}' if is_rounded else f'of {level}'}"
    if sure >= 0.5:
        fewer = f"; {needed} would do for {wanted:.2f}" if needed != now else ""
        return f"Yes: {found}{fewer}" if sure >= SURE else f"Probably: {found}{fewer}"
    what = "this" if is_rounded else f"{wanted:.2f}"
    more = f"{what} takes {needed}" if needed != "∞" else f"no number reaches {wanted:.2f}"
    return f"Not yet: {found}; {more}"


def _on_few(fit: Fit, prob: float) -> str:
    """What drives the interval where raters or items are few, and what does not depend on it."""
    same = percentage(scalar_draws(fit, "icc_consistency"), prob)
    scale = " of the latent score" if observed_suffix(fit) else ""
    return (
        f"{fit.note} If the same raters rate all items and only comparisons count, the signal"
        f"{scale} is {same} (the consistency ICC)."
    )


def _ratings_per_item(typical: TypicalItem) -> str:
    which = "Each" if typical.are_alike else "The median"
    each = "which has" if typical.ratings == 1 else "whose mean has"
    return f"{which} item has {number_of_ratings(str(typical.ratings))}, {each}"
