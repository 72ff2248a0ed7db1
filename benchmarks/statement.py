"""The constants of `reliabayes.crowds.statement`, and labels of each crowd stated by the others.

    python -m benchmarks.statement

prints the constants of the crowds of all families but one, of ten public crowds, and those of all,
which are the package's; and by how much log T differs between crowds from what the others say.
Each crowd is stated with the constants of the others, without and with 50 known categories; these
rows are kept in ``labels.csv``, and their bins in ``stated.csv``. At last, how many intervals of
pools of raters, drawn at random, hold the proportion of their labels that is right, and how many of
differences of two pools do, stated by the others and by DawidSkene; and how many labels are right
from as many ratings as DawidSkene takes to be enough for 0.95, where items have so many.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit, logit

import reliabayes as rb
from benchmarks.labels import DRAWS as OF_FITS
from benchmarks.labels import (
    FAMILY,
    HONEST,
    KNOWN,
    LEAST,
    PROB,
    SETS,
    Answer,
    Method,
    crowd,
    measure,
)
from benchmarks.labels import Crowd as LabelledCrowd
from reliabayes.arrays import Array, Codes
from reliabayes.crowds.crowd import Crowd
from reliabayes.crowds.statement import LEAST as LEAST_PROBABILITY
from reliabayes.crowds.statement import Constants, Statement
from reliabayes.results.dependence import crowd_of_ratings, stated_table, statement_of
from reliabayes.results.stated import correct_ratings

START = 0.7, 0.0, 0.0, -3.0  # of the search
# Weak penalties: of the exponents, and of log odds of m that lie far from usual ones.
OF_EXPONENTS, OF_MISLED, USUAL_MISLED = 0.02, 0.002, -3.0
DRAWS = 400  # of how many ratings are right
ENDS = (1 - PROB) / 2, (1 + PROB) / 2
POOLS, SPLITS = 2, 10  # of the raters of a crowd, at random
ENOUGH = 0.95  # accuracy of labels
# Of two pools, and of their difference.
COMPARED = {"pools": np.eye(POOLS), "differences": np.array([[1, -1]])}


@dataclass(frozen=True, eq=False)
class Known:
    """Ratings, what votes say of them, and the category of each item by experts or -1."""

    ratings: rb.Ratings
    crowd: Crowd
    gold: Codes


def honest(constants: Constants, ratings: rb.Ratings) -> Answer:
    """What a fit with stated="honest" says, with other constants."""
    found = crowd_of_ratings(ratings)
    assert found is not None
    statement = statement_of(found, ratings.gold_category, constants)
    right = correct_ratings(statement, ratings, DRAWS, np.random.default_rng(1))
    accuracy = pd.DataFrame(index=ratings.raters)
    accuracy["lower"], accuracy["upper"] = np.quantile(right / ratings.ratings_per_rater, ENDS, 0)
    lower, upper = np.quantile(right.sum(axis=1) / len(ratings), ENDS)
    return Answer(stated_table(statement, ratings), accuracy, (float(lower), float(upper)))


def constants_of(some: Sequence[Known]) -> Constants:
    """The constants with the best log score, on average over crowds, and what crowds add."""

    def loss(at: Array) -> float:
        scores = [log_score(constants_at(at), each) for each in some]
        penalty = OF_EXPONENTS * (at[1:3] ** 2).sum() + OF_MISLED * (at[3] - USUAL_MISLED) ** 2
        return float(np.mean(scores) + penalty)

    found = constants_at(minimize(loss, np.array(START), method="BFGS").x)
    variances = np.mean([beyond(found, each) for each in some], axis=0)
    of_crowd, of_rater = np.sqrt(np.maximum(variances, 0)).tolist()
    return replace(found, of_crowd=of_crowd, of_rater=of_rater)


def constants_at(at: Array) -> Constants:
    """Constants from unbounded numbers."""
    log_temperature, by_votes, by_correlation = at[:3].tolist()
    misled = float(expit(np.clip(at[3], -7, 2)))
    return Constants(log_temperature, by_votes, by_correlation, misled)


def log_score(constants: Constants, of: Known) -> float:
    """Mean of -log p of the experts' category."""
    rows = np.flatnonzero(of.gold >= 0)
    p = Statement.of(of.crowd, constants).probabilities()[rows, of.gold[rows]]
    return float(-np.log(np.maximum(p, LEAST_PROBABILITY)).mean())


def beyond(constants: Constants, of: Known) -> tuple[float, float]:
    """Variances of log odds that ratings are right, beyond a statement with 50 known categories.

    The first is that of all ratings, the second that of raters from all, by moments: squared
    differences of what is right from the mean of draws, less the variance of these.
    """
    items = np.flatnonzero(of.gold >= 0)
    given = np.full(len(of.gold), -1)
    some = np.random.default_rng(1).choice(items, KNOWN, replace=False)
    given[some] = of.gold[some]
    statement = Statement.of(of.crowd, replace(constants, of_crowd=0, of_rater=0)).given(given)
    ratings = of.ratings
    drawn = correct_ratings(statement, ratings, DRAWS, np.random.default_rng(1))
    is_known = of.gold[ratings.item] >= 0
    rater = ratings.rater[is_known]
    right = np.bincount(
        rater, (of.gold[ratings.item] == ratings.category)[is_known], drawn.shape[1]
    )
    number = np.bincount(rater, minlength=drawn.shape[1])
    all_drawn = logit(drawn.sum(axis=1) / len(ratings))
    of_all = float(logit(right.sum() / number.sum()) - all_drawn.mean())
    enough = number >= LEAST
    found = logit((drawn + 0.5) / (ratings.ratings_per_rater + 1))[:, enough]
    apart = logit((right + 0.5) / (number + 1))[enough] - found.mean(axis=0)
    weight = number[enough] / number[enough].sum()
    apart -= weight @ apart
    return of_all**2 - float(all_drawn.var()), float(weight @ (apart**2 - found.var(axis=0)))


