"""Simulated crowds: raters who err independently, share a criterion, or copy from each other.

    python -m tests.crowds.simulated [first]

prints in how many of 50 crowds of each kind raters who err together are found, and in how many of
these they are named without others. Their seeds count from 0, or from another number.
"""

from __future__ import annotations

import sys
from typing import Literal

import numpy as np

from reliabayes.arrays import Array, Codes
from reliabayes.crowds.crowd import crowd_of
from reliabayes.crowds.votes import Votes

Kind = Literal[
    "independent", "own thresholds", "shared criterion", "copies", "two groups of copies"
]
TOGETHER: dict[Kind, list[list[int]]] = {  # who errs together
    "independent": [],
    "own thresholds": [],
    "shared criterion": [[0, 1]],
    "copies": [[0, 1, 2, 3]],
    "two groups of copies": [[0, 1, 2, 3], [4, 5, 6, 7]],
}
REPEATS = 50
ITEMS, RATERS, EACH = 600, 40, 5  # five votes an item
PROLIFIC = 2  # raters, who rate seven items in ten, and share a criterion
CRITERION = 0.2  # proportion of items that it takes for another category
COPIED = 0.8  # proportion of the votes of three raters that are those of a fourth


def crowd(kind: Kind, seed: int, categories: int = 2) -> tuple[Votes, Codes]:
    """Votes of a crowd, and true categories."""
    rng = np.random.default_rng([seed, categories])
    truth = rng.integers(categories, size=ITEMS)
    accuracy = rng.beta(8, 3, (RATERS, 1)) * np.ones(categories)
    if kind == "own thresholds":
        accuracy = np.clip(accuracy + rng.normal(0, 0.2, accuracy.shape), 0.3, 0.99)
    given = _votes(truth, accuracy, rng)
    has_rated = rng.random((RATERS, ITEMS)).argsort(axis=0) < EACH
    if kind == "shared criterion":
        seen = np.where(rng.random(ITEMS) < CRITERION, (truth + 1) % categories, truth)
        given[:PROLIFIC] = _votes(seen, np.full((PROLIFIC, categories), 0.95), rng)
        has_rated[:PROLIFIC] = rng.random((PROLIFIC, ITEMS)) < 0.7
    if kind in ("copies", "two groups of copies"):
        for first, *copiers in TOGETHER[kind]:
            some = slice(first, copiers[-1] + 1)
            has_rated[some] |= rng.random((len(copiers) + 1, ITEMS)) < 0.3
            copied = rng.random((len(copiers), ITEMS)) < COPIED
            given[copiers] = np.where(copied, given[first], given[copiers])
    rater, item = np.nonzero(has_rated)
    return Votes(item, rater, given[rater, item], (ITEMS, RATERS, categories)), truth


def _votes(truth: Codes, accuracy: Array, rng: np.random.Generator) -> Codes:
    """Votes (R, I) of raters who are right with these probabilities (R, K)."""
    shape = (len(accuracy), len(truth))
    wrong = (truth + rng.integers(1, accuracy.shape[1], size=shape)) % accuracy.shape[1]
    return np.where(rng.random(shape) < accuracy[:, truth], truth, wrong)


def main() -> None:
    """Print what is found in crowds of each kind, and items right with and without weights."""
    start = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    for categories in (2, 4):
        for kind, together in TOGETHER.items():
            found, named, right = 0, 0, np.zeros(2)
            for seed in range(start, start + REPEATS):
                votes, truth = crowd(kind, seed, categories)
                of = crowd_of(votes)
                found += bool(of.groups)
                named += sorted(group.raters.tolist() for group in of.groups) == together
                for at, each in enumerate((of.equal, of.estimate)):
                    right[at] += np.mean(each.probability.argmax(axis=1) == truth) / REPEATS
            print(f"{categories} categories, {kind}: {found} of {REPEATS} found,", end=" ")
            print(f"{named} named rightly; right with equal votes {right[0]:.3f},", end=" ")
            print(f"with weights {right[1]:.3f}", flush=True)


if __name__ == "__main__":
    main()
