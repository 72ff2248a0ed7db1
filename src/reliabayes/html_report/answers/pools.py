"""The answer of models of pools: how closely pools agree, and how consistent each is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    pool_names,
    split_whole,
    with_probability,
)
from reliabayes.html_report.answers.severity import claims_on_raters
from reliabayes.partitions import RatingsDataset
from reliabayes.results import quantities
from reliabayes.results.estimates import draws_by_label, estimate_text, observed_suffix
from reliabayes.wording import joined, shown

if TYPE_CHECKING:
    from reliabayes.ratings import Ratings
    from reliabayes.results.fit import Fit

MAX_POOLS = 4  # pools that are described one by one
MAX_FIGURES = 4
UNCLEAR = 0.5  # width of the 90% interval of a correlation from which on it says little
SAME = (  # least correlations of true scores, and what they mean
    (0.9, "Yes, {} see nearly the same thing"),
    (0.7, "Largely, {} see the same thing"),
    (0.4, "Only in part do {} see the same thing"),
    (-1.0, "No, {} hardly see the same thing"),
)


def pools_answer(fit: Fit, prob: float, reliability: float, misfit: Sequence[str] = ()) -> Answer:
    """How closely pools agree, which agree most and least, and how consistent each is.

    Parameters
    ----------
    fit : Fit
        Fit of a model that reports xCC.
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
    scale, pools = observed_suffix(fit), len(fit.ratings.pools)
    true_scores, single = (
        draws_by_label(fit, name + scale) for name in ("normalized_xcc", "unnormalized_xcc")
    )
    unknown = _pairs_without_common_items(fit)
    known = {pair: draws for pair, draws in true_scores.items() if pair not in unknown}
    if not known:
        claim = Claim(
            f"The {pools} pools share no items: the ratings carry no information about their "
            "agreement"
        )
        return Answer(
            (claim, *claims_on_raters(fit), *_level_claim(fit)),
            _signal_figures(fit, scale, prob),
            (_consistency(fit, scale, prob, reliability),),
        )
    ordered = sorted(known, key=lambda pair: float(np.median(known[pair])))
    best, worst = ordered[-1], ordered[0]
    claims = (
        Claim(_verdict(known, best, worst, pools), misfit_caution(misfit)),
        *claims_on_raters(fit),
        *_level_claim(fit),
    )
    sentences = [
        f"True scores are means of very many ratings; single ratings by {pool_names(best)} "
        f"correlate {estimate_text(single[best], prob)}.",
        *_least_agreement(known, best, worst, prob),
        _consistency(fit, scale, prob, reliability),
        *_level_difference(fit, prob),
    ]
    if scale:
        latent = draws_by_label(fit, "normalized_xcc")[best]
        sentences.append(
            "These figures are on the scale of the ratings. The latent scores of "
            f"{pool_names(best)} correlate {estimate_text(latent, prob)}."
        )
    if unknown:
        sentences.insert(
            0,
            f"No item was rated by both {' or by both '.join(map(pool_names, unknown))}: the "
            "ratings carry no information about their correlation, and its posterior is the prior.",
        )
    shown = dict.fromkeys([best, worst])
    figures = [
        number_figure(f"correlation of true scores, {pool_names(pair)}", known[pair], prob)
        for pair in shown
    ]
    label = f"correlation of single ratings, {pool_names(best)}"
    figures.append(number_figure(label, single[best], prob))
    figures += _signal_figures(fit, scale, prob)
    return Answer(claims, tuple(figures[:MAX_FIGURES]), tuple(sentences))


def _verdict(known: Mapping[str, Array], best: str, worst: str, pools: int) -> str:
    """Whether pools see the same thing: the correlation of their true scores in words."""
    if pools > 2 and best != worst:
        return (
            f"Of {pools} pools, {pool_names(best)} agree most (their true scores correlate "
            f"{np.median(known[best]):.2f}) and {pool_names(worst)} least "
            f"({np.median(known[worst]):.2f})"
        )
    lower, median, upper = np.quantile(known[best], [0.05, 0.5, 0.95])
    names = pool_names(best)
    correlation = f"their true scores correlate {median:.2f}"
    if upper - lower > UNCLEAR:
        return (
            f"Unclear yet whether {names} see the same thing: {correlation}, and may correlate "
            f"{lower:.2f} or {upper:.2f}"
        )
    words = next(words for least, words in SAME if median >= least)
    return f"{words.format(names)}: {correlation}"