def known(name: str) -> Known:
    """Votes of a set, and the categories that experts gave."""
    of = crowd(name)
    ratings, _ = of.ratings(0)
    found = crowd_of_ratings(ratings)
    assert found is not None
    gold = ratings.categories.get_indexer(pd.Index(of.gold.reindex(ratings.items)))
    return Known(ratings, found, gold)


def by_others(name: str, crowds: Mapping[str, Known]) -> tuple[Constants, Mapping[str, Method]]:
    """The constants of all other families, and how they state a crowd without and with gold."""
    own = FAMILY.get(name, name)
    found = constants_of([each for key, each in crowds.items() if FAMILY.get(key, key) != own])
    given = zip(HONEST, (0, KNOWN), strict=True)
    return found, {method: Method(partial(honest, found), number) for method, number in given}


def shift(constants: Constants, of: Known) -> float:
    """What to add to log T for the best log score of a crowd."""

    def loss(by: float) -> float:
        return log_score(replace(constants, log_temperature=constants.log_temperature + by), of)

    return float(minimize_scalar(loss, bounds=(-2, 2), method="bounded").x)


def held_of_pools(constants: Constants, of: Known) -> pd.Series:
    """Proportions of intervals of pools, and of differences of two, that hold what is right."""
    ratings = of.ratings
    found = statement_of(of.crowd, None, constants)
    right = correct_ratings(found, ratings, DRAWS, np.random.default_rng(1))
    by_model = rb.DawidSkene().fit(ratings, **OF_FITS).quantities["accuracy"].values
    drawn = {
        "honest": right / ratings.ratings_per_rater,
        "DawidSkene": by_model.reshape(-1, ratings.n_raters),
    }
    gold = of.gold[ratings.item]
    is_right = np.bincount(ratings.rater, gold == ratings.category, ratings.n_raters)
    known = np.bincount(ratings.rater, gold >= 0, ratings.n_raters)
    held: dict[str, list[bool]] = {f"{kind}, {name}": [] for kind in COMPARED for name in drawn}
    for seed, (kind, compared), (name, accuracy) in product(
        range(SPLITS), COMPARED.items(), drawn.items()
    ):
        pool = np.random.default_rng(seed).integers(0, POOLS, ratings.n_raters)
        of_pool = (pool == np.arange(POOLS)[:, None]) * 1.0
        truth = compared @ (of_pool @ is_right / (of_pool @ known))
        weight = of_pool * ratings.ratings_per_rater
        weight /= weight.sum(axis=1, keepdims=True)
        lower, upper = np.quantile(accuracy @ weight.T @ compared.T, ENDS, axis=0)
        held[f"{kind}, {name}"].extend((lower <= truth) & (truth <= upper))
    return pd.Series({name: np.mean(each) for name, each in held.items()})


def right_if_enough(of: LabelledCrowd) -> tuple[float, float]:
    """Ratings of an item that are enough for `ENOUGH` by DawidSkene, and how many labels are right.

    The second is nan where items have fewer ratings on average.
    """
    ratings, _ = of.ratings(0)
    fit = rb.DawidSkene().fit(ratings, **OF_FITS)
    number = float(fit.raters_needed(accuracy=ENOUGH).median())
    if number > len(ratings) / ratings.n_items:
        return number, np.nan
    right = []
    for seed in range(SPLITS):
        mixed = of.frame.sample(frac=1, random_state=seed)
        some = replace(of, frame=mixed.groupby("item").head(int(number)))
        labels = rb.DawidSkene().em(some.ratings(0)[0]).items()["category"]
        gold = of.gold.dropna()
        right.append((labels.loc[gold.index] == gold).mean())
    return number, float(np.mean(right))


def main() -> None:
    """Print constants, and keep what they state."""
    crowds = {name: known(name) for name in SETS}
    print("all", constants_of(list(crowds.values())))
    shifts, held = [], {}
    for name, title in SETS.items():
        found, methods = by_others(name, crowds)
        shifts.append(shift(found, crowds[name]))
        print(f"without {title} {found}; shift {shifts[-1]:.2f}", flush=True)
        measure(title, crowd(name), methods)
        held[title] = held_of_pools(found, crowds[name])
    print(f"sd of log T between crowds: {np.sqrt(np.mean(np.square(shifts))):.2f}")
    of_pools = pd.DataFrame(held).T
    print(pd.concat([of_pools, of_pools.agg(["mean", "min"])]).round(2).to_string())
    for name, title in SETS.items():
        number, right = right_if_enough(crowd(name))
        print(f"{title}: {number:.0f} ratings an item are enough; right {right:.3f}")


if __name__ == "__main__":
    main()
