"""The constants of `reliabayes.crowds.statement`, and labels of each crowd stated by the others.

    python -m benchmarks.statement

prints the constants of each nine of ten public crowds, and those of all, which are the package's.
Each crowd is stated with the constants of the others, without and with 50 known categories; these
rows are kept in ``labels.csv``, and their bins in ``stated.csv``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import expit

import reliabayes as rb
from benchmarks.labels import HONEST, KNOWN, SETS, Answer, Method, crowd, measure
from reliabayes.arrays import Array, Codes
from reliabayes.crowds.crowd import Crowd
from reliabayes.crowds.statement import LEAST, Constants, Statement
from reliabayes.results.dependence import crowd_of_ratings, stated_table, statement_of

START = 0.7, 0.0, 0.0, -3.0  # of the search
# Weak penalties: of the exponents, and of log odds of m that lie far from usual ones.
OF_EXPONENTS, OF_MISLED, USUAL_MISLED = 0.02, 0.002, -3.0

Known = tuple[Crowd, Codes]  # votes, and categories by experts


def honest(constants: Constants, ratings: rb.Ratings) -> Answer:
    """Probabilities that `Fit.items` states with stated="honest", with other constants."""
    found = crowd_of_ratings(ratings)
    assert found is not None
    statement = statement_of(found, ratings.gold_category, constants)
    return Answer(stated_table(statement, ratings))


def constants_of(some: Sequence[Known]) -> Constants:
    """The constants with the best log score, on average over crowds."""

    def loss(at: Array) -> float:
        scores = [log_score(constants_at(at), *each) for each in some]
        penalty = OF_EXPONENTS * (at[1:3] ** 2).sum() + OF_MISLED * (at[3] - USUAL_MISLED) ** 2
        return float(np.mean(scores) + penalty)

    return constants_at(minimize(loss, np.array(START), method="BFGS").x)


def constants_at(at: Array) -> Constants:
    """Constants from unbounded numbers."""
    log_temperature, by_votes, by_correlation = at[:3].tolist()
    misled = float(expit(np.clip(at[3], -7, 2)))
    return Constants(log_temperature, by_votes, by_correlation, misled)


def log_score(constants: Constants, of: Crowd, gold: Codes) -> float:
    """Mean of -log p of the experts' category."""
    rows = np.flatnonzero(gold >= 0)
    p = Statement.of(of, constants).probabilities()[rows, gold[rows]]
    return float(-np.log(np.maximum(p, LEAST)).mean())


def known(name: str) -> Known:
    """Votes of a set, and the categories that experts gave."""
    of = crowd(name)
    ratings, _ = of.ratings(0)
    found = crowd_of_ratings(ratings)
    assert found is not None
    return found, ratings.categories.get_indexer(pd.Index(of.gold.reindex(ratings.items)))


def by_others(name: str, crowds: Mapping[str, Known]) -> tuple[Constants, Mapping[str, Method]]:
    """The constants of all crowds but one, and how they state that one without and with gold."""
    found = constants_of([each for other, each in crowds.items() if other != name])
    given = zip(HONEST, (0, KNOWN), strict=True)
    return found, {method: Method(partial(honest, found), number) for method, number in given}


def main() -> None:
    """Print constants, and keep what they state."""
    crowds = {name: known(name) for name in SETS}
    print("all", constants_of(list(crowds.values())))
    for name, title in SETS.items():
        found, methods = by_others(name, crowds)
        print("without", title, found, flush=True)
        measure(title, crowd(name), methods)


if __name__ == "__main__":
    main()
