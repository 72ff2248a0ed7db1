"""CPU seconds of maximum likelihood and REML: python -m benchmarks.likelihood."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

import reliabayes as rb

SIZES = ((60, 6), (5000, 25))  # items and raters, of whose cells four in five are filled
ROUNDS = 2


def simulated(items: int, raters: int) -> pd.DataFrame:
    """Numbers, and votes with similar effects."""
    rng = np.random.default_rng(1)
    item, rater = (codes.ravel() for codes in np.mgrid[:items, :raters])
    score = rng.normal(0, 1, items)[item] + rng.normal(0, 0.5, raters)[rater]
    frame = pd.DataFrame({"item": item, "rater": rater, "pool": rater % 2})
    frame["number"] = score + rng.normal(0, 0.7, len(frame))
    frame["vote"] = (rng.random(len(frame)) < expit(1.5 * score)).astype(int)
    return frame[rng.random(len(frame)) < 0.8]


def cpu_seconds(function: Callable[[], Any]) -> float:
    """The least of some rounds."""
    found = []
    for _ in range(ROUNDS):
        start = time.process_time()
        function()
        found.append(time.process_time() - start)
    return min(found)


def main() -> None:
    """Print a line for each model and size, and one for statsmodels if it is installed."""
    models: list[tuple[Any, str, dict[str, bool]]] = [
        (rb.GaussianICC(), "number", {"reml": True}),
        (rb.GStudy(), "number", {"reml": True}),
        (rb.GaussianXCC(), "number", {}),
        (rb.LogitICC(), "vote", {}),
        (rb.LogitXCC(), "vote", {}),
        (rb.GStudy(family="logit"), "vote", {}),
    ]
    for size in SIZES:
        frame = simulated(*size)
        for model, column, options in models:
            if column == "vote" and size != SIZES[0]:  # of large tables these take minutes
                continue
            table = frame.rename(columns={column: "rating"})
            pool = "pool" if model.name().endswith("xcc") else None
            ratings = rb.Ratings.from_frame(table, pool=pool)
            seconds = cpu_seconds(lambda: model.em(ratings, **options))  # noqa: B023
            print(f"{len(ratings):7,} ratings  {model.name():14} {column:6} {seconds:8.3f} s")
    try:
        from statsmodels.formula.api import mixedlm
    except ImportError:
        return
    frame = simulated(*SIZES[0]).assign(everything=1)
    effects = {"item": "0 + C(item)", "rater": "0 + C(rater)"}
    arguments = {"groups": "everything", "vc_formula": effects, "re_formula": "0"}
    seconds = cpu_seconds(lambda: mixedlm("number ~ 1", frame, **arguments).fit())
    print(f"{len(frame):7,} ratings  statsmodels    number {seconds:8.3f} s")


if __name__ == "__main__":
    main()
