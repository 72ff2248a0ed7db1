"""Items and intervals of DawidSkene under priors of the prevalence, with many categories.

    python -m benchmarks.prevalence_priors [replications] [categories ...]

400 items, each rated by 5 of 10 raters; each category is 0.85 times as frequent as the one before.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

import reliabayes as rb
from reliabayes.arrays import Array, Codes

ITEMS, RATERS, PER_ITEM = 400, 10, 5
REPLICATIONS, CATEGORIES = 4, (20, 50)
FLOOR = 1e-12  # of probabilities in the log score


def study(
    n_categories: int, replications: int, concentrations: Sequence[float] = ()
) -> pd.DataFrame:
    """A row for each replication and concentration of the prior: 1, 3 and 10 / K unless given."""
    rows = []
    for replication in range(replications):
        rng = np.random.default_rng([11, n_categories, ITEMS, 1, replication])
        ratings, truth, prevalence, accuracy = simulated(n_categories, rng)
        for concentration in concentrations or (1.0, 3.0, 10 / n_categories):
            model = rb.DawidSkene(prior_prevalence=rb.Dirichlet(concentration))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fit = model.fit(
                    ratings, seed=replication, chains=2, draws=300, sampler="gibbs", progress=False
                )
            probability = fit.category_probabilities().to_numpy()
            draws, own = fit.quantities["prevalence"], truth[ratings.items]
            found: dict[str, Any] = {
                "right": (probability.argmax(axis=1) == own).mean(),
                "log_score": -np.log(np.maximum(probability[range(ITEMS), own], FLOOR)).mean(),
                "coverage": covered(draws, prevalence),
                "error": np.linalg.norm(draws.mean(("chain", "draw")) - prevalence),
                "coverage of accuracies": covered(fit.quantities["accuracy"], accuracy),
            }
            rows.append({"categories": n_categories, "prior": concentration, **found})
    return pd.DataFrame(rows)


def simulated(n_categories: int, rng: np.random.Generator) -> tuple[rb.Ratings, Codes, Any, Any]:
    """Ratings, true categories, prevalence, and the accuracies of raters, 0.75 on average."""
    prevalence = 0.85 ** np.arange(n_categories)
    prevalence = np.asarray(prevalence / prevalence.sum(), float)
    truth = rng.choice(n_categories, ITEMS, p=prevalence)
    rater = rng.permuted(np.tile(np.arange(RATERS), (ITEMS, 1)), axis=1)[:, :PER_ITEM]
    accuracy = rng.beta(15, 5, RATERS)
    is_right = rng.random(rater.shape) < accuracy[rater]
    wrong = (truth[:, None] + rng.integers(1, n_categories, rater.shape)) % n_categories
    rating = np.where(is_right, truth[:, None], wrong)
    item = np.repeat(np.arange(ITEMS), PER_ITEM)
    frame = pd.DataFrame({"item": item, "rater": rater.ravel(), "rating": rating.ravel()})
    categories = list(range(n_categories))
    ratings = rb.Ratings.from_frame(frame, scale="nominal", categories=categories)
    return ratings, truth.astype(np.int32), prevalence, accuracy


def covered(draws: Any, true: Array) -> float:
    """Proportion of true values in their 90% intervals."""
    lower, upper = draws.quantile([0.05, 0.95], ("chain", "draw")).values
    return float(((lower <= true) & (true <= upper)).mean())


if __name__ == "__main__":
    replications = int(sys.argv[1]) if len(sys.argv) > 1 else REPLICATIONS
    for number in map(int, sys.argv[2:] or CATEGORIES):
        found = study(number, replications).groupby(["categories", "prior"]).mean()
        print(found.round(3).to_string(), flush=True)
