"""Simulated crowds: raters who err independently, share a criterion, or copy from each other.

    python -m tests.crowds.simulated

prints in how many of 50 or 20 crowds of each kind a pair of raters is flagged.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from reliabayes.arrays import Array, Codes
from reliabayes.crowds.crowd import crowd_of
from reliabayes.crowds.votes import Votes

Kind = Literal["independent", "own thresholds", "shared criterion", "copies"]
REPEATS: dict[Kind, int] = {
    "independent": 50,
    "own thresholds": 50,
    "shared criterion": 20,
    "copies": 20,
}
ITEMS, RATERS, EACH = 600, 40, 5  # five votes an item
PROLIFIC = 2  # raters, who rate seven items in ten, and share a criterion
CRITERION = 0.2  # proportion of items that it takes for another category
COPIERS, COPIED = 3, 0.8  # raters, and proportion of their votes that are the same rater's


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
    if kind == "copies":
        has_rated[: COPIERS + 1] |= rng.random((COPIERS + 1, ITEMS)) < 0.3
        copied = rng.random((COPIERS, ITEMS)) < COPIED
        given[1 : COPIERS + 1] = np.where(copied, given[0], given[1 : COPIERS + 1])
    rater, item = np.nonzero(has_rated)
    unknown = np.full(ITEMS, -1)
    return Votes(item, rater, given[rater, item], (ITEMS, RATERS, categories), unknown), truth


def _votes(truth: Codes, accuracy: Array, rng: np.random.Generator) -> Codes:
    """Votes (R, I) of raters who are right with these probabilities (R, K)."""
    shape = (len(accuracy), len(truth))
    wrong = (truth + rng.integers(1, accuracy.shape[1], size=shape)) % accuracy.shape[1]
    return np.where(rng.random(shape) < accuracy[:, truth], truth, wrong)


def main() -> None:
    """Print how many crowds of each kind are flagged, and items right with and without weights."""
    for categories in (2, 4):
        for kind, repeats in REPEATS.items():
            flagged, right = 0, np.zeros(2)
            for seed in range(repeats):
                votes, truth = crowd(kind, seed, categories)
                found = crowd_of(votes)
                flagged += bool(found.groups)
                for at, each in enumerate((found.equal, found.estimate)):
                    right[at] += np.mean(each.probability.argmax(axis=1) == truth) / repeats
            print(f"{categories} categories, {kind}: {flagged} of {repeats} flagged;", end=" ")
            print(f"right with equal votes {right[0]:.3f}, with weights {right[1]:.3f}", flush=True)


if __name__ == "__main__":
    main()
