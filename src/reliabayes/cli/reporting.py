"""What is told of a fit: its posterior and diagnostics, for readers and as JSON."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import reliabayes as rb
from reliabayes.cli.output import new_table, plain, print_table, tell

if TYPE_CHECKING:
    import pandas as pd


def print_results(fitted: rb.Fit | rb.PointEstimate, prob: float) -> None:
    """Print the posterior, or the point."""
    if isinstance(fitted, rb.Fit):
        print_posterior(fitted, prob)
        return
    table = new_table("quantity", "estimate", numbers=("estimate",))
    for name, value in fitted.summary()["estimate"].items():
        table.add_row(str(name), f"{value:.4f}")
    print_table(table)


def print_posterior(fitted: rb.Fit, prob: float) -> None:
    """Print a row for each quantity."""
    tail = 50 * (1 - prob)
    bounds = f"{tail:g}%", f"{100 - tail:g}%"
    numbers = "mean", "sd", "median", *bounds, "ess_bulk", "ess_tail", "r_hat"
    table = new_table("quantity", *numbers, numbers=numbers)
    for name, row in _summary(fitted, prob).iterrows():
        shown = _formatter(row["sd"])
        values = [shown(row[key]) for key in ("mean", "sd", "median", "lower", "upper")]
        sizes = [f"{row[key]:.0f}" for key in ("ess_bulk", "ess_tail")]
        table.add_row(str(name), *values, *sizes, f"{row['r_hat']:.3f}")
    print_table(table)


def _formatter(sd: float) -> Callable[[float], str]:
    """Return how to show numbers of this sd: to three of its digits, and four decimals at most."""
    if not 1e-4 <= sd < 1e5:
        return "{:.3g}".format
    decimals = min(4, max(0, 2 - math.floor(math.log10(sd))))
    return f"{{:.{decimals}f}}".format


def _summary(fitted: rb.Fit, prob: float) -> pd.DataFrame:
    """Return the posterior of each quantity, by columns that do not depend on the interval."""
    table = fitted.summary(prob).assign(prob=prob)
    table.columns = table.columns.str.replace(r"^(lower|upper)_.*", r"\1", regex=True)
    return table


def tell_diagnostics(fitted: rb.Fit | rb.PointEstimate) -> None:
    """Tell how the numbers were found, and whether to trust them."""
    if isinstance(fitted, rb.PointEstimate):
        tell(fitted)
        return
    found, made = fitted.diagnostics(), fitted.settings
    tell(
        f"{made.chains} x {made.draws} draws, seed {made.seed}: "
        f"R-hat up to {found.r_hat:.3f}, ESS from {found.ess_bulk:.0f} (bulk) and "
        f"{found.ess_tail:.0f} (tail), {found.divergences} divergences, "
        f"{found.tree_depth_hits} at the largest tree depth, E-BFMI from {found.bfmi:.2f}."
    )


def report_of(
    fitted: rb.Fit | rb.PointEstimate, prob: float, source: Mapping[str, Any]
) -> dict[str, Any]:
    """Return all that is told of a fit, as JSON can have it."""
    return {
        "model": fitted.model.name(),
        "version": version("reliabayes"),
        "data": {**source, **design_of(fitted.ratings)},
        **_results(fitted, prob),
    }


def design_of(ratings: rb.Ratings) -> dict[str, Any]:
    """Return what reports say of the ratings."""
    return {
        "ratings": len(ratings),
        "items": ratings.n_items,
        "raters": ratings.n_raters,
        "pools": ratings.pools.tolist(),
        "scale": ratings.scale,
        "complete": ratings.is_complete,
    }


def _results(fitted: rb.Fit | rb.PointEstimate, prob: float) -> dict[str, Any]:
    if isinstance(fitted, rb.PointEstimate):
        return {
            "method": "em",
            "quantities": {
                str(name): {"estimate": plain(value)}
                for name, value in fitted.summary()["estimate"].items()
            },
            "diagnostics": {
                "converged": fitted.converged,
                "iterations": len(fitted.path) - 1,
                "log_likelihood": fitted.log_likelihood,
            },
        }
    keys = ["mean", "sd", "median", "lower", "upper", "prob", "ess_bulk", "ess_tail", "r_hat"]
    return {
        "method": "mcmc",
        "quantities": {
            str(name): {key: plain(row[key]) for key in keys}
            for name, row in _summary(fitted, prob).iterrows()
        },
        "diagnostics": {
            **{key: plain(value) for key, value in asdict(fitted.diagnostics()).items()},
            "problems": fitted.diagnostics().problems,
            "settings": asdict(fitted.settings),
        },
    }
