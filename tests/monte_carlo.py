"""How far figures of draws may lie from those of the posterior, by chance alone."""

from __future__ import annotations

from typing import Any

import arviz as az

import reliabayes as rb
from reliabayes.arrays import Array
from reliabayes.results.summaries import scalars


def standard_errors(fit: rb.Fit, column: str) -> dict[str, float]:
    """Monte Carlo standard error of a column of `Fit.summary`, by quantity."""
    return {
        label: standard_error(draws, column)
        for name, values in fit.quantities.items()
        for label, draws in scalars(str(name), values)
    }


def standard_error(draws: Array, column: str = "mean") -> float:
    """Monte Carlo standard error of the mean, sd, median, lower_90, ... of draws (chain, draw).

    That of an sd rests on fourth moments: where tails are heavy it may be a third too small.
    """
    side, _, percent = column.partition("_")
    if not percent:
        error: Any = az.mcse(draws, method=column)  # type: ignore[no-untyped-call]
        return float(error)
    tail = (1 - float(percent) / 100) / 2
    prob = tail if side == "lower" else 1 - tail
    error = az.mcse(draws, method="quantile", prob=prob)  # type: ignore[no-untyped-call]
    return float(error)
