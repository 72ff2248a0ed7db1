"""How often labels of public crowds are right, and what their stated probabilities are worth.

    python -m benchmarks.labels [METHOD ...]

A method is a function from ratings to an `Answer`, and a row of `METHODS`. Without names, all are
measured. What was measured is kept in ``labels.csv``, from which `docs.generate.labels` makes a
page, and in ``stated.csv``, from which `docs.generate.stated` draws how often stated labels are
right. Models are measured by what they hold themselves; what fits of recommended ones state is
measured by `benchmarks.statement`. No method is given categories that experts gave, but for those
with ``known``: these are given that many, and scored on the others.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import reliabayes as rb
from benchmarks.annotation_crowds import timed
from tests.models.known_answers import diagram, scores

RESULTS = Path(__file__).with_suffix(".csv")
STATED = RESULTS.with_name("stated.csv")
FAMILY = {"snow2008_rte": "snow2008", "snow2008_temp": "snow2008"}  # others are their own
SETS: Mapping[str, str] = {  # by file, or by folder of crowds
    "snow2008_rte": "entailment",
    "snow2008_temp": "events",
    "bluebirds": "bluebirds",
    "crowd_ms": "music genres",
    "crowd_web": "web pages",
    "dog": "dogs",
    "face": "faces",
    "cf_amt": "weather",
    "sp_amt": "reviews",
    "zencrowd_us": "entity links",
}
FILES = "label", "truth"  # of a folder
KNOWN = 50  # items whose category is given to methods that need some
SEEDS = 10  # of which items these are
PROB = 0.90  # of intervals
LEAST = 20  # ratings of items with a known category of raters whose accuracy counts as known
DRAWS: dict[str, Any] = {"seed": 1, "chains": 2, "draws": 500, "progress": False}


@dataclass(frozen=True, eq=False)
class Answer:
    """What a method says of the ratings of a set.

    Attributes
    ----------
    probability : DataFrame, items by categories
        Stated probability of each category of each item.
    accuracy : DataFrame, by rater, optional
        Columns lower and upper: the interval of the proportion of a rater's ratings that are right.
    correct : (float, float), optional
        The interval of the proportion of all ratings that are right.
    """

    probability: pd.DataFrame
    accuracy: pd.DataFrame | None = None
    correct: tuple[float, float] | None = None


@dataclass(frozen=True, eq=False)
class Crowd:
    """Ratings of a set, and the category of each item by experts, missing where unknown."""

    frame: pd.DataFrame
    gold: pd.Series[Any]

    @property
    def categories(self) -> list[Any]:
        """All that raters or experts named."""
        return sorted({*self.frame["rating"], *self.gold.dropna()})

    def ratings(self, known: int, seed: int = 1) -> tuple[rb.Ratings, pd.Index[Any]]:
        """Ratings to which the category of some items is given, and the items that then count."""
        items = self.gold.dropna().index
        given = np.random.default_rng(seed).choice(len(items), known, replace=False)
        gold = self.gold.where(self.gold.index.isin(items[given]))
        frame = self.frame.assign(gold=self.frame["item"].map(gold))
        ratings = rb.Ratings.from_frame(
            frame,
            scale="nominal",
            categories=self.categories,
            gold="gold" if known else None,
            replicates="keep",
        )
        return ratings, items.delete(given)


def crowd(name: str) -> Crowd:
    """Read a set, in which every item with a known category was rated."""
    folder = rb.datasets.folder()
    if (folder / f"{name}.csv").exists():
        frame = pd.read_csv(folder / f"{name}.csv")
        return Crowd(frame[["item", "rater", "rating"]], frame.groupby("item")["gold"].first())
    label, truth = (pd.read_csv(folder / "crowds" / name / f"{kind}.csv") for kind in FILES)
    frame = label.rename(columns={"worker": "rater", "label": "rating"})
    gold = truth.set_index("item")["truth"].reindex(sorted(frame["item"].unique()))
    return Crowd(frame[["item", "rater", "rating"]], gold)


def votes(weights: Any, ratings: rb.Ratings) -> Answer:
    """Proportions of votes, each with the weight of its rater."""
    by_rater = pd.Series(rb.majority_vote(ratings, weights).attrs["weights"])
    of_rating = by_rater.loc[ratings.raters].to_numpy()[ratings.rater]
    total = np.zeros((ratings.n_items, len(ratings.categories)))
    np.add.at(total, (ratings.item, ratings.category), of_rating)
    share = total / total.sum(axis=1, keepdims=True)
    return Answer(pd.DataFrame(share, ratings.items, ratings.categories))


def model(settings: Any, ratings: rb.Ratings) -> Answer:
    """Posterior of a model, with default settings but for the number of draws."""
    fit = replace(settings, stated="model").fit(ratings, **DRAWS)
    ends = [(1 - PROB) / 2, (1 + PROB) / 2]
    accuracy = fit.quantities["accuracy"].quantile(ends, ("chain", "draw")).values
    by_rater = pd.DataFrame(index=ratings.raters)
    by_rater["lower"], by_rater["upper"] = accuracy  # one for all raters, or one of each
    lower, upper = fit.correct_share().quantile(ends).values.tolist()
    return Answer(fit.category_probabilities(), by_rater, (lower, upper))


def recommended(ratings: rb.Ratings) -> Answer:
    """The model that `rb.recommend` names."""
    return model(rb.recommend(ratings).model, ratings)


def crowd_kit(name: str, ratings: rb.Ratings) -> Answer:
    """An aggregator of crowd-kit with its default settings."""
    aggregation = importlib.import_module("crowdkit.aggregation")
    frame = pd.DataFrame(
        {
            "task": ratings.items[ratings.item],
            "worker": ratings.raters[ratings.rater],
            "label": ratings.categories[ratings.category],
        }
    )
    aggregator = getattr(aggregation, name)()
    if name == "Wawa":  # of which only fit runs with scikit-learn 1.7 and later
        skills = aggregator.fit(frame).skills_
        found = aggregation.MajorityVote().fit_predict_proba(frame, skills)
    else:
        found = aggregator.fit_predict_proba(frame)
    return Answer(found.reindex(index=ratings.items, columns=ratings.categories, fill_value=0.0))


@dataclass(frozen=True, eq=False)
class Method:
    """A row of the tables: what it computes, and the number of items whose category it is given."""

    answer: Callable[[rb.Ratings], Answer]
    known: int = 0


AGGREGATORS = ("MajorityVote", "Wawa", "DawidSkene", "OneCoinDawidSkene", "MACE", "GLAD")
MODELS = (rb.DawidSkene, rb.HierarchicalDawidSkene, rb.MACE, rb.RaterTAP, rb.TAP, rb.LatentTAP)
METHODS: Mapping[str, Method] = {
    "votes": Method(partial(votes, None)),
    "votes, wawa": Method(partial(votes, "wawa")),
    "votes, zero-based": Method(partial(votes, "zero-based")),
    f"votes, gold of {KNOWN}": Method(partial(votes, "gold"), KNOWN),
    **{kind.__name__: Method(partial(model, kind())) for kind in MODELS},
    "recommended": Method(recommended),
    f"recommended, gold of {KNOWN}": Method(recommended, KNOWN),
    **{f"crowd-kit {name}": Method(partial(crowd_kit, name)) for name in AGGREGATORS},
}
# By `benchmarks.statement`, each set with the constants of the others.
HONEST = "stated honestly", f"stated honestly, gold of {KNOWN}"
SLOW = {"LatentTAP": 9_000}  # more ratings take minutes
PUBLISHED = "DawidSkene", "HierarchicalDawidSkene", "MACE", "RaterTAP"
DRAWN = (*PUBLISHED, "recommended", HONEST[0])  # whose bins are kept


def measured(method: Method, of: Crowd) -> tuple[dict[str, float], pd.DataFrame]:
    """Scores of a method, and its reliability diagram.

    The scores have the coverage of its intervals and CPU seconds from ratings to these. Those of a
    method that is given categories are means over which items these are of.
    """
    seeds = range(1, 1 + (SEEDS if method.known else 1))
    found = [_measured(method, of, seed) for seed in seeds]
    means = pd.DataFrame([each for each, _ in found]).mean()
    return {str(name): float(value) for name, value in means.items()}, found[0][1]


def _measured(method: Method, of: Crowd, seed: int) -> tuple[dict[str, float], pd.DataFrame]:
    ratings, counting = of.ratings(method.known, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seconds, answer = timed(method.answer, ratings)
    probability = answer.probability.loc[counting].to_numpy()
    place = answer.probability.columns.get_indexer(pd.Index(of.gold[counting])).astype(np.int32)
    right = of.frame["rating"].eq(of.frame["item"].map(of.gold))
    is_known = of.frame["item"].map(of.gold).notna()
    found = {"items": float(len(counting)), **scores(probability, place)}
    if answer.accuracy is not None:
        by_rater = right[is_known].groupby(of.frame["rater"]).agg(["size", "mean"])
        by_rater = by_rater[by_rater["size"] >= LEAST]
        found["raters"] = len(by_rater)
        found["raters_covered"] = _covers(answer.accuracy.loc[by_rater.index], by_rater["mean"])
    if answer.correct is not None:
        lower, upper = answer.correct
        found["correct_covered"] = float(lower <= right[is_known].mean() <= upper)
    return {**found, "seconds": seconds}, diagram(probability, place)


def _covers(limits: pd.DataFrame, true: pd.Series[float]) -> float:
    return float(((limits["lower"] <= true) & (true <= limits["upper"])).mean())


def measure(title: str, of: Crowd, methods: Mapping[str, Method]) -> None:
    """Measure a set, and keep what was found in place of what was found before."""
    found, bins = [], []
    for name, method in methods.items():
        if len(of.frame) <= SLOW.get(name, np.inf):
            scores_, drawn = measured(method, of)
            found.append({"set": title, "method": name, **scores_})
            print({key: value for key, value in found[-1].items() if value == value}, flush=True)
            if name in DRAWN:
                drawn = drawn.rename_axis("stated_in").reset_index().astype({"stated_in": str})
                bins.append(drawn.assign(set=title, method=name))
    _keep(pd.DataFrame(found), RESULTS)
    if bins:
        _keep(pd.concat(bins), STATED)


def _keep(found: pd.DataFrame, file: Path) -> None:
    if file.exists():
        kept, keys = pd.read_csv(file), ["set", "method"]
        is_new = pd.MultiIndex.from_frame(kept[keys]).isin(pd.MultiIndex.from_frame(found[keys]))
        found = pd.concat([kept[~is_new], found])
    for column, order in (("set", SETS.values()), ("method", (*METHODS, *HONEST))):
        found[column] = pd.Categorical(found[column], list(order))
    by = ["set", "method", *found.columns.intersection(["stated_in"])]
    columns = ["set", "method", *found.columns.difference(["set", "method"], sort=False)]
    found.sort_values(by)[columns].round(4).to_csv(file, index=False)


def main() -> None:
    """Measure, set by set."""
    chosen = sys.argv[1:] or list(METHODS)
    if any(name.startswith("crowd-kit") for name in chosen):
        importlib.import_module("crowdkit.aggregation")  # takes a second, which is not the method's
    for name, title in SETS.items():
        measure(title, crowd(name), {method: METHODS[method] for method in chosen})


if __name__ == "__main__":
    main()
