"""The answers of models of categories: which raters to drop, and which labels to trust."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from reliabayes.arrays import Array
from reliabayes.crowds.groups import Group
from reliabayes.html_report.answers.figures import (
    Answer,
    Claim,
    Figure,
    percentage_figure,
)
from reliabayes.html_report.answers.labels import SURE, Labels, draws_for, stated_in
from reliabayes.html_report.answers.phrases import (
    misfit_caution,
    percentage,
    split_whole,
)
from reliabayes.html_report.answers.poor_raters import (
    pool_sentences,
    poor_claims,
    rater_sentences,
)
from reliabayes.partitions import RatingsDataset, example_of
from reliabayes.results.estimates import (
    estimate_text,
    is_by_rater,
    scalar_draws,
    whole_median_interval,
)
from reliabayes.results.ignored_facets import own_caution
from reliabayes.results.leading_raters import LeadingRaters, leading_raters
from reliabayes.wording import rater_names

if TYPE_CHECKING:
    from reliabayes.results.fit import Fit

UNSEEN = (
    "Ratings alone show neither items that mislead most raters nor that the few raters who differ "
    "are right: have an expert answer a random part of the items (gold)."
)

# By python -m benchmarks.statement
OF_SHARED_ERRORS = (
    "Errors that raters share remain, however many rate: of eight public crowds 64% to 93% of the "
    "labels were right after as many ratings as should have made 95% right."
)


def true_categories_answer(
    fit: Fit, prob: float, labels: Labels, misfit: Sequence[str] = (), details: bool = True
) -> Answer:
    """Which pool and which raters to drop, which labels to trust, and how many labels are enough.

    Parameters
    ----------
    fit : Fit
        Fit of a model that reports accuracy.
    prob : float
        Probability of the intervals.
    labels : Labels
        How many of them are nearly certain.
    misfit : sequence of str
        What the model does not reproduce of the ratings, by predictive checks.
    details : bool, default True
        Whether to say more about the main numbers.

    Returns
    -------
    Answer
    """
    draws = draws_for(fit)
    correct = fit.correct_share(draws=draws, stated=stated_in(fit)).values.ravel()
    unknown, trusted = labels.unknown, labels.trusted
    caution = own_caution(fit.model, fit.ratings).rstrip(".") if unknown == labels.items else ""
    pool, raters = poor_claims(fit)
    found = [Claim(text, caution) for text, is_poor in (pool, raters) if text and is_poor]
    others = [Claim(text, caution) for text, is_poor in (pool, raters) if text and not is_poor]
    trust = Claim(_trust(labels), _label_caution(fit, misfit) if unknown else "")
    claims = [*found, trust, *others]
    if misfit and not unknown:
        claims[0] = replace(claims[0], caution=misfit_caution(misfit))
    if unknown and fit.near_chance:
        return _of_chance(fit, correct, prob)
    if unknown and fit.crowd is not None and fit.crowd.outvoting is not None:
        return _of_outvoting(fit.crowd.outvoting, fit)
    is_unknown = unknown and fit.crowd is not None and not fit.crowd.groups
    leading = leading_raters(fit.ratings) if is_unknown else None
    if leading is not None:
        basis = _if_independent(labels, leading)
        claims = [basis, *(claim for claim in claims if claim is not trust)]
    figures = [percentage_figure(f"of ratings {_equal(fit)}", correct, prob)]
    if unknown:
        share = f"{math.floor(100 * trusted / unknown)}%"
        certain = f"of labels are at least {SURE:.0%} likely"
        figures.append(Figure(certain, share, f"{trusted:,} of {unknown:,}"))
    number, against_gold = None, UNSEEN if unknown == labels.items else None
    if not fit.model.conditional:
        number = fit.raters_needed(accuracy=SURE).values.ravel()
        figures.append(_needed_figure(number, prob))
    is_in_parts = isinstance(fit.ratings, RatingsDataset)
    if unknown < labels.items and not fit.model.conditional and not is_in_parts:
        figure, against_gold = _against_gold(fit, prob)
        figures.append(figure)
    sentences = _details(fit, correct, number, against_gold, prob) if details else []
    if details and labels.honest is not None and unknown:
        sentences[1:1] = _honesty(fit, labels)
    return Answer(tuple(claims), tuple(figures), tuple(sentences))


def _details(
    fit: Fit, correct: Array, number: Array | None, against_gold: str | None, prob: float
) -> list[str]:
    """More about the main numbers: correct ratings, how many an item needs, pools and raters."""
    sentences = [
        f"{percentage(correct, prob)} of ratings {_equal(fit)}: they are the true category, "
        "whether by knowledge or by luck."
    ]
    if number is not None:
        sentences.append(_needed_sentence(fit, number, prob))
    if against_gold is not None:
        sentences.append(against_gold)
    if len(fit.ratings.pools) > 1:
        sentences += pool_sentences(fit, prob)
    if is_by_rater(fit, "accuracy"):
        sentences += rater_sentences(fit, prob)
    if "bits_per_rating" in fit.quantities:
        bits, size = scalar_draws(fit, "bits_per_rating"), len(fit.ratings.categories)
        sentences.append(
            f"Encoding a rating costs {estimate_text(bits, prob, '.3f')} bits with the model, "
            f"against {math.log2(size):.2f} for uniform guessing among {size} categories."
        )
    return sentences


def _honesty(fit: Fit, labels: Labels) -> list[str]:
    """How many labels the model by itself holds to be certain, and what more answers would tell."""
    few = " Without known answers few labels of a small crowd get that far, though raters agree."
    return [
        f"The model by itself holds {labels.by_model:,} labels to be at least {SURE:.0%} likely. "
        "It takes raters to err independently; what is stated here is calibrated on other crowds, "
        "and allows for errors that votes do not show."
        f"{few * (labels.unknown == labels.items)}",
        f"{fit.next_items().attrs['note']} fit.next_items(50) names them: find out their category, "
        "and pass it as gold.",
    ]


def _equal(fit: Fit) -> str:
    """What ratings are that have the true category."""
    pools = len(fit.ratings.pools)
    return f"equal the consensus of {pools} pools" if pools > 1 else "are right"


def _trust(labels: Labels) -> str:
    """How many labels are nearly certain, and how many a person should look at."""
    items, total, trusted = labels.items, labels.unknown, labels.trusted
    if not total:
        return f"The true categories of all {items:,} items are known"
    which = "labels" if total == items else "labels without a known answer"
    sure = f"(at least {SURE:.0%} likely)"
    rest = f"the other {total - trusted:,}"
    if total - trusted == 1:
        rest = "the other one"
    if trusted == total:
        return f"Trust all {total:,} {which} {sure}"
    if not trusted:
        return f"Trust none of the {total:,} {which} yet: none is {sure[1:-1]}"
    return f"Trust {trusted:,} of {total:,} {which} {sure}; have a person look at {rest}"


def _of_chance(fit: Fit, correct: Array, prob: float) -> Answer:
    """That the prior decides what is true, where raters are hardly better than chance."""
    claim = Claim(
        "Do not trust these labels yet: raters are near chance, and the prior decides",
        fit.near_chance.rstrip("."),
    )
    figure = percentage_figure(f"of ratings {_equal(fit)}, by the prior", correct, prob)
    return Answer((claim,), (figure,), ())


def _of_outvoting(group: Group, fit: Fit) -> Answer:
    """What is in doubt, where raters who make the same errors cast most of the votes."""
    name = rater_names(example_of(fit.ratings).raters[group.raters])
    claim = Claim(
        f"Do not trust these labels yet: {name} make the same errors", fit.common_errors.rstrip(".")
    )
    figures = (
        Figure(f"is the correlation of the errors of {name}", f"{group.correlation:.2f}"),
        Figure(
            f"independent votes are what {len(group.raters)} of theirs count as",
            f"{group.effective_votes:.1f}",
        ),
    )
    pools = "name their pools (pool=...)"
    if len(fit.ratings.pools) > 1:
        pools = "see the agreement of the pools, or fit each alone: ratings.subset(pools=[...])"
    return Answer(
        (claim,),
        figures,
        (
            "More ratings by others would tell which labels are right: have them rate a random "
            "part of the items, or give known answers (gold). "
            f"To compare {name} with the others, {pools}.",
        ),
    )


def _if_independent(labels: Labels, leading: LeadingRaters) -> Claim:
    """Instead of which labels to trust: how many, if those on whom they rest are independent."""
    text = (
        f"Most labels rest on {leading.name}: if they err independently, "
        f"{labels.by_model:,} of {labels.unknown:,} are at least {SURE:.0%} likely"
    )
    return Claim(text, leading.caution.rstrip("."))


def _label_caution(fit: Fit, misfit: Sequence[str]) -> str:
    if fit.crowd is not None and fit.crowd.groups:
        return fit.common_errors.rstrip(".")
    if not misfit:
        return ""
    return (
        f"{misfit_caution(misfit)}. If raters err together, more of the trusted labels are wrong "
        "than stated"
    )


def _needed_figure(number: Array, prob: float) -> Figure:
    value, interval = _needed_text(number, prob)
    name = f"labels an item for {SURE:.0%} accuracy, if errors are independent"
    return Figure(name, value, interval)


def _needed_text(number: Array, prob: float) -> tuple[str, str]:
    value, interval = split_whole(number, prob)
    return value.replace("∞", "> 50"), interval.replace("∞", "more than 50")


def _needed_sentence(fit: Fit, number: Array, prob: float) -> str:
    """How many labels an item needs, if all get as many or if one stops when sure."""
    value, interval = _needed_text(number, prob)
    fixed = (
        f"If raters err independently, {SURE:.0%} of labels are right after {value} ratings an "
        f"item by such raters ({100 * prob:g}% interval {interval})"
    )
    adaptive = fit.raters_needed(accuracy=SURE, adaptive=True).values.ravel()
    mean, lower, upper = whole_median_interval(adaptive, prob)
    if not np.isfinite(mean):
        return f"{fixed}."
    most = f"{upper:.1f}" if np.isfinite(upper) else "more than 50"
    return (
        f"{fixed}, or {mean:.1f} on average ({lower:.1f} to {most}) if an item gets no more as "
        f"soon as its label is {SURE:.0%} likely. {OF_SHARED_ERRORS}"
    )


def _against_gold(fit: Fit, prob: float) -> tuple[Figure, str]:
    """How often the model's labels equal known answers, compared with majority votes."""
    table = fit.against_gold(prob)
    (model, majority) = (
        (f"{row.iloc[2]:.0%}", f"{row.iloc[3]:.0%} to {row.iloc[4]:.0%}", f"{row.iloc[0]:,.0f}")
        for _, row in table.loc[["labels"]].iterrows()
    )
    figure = Figure(f"of labels right, of {model[2]} with known answers", *model[:2])
    return figure, (
        f"Of {model[2]} items with a known answer, the model would have labelled {model[0]} right "
        f"without it ({100 * prob:g}% interval {model[1]}), majority votes {majority[0]} "
        f"({majority[1]})."
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
    caution = own_caution(fit.model, fit.ratings)
    if caution:
        claim = Claim("This model cannot show how often raters know the true category", caution)
        return Answer(
            (claim,), figures, ("A low figure here does not mean that raters do not know.",)
        )
    claim = Claim(
        f"Raters know the true category in {np.median(draws):.0%} of cases and otherwise follow an "
        "earlier rating"
    )
    return Answer(
        (claim,),
        figures,
        ("This holds if raters rated in the order of their ids and saw the earlier ratings.",),
    )
