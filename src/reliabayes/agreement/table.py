"""The coefficients that suit some ratings, in one table."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from reliabayes.agreement.alpha import krippendorff_alpha
from reliabayes.agreement.coefficient import (
    Coefficient,
    Method,
    Over,
    check_options,
    crowd,
    pool_by_rater,
)
from reliabayes.agreement.cohen import cohen_kappa
from reliabayes.agreement.conger import conger_kappa
from reliabayes.agreement.counts import percent_agreement
from reliabayes.agreement.fleiss import fleiss_kappa
from reliabayes.agreement.gwet import brennan_prediger, gwet_ac1, gwet_ac2
from reliabayes.agreement.information import information_agreement
from reliabayes.agreement.interval import Interval
from reliabayes.agreement.intraclass import IccName, icc, is_once_each
from reliabayes.agreement.together import percentile_intervals
from reliabayes.agreement.xrr import kappa_x, normalized_kappa_x
from reliabayes.errors import Fault, RatingsError
from reliabayes.guidelines import Guideline, interpret, named
from reliabayes.ratings import Ratings, Scale

Functions = Mapping[str, Callable[[Ratings], Coefficient]]
Given = TypeVar("Given")
Made = TypeVar("Made")

MOST_RATERS = 25  # of an incomplete design, whose likelihood is maximised anew in each sample


def agreement_table(
    ratings: Ratings,
    *,
    prob: float,
    over: Over,
    method: Method,
    replicates: int,
    seed: int,
    n_jobs: int,
    guideline: str | Guideline | None,
) -> pd.DataFrame:
    """See `Ratings.agreement`."""
    check_options(prob, over, method)
    if over != "items":
        crowd(pool_by_rater(ratings))
    found = suitable(ratings)
    table = pd.DataFrame({"value": {label: each.value for label, each in found.items()}})
    words = {} if guideline is None else {"word": _words(table["value"], guideline)}
    defined = {label: found[label] for label in table.index[table["value"].notna()]}
    sampling = {"over": over, "replicates": replicates, "seed": seed, "n_jobs": n_jobs}
    intervals = _intervals(ratings, defined, prob, method, sampling)
    level = f"{100 * prob:g}"
    for column, part in (
        ("standard_error", "standard_error"),
        (f"lower_{level}", "lower"),
        (f"upper_{level}", "upper"),
    ):
        table[column] = pd.Series(
            {label: getattr(interval, part) for label, interval in intervals.items()}, dtype=float
        )
    table.attrs |= {"over": over, "method": method}
    if guideline is not None:
        chosen = named(guideline)
        table.attrs |= {"guideline": chosen.name, "caution": chosen.caution}
    return table.assign(**words).rename_axis("coefficient")


def suitable(ratings: Ratings) -> dict[str, Coefficient]:
    """Coefficients for the scale and the design; a warning tells which is left out, and why."""
    functions = dict(ANY[ratings.scale])
    if not ratings.anonymous_raters:
        functions |= (TWO if ratings.n_raters == 2 else MORE)[ratings.scale]
    if ratings.rater_pool is not None:
        functions |= POOLS
    found = _those_that_work(functions, lambda function: function(ratings), "left out")
    return {label: replace(each, name=label) for label, each in found.items()}


def _icc(ratings: Ratings, name: IccName) -> Coefficient:
    """ICC(2, .) or ICC(3, .), unless samples of it would take minutes."""
    if ratings.n_raters > MOST_RATERS and not is_once_each(ratings):
        rule = f"raters of an incomplete design must be {MOST_RATERS} or fewer to be sampled here"
        remedy = "Take icc_table, which does not sample, or fit GaussianICC."
        raise RatingsError([Fault("rater", rule, str(ratings.n_raters), remedy)])
    return icc(ratings, name)


ANY: Mapping[Scale, Functions] = {
    "nominal": {
        "percent agreement": percent_agreement,
        "Fleiss' kappa": fleiss_kappa,
        "Brennan & Prediger's S": brennan_prediger,
        "Gwet's AC1": gwet_ac1,
        "alpha (nominal)": partial(krippendorff_alpha, metric="nominal"),
    },
    "ordered": {
        "percent agreement": percent_agreement,
        "Fleiss' kappa (linear)": partial(fleiss_kappa, weights="linear"),
        "Fleiss' kappa (quadratic)": partial(fleiss_kappa, weights="quadratic"),
        "Gwet's AC2 (quadratic)": gwet_ac2,
        "alpha (ordinal)": partial(krippendorff_alpha, metric="ordinal"),
    },
    "numeric": {
        "alpha (interval)": partial(krippendorff_alpha, metric="interval"),
        "ICC(1,1)": partial(icc, name="ICC(1,1)"),
        "ICC(1,k)": partial(icc, name="ICC(1,k)"),
    },
}
KNOWN: Functions = {
    "ICC(2,1)": partial(_icc, name="ICC(2,1)"),
    "ICC(2,k)": partial(_icc, name="ICC(2,k)"),
    "ICC(3,1)": partial(_icc, name="ICC(3,1)"),
    "ICC(3,k)": partial(_icc, name="ICC(3,k)"),
}
TWO: Mapping[Scale, Functions] = {
    "nominal": {"Cohen's kappa": cohen_kappa, "P_I": information_agreement},
    "ordered": {
        "Cohen's kappa (linear)": partial(cohen_kappa, weights="linear"),
        "Cohen's kappa (quadratic)": partial(cohen_kappa, weights="quadratic"),
    },
    "numeric": KNOWN,
}
MORE: Mapping[Scale, Functions] = {
    "nominal": {"Conger's kappa": conger_kappa},
    "ordered": {
        "Conger's kappa (linear)": partial(conger_kappa, weights="linear"),
        "Conger's kappa (quadratic)": partial(conger_kappa, weights="quadratic"),
    },
    "numeric": KNOWN,
}
POOLS: Functions = {"kappa_x": kappa_x, "normalized kappa_x": normalized_kappa_x}


def _words(values: pd.Series[float], guideline: str | Guideline) -> pd.Series[str]:
    """Word of each value; percent agreement has none, as guidelines are for what exceeds chance."""
    words = values.clip(upper=1).map(partial(interpret, guideline=guideline))
    return words.where(words.index != "percent agreement", "")


def _intervals(
    ratings: Ratings,
    coefficients: Mapping[str, Coefficient],
    prob: float,
    method: Method,
    sampling: Mapping[str, Any],
) -> dict[str, Interval]:
    """Intervals of those that have one; a warning tells which has none, and why."""
    if sampling["over"] != "items":
        once = np.ones(ratings.n_raters)
        drawable = _those_that_work(coefficients, lambda each: each.rows(once), "no interval")
        coefficients = {label: coefficients[label] for label in drawable}
    if method == "percentile":
        intervals = percentile_intervals(coefficients, prob, **sampling)
    else:
        intervals = {
            label: each.interval(prob, method=method, **sampling)
            for label, each in coefficients.items()
        }
    if lost := {label: each.undefined for label, each in intervals.items() if each.undefined}:
        most = max(lost, key=lost.__getitem__)
        warnings.warn(
            f"{most} is undefined in {lost[most]} of {sampling['replicates']} samples, which its "
            "interval leaves out.",
            stacklevel=4,
        )
    return intervals


def _those_that_work(
    given: Mapping[str, Given], do: Callable[[Given], Made], otherwise: str
) -> dict[str, Made]:
    """What is made of each; a warning tells of which nothing is, and why."""
    made, reasons = {}, dict[str, list[str]]()
    for label, each in given.items():
        try:
            made[label] = do(each)
        except RatingsError as error:
            reasons.setdefault(str(error), []).append(label)
    for reason, labels in reasons.items():
        warnings.warn(f"{', '.join(labels)}: {otherwise}. {reason}", stacklevel=5)
    return made
