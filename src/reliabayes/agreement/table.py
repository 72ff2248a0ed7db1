"""The table of all coefficients that suit some ratings."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from reliabayes.agreement.alpha import krippendorff_alpha
from reliabayes.agreement.coefficient import Coefficient
from reliabayes.agreement.cohen import cohen_kappa
from reliabayes.agreement.conger import conger_kappa
from reliabayes.agreement.fleiss import fleiss_kappa
from reliabayes.agreement.gwet import brennan_prediger, gwet_ac1, gwet_ac2
from reliabayes.agreement.icc_between_raters import raters_averaged
from reliabayes.agreement.icc_names import IccName
from reliabayes.agreement.information import information_agreement
from reliabayes.agreement.interval import Interval, check_interval_options
from reliabayes.agreement.intraclass import icc
from reliabayes.agreement.joint_bootstrap import percentile_intervals
from reliabayes.agreement.over_parts import Several, coefficients_of
from reliabayes.agreement.percent import percent_agreement
from reliabayes.agreement.rater_pools import pool_by_rater, require_resamplable
from reliabayes.agreement.spearman_brown import step_up
from reliabayes.agreement.whole import Whole, ratings_in_memory, whole_of
from reliabayes.agreement.within_raters import WITHIN, pairs_in_words, within_raters
from reliabayes.agreement.xrr import kappa_x, normalized_kappa_x
from reliabayes.choices import Method, Over, Scale
from reliabayes.errors import Fault, RatingsError
from reliabayes.finding_table import FindingTable
from reliabayes.guidelines import Guideline, interpret, named
from reliabayes.partitions import RatingsDataset
from reliabayes.ratings import Ratings
from reliabayes.ratings.few_categories import require_few_categories
from reliabayes.ratings.likely_scale import likely_scale, whole_numbers

UNCORRECTED = "percent agreement"  # for chance; begins the labels of such coefficients
SHARES = "alpha (nominal), shares of votes"
OF_SEVERAL = (SHARES, "ICC(1,k)")  # reliability of aggregates, of which one rater has none
WITHIN_IN_PARTS = "Agreement within raters needs all ratings in memory and is left out."
OF_TWO = "items, these raters"  # where two raters leave no other interval
Functions = Mapping[str, Callable[[Ratings], Coefficient]]
Argument = TypeVar("Argument")
Result = TypeVar("Result")

# In an incomplete design, where every sample maximises a likelihood, and where a single one does.
MAX_RATERS_OF_BOOTSTRAP, MAX_RATERS = 25, 300
# Coefficients of which the first that is in a table is its finding.
TELLING: Mapping[Scale, tuple[str, ...]] = {
    "nominal": ("alpha (nominal)",),
    "ordered": ("alpha (ordinal)",),
    "numeric": ("ICC(2,1)", "ICC(1,1)"),
}


def agreement_table(
    ratings: Ratings | RatingsDataset,
    *,
    prob: float,
    over: Over | None,
    method: Method | None,
    replicates: int,
    seed: int,
    n_jobs: int,
    guideline: str | Guideline | None,
) -> pd.DataFrame:
    """Tabulate all coefficients that suit some ratings; see `Ratings.agreement`.

    Parameters
    ----------
    ratings : Ratings or RatingsDataset
        Any design.
    prob : float
        As for `Ratings.agreement`, like all further parameters.
    over : {"items", "raters", "both"} or None
        What is a sample from a larger population; None for the default of each coefficient.
    method : {"model", "log", "percentile", "bca", "jackknife", "analytic"} or None
        How the intervals are computed; None for the default of each coefficient.
    replicates, seed, n_jobs : int
        Number of bootstrap samples, their seed and the number of joblib workers.
    guideline : str or Guideline or None
        Whose words to add.

    Returns
    -------
    DataFrame
        Index coefficient, columns value, standard_error, lower_95, upper_95 (for ``prob=0.95``),
        over, method and, with a guideline, word. By default, intervals with two raters hold for
        these and other items, and over says so. ``attrs["finding"]`` is a sentence;
        ``attrs["pairs"]`` says which pairs of ratings are compared if raters rated items more than
        once, and is empty otherwise.
    """
    check_interval_options(prob, over or "items", method or "log")
    example = ratings_in_memory(Whole(ratings))
    if ratings.scale != "numeric":
        require_few_categories(example, "the table takes at most {most} categories")
    if over in ("raters", "both"):
        require_resamplable(pool_by_rater(example))
    found = suitable(ratings, bootstrapped=method in ("percentile", "bca"))
    sampling = {"over": over, "replicates": replicates, "seed": seed, "n_jobs": n_jobs}
    with threadpool_limits(limits=1, user_api="blas"):  # matrices are too small for threads
        table = pd.DataFrame({"value": {label: each.value for label, each in found.items()}})
        defined = {label: found[label] for label in table.index[table["value"].notna()]}
        intervals = _intervals(ratings, defined, prob, method, sampling)
    words = {} if guideline is None else {"word": _words(table["value"], guideline)}
    level = f"{100 * prob:g}"
    for column, part in (
        ("standard_error", "standard_error"),
        (f"lower_{level}", "lower"),
        (f"upper_{level}", "upper"),
    ):
        table[column] = pd.Series(
            {label: getattr(interval, part) for label, interval in intervals.items()}, dtype=float
        )
    for part in ("over", "method"):
        table[part] = [getattr(intervals.get(label), part, "") for label in table.index]
    is_default = over is None and method is None
    if is_default and example.n_raters == 2 and not example.anonymous_raters:
        table["over"] = table["over"].replace("items", OF_TWO)
    if guideline is not None:
        whose = named(guideline)
        table.attrs |= {"guideline": whose.name, "caution": whose.caution}
    table.attrs["pairs"] = _pairs(ratings, example, table.index)
    whole = table.assign(**words).rename_axis("coefficient")
    telling = TELLING[likely_scale(example).scale]
    chosen = _chosen(whole, telling)
    said = found[chosen or whole.index[0]].methods_with(intervals.get(chosen))
    return FindingTable.of(whole, _finding(whole, chosen, level, telling), said)


def _corrected(table: pd.DataFrame) -> pd.DataFrame:
    """Coefficients that are corrected for chance and defined."""
    return table[~table.index.str.startswith(UNCORRECTED)].dropna(subset="value")


def _chosen(table: pd.DataFrame, telling: Sequence[str]) -> str:
    """The coefficient that the finding is about; empty if none is corrected for chance."""
    known = _corrected(table).index
    return next((name for name in telling if name in known), known[0] if len(known) else "")


def _finding(table: pd.DataFrame, chosen: str, level: str, telling: Sequence[str]) -> str:
    """A coefficient that is corrected for chance, with its interval."""
    if not chosen:
        return "No coefficient that is corrected for chance is defined"
    corrected = _corrected(table)
    found = f"{chosen} is {_in_words(corrected, chosen, level)}"
    within = next(
        (f"{name}{WITHIN}" for name in telling if f"{name}{WITHIN}" in corrected.index), ""
    )
    if within:
        found = f"Between raters, {found}; {within}, is {_in_words(corrected, within, level)}"
    below = _below_chance(corrected, chosen, level)
    return f"{found}; 1 is perfect agreement, 0 agreement by chance{below}"


def _below_chance(table: pd.DataFrame, name: str, level: str) -> str:
    """What a negative coefficient means, and where to look if the interval is negative, too."""
    row, below = table.loc[name], "; below 0, raters agree less than by chance"
    if row["value"] >= 0:
        return ""
    if row[f"upper_{level}"] < 0:
        below += ": look for a reversed scale or a category that they understand differently"
    return below


def _in_words(table: pd.DataFrame, name: str, level: str) -> str:
    """A value with its interval."""
    row = table.loc[name]
    found = f"{row['value']:.2f}"
    if np.isfinite(row[f"lower_{level}"]):
        limits = f"{row[f'lower_{level}']:.2f} to {row[f'upper_{level}']:.2f}"
        who = ", for these raters" if row["over"] == OF_TWO else ""
        found += f" ({level}% interval {limits}{who})"
    return found


def _pairs(ratings: Ratings | RatingsDataset, example: Ratings, labels: pd.Index[Any]) -> str:
    """Which pairs of ratings are compared, if that needs saying."""
    if not whole_of(example).has_repeats:
        return ""
    said = pairs_in_words(example, has_iccs="ICC(1,k)" in labels)
    return said if isinstance(ratings, Ratings) else f"{said} {WITHIN_IN_PARTS}"


def suitable(ratings: Ratings | RatingsDataset, *, bootstrapped: bool) -> dict[str, Coefficient]:
    """Compute the coefficients that suit the scale and the design.

    Parameters
    ----------
    ratings : Ratings or RatingsDataset
        Any design.
    bootstrapped : bool
        Whether to leave out coefficients whose bootstrap would take minutes.

    Returns
    -------
    dict from str to Coefficient
        Coefficients by label; a warning names those left out, with the reason.
    """
    example = ratings_in_memory(Whole(ratings))
    functions = _suitable_functions(example, bootstrapped)
    found = _apply_where_possible(functions, lambda function: function(example), "left out")
    if isinstance(ratings, RatingsDataset):
        found = coefficients_of(ratings, Several({label: functions[label] for label in found}))
    elif example.has_repeats:
        found |= _within_raters(example)
    return {label: replace(each, name=label) for label, each in found.items()}


def _within_raters(ratings: Ratings) -> dict[str, Coefficient]:
    """Those coefficients within raters that need not know who they are."""
    functions = {
        f"{label}{WITHIN}": function
        for scale in _views(ratings)
        for label, function in FOR_ANY_RATERS[scale].items()
        if label not in OF_SEVERAL
    }
    return _apply_where_possible(
        functions, lambda function: within_raters(ratings, function), "left out"
    )


def _suitable_functions(
    ratings: Ratings, bootstrapped: bool
) -> dict[str, Callable[[Ratings], Coefficient]]:
    """Functions that compute the coefficients, by label; they can be pickled."""
    functions: dict[str, Callable[[Ratings], Coefficient]] = {}
    for scale in _views(ratings):
        functions |= FOR_ANY_RATERS[scale]
        if not ratings.anonymous_raters:
            known = FOR_TWO_RATERS if ratings.n_raters == 2 else FOR_MORE_RATERS
            functions |= known[scale]
            if scale == "numeric":
                two_way = partial(_two_way_icc, bootstrapped=bootstrapped)
                functions |= {name: partial(two_way, name=name) for name in TWO_WAY_ICCS}
    if ratings.separator is not None:
        functions |= FOR_SETS_OF_LABELS
    if ratings.rater_pool is not None:
        distance = "nominal" if likely_scale(ratings).scale == "nominal" else None
        functions |= {name: partial(of, distance=distance) for name, of in FOR_TWO_POOLS.items()}
    return functions


def _views(ratings: Ratings) -> tuple[Scale, ...]:
    """Scales that ratings are looked at on, the likely one first: both if they may be grades."""
    scale = likely_scale(ratings).scale
    if scale == "nominal" or not ratings.scale_is_guess or whole_numbers(ratings) < 2:
        return (scale,)
    return ("ordered", "numeric") if scale == "ordered" else ("numeric", "ordered")


def _two_way_icc(ratings: Ratings, name: IccName, bootstrapped: bool) -> Coefficient:
    """ICC(2, .) or ICC(3, .), unless its interval would take minutes."""
    most = MAX_RATERS_OF_BOOTSTRAP if bootstrapped else MAX_RATERS
    whole = whole_of(ratings)
    if ratings.n_raters > most and not (whole.is_once_each or whole.has_repeats):
        rule = f"an incomplete design must have {most} or fewer raters for this interval"
        remedy = 'Pass method="model", or fit GaussianICC.' if bootstrapped else "Fit GaussianICC."
        raise RatingsError([Fault("rater", rule, str(ratings.n_raters), remedy)])
    return icc(ratings, name)


def _alpha_of_shares(ratings: Ratings) -> Coefficient:
    """Reliability of the shares of an item's votes for each category: alpha, stepped up.

    Nominal alpha is an ICC of votes as vectors of 0 and 1, of which the shares are the mean.
    """
    single, k = krippendorff_alpha(ratings, "nominal"), raters_averaged(ratings)
    return replace(
        single,
        formula=lambda sums: step_up(single.formula(sums), k),
        parts={},
        undefined="alpha is undefined, or so far below 0 that shares would have no variance",
    )


FOR_ANY_RATERS: Mapping[Scale, Functions] = {
    "nominal": {
        "percent agreement": percent_agreement,
        "Fleiss' kappa": fleiss_kappa,
        "Brennan & Prediger's S": brennan_prediger,
        "Gwet's AC1": gwet_ac1,
        "alpha (nominal)": partial(krippendorff_alpha, metric="nominal"),
        SHARES: _alpha_of_shares,
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
FOR_SETS_OF_LABELS: Functions = {
    "alpha (jaccard)": partial(krippendorff_alpha, metric="jaccard"),
    "alpha (masi)": partial(krippendorff_alpha, metric="masi"),
}
TWO_WAY_ICCS: tuple[IccName, ...] = ("ICC(2,1)", "ICC(2,k)", "ICC(3,1)", "ICC(3,k)")
FOR_TWO_RATERS: Mapping[Scale, Functions] = {
    "nominal": {"Cohen's kappa": cohen_kappa, "P_I": information_agreement},
    "ordered": {
        "Cohen's kappa (linear)": partial(cohen_kappa, weights="linear"),
        "Cohen's kappa (quadratic)": partial(cohen_kappa, weights="quadratic"),
    },
    "numeric": {},
}
FOR_MORE_RATERS: Mapping[Scale, Functions] = {
    "nominal": {"Conger's kappa": conger_kappa},
    "ordered": {
        "Conger's kappa (linear)": partial(conger_kappa, weights="linear"),
        "Conger's kappa (quadratic)": partial(conger_kappa, weights="quadratic"),
    },
    "numeric": {},
}
FOR_TWO_POOLS: Mapping[str, Callable[..., Coefficient]] = {
    "kappa_x": kappa_x,
    "normalized kappa_x": normalized_kappa_x,
}


def _words(values: pd.Series[float], guideline: str | Guideline) -> pd.Series[str]:
    """Word for each value; none for percent agreement, which is not corrected for chance."""
    words = values.clip(upper=1).map(partial(interpret, guideline=guideline))
    return words.where(~words.index.str.startswith(UNCORRECTED), "")


def _intervals(
    ratings: Ratings | RatingsDataset,
    coefficients: Mapping[str, Coefficient],
    prob: float,
    method: Method | None,
    sampling: Mapping[str, Any],
) -> dict[str, Interval]:
    """Interval of each coefficient; a warning names those without one, with the reason."""
    if method != "percentile" or isinstance(ratings, RatingsDataset):
        intervals = _apply_where_possible(
            coefficients,
            lambda each: each.interval(prob, method=_known(method, each), **sampling),
            "no interval",
        )
    else:
        over = sampling["over"] or "items"
        if over != "items":
            once = np.ones(ratings.n_raters)
            resamplable = _apply_where_possible(
                coefficients, lambda each: each.rows(once), "no interval"
            )
            coefficients = {label: coefficients[label] for label in resamplable}
        intervals = percentile_intervals(coefficients, prob, **{**sampling, "over": over})
    undefined = {label: each.undefined for label, each in intervals.items() if each.undefined}
    if undefined:
        worst = max(undefined, key=undefined.__getitem__)
        warnings.warn(
            f"{worst} is undefined in {undefined[worst]} of {sampling['replicates']} bootstrap "
            "samples, which its interval excludes.",
            stacklevel=4,
        )
    return intervals


def _known(method: Method | None, coefficient: Coefficient) -> Method | None:
    """The method, or None where it is that of ICCs and the coefficient is none."""
    return None if method == "model" and coefficient.model is None else method


def _apply_where_possible(
    arguments: Mapping[str, Argument], function: Callable[[Argument], Result], consequence: str
) -> dict[str, Result]:
    """Results that raise no RatingsError; a warning names the others, with the reason."""
    results, reasons = {}, dict[str, list[str]]()
    for label, argument in arguments.items():
        try:
            results[label] = function(argument)
        except RatingsError as error:
            reasons.setdefault(str(error), []).append(label)
    for reason, labels in reasons.items():
        warnings.warn(f"{', '.join(labels)}: {consequence}. {reason}", stacklevel=5)
    return results
