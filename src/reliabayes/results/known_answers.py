"""Accuracy against known true categories: of the model's labels, of majority votes, of raters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.special import betaincinv

from reliabayes.arrays import Array, Codes
from reliabayes.partitions import AnyRatings, RatingsDataset
from reliabayes.ratings import Ratings
from reliabayes.results.rating_probabilities import RatingProbabilities

TINY = float(np.finfo(float).tiny)
MODEL, MAJORITY = ("labels", "model"), ("labels", "majority vote")


def accuracy_table(
    ratings: Ratings, draws: Iterable[RatingProbabilities], prob: float
) -> pd.DataFrame:
    """Proportions that equal the known true category, with intervals.

    Parameters
    ----------
    ratings : Ratings
        Ratings of items of which some have a known true category.
    draws : iterable of RatingProbabilities
        Draws of a model that was fitted to them.
    prob : float
        Probability of the intervals.

    Returns
    -------
    DataFrame
        As `Fit.against_gold` describes it.
    """
    known = known_items(ratings)
    gold = ratings.gold_category[known] if ratings.gold_category is not None else known
    votes = ratings.counts[known]
    is_most = votes == votes.max(axis=1, keepdims=True)
    majority = is_most[np.arange(len(known)), gold] / is_most.sum(axis=1)
    label = predicted_probabilities(ratings, draws, known, gold).argmax(axis=1)
    rows: dict[tuple[str, Any], tuple[float, float]] = {
        MODEL: (len(known), float((label == gold).sum())),
        MAJORITY: (len(known), float(majority.sum())),
    }
    of_item = np.full(ratings.n_items, -1)
    of_item[known] = gold
    rated = pd.DataFrame(
        {
            "rater": ratings.raters[ratings.rater],
            "total": of_item[ratings.item] >= 0,
            "correct": of_item[ratings.item] == ratings.category,
        }
    )
    groups = ["rater"]
    if ratings.rater_pool is not None:
        rated["pool"] = ratings.pools[ratings.rater_pool[ratings.rater]]
        groups = ["pool", "rater"]
    for group in groups * (not ratings.anonymous_raters):
        sums = rated.groupby(group, sort=False)[["total", "correct"]].sum()
        sums = sums[sums["total"] > 0]
        ordered = sums.loc[(sums["correct"] / sums["total"]).sort_values(kind="stable").index]
        rows |= {(group, name): (row[0], row[1]) for name, *row in ordered.itertuples()}
    index = pd.MultiIndex.from_tuples(list(rows), names=["of", "name"])
    total, correct = np.array(list(rows.values())).T
    ends = [betaincinv(correct + 0.5, total - correct + 0.5, p) for p in _tails(prob)]
    columns = {"ratings": total.astype(int), "correct": correct, "accuracy": correct / total}
    bounds = {f"{end}_{100 * prob:g}": x for end, x in zip(("lower", "upper"), ends, strict=True)}
    return pd.DataFrame(columns | bounds, index=index)


def known_items(ratings: AnyRatings) -> Codes:
    """Positions of the items whose true category is known.

    Parameters
    ----------
    ratings : Ratings or RatingsDataset
        Any ratings in categories.

    Returns
    -------
    array of int, shape (G,)
        None of a dataset.
    """
    if isinstance(ratings, RatingsDataset):
        return np.zeros(0, np.int32)
    gold = ratings.gold_category
    return np.flatnonzero([] if gold is None else gold >= 0).astype(np.int32)


def has_answers(ratings: AnyRatings) -> bool:
    """Whether true categories were given with the ratings.

    Parameters
    ----------
    ratings : Ratings or RatingsDataset
        Any ratings.

    Returns
    -------
    bool
        Of a dataset, whether any true category is known.
    """
    if isinstance(ratings, RatingsDataset):
        return ratings.design.n_known > 0
    return ratings.gold is not None


def predicted_probabilities(
    ratings: Ratings, draws: Iterable[RatingProbabilities], known: Codes, gold: Codes
) -> Array:
    """Probabilities of the categories of each known item, had its true category not been known.

    Draws are weighted by the reciprocal of the probability of all that is known of an item, which
    takes the item out of the data; weights are truncated.

    Parameters
    ----------
    ratings : Ratings
        The ratings.
    draws : iterable of RatingProbabilities
        Draws given all ratings and all known categories.
    known : array of int, shape (G,)
        Positions of the known items.
    gold : array of int, shape (G,)
        Their true categories.

    Returns
    -------
    array of shape (G, K)

    References
    ----------
    Gelfand, Dey & Chang (1992), for the weights; Ionides (2008), for their truncation.
    https://doi.org/10.1198/106186008X320456
    """
    is_known = np.isin(ratings.item, known)
    row = np.searchsorted(known, ratings.item[is_known])
    own, category = ratings.rater[is_known], ratings.category[is_known]
    probability, evidence = [], []
    for draw in draws:
        states, raters, categories = draw.log_table.shape
        column = (own if raters > 1 else 0) * categories + category
        shape = (len(known), raters * categories)
        counts = sp.csr_array((np.ones(len(row)), (row, column)), shape=shape)
        joint = counts @ draw.log_table.reshape(states, -1).T + draw.log_weight
        peak = joint.max(axis=1, keepdims=True)
        relative = np.exp(joint - peak) @ draw.truth
        probability.append(relative / relative.sum(axis=1, keepdims=True))
        of_gold = np.maximum(relative[np.arange(len(known)), gold], TINY)
        evidence.append(np.log(of_gold) + peak[:, 0])
    weight = np.exp(np.min(evidence, axis=0) - evidence)  # (S, G), relative to the largest
    weight = np.minimum(weight, np.sqrt(len(weight)) * weight.mean(axis=0))
    return np.asarray(np.einsum("sg,sgk->gk", weight / weight.sum(axis=0), probability))


def _tails(prob: float) -> tuple[float, float]:
    return (1 - prob) / 2, (1 + prob) / 2
