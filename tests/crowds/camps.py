"""Simulated crowds who rate two categories, ordinary ones and those of which the prior decides.

`python -m tests.crowds.camps` prints how far raters are from chance: of twenty crowds of each kind,
and of public crowds with known answers, if their files are at hand.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import pandas as pd

import reliabayes as rb

CAMPS = (0.8,) * 5 + (0.2,) * 5  # accuracies whose mean is that of chance
PUBLIC = ("snow2008_rte", "snow2008_temp", "bluebirds")


def crowd(seed: int, accuracy: Sequence[float], n_items: int = 200) -> rb.Ratings:
    """Ratings of all items by raters who err independently."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=(n_items, 1))
    is_right = rng.random((n_items, len(accuracy))) < accuracy
    return rb.Ratings.from_wide(pd.DataFrame(np.where(is_right, truth, 1 - truth)), scale="nominal")


def ordinary(seed: int) -> rb.Ratings:
    """From 5 to 40 raters whose accuracies have a mean of 0.7 to 0.9, and 50 to 400 items."""
    rng = np.random.default_rng([seed, 1])
    mean = (0.7, 0.75, 0.8, 0.9)[seed // 4 % 4]
    accuracy = rng.normal(mean, 0.1, (5, 10, 20, 40)[seed % 4]).clip(0.5, 0.98)
    return crowd(seed, accuracy.tolist(), (50, 100, 200, 400)[seed % 3])


def fitted(ratings: rb.Ratings) -> rb.Fit:
    """What the recommended model finds, with few draws."""
    with warnings.catch_warnings(action="ignore"):
        model = rb.recommend(ratings).model
        return model.fit(ratings, seed=1, chains=2, draws=300, progress=False)


def above_chance(fit: rb.Fit) -> float:
    """Part of the way from chance to being always right, averaged over true categories."""
    confusion = fit.quantities["confusion"].mean(("chain", "draw"))
    right = np.einsum("rkk->r", confusion.values) / confusion.sizes["category"]
    chance = 1 / confusion.sizes["category"]
    weight = fit.ratings.ratings_per_rater
    return float((np.average(right, weights=weight) - chance) / (1 - chance))


def main() -> None:
    """Print the table."""
    kinds = {
        "camps": [crowd(seed, CAMPS) for seed in range(20)],
        "ordinary": [ordinary(seed) for seed in range(20)],
        "0.55 right": [crowd(seed, (0.55,) * 10) for seed in range(20)],
        "0.60 right": [crowd(seed, (0.6,) * 10) for seed in range(20)],
    }
    for name in PUBLIC:
        table = rb.datasets.load(name)
        kinds[name] = [rb.Ratings.from_frame(table[["item", "rater", "rating"]], scale="nominal")]
    for name, crowds in kinds.items():
        fits = [fitted(each) for each in crowds]
        found = sorted(above_chance(fit) for fit in fits)
        said = sum(bool(fit.near_chance) for fit in fits)
        print(f"{name}: {found[0]:.3f} to {found[-1]:.3f}; said of {said} of {len(fits)}")


if __name__ == "__main__":
    main()
