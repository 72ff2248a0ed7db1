"""How often raters are right, by labels as they are stated honestly."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.special import expit, logit

from reliabayes.arrays import Array
from reliabayes.crowds.statement import Statement
from reliabayes.partitions import AnyRatings
from reliabayes.ratings import Ratings
from reliabayes.results.dependence import has_crowd
from reliabayes.results.model import Model
from reliabayes.results.summaries import interval_bounds

MOST_DRAWS = 1000  # of true categories, which tell ends of intervals well enough
FEWEST = 3.0  # raters of an item on average; 4 to 39 in the crowds that the constants are from


def can_be_stated(model: Model, ratings: AnyRatings) -> bool:
    """Whether known answers of other crowds tell how sure labels and raters are.

    That takes ratings in memory, by three or more known raters of an item on average.
    """
    is_crowd = isinstance(ratings, Ratings) and has_crowd(model, ratings)
    return is_crowd and ratings.n_pairs >= FEWEST * ratings.n_items


def correct_ratings(
    statement: Statement, ratings: Ratings, number: int, rng: np.random.Generator
) -> Array:
    """Number (S, R) of each rater's ratings that are right, at draws of true categories.

    Each draw has a temperature and a probability of items that mislead, and true categories by
    these. Where they are unknown, raters and whole crowds also differ from that (`beyond`), in
    their log odds of being right.

    Parameters
    ----------
    statement : Statement
        What is stated of the items.
    ratings : Ratings
        All ratings of these items.
    number : int
        Number S of draws.
    rng : Generator
        Randomness.

    Returns
    -------
    array
    """
    item, rater, n_raters = ratings.item, ratings.rater, ratings.n_raters
    known = np.full(ratings.n_items, -1) if ratings.gold_category is None else ratings.gold_category
    is_open = known[item] < 0
    answered = np.bincount(rater, known[item] == ratings.category, n_raters)
    item, rater, category = item[is_open], rater[is_open], ratings.category[is_open]
    right = np.empty((number, n_raters))
    points = rng.multivariate_normal(statement.at, statement.covariance, number)
    for found, at in zip(right, points, strict=True):
        below = statement.probabilities(at).cumsum(axis=1)[:, :-1]
        truth = (rng.random((len(below), 1)) > below).sum(axis=1)
        found[:] = np.bincount(rater, truth[item] == category, n_raters)
    total = np.bincount(rater, minlength=n_raters)
    of_crowd, of_rater = statement.beyond
    noise = rng.normal(0, of_crowd, (number, 1)) + rng.normal(0, of_rater, right.shape)
    return np.asarray(answered + total * expit(logit(right / np.maximum(total, 1)) + noise))


def with_stated_accuracy(table: pd.DataFrame, accuracy: Array, prob: float) -> pd.DataFrame:
    """The table of raters of a model, with accuracies as stated, and their intervals, first.

    Parameters
    ----------
    table : DataFrame
        A row for each rater, as `Model.raters` makes it.
    accuracy : array of shape (S, R)
        Draws of the proportion of each rater's ratings that are right.
    prob : float
        Probability of the intervals.

    Returns
    -------
    DataFrame
    """
    percent = f"{100 * prob:g}"
    lower, upper = interval_bounds(accuracy, prob)
    stated = {
        "accuracy": np.median(accuracy, axis=0),
        "sd": accuracy.std(axis=0, ddof=1),
        f"lower_{percent}": lower,
        f"upper_{percent}": upper,
    }
    others = table.drop(columns=[name for name in stated if name in table])
    return pd.concat([pd.DataFrame(stated, table.index), others], axis=1)
