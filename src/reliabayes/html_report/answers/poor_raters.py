"""Which pool and which raters of categories are poor, and how good the others are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from reliabayes.arrays import Array
from reliabayes.html_report.answers.labels import draws_for, stated_in
from reliabayes.html_report.answers.phrases import percentage
from reliabayes.results.estimates import is_by_rater
from reliabayes.results.ignored_facets import own_caution
from reliabayes.results.known_answers import has_answers
from reliabayes.results.rater_quality import ratings_by_category
from reliabayes.wording import joined, rater_names, shown

if TYPE_CHECKING:
    from reliabayes.results.fit import Fit

SURE = 0.95  # probability from which on a rater or a pool is called poor
WORSE = 0.05  # by how much the accuracy of a poor pool is lower at least
ALWAYS = 0.95  # proportion of a rater's ratings from which on one category is all they give

Finding = tuple[str, bool]  # a sentence, and whether somebody is to be dropped


def poor_claims(fit: Fit) -> tuple[Finding, Finding]:
    """What `poor_pool_claim` and `poor_raters_claim` say, without raters of a poor pool.

    Parameters
    ----------
    fit : Fit
        Fit of a model that reports accuracy.

    Returns
    -------
    tuple of two pairs of str and bool
    """
    sentence, worst = poor_pool_claim(fit)
    to_drop = worst is not None and has_answers(fit.ratings)
    return (sentence, to_drop), poor_raters_claim(fit, without=worst)


def poor_pool_claim(fit: Fit) -> tuple[str, Any]:
    """Whether one pool is clearly less accurate than all others.

    Without known answers a pool is judged by a consensus to which the others contribute, and may
    differ because its raters see something else. It is then not said to be dropped.

    Parameters
    ----------
    fit : Fit
        Fit of a model that reports accuracy.

    Returns
    -------
    tuple of str and object
        A sentence, empty where there is one pool; and the pool that is clearly lowest, or None.
    """
    if len(fit.ratings.pools) < 2 or not is_by_rater(fit, "accuracy"):
        return "", None
    draws = fit.accuracies("pool", stated=stated_in(fit))
    median = draws.median(("chain", "draw"))
    worst, *others = median.sortby(median).pool.values
    gap = (draws.sel(pool=others).min("pool") - draws.sel(pool=worst)).values
    shares = {pool: f"{float(median.sel(pool=pool)):.0%}" for pool in [*others[::-1], worst]}
    *better, lowest = [f"{share} of {pool}'s" for pool, share in shares.items()]
    if np.mean(gap > 0) >= SURE and np.median(gap) >= WORSE:
        if not has_answers(fit.ratings):
            found = f"in {shares[worst]} of its labels, against {joined(better)}"
            return f"Pool {worst} agrees least with the consensus of all pools: {found}", worst
        found = f"{shares[worst]} of its labels are right, against {joined(better)}"
        return f"Drop or retrain {worst}: {found}", worst
    shares_of = f"{joined([*better, lowest])} labels"
    if not has_answers(fit.ratings):
        return f"No pool agrees clearly less with the consensus of all: {shares_of} do", None
    return f"No pool is clearly worse: {shares_of} are right", None


def poor_raters_claim(fit: Fit, without: Any = None) -> Finding:
    """Which raters tell less than half of what a typical rater tells, and what they do instead.

    Parameters
    ----------
    fit : Fit
        Fit of a model that reports accuracy.
    without : object, optional
        A pool whose raters are not looked at.

    Returns
    -------
    tuple of str and bool
        A sentence, empty where the model does not tell; and whether there are such raters.
    """
    ratings = fit.ratings
    if not is_by_rater(fit, "accuracy") or ratings.n_raters < 3:
        return "", False
    table = fit.raters()
    poor = table[table["pr_poor"] >= SURE]
    if without is not None and ratings.rater_pool is not None:
        is_of = pd.Series(ratings.pools[ratings.rater_pool] == without, ratings.raters)
        poor = poor[~is_of.loc[poor.index].to_numpy()]
        if not len(poor):
            return "", False
    if not len(poor):
        return f"None of the {ratings.n_raters:,} raters is clearly poor", False
    spams = poor["share_most_used"] >= ALWAYS
    parts = [
        f"{rater_names(part.index)} {_verb(part, 'answer')} {shown(category)} whatever they see"
        for category, part in poor[spams].groupby("most_used", sort=False, observed=True)
    ]
    rest = poor[~spams]
    if len(rest):
        told = f"{_verb(rest, 'tell')} less than half of what a typical rater tells"
        parts.append(f"{rater_names(rest.index)} {told}")
    who = f"{len(poor):,} of {ratings.n_raters:,} raters"
    return f"Drop or retrain {who}: {'; '.join(parts)}", True


def _verb(raters: pd.DataFrame, verb: str) -> str:
    return f"{verb}s" if len(raters) == 1 else verb


def pool_sentences(fit: Fit, prob: float) -> list[str]:
    """Against what the raters of pools are judged, and how often each pool agrees with it.

    Parameters
    ----------
    fit : Fit
        Fit of a model that reports accuracy, of ratings with pools.
    prob : float
        Probability of the intervals.

    Returns
    -------
    list of str
    """
    ratings = fit.ratings
    if is_by_rater(fit, "accuracy"):  # the same numbers as in the table of pools
        share = fit.accuracies("pool", stated=stated_in(fit))
    else:
        share = fit.correct_share("pool", draws_for(fit), stated=stated_in(fit))
    of_pool = {str(pool): share.sel(pool=pool).values.ravel() for pool in ratings.pools}
    is_of = np.arange(len(ratings.pools))[:, None] == ratings.rater_pool
    counts = is_of @ ratings_by_category(ratings)
    shares = counts / counts.sum(axis=1, keepdims=True)
    rates = pd.DataFrame(shares.T, ratings.categories, ratings.pools)
    apart = int(np.ptp(rates.to_numpy(), axis=1).argmax())
    agreeing = [f"{percentage(found, prob)} in {pool}" for pool, found in of_pool.items()]
    differing = [f"{rate:.0%} in {pool}" for pool, rate in rates.iloc[apart].items()]
    return [
        own_caution(fit.model, ratings),
        f"Ratings that equal the consensus: {joined(agreeing)}.",
        f"Ratings of category {rates.index[apart]}: {joined(differing)}. To judge raters by the "
        "standard of their own pool, fit each pool alone: ratings.subset(pools=[...]).",
    ]


def rater_sentences(fit: Fit, prob: float) -> list[str]:
    """The best and the worst rater.

    Parameters
    ----------
    fit : Fit
        Fit of a model that reports the accuracy of each rater.
    prob : float
        Probability of the intervals.

    Returns
    -------
    list of str
    """
    (best, high), (worst, low) = _best_and_worst(fit)
    has_pools = len(fit.ratings.pools) > 1
    right = "agrees with the consensus" if has_pools else "is correct"
    return [
        f"Rater {best} {right} most often, in {percentage(high, prob)} of ratings, and rater "
        f"{worst} least often, in {percentage(low, prob)}."
    ]


def _best_and_worst(fit: Fit) -> tuple[tuple[Any, Array], tuple[Any, Array]]:
    """Raters of highest and of lowest median accuracy, with their draws."""
    accuracy = fit.accuracies("rater", stated=stated_in(fit))
    draws = accuracy.values.reshape(-1, fit.ratings.n_raters)
    median = np.median(draws, axis=0)
    best, worst = int(median.argmax()), int(median.argmin())
    raters = fit.ratings.raters
    return (raters[best], draws[:, best]), (raters[worst], draws[:, worst])
