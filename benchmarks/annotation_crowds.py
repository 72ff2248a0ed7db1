"""EM and whole fits of ratings by hundreds of raters, who gave a few each."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numpy as np
import pandas as pd

import reliabayes as rb
from benchmarks.annotated import annotate, ratings
from reliabayes.models import RatingModel
from reliabayes.models.category_model import CategoryModel

REAL = ("snow2008_rte", "snow2008_temp", "bluebirds", "crowd_web", "crowd_ms")
# Items, raters, ratings of an item, categories.
CROWDS = ((2_000, 300, 5, 2), (2_000, 300, 5, 4), (430, 472, 4, 2), (430, 472, 4, 4))
ROUNDS = 5

P = ParamSpec("P")
T = TypeVar("T")


def estimates() -> None:
    """Print CPU seconds of EM, and those of MACE and RaterTAP over those of Dawid-Skene."""
    print("\nEM, CPU ms, median of rounds; target: MACE and RaterTAP at most 5 times DawidSkene")
    print(f"{'':42}  maximum likelihood        highest posterior density")
    models = (rb.DawidSkene(), rb.MACE(), rb.RaterTAP())
    for name, rated in {**_real(), **_simulated()}.items():
        row = []
        for priors in (False, True):
            runs = [
                [timed(model.em, rated, priors=priors)[0] for model in models]
                for _ in range(ROUNDS)
            ]
            first, *others = 1e3 * np.median(runs, axis=0)
            row.append(f"{first:8.1f}" + "".join(f"{x:7.1f} ({x / first:.1f})" for x in others))
        print(f"{name:42}{'  '.join(row)}", flush=True)


def crowds() -> None:
    """Print seconds, R-hat and ESS of fits with default settings."""
    print(
        "\nWhole fits of crowds, defaults; targets: 30 s and 15 s, R-hat below 1.01, ESS above 400"
    )
    print(f"{'':46} sampler   CPU s   start  R-hat  bulk ESS  modes")
    for name, rated in _simulated().items():
        models: list[CategoryModel] = [rb.DawidSkene(), rb.MACE(), rb.TAP(), rb.RaterGroupthink()]
        if len(rated.categories) == 2:
            models.insert(2, rb.RaterTAP())
        for model in models:
            starting, _ = timed(
                lambda model, rated: model.starts(model.problem(rated)), model, rated
            )
            seconds, fit = timed(fitted, model, rated)
            checks = fit.diagnostics()
            print(
                f"{name:30}{type(model).__name__:16}{fit.settings.sampler:>8}{seconds:8.1f}"
                f"{starting:8.2f}{checks.r_hat:7.3f}{checks.ess_bulk:10.0f}"
                f"{max(1, len(fit.modes)):7}",
                flush=True,
            )


def fitted(model: RatingModel[Any], rated: rb.Ratings) -> rb.Fit:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rb.ConvergenceWarning)
        return model.fit(rated, seed=1, progress=False)


def timed(call: Callable[P, T], *args: P.args, **options: P.kwargs) -> tuple[float, T]:
    """CPU seconds of this process and its children, and what the call returns."""
    before = time.process_time() + sum(os.times()[2:4])
    found = call(*args, **options)
    return time.process_time() + sum(os.times()[2:4]) - before, found


def measured(fit: Callable[P, rb.Fit], *args: P.args, **options: P.kwargs) -> tuple[rb.Fit, str]:
    """A fit, and in columns its seconds, CPU seconds, largest R-hat and smallest bulk ESS."""
    began = time.perf_counter()
    cpu, found = timed(fit, *args, **options)
    wall, checks = time.perf_counter() - began, found.diagnostics()
    return found, f"{wall:8.1f}{cpu:8.1f}{checks.r_hat:7.3f}{checks.ess_bulk:10.0f}"


def _real() -> dict[str, rb.Ratings]:
    found = {}
    for name in REAL:
        table = pd.read_csv(rb.datasets.folder() / f"{name}.csv")[["item", "rater", "rating"]]
        rated = rb.Ratings.from_frame(table, scale="nominal")
        found[f"{name}, {_size(rated)}"] = rated
    return found


def _simulated() -> dict[str, rb.Ratings]:
    each = (ratings(annotate(*size), size[-1]) for size in CROWDS)
    return {_size(rated): rated for rated in each}


def _size(rated: rb.Ratings) -> str:
    return f"{len(rated):,} by {rated.n_raters}, K = {len(rated.categories)}"
