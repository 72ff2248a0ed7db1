"""How far stated probabilities of true categories can be trusted, where answers are known."""

from __future__ import annotations

import numpy as np
import pandas as pd

import reliabayes as rb
from reliabayes.arrays import Array, Codes

# Of the bins of the reliability diagram, which are narrow where models state most.
EDGES = (0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1)
FLOOR = 1e-6  # of probabilities in the log score
ROUNDING = 1e-12  # relative difference of probabilities that are equal


def known(table: pd.DataFrame) -> tuple[rb.Ratings, Codes]:
    """Ratings without their gold, and the position of each item's category, -1 if unknown."""
    categories = sorted({*table["rating"], *table["gold"].dropna()})
    ratings = rb.Ratings.from_frame(
        table[["item", "rater", "rating"]], scale="nominal", categories=categories
    )
    gold = table.groupby("item")["gold"].first().reindex(ratings.items)
    return ratings, ratings.categories.get_indexer(pd.Index(gold)).astype(np.int32)


def vendors(seed: int) -> pd.DataFrame:
    """400 items in 4 categories of unequal frequency, 5 of 60 raters each, of three vendors."""
    rng = np.random.default_rng(seed)
    accuracy = np.repeat([0.9, 0.8, 0.7], 20) + rng.normal(0, 0.05, 60)
    gold = np.repeat(rng.choice(4, 400, p=[0.6, 0.2, 0.12, 0.08]), 5)
    rater = rng.permuted(np.tile(np.arange(60), (400, 1)), axis=1)[:, :5].ravel()
    wrong = (gold + rng.integers(1, 4, 2000)) % 4
    rating = np.where(rng.random(2000) < accuracy[rater], gold, wrong)
    item = np.repeat(np.arange(400), 5)
    return pd.DataFrame({"item": item, "rater": rater, "rating": rating, "gold": gold})


KINDS = ("similar", "guessing", "constant", "contrary", "swapping", "hard category")


def crowd(kind: str, categories: int, seed: int) -> pd.DataFrame:
    """300 items, rated by 5 of 40 raters, who are right 80% of the time on average.

    Of the raters 40% guess, 35% nearly always give the same category, 25% are wrong 90% of the
    time, or 50% take the first category for the second 70% of the time; or all do, 55% of it.
    """
    rng = np.random.default_rng(seed)
    accuracy, is_odd = rng.beta(8, 2, 40), rng.random(40)
    wrong = (1 - accuracy) / (categories - 1)
    confusion = np.repeat(wrong, categories**2).reshape(40, categories, categories)
    confusion[:, range(categories), range(categories)] = accuracy[:, None]
    if kind == "guessing":
        confusion[is_odd < 0.4] = 1 / categories
    if kind == "constant":
        constant = np.flatnonzero(is_odd < 0.35)
        confusion[constant] = 0.02 / (categories - 1)
        confusion[constant, :, rng.integers(categories, size=len(constant))] = 0.98
    if kind == "contrary":
        contrary = np.full((categories, categories), 0.9 / (categories - 1))
        np.fill_diagonal(contrary, 0.1)
        confusion[is_odd < 0.25] = contrary
    if kind in ("swapping", "hard category"):
        swapping, share = (is_odd < 0.5, 0.7) if kind == "swapping" else (is_odd < 1, 0.55)
        confusion[swapping, 0] *= 1 - share
        confusion[swapping, 0, 1] += share
    gold = rng.integers(categories, size=300)
    item = np.repeat(np.arange(300), 5)
    rater = rng.permuted(np.tile(np.arange(40), (300, 1)), axis=1)[:, :5].ravel()
    above = rng.random(1500)[:, None] > confusion[rater, gold[item]].cumsum(axis=1)
    rating = np.minimum(above.sum(axis=1), categories - 1)
    return pd.DataFrame({"item": item, "rater": rater, "rating": rating, "gold": gold[item]})


def scores(probability: Array, gold: Codes) -> dict[str, float]:
    """Items that are right, log score in nats, expected calibration error, and settled items.

    If several categories of an item are equally probable, it is right in proportion to them.

    The expected calibration error is the mean distance, over ten bins of equal width weighted by
    their items, of the stated probability from the proportion that is right; see Naeini, Cooper &
    Hauskrecht (2015), https://doi.org/10.1609/aaai.v29i1.9602.
    """
    probability, gold = probability[gold >= 0], gold[gold >= 0]
    stated, right = _most_probable(probability, gold)
    place = np.minimum((10 * stated).astype(int), 9)
    apart = np.bincount(place, stated - right, minlength=10)
    settled = stated >= 0.95
    of_gold = probability[np.arange(len(gold)), gold]
    return {
        "right": float(right.mean()),
        "stated": float(stated.mean()),
        "log_score": float(-np.log(np.maximum(of_gold, FLOOR)).mean()),
        "calibration_error": float(np.abs(apart).sum() / len(gold)),
        "settled": float(settled.mean()),
        "settled_stated": float(stated[settled].mean()) if settled.any() else np.nan,
        "settled_right": float(right[settled].mean()) if settled.any() else np.nan,
    }


def diagram(probability: Array, gold: Codes) -> pd.DataFrame:
    """Reliability diagram: items, mean stated probability and proportion right, by bin."""
    probability, gold = probability[gold >= 0], gold[gold >= 0]
    stated, right = _most_probable(probability, gold)
    frame = pd.DataFrame({"items": 1, "stated": stated, "right": right})
    return frame.groupby(pd.cut(frame["stated"], EDGES), observed=True).agg(
        {"items": "sum", "stated": "mean", "right": "mean"}
    )


def _most_probable(probability: Array, gold: Codes) -> tuple[Array, Array]:
    """Largest probability of each item, and how often one of the categories with it is right."""
    stated = probability.max(axis=1)
    is_best = probability >= stated[:, None] * (1 - ROUNDING)
    right = is_best[np.arange(len(gold)), gold] / is_best.sum(axis=1)
    return stated, right