def _level_claim(fit: Fit) -> tuple[Claim, ...]:
    """How high each pool rates, or how often it gives the last of two categories."""
    name = next((name for name in ("rate", "mean") if name in fit.quantities), None)
    if name is None or fit.quantities[name].dims[2:] != ("pool",):
        return ()
    levels = {pool: float(np.median(x)) for pool, x in draws_by_label(fit, name).items()}
    if len(levels) > MAX_POOLS:
        return ()
    if name == "rate":
        each = [f"{pool} in {level:.0%} of ratings" for pool, level in levels.items()]
        category = fit.ratings.categories[-1]
        return (Claim(f"Category {shown(category)} is given by {joined(each)}"),)
    each = [f"{pool} {level:.2f}" for pool, level in levels.items()]
    return (Claim(f"Mean ratings: {joined(each)}"),)


def _signal_figures(fit: Fit, scale: str, prob: float) -> tuple[Figure, ...]:
    """Signal in a single rating, for the first few pools."""
    icc = draws_by_label(fit, "icc" + scale)
    return tuple(
        percentage_figure(f"signal in a single rating, {pool}", icc[pool], prob)
        for pool in list(icc)[:MAX_POOLS]
    )


def _least_agreement(known: Mapping[str, Array], best: str, worst: str, prob: float) -> list[str]:
    """How much more the best pair agrees than the worst."""
    if best == worst:
        return []
    difference = known[best] - known[worst]
    return [
        f"Pools {pool_names(worst)} agree least: their true scores correlate "
        f"{estimate_text(known[worst], prob)}. {with_probability(difference)}, {pool_names(best)} "
        f"agree more; the difference is {estimate_text(difference, prob, '+.2f')}."
    ]


def _consistency(fit: Fit, scale: str, prob: float, reliability: float) -> str:
    """How much of a rating is signal in each pool, and how many ratings are enough."""
    icc = draws_by_label(fit, "icc" + scale)
    needed = {
        pool: split_whole(quantities.raters_needed(draws, reliability), prob)
        for pool, draws in icc.items()
    }
    pools = sorted(icc, key=lambda pool: float(np.median(icc[pool])))
    lowest, highest = pools[0], pools[-1]
    shown = list(icc) if len(icc) <= MAX_POOLS else [lowest, highest]
    signals = joined([f"{percentage(icc[pool], prob)} signal in {pool}" for pool in shown])
    enough = joined(
        [f"{number_of_ratings(n)} in {pool} ({to})" for pool in shown for n, to in [needed[pool]]]
    )
    comparison = ""
    if len(icc) == 2:
        comparison = (
            f" {with_probability(icc[highest] - icc[lowest])}, ratings are more consistent in "
            f"{highest}."
        )
    extremes = "" if len(shown) == len(icc) else "From the least to the most consistent pool, a"
    return (
        f"{extremes or 'A'} single rating is {signals}.{comparison} A mean with a reliability of "
        f"{reliability:g} takes {enough}."
    )


def _level_difference(fit: Fit, prob: float) -> list[str]:
    """How much higher one of two pools rates, if that is a single number."""
    names = {"rate": f"proportion of {fit.ratings.categories[-1]}", "mean": "mean"}
    name = next((name for name in names if name in fit.quantities), None)
    if name is None or fit.quantities[name].dims[2:] != ("pool",) or len(fit.ratings.pools) > 2:
        return []
    (high, first), (low, second) = draws_by_label(fit, name).items()
    difference = first - second
    if np.mean(difference > 0) < 0.5:
        high, low, difference = low, high, -difference
    return [
        f"{with_probability(difference)}, {high} rates higher than {low}: the {names[name]} "
        f"differs by {estimate_text(difference, prob)}."
    ]


def _pairs_without_common_items(fit: Fit) -> list[str]:
    """Labels of the pairs of pools that have no item in common."""
    ratings = fit.ratings
    if ratings.rater_pool is None:
        return []
    if isinstance(ratings, RatingsDataset):
        common = ratings.sum(_common_items)
    else:
        common = _common_items(ratings)
    pairs = zip(*np.triu_indices(len(common), 1), strict=True)
    names = ratings.pools.tolist()
    return [f"{names[a]}, {names[b]}" for a, b in pairs if not common[a, b]]


def _common_items(ratings: Ratings) -> Array:
    """Number (G, G) of items that were rated by both of two pools."""
    pool_of = ratings.rater_pool
    assert pool_of is not None
    rated = np.zeros((ratings.n_items, len(ratings.pools)), bool)
    rated[ratings.item, pool_of[ratings.rater]] = True
    return np.asarray(rated.T.astype(float) @ rated)
