"""What judges prefer by position, how many votes they are worth, and rates without their errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import log_expit, ndtri

from reliabayes.arrays import Array, Codes
from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings import Ratings
from reliabayes.wording import listed

GRID = np.linspace(-8.0, 8.0, 4001)  # of log odds


def position(
    ratings: Ratings, order: str, first: Mapping[Any, Any], *, prob: float = 0.9
) -> pd.DataFrame:
    r"""How much each judge prefers what it is shown first, when it compares two answers.

    An item is a pair of answers, a rating names the better one, and each judge sees a pair in both
    orders. A pair is consistent if both ratings are the same, ties included. Of the others, those
    with a rating for the first slot and none for the second lean to the first, as does the reverse
    to the second. A tie in one order only is half as much evidence as a change of mind.

    Parameters
    ----------
    ratings : Ratings
        Of pairs, with the order as a facet. Categories that are never in the first slot are ties.
    order : str
        The facet.
    first : mapping
        The answer in the first slot, by level of the facet: ``{"original": 1, "swapped": 2}``.
    prob : float, default 0.9
        Probability of the equal-tailed interval, in (0, 1).

    Returns
    -------
    DataFrame
        A row for each judge: ``pairs`` read in both orders, and those read in ``one_order`` only,
        which are left out; ``consistent`` share; shares of pairs that lean ``to_first`` and
        ``to_second``; ``preference_score``, the second less the first of these, in [-1, 1]; and
        ``first_slot_log_odds``, by how much the first slot raises the log odds of being preferred
        to the second, with its interval. That is the posterior given the pairs that are not
        consistent, so that it does not depend on how good answers are.

    Raises
    ------
    RatingsError
        There is no such facet, a judge rated a pair twice in an order, or ``first`` lacks a level.

    References
    ----------
    Shi et al. (2024). https://arxiv.org/abs/2406.07791

    Examples
    --------
    >>> import reliabayes as rb
    >>> frame = pd.DataFrame(
    ...     {
    ...         "item": [1, 1, 2, 2, 3, 3] * 2,
    ...         "rater": ["judge 1"] * 6 + ["judge 2"] * 6,
    ...         "order": ["AB", "BA"] * 6,
    ...         "rating": ["A", "A", "A", "B", "B", "tie", *"AAAABA"],
    ...     }
    ... )
    >>> ratings = rb.Ratings.from_frame(frame, facets=["order"])
    >>> found = position(ratings, "order", {"AB": "A", "BA": "B"})
    >>> found["preference_score"].round(2).to_dict()
    {'judge 1': 0.0, 'judge 2': 0.33}
    """
    _check(prob)
    slot = _slots(ratings, order, first)
    cell = ratings.pair
    by_cell = np.bincount(cell)
    level = ratings.facet[order]
    if len(np.unique(cell * len(first) + level)) < len(cell):
        rule = "a judge must rate a pair once in each order"
        raise RatingsError([Fault("rater", rule, "several ratings", "Pass one run of each judge.")])
    judge = ratings.rater[np.unique(cell, return_index=True)[1]]
    lean = np.bincount(cell, slot)[by_cell == 2].astype(int)
    of_pair, size = judge[by_cell == 2], ratings.n_raters
    answers = ratings.category
    spread = np.zeros(len(by_cell), int)
    np.maximum.at(spread, cell, answers)
    lowest = np.full(len(by_cell), len(ratings.categories))
    np.minimum.at(lowest, cell, answers)
    same = (spread == lowest)[by_cell == 2]
    number = np.bincount(of_pair, minlength=size)

    def counted(chosen: Array) -> Codes:
        return np.bincount(of_pair[chosen], minlength=size)

    with np.errstate(invalid="ignore"):  # a judge without pairs has shares that are nan
        table = pd.DataFrame(
            {
                "pairs": number,
                "one_order": np.bincount(judge[by_cell == 1], minlength=size),
                "consistent": counted(same) / number,
                "to_first": counted(lean > 0) / number,
                "to_second": counted(lean < 0) / number,
            },
            index=ratings.raters.rename("judge"),
        )
    table["preference_score"] = table["to_second"] - table["to_first"]
    counts = np.stack([counted(lean == each) for each in (2, -2, 1, -1)], axis=1)
    tail = (1 - prob) / 2
    quantiles = np.array([_slot_log_odds(row, (0.5, tail, 1 - tail)) for row in counts])
    percent = f"{100 * prob:g}"
    names = ("", f"_lower_{percent}", f"_upper_{percent}")
    return table.assign(
        **{f"first_slot_log_odds{name}": quantiles[:, at] for at, name in enumerate(names)}
    )


def _slots(ratings: Ratings, order: str, first: Mapping[Any, Any]) -> Codes:
    """1 for each rating for the first slot, -1 for the second, and 0 for a tie."""
    if order not in ratings.facet:
        rule, found = "order must be a facet of the ratings", repr(order)
        remedy = f"Read them with facets=[{order!r}]."
        raise RatingsError([Fault("order", rule, found, remedy)])
    levels = ratings.facets[order]
    shown = [first[level] for level in levels if level in first]
    wrong = len(levels) != 2 or len(shown) != 2 or len(set(shown)) != 2
    if wrong or not set(shown) <= set(ratings.categories):
        rule = "first must name the answer in the first slot of two orders"
        found = f"{dict(first)!r} for {listed(list(levels))}"
        remedy = 'Pass such as {"original": 1, "swapped": 2}.'
        raise RatingsError([Fault("first", rule, found, remedy)])
    in_first = ratings.categories.get_indexer(pd.Index(shown))
    answer, here = ratings.category, in_first[ratings.facet[order]]
    other = in_first[::-1][ratings.facet[order]]
    return np.where(answer == here, 1, np.where(answer == other, -1, 0))


def _slot_log_odds(counts: Codes, at: tuple[float, ...]) -> Array:
    """Quantiles of the log odds of the first slot, given pairs that change their mind or half.

    What a pair is worth cancels from the probability that it leans to the first slot, given that it
    leans: logistic of twice the log odds, or of these where one rating is a tie. The prior is
    Jeffreys' for the former.
    """
    log = 0.5 * (log_expit(2 * GRID) + log_expit(-2 * GRID))
    for number, factor in zip(counts, (2, -2, 1, -1), strict=True):
        log = log + number * log_expit(factor * GRID)
    density = np.exp(log - log.max())
    return np.interp(at, density.cumsum() / density.sum(), GRID)


def kish_votes(number: float, correlation: Array | float) -> Array:
    """Effective number k / (1 + (k - 1) r) of votes by k judges, arXiv 2605.29800.

    Parameters
    ----------
    number : float
        Number k of judges.
    correlation : float or array
        Mean correlation r of their error indicators.

    Returns
    -------
    array
        Numbers of votes, from 1 to k.
    """
    return np.asarray(number / (1 + (number - 1) * np.maximum(correlation, 0.0)))


def effective_votes(ratings: Ratings) -> pd.Series[Any]:
    """How many independent votes judges are worth, on items whose true category is known.

    Parameters
    ----------
    ratings : Ratings
        One rating of an item by each judge, with gold. Items that some judge left out are ignored.

    Returns
    -------
    Series
        ``judges`` k, ``items``, ``error_correlation`` r, the mean correlation of the indicators of
        errors over all pairs of judges that err on some items, and ``votes``, k / (1 + (k - 1) r).

    Raises
    ------
    RatingsError
        No true category is known, a judge rated an item twice, or there are not two judges who err.

    See Also
    --------
    reliabayes.JudgeStudy : ``effective_votes`` is its posterior, also without gold.

    References
    ----------
    https://arxiv.org/abs/2605.29800
    """
    ratings.require_known_raters("effective_votes")
    gold = ratings.gold_category
    if gold is None or ratings.has_repeats:
        rule = "effective_votes requires known true categories, and one rating of an item by each"
        remedy = "Pass gold=... and one run of each judge."
        raise RatingsError([Fault("gold", rule, "something else", remedy)])
    wrong = np.full((ratings.n_items, ratings.n_raters), np.nan)
    wrong[ratings.item, ratings.rater] = ratings.category != gold[ratings.item]
    wrong = wrong[(gold >= 0) & ~np.isnan(wrong).any(axis=1)]
    varies = np.ptp(wrong, axis=0) > 0 if len(wrong) else np.zeros(ratings.n_raters, bool)
    if varies.sum() < 2:
        rule = "two judges must err on some of the items that all have rated"
        found = f"{int(varies.sum())} of {ratings.n_raters} judges, {len(wrong)} items"
        raise RatingsError([Fault("rater", rule, found, "Pass judges with more common items.")])
    pairs = np.corrcoef(wrong[:, varies].T)[np.triu_indices(int(varies.sum()), 1)]
    mean = float(pairs.mean())
    votes = float(kish_votes(ratings.n_raters, mean))
    numbers = {"judges": ratings.n_raters, "items": len(wrong)}
    return pd.Series({**numbers, "error_correlation": mean, "votes": votes}, dtype=float)


def rogan_gladen(
    rate: float,
    n: int,
    sensitivity: float,
    n_good: int,
    specificity: float,
    n_bad: int,
    *,
    prob: float = 0.95,
) -> pd.Series[Any]:
    r"""True rate behind a judge's rate, if its errors on labelled answers hold for all others.

    .. math:: \hat\theta = \frac{\hat p + \hat q_0 - 1}{\hat q_0 + \hat q_1 - 1}

    where p is the judge's rate, and q_0 and q_1 are its specificity and sensitivity. The interval
    allows for the errors of all three.

    Parameters
    ----------
    rate, n : float, int
        Proportion of all answers that the judge calls good, and their number.
    sensitivity, n_good : float, int
        Proportion of labelled good answers that it calls good, and their number.
    specificity, n_bad : float, int
        Proportion of labelled bad answers that it calls bad, and their number.
    prob : float, default 0.95
        Confidence level, in (0, 1).

    Returns
    -------
    Series
        ``rate``, and the ends of its interval, such as ``lower_95``; within [0, 1].

    Raises
    ------
    ValueError
        The judge is no better than chance: sensitivity and specificity do not exceed 1 together.

    References
    ----------
    Rogan & Gladen (1978). https://doi.org/10.1093/oxfordjournals.aje.a112510
    Lee et al. (2025). https://arxiv.org/abs/2511.21140

    Examples
    --------
    >>> rogan_gladen(0.4, 1000, 0.9, 200, 0.7, 200).round(4).to_dict()
    {'rate': 0.1667, 'lower_95': 0.0564, 'upper_95': 0.2627}
    """
    _check(prob)
    if sensitivity + specificity <= 1:
        raise ValueError(
            "sensitivity and specificity must exceed 1 together; found "
            f"{sensitivity + specificity:g}: such a judge tells nothing of the rate."
        )
    z = float(ndtri(0.5 + prob / 2))
    # Two labels more of each kind, one of them right, as the publication has it.
    p, size = (n * rate + z**2 / 2) / (n + z**2), n + z**2
    good, bad = (n_good * sensitivity + 1) / (n_good + 2), (n_bad * specificity + 1) / (n_bad + 2)
    good_variance, bad_variance = good * (1 - good) / (n_good + 2), bad * (1 - bad) / (n_bad + 2)
    tells = good + bad - 1
    centre = (p + bad - 1) / tells
    variance = p * (1 - p) / size + (1 - centre) ** 2 * bad_variance + centre**2 * good_variance
    centre += 2 * z**2 * (centre * good_variance - (1 - centre) * bad_variance)
    half = z * np.sqrt(variance) / tells
    found = (rate + specificity - 1) / (sensitivity + specificity - 1)
    percent = f"{100 * prob:g}"
    ends = {"rate": found, f"lower_{percent}": centre - half, f"upper_{percent}": centre + half}
    return pd.Series(ends).clip(0.0, 1.0)


def _check(prob: float) -> None:
    if not 0 < prob < 1:
        raise ValueError(f"prob must be strictly between 0 and 1, not {prob}.")
