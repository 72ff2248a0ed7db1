"""Whole fits, by each model, of its own ratings, by hundreds of raters who gave a few each.

python -m benchmarks.crowds [MODEL ...]
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import reliabayes as rb
from benchmarks.annotation_crowds import fitted, measured
from benchmarks.simulated import simulate_pools

CROWDS = ((2_000, 300, 5), (430, 460, 4))  # items, raters, ratings of an item
BINARY = {"logit-icc", "logit-xcc", "rater-tap"}
SD = {"gaussian": ("item", "rater", "residual"), "logit": ("item", "rater")}
SD["ordinal"] = SD["logit"]


def crowds(models: list[Any]) -> None:
    """Print seconds, R-hat and ESS of fits with default settings."""
    print("Targets: 30 s for 10,000 ratings, 15 s for 1,720; R-hat below 1.01, ESS above 400")
    print(f"{'':42} sampler       s   CPU s  R-hat  bulk ESS  in doubt")
    for size in CROWDS:
        for model in models:
            rated = simulated(model, *size)
            fit, figures = measured(fitted, model, rated)
            print(
                f"{f'{len(rated):,} by {rated.n_raters}':16}{type(model).__name__:26}"
                f"{fit.settings.sampler:>8}{figures}{len(fit.diagnostics().problems):10}",
                flush=True,
            )


def simulated(model: Any, items: int, raters: int, per_item: int) -> rb.Ratings:
    """Ratings from the model, with sds of 1 and other parameters from its priors.

    Of two pools, each has half of the raters, who give half of the ratings, rounded up.
    """
    name, rng = model.name(), np.random.default_rng(1)
    pools = 2 if name.endswith("xcc") else 1
    of_each = [(per_item + number) // pools for number in range(pools)]
    design = simulate_pools(items, raters // pools, of_each)
    kind = name.split("-")[0]
    each = None if pools == 1 or kind == "gaussian" else pools
    truth: dict[str, Any] = {
        f"sd_{part}": 1.0 if each is None else np.ones(each) for part in SD.get(kind, ())
    }
    chosen: dict[str, Any] = {}
    if kind == "gstudy":
        truth["sd"] = np.ones(3)
    if kind in ("gaussian", "gstudy"):
        truth["mean"] = 3.0
    else:
        chosen["categories"] = range(2 if name in BINARY else 4)
    columns = ["item", "rater", "pool"][: 2 + (pools > 1)]
    ratings: rb.Ratings = model.simulate(design[columns], rng, parameters=truth, **chosen)
    return ratings


if __name__ == "__main__":
    chosen = [model() for model in rb.MODELS if len(sys.argv) == 1 or model.__name__ in sys.argv]
    crowds(chosen)
