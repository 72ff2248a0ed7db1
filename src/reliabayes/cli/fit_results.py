"""The posterior and the diagnostics of a fit, printed and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import reliabayes as rb
from reliabayes.cli.output import (
    fits_terminal,
    json_value,
    make_table,
    print_message,
    print_table,
    print_text,
    while_computing,
)
from reliabayes.cli.ratings_file import in_options

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

    from reliabayes.partitions import AnyRatings

SHOWN = ("mean", "sd", "median", "lower", "upper", "ess_bulk", "ess_tail", "r_hat")
SHOWN_IF_NARROW = ("median", "lower", "upper", "r_hat")  # where names would be broken


def print_results(fitted: rb.Fit | rb.PointEstimate, prob: float) -> None:
    """Print the estimates of all quantities, and the finding of a posterior in a sentence.

    Parameters
    ----------
    fitted : Fit or PointEstimate
        The posterior, or a point estimate.
    prob : float
        Probability of the intervals of the posterior.
    """
    if isinstance(fitted, rb.Fit):
        print_posterior(fitted, prob)
        print_verdict(fitted, prob)
        return
    table = make_table("quantity", "estimate", numeric=("estimate",))
    for name, value in fitted.summary()["estimate"].items():
        table.add_row(str(name), f"{value:.4f}")
    print_table(table)


def print_posterior(fitted: rb.Fit, prob: float) -> None:
    """Print the posterior, with a row for each quantity.

    Parameters
    ----------
    fitted : Fit
        The posterior.
    prob : float
        Probability of the intervals.
    """
    tail = 50 * (1 - prob)
    bounds = f"{tail:g}%", f"{100 - tail:g}%"
    with while_computing("the quantities"):
        summary = _summary(fitted, prob)
    table = _posterior_table(summary, bounds, SHOWN)
    if not fits_terminal(table):
        table = _posterior_table(summary, bounds, SHOWN_IF_NARROW)
    print_table(table)
    if fitted.note:
        print_message(f"Note: {fitted.note}")


def _posterior_table(summary: pd.DataFrame, bounds: Sequence[str], shown: Sequence[str]) -> Table:
    """Return a table of some columns of the posterior."""
    from reliabayes.results.summaries import digits_for

    headers = dict(zip(("lower", "upper"), bounds, strict=True))
    names = [headers.get(key, key) for key in shown]
    table = make_table("quantity", *names, numeric=names)
    for name, row in summary.iterrows():
        form = digits_for(row["sd"], row["mcse"])
        forms = {"ess_bulk": "{:.0f}".format, "ess_tail": "{:.0f}".format, "r_hat": "{:.3f}".format}
        table.add_row(str(name), *(forms.get(key, form)(row[key]) for key in shown))
    return table


def print_verdict(fitted: rb.Fit, prob: float) -> None:
    """Print what the report of a fit begins with: the verdict and its main numbers.

    Parameters
    ----------
    fitted : Fit
        The posterior.
    prob : float
        Probability of the intervals.
    """
    from reliabayes.html_report.answers import answer

    with while_computing("the answer"):
        found = answer(fitted, prob=prob, details=False)
    print_text(f"\n{found.verdict}")
    for figure in found.figures:
        interval = f" ({figure.interval})" if figure.interval else ""
        print_text(f"  {figure.value}{interval} {figure.name}")
    print_text(f"Ranges are {100 * prob:g}% intervals.")


def _summary(fitted: rb.Fit, prob: float) -> pd.DataFrame:
    """Return the posterior of each quantity, with column names that do not depend on `prob`."""
    table = fitted.summary(prob).assign(prob=prob)
    table.columns = table.columns.str.replace(r"^(lower|upper)_.*", r"\1", regex=True)
    return table


def print_diagnostics(fitted: rb.Fit | rb.PointEstimate, *, is_recommended: bool = False) -> None:
    """Print how the estimates were computed, and the convergence diagnostics.

    Parameters
    ----------
    fitted : Fit or PointEstimate
        The posterior, or a point estimate.
    is_recommended : bool, default False
        Whether the model was recommended, with a hint at models of grades if it is for numbers.
    """
    from reliabayes.results.ignored_facets import ignored_facets, own_caution
    from reliabayes.results.modes import modes_in_words

    if ignored := ignored_facets(fitted.model, fitted.ratings):
        print_message(in_options(ignored))
    is_said = is_recommended and fitted.model.continuous
    if (caution := own_caution(fitted.model, fitted.ratings)) and not is_said:
        print_message(in_options(caution))
    if getattr(fitted.ratings, "gold", None) is not None and not fitted.model.has_true_categories:
        print_message(f"{fitted.model.name()} has no true categories; it makes no use of --gold.")
    if fitted.common_errors:
        print_message(fitted.common_errors)
    if isinstance(fitted, rb.PointEstimate):
        print_message(fitted)
        return
    found, settings = fitted.diagnostics(), fitted.settings
    if fitted.near_chance:
        print_message(fitted.near_chance)
    if fitted.readings:
        print_message(" ".join([modes_in_words(settings.modes), *fitted.readings]))
    own = ""
    if settings.has_trajectories:
        own = f", {found.divergences} divergent transitions"
        if settings.sampler == "nuts":
            own += f", {found.tree_depth_hits} at the maximum tree depth"
        own += f", smallest E-BFMI {found.bfmi:.2f}"
    print_message(
        f"{settings.chains} chains of {settings.draws} draws by {settings.sampler_name}, seed "
        f"{settings.seed}: largest R-hat {found.r_hat:.3f}, smallest ESS {found.ess_bulk:.0f} "
        f"(bulk) and {found.ess_tail:.0f} (tail){own}."
    )


def _json_row(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: json_value(value) for key, value in row.items()}


def json_report(
    fitted: rb.Fit | rb.PointEstimate, prob: float, source: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the results of a fit for JSON.

    Parameters
    ----------
    fitted : Fit or PointEstimate
        The posterior, or a point estimate.
    prob : float
        Probability of the intervals of the posterior.
    source : mapping
        The file that was read, and its columns.

    Returns
    -------
    dict
        Model, version, data, method, quantities and diagnostics.
    """
    return {
        "model": fitted.model.name(),
        "version": rb.__version__,
        "data": {**source, **json_design(fitted.ratings)},
        **_results(fitted, prob),
    }


