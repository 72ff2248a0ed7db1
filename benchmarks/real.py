"""Whole fits of the real data sets, by each model that suits them.

python -m benchmarks.real [--seed SEED] [SET ...]
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import reliabayes as rb
from benchmarks.annotation_crowds import measured

SECONDS = 10  # that a fit may take on two idle processors

TRUE_CATEGORIES = (
    rb.DawidSkene(),
    rb.HierarchicalDawidSkene(),
    rb.MACE(),
    rb.TAP(),
    rb.RaterTAP(),
    rb.LatentTAP(),
    rb.Groupthink(),
    rb.RaterGroupthink(),
)
BINARY = (*TRUE_CATEGORIES, rb.LogitICC())
GRADED = (*TRUE_CATEGORIES, rb.OrdinalICC())
NUMBERS = (rb.GaussianICC(),)
TWO_POOLS = (rb.GaussianXCC(), rb.OrdinalXCC())
NOMINAL, GRADES, POOLS = {"scale": "nominal"}, {"scale": "ordered"}, {"pool": "pool"}
VISION = ("1st grade", "2nd grade", "3rd grade", "4th Grade")
SENTIMENT = ("Negative", "unknown", "Positive")
LECTURERS = {"item": "lecturer", "rater": "student", "replicates": "keep"}
TARGETS = tuple({"rating": name} for name in ("hate_speech", "aggressive", "offensive"))

# Data set, options of reading it, and models.
RUNS: tuple[tuple[str, dict[str, Any], tuple[Any, ...]], ...] = (
    ("shrout_fleiss_1979", {}, NUMBERS),
    ("anxiety", {}, NUMBERS),
    ("wordsim353_set1", {}, NUMBERS),
    ("wordsim353_set2", {}, NUMBERS),
    ("snow2008_wordsim", {}, NUMBERS),
    ("wordsim_two_pools", POOLS, (rb.GaussianXCC(),)),
    ("irrsim_seed_test1", {}, NUMBERS),
    ("irrsim_seed_test1", GRADES, GRADED),
    ("irrsim_seed_test2", {}, NUMBERS),
    ("irrsim_seed_test2", GRADES, GRADED),
    ("dawid_skene_1979", {"replicates": "keep", **NOMINAL}, TRUE_CATEGORIES),
    ("diagnoses", NOMINAL, TRUE_CATEGORIES),
    ("snow2008_rte", NOMINAL, BINARY),
    ("snow2008_temp", NOMINAL, BINARY),
    ("bluebirds", NOMINAL, BINARY),
    ("caries", NOMINAL, BINARY),
    ("ptsd", NOMINAL, BINARY),
    ("wine", GRADES, GRADED),
    ("vision", {**GRADES, "categories": VISION}, GRADED),
    ("crowd_web", GRADES, GRADED),
    ("crowd_ms", NOMINAL, TRUE_CATEGORIES),
    *(("hs_brexit", {**target, **POOLS}, (rb.LogitXCC(),)) for target in TARGETS),
    *(("hs_brexit", {**target, **NOMINAL}, BINARY) for target in TARGETS),
    ("alttest_10k_prompts", POOLS, TWO_POOLS),
    ("alttest_10k_prompts", GRADES, GRADED),
    ("alttest_summeval", POOLS, TWO_POOLS),
    ("alttest_summeval", GRADES, GRADED),
    ("alttest_cebab_aspects", {**GRADES, **POOLS, "categories": SENTIMENT}, (rb.OrdinalXCC(),)),
    ("alttest_cebab_aspects", NOMINAL, TRUE_CATEGORIES),
    ("alttest_lgbteen", NOMINAL, TRUE_CATEGORIES),
    ("insteval", LECTURERS, NUMBERS),
    ("insteval", {**LECTURERS, **GRADES}, (rb.OrdinalICC(),)),
)


def main(names: list[str], seed: int) -> None:
    """Print a row for each set and model."""
    print(f"Target: no warning, and {SECONDS} s on two idle processors")
    print(f"{'':46}  ratings  raters       s   CPU s  R-hat  bulk ESS  readings  warnings")
    for name, options, models in RUNS:
        if names and name not in names:
            continue
        ratings = rb.read_ratings(rb.datasets.folder() / f"{name}.csv", **options)
        for model in models:
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                fit, figures = measured(model.fit, ratings, seed=seed, progress=False)
            print(
                f"{name:22}{type(model).__name__:24}{len(ratings):9,}{ratings.n_raters:8}"
                f"{figures}{max(1, len(fit.settings.modes)):10}{len(told):10}",
                flush=True,
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("sets", nargs="*")
    given = parser.parse_args()
    main(given.sets, given.seed)
