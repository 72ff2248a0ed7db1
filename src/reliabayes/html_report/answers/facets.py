"""The answer of models with facets: how reliable means are, what the error is, and what to add."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from reliabayes.arrays import Array, Codes
from reliabayes.facets import Decision, MeasurementDesign
from reliabayes.facets.effects import levels_of
from reliabayes.html_report.answers.figures import (
    Answer,
    Claim,
    Figure,
    number_figure,
    percentage_figure,
)
from reliabayes.html_report.answers.phrases import (
    misfit_caution,
    percentage,
    split_percentage,
)
from reliabayes.html_report.answers.typical_item import median_of
from reliabayes.likelihoods.observed_means import ObservedMeans
from reliabayes.partitions import RatingsDataset, in_memory
from reliabayes.results.estimates import estimate_text
from reliabayes.wording import counted, joined, several

if TYPE_CHECKING:
    from reliabayes.partitions import AnyRatings
    from reliabayes.ratings import Ratings
    from reliabayes.results.decision_study import DStudy
    from reliabayes.results.fit import Fit

Reliability = Callable[[Mapping[str, int]], Array]  # draws of it, by levels of facets

SURE = 0.95  # probability from which on the verdict is plain
MOST_LEVELS = 100  # that are tried of a facet
FEW_LEVELS = 8  # that a study of facets goes up to at least


def facets_answer(fit: Fit, prob: float, reliability: float, misfit: Sequence[str] = ()) -> Answer:
    """Whether means of the ratings at hand are reliable, what limits them, and what would help.

    Parameters
    ----------
    fit : Fit
        Fit of a model that reports phi.
    prob : float
        Probability of the intervals.
    reliability : float
        Target reliability of means of ratings, for absolute decisions.
    misfit : sequence of str
        What the model does not reproduce of the ratings, by predictive checks.

    Returns
    -------
    Answer
    """
    decision = fit.decision()
    now = levels_now(fit.ratings, decision.design)
    means = None
    if "phi_observed" in fit.quantities:
        means = ObservedMeans.of(decision, fit.posterior["cut"].values)
    phi: Reliability = means.phi if means else partial(_phi, decision)
    reached = phi(now).ravel()
    single, relative = (
        fit.quantities[name].values.ravel() for name in ("phi_observed" if means else "phi", "g")
    )
    largest, share = _largest_error(fit, decision)
    of_variance = "" if means else f", {split_percentage(share, prob)[0]} of its variance,"
    claims = (
        Claim(_verdict(reached, phi, now, reliability), misfit_caution(misfit)),
        Claim(
            f"The largest part of the error of a single rating{of_variance} {_in_words(largest)}"
        ),
    )
    of_object = decision.design.facets[0]
    comparisons = f"; {percentage(relative, prob)} if only comparisons count (G)"
    sentences = [
        f"Of the variance of a single rating, {percentage(single, prob)} comes from true "
        f"differences between {several(of_object)} (Phi, for absolute decisions)"
        f"{'' if means else comparisons}.",
        f"With {_in_levels(now)} the reliability is {estimate_text(reached, prob)}.",
        *filter(None, [fit.note]),
    ]
    figures = [
        number_figure(f"reliability with {_in_levels(now)}, as now", reached, prob),
        percentage_figure("signal in a single rating", single, prob),
    ]
    if means:
        figures.append(_difference(fit, means.difference.ravel(), of_object, prob))
        sentences.append(_latent(fit, largest, share, comparisons, prob))
    else:
        part = f"of the variance comes from {_short(largest)}"
        change = fit.quantities["mdc"].values.ravel()
        unit = "smallest change beyond error (95%), in units of the rating"
        figures += [
            percentage_figure(part, share, prob),
            number_figure(unit, change, prob, has_bar=False),
        ]
    return Answer(claims, tuple(figures), tuple(sentences))


def _phi(decision: Decision, levels: Mapping[str, int]) -> Array:
    """Draws of the reliability of means under so many levels."""
    return replace(decision, levels=levels).phi


def _largest_error(fit: Fit, decision: Decision) -> tuple[str, Array]:
    """The source of most of the error of a single rating, and its proportion of all variance."""
    found = fit.quantities["proportion"]
    error = {
        source.name: found.sel(source=source.name).values.ravel()
        for source in decision.sources
        if source.facets - decision.design.measured - decision.fixed
    }
    largest = max(error, key=lambda name: float(np.median(error[name])))
    return largest, error[largest]


def _difference(fit: Fit, difference: Array, of_object: str, prob: float) -> Figure:
    """How far two ratings of an object lie apart, in categories."""
    if len(fit.ratings.categories) == 2:
        return percentage_figure(f"of pairs of ratings of one {of_object} differ", difference, prob)
    name = f"average difference between two ratings of one {of_object}, in categories"
    return number_figure(name, difference, prob, has_bar=False)


def _latent(fit: Fit, largest: str, share: Array, comparisons: str, prob: float) -> str:
    """The same on the scale of the latent score, for those who report that."""
    phi, change = (fit.quantities[name].values.ravel() for name in ("phi", "mdc"))
    return (
        "These figures are on the scale of the ratings. On the latent scale, Phi is "
        f"{percentage(phi, prob)}{comparisons}; {percentage(share, prob)} of the variance "
        f"{_in_words(largest)}; and the smallest change beyond error (95%) is "
        f"{estimate_text(change, prob)} log odds."
    )


def levels_now(ratings: AnyRatings, design: MeasurementDesign) -> dict[str, int]:
    """Levels of each facet that a typical object of measurement was rated under.

    Of a nested facet, within each level of the other. Of ratings in parts, objects must be items,
    whose ratings are all in one part.
    """
    if isinstance(ratings, RatingsDataset) and "item" in design.measured:
        found = ratings.sum(partial(_numbers_of_levels, design))
    else:
        found = _numbers_of_levels(design, in_memory(ratings, "report"))
    medians = {
        name: median_of(Counter({number: n for (of, number), n in found.items() if of == name}))
        for name in design.facets
        if name not in design.measured
    }
    return {name: max(1, round(median)) for name, median in medians.items()}


def _numbers_of_levels(design: MeasurementDesign, ratings: Ratings) -> Counter[tuple[str, float]]:
    """How many objects have which number of levels of each facet, within those it is nested in."""
    facets = {name: ratings.positions(name)[0] for name in design.facets}
    cells = {source.facets: levels_of(source, facets) for source in design.sources()}
    owner, n = cells[design.measured]
    found: Counter[tuple[str, float]] = Counter()
    for name in design.facets:
        if name not in design.measured:
            outer = design.nested[name] - design.measured
            inner_levels, outer_levels = (
                _distinct(owner, n, design, cells, each) for each in (outer | {name}, outer)
            )
            found.update((name, float(x)) for x in inner_levels / outer_levels)
    return found


def study_around(fit: Fit) -> DStudy:
    """D study of up to twice the levels at hand of the first two facets, the others as they are.

    Parameters
    ----------
    fit : Fit
        Fit of a model that reports phi.
    """
    levels: dict[str, Any] = dict(levels_now(fit.ratings, fit.decision().design))
    first, *second = list(levels)[:2]
    levels[first] = range(1, 1 + max(FEW_LEVELS, 2 * levels[first]))
    for name in second:
        levels[name] = sorted({1, levels[name], 2 * levels[name]})
    return fit.d_study(levels)


def _distinct(
    owner: Codes,
    n: int,
    design: MeasurementDesign,
    cells: Mapping[frozenset[str], tuple[Codes, int]],
    facets: frozenset[str],
) -> Array:
    """Number (n,) of combinations of levels of some facets, by object of measurement."""
    if not facets:
        return np.ones(n)
    level, size = cells[facets | design.nested_in(facets)]
    pairs = np.unique(owner.astype(np.int64) * size + level)
    return np.bincount(pairs // size, minlength=n).astype(float)


def _verdict(reached: Array, phi: Reliability, now: Mapping[str, int], wanted: float) -> str:
    """Whether the means at hand have the wanted reliability, and what would have it."""
    sure = float(np.mean(reached >= wanted))
    found = f"{_in_levels(now)} give a reliability of {np.median(reached):.2f}"
    if sure >= 0.5:
        return f"{'Yes' if sure >= SURE else 'Probably'}: {found}"
    ways = [way for name in now if (way := _enough(phi, now, name, wanted))]
    more = (
        f"{wanted:.2f} takes {joined(ways).replace(' and ', ' or ')}"
        if ways
        else f"no number of levels of one facet alone reaches {wanted:.2f}"
    )
    return f"Not yet: {found}; {more}"


def _enough(phi: Reliability, now: Mapping[str, int], name: str, wanted: float) -> str:
    """How many levels of one facet would do, the others as now; empty if no number would."""

    def suffices(number: int) -> bool:
        return float(np.median(phi({**now, name: number}))) >= wanted

    numbers = range(now[name] + 1, MOST_LEVELS + 1)
    first = bisect_left(numbers, True, key=suffices)
    return counted(numbers[first], name) if first < len(numbers) else ""


def _in_levels(now: Mapping[str, int]) -> str:
    """Numbers of levels, such as "4 raters and 2 occasions"."""
    return joined([counted(number, name) for name, number in now.items()])


def _in_words(source: str) -> str:
    """Where the error of a source of variance comes from, as the end of a sentence."""
    if source.endswith("residual"):
        return "is explained by no facet"
    first, *others = source.split(" x ")
    if not others:
        return f"comes from differences between {several(first)}"
    if len(others) > 1 or ":" in source:
        return f"comes from the interaction {source}"
    changes = f" that change from {others[0]} to {others[0]}"
    return f"comes from differences between {several(first)}{changes}"


def _short(source: str) -> str:
    return "the residual" if source.endswith("residual") else source