def json_design(ratings: AnyRatings) -> dict[str, Any]:
    """Return the size and the design of ratings for JSON.

    Parameters
    ----------
    ratings : Ratings
        The ratings.

    Returns
    -------
    dict
        Numbers of ratings, items and raters; pools, scale, and whether the design is complete.
        If there are facets, the numbers of their levels.
    """
    return {
        "ratings": len(ratings),
        "items": ratings.n_items,
        "raters": ratings.n_raters,
        "pools": ratings.pools.tolist(),
        "scale": ratings.scale,
        "complete": ratings.is_complete,
        **(
            {"facets": {name: len(ids) for name, ids in ratings.facets.items()}}
            if ratings.facets
            else {}
        ),
    }


def _results(fitted: rb.Fit | rb.PointEstimate, prob: float) -> dict[str, Any]:
    if isinstance(fitted, rb.PointEstimate):
        return {
            "method": "em",
            "quantities": {
                str(name): {"estimate": json_value(value)}
                for name, value in fitted.summary()["estimate"].items()
            },
            "diagnostics": {
                "converged": fitted.converged,
                "iterations": len(fitted.path) - 1,
                "log_likelihood": fitted.log_likelihood,
            },
        }
    keys = ["mean", "sd", "median", "lower", "upper", "prob", "ess_bulk", "ess_tail", "r_hat"]
    table = _summary(fitted, prob)
    return {
        "method": "mcmc",
        "quantities": {
            str(name): {key: json_value(row[key]) for key in keys} for name, row in table.iterrows()
        },
        "caution": table.attrs["caution"],
        "diagnostics": {
            **{key: json_value(value) for key, value in asdict(fitted.diagnostics()).items()},
            "problems": fitted.diagnostics().problems,
            "notes": fitted.diagnostics().notes,
            "settings": asdict(fitted.settings)
            | {"modes": [_json_row(asdict(mode)) for mode in fitted.settings.modes]},
        },
    }
