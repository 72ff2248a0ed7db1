"""Who rates higher or lower than the others, in units of the rating."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from reliabayes.arrays import Array
from reliabayes.html_report.answers.figures import Claim
from reliabayes.results.model import RatesInCategories
from reliabayes.results.rater_variance import raters_outweigh_items
from reliabayes.results.summaries import interval_bounds

if TYPE_CHECKING:
    from reliabayes.results.fit import Fit

DRAWS = 200  # from which severities are computed
CLEAR = 0.95  # probability from which on a rater counts as severe or lenient


def severities(fit: Fit) -> pd.DataFrame | None:
    """How far each rater rates above or below the average rater, the most severe first.

    Parameters
    ----------
    fit : Fit
        Fit of a model of scores.

    Returns
    -------
    DataFrame or None
        Columns median, and lower and upper ends of 90% intervals, in units of the rating; None if
        the model does not tell.
    """
    if fit.ratings.anonymous_raters:
        return None
    if fit.model.continuous:
        table = fit.raters(2 * CLEAR - 1)
        columns = {
            "median": table["median"],
            "lower": table.iloc[:, -2],
            "upper": table.iloc[:, -1],
        }
        return pd.DataFrame(columns).sort_values("median")
    model = fit.model
    found = None
    if isinstance(model, RatesInCategories):
        found = model.rating_probabilities(fit._draws(DRAWS))
    if found is None:
        return None
    values = _values(fit.ratings.categories)
    level = np.array([draw.by_rater @ values for draw in found])
    effects = level - level.mean(axis=1, keepdims=True)
    lower, upper = interval_bounds(effects, 2 * CLEAR - 1)
    columns = {"median": np.median(effects, axis=0), "lower": lower, "upper": upper}
    return pd.DataFrame(columns, index=fit.ratings.raters).sort_values("median")


def claims_on_raters(fit: Fit) -> tuple[Claim, ...]:
    """That raters differ more than items do, if it is more likely than not.

    Parameters
    ----------
    fit : Fit
        Fit of a model of scores.

    Returns
    -------
    tuple of Claim
    """
    said = raters_outweigh_items(fit.quantities)
    return (Claim(said.removesuffix(".")),) if said else ()


def severity_claim(fit: Fit) -> str:
    """Who is clearly more severe or more lenient than the average rater, in a sentence.

    Parameters
    ----------
    fit : Fit
        Fit of a model of scores.

    Returns
    -------
    str
        Empty if the model does not tell.
    """
    table = severities(fit)
    if table is None or len(table) < 2:
        return ""
    unit = "" if fit.model.continuous or _are_numbers(fit.ratings.categories) else " categories"
    first, last = table.iloc[0], table.iloc[-1]
    parts = []
    if first["upper"] < 0:
        low = _amount(-first["median"])
        who = _named(table.index[0])
        parts.append(f"{who} is the most severe rater, {low}{unit} below the average")
    if last["lower"] > 0:
        high = _amount(last["median"])
        who = _named(table.index[-1], begins=not parts)
        parts.append(
            f"{who} the most lenient, {high}{unit} above it"
            if parts
            else f"{who} is the most lenient rater, {high}{unit} above the average"
        )
    if not parts:
        return "No rater is clearly more severe or more lenient than the average"
    return "; ".join(parts)


def _named(rater: Any, *, begins: bool = True) -> str:
    """A rater's id, as a name if it is a number, which may begin a sentence."""
    if not str(rater).isdigit():
        return str(rater)
    return f"{'Rater' if begins else 'rater'} {rater}"


def _amount(value: float) -> str:
    return f"{value:.1f}" if value >= 0.1 else f"{value:.2g}"


def _are_numbers(categories: pd.Index[Any]) -> bool:
    return bool(pd.api.types.is_numeric_dtype(categories))


def _values(categories: pd.Index[Any]) -> Array:
    if _are_numbers(categories):
        return categories.to_numpy(float)
    return np.arange(1.0, len(categories) + 1)
