"""Coverage of intervals for two methods of measurement, and how often tests reject by chance.

    python -m tests.agreement.method_coverage [STUDIES]

prints the tables "Two methods" and "Tests" of the page on coverage.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from reliabayes import Ratings
from reliabayes import agreement as ag
from reliabayes.agreement import Interval

ITEM, RESIDUAL, BIAS, RATER = 9.0, 1.0, 0.5, 0.25  # variances; mean difference
EDGE = 1.959964
SIZES = 10, 20, 50, 200
PREVALENCE = np.array([0.5, 0.3, 0.2])
ITEMS = 50  # of tests
REPLICATES = 3

Rng = np.random.Generator


def of_pairs(items: int, rng: Rng) -> Ratings:
    """Normal ratings by two raters with a mean difference."""
    scores = np.sqrt(ITEM) * rng.standard_normal((items, 1))
    return Ratings.from_wide(
        scores + [0, -BIAS] + np.sqrt(RESIDUAL) * rng.standard_normal((items, 2))
    )


def of_four(items: int, rng: Rng) -> Ratings:
    """Normal ratings by four raters whose severity varies."""
    scores = np.sqrt(ITEM) * rng.standard_normal((items, 1))
    severity = np.sqrt(RATER) * rng.standard_normal(4)
    return Ratings.from_wide(
        scores + severity + np.sqrt(RESIDUAL) * rng.standard_normal((items, 4))
    )


def of_replicates(items: int, rng: Rng, *, linked: bool) -> Ratings:
    """Three ratings of each item by each of two raters; linked ones are of changing true values."""
    shape = items, 2, REPLICATES
    true = 3 * rng.standard_normal((items, 1, REPLICATES if linked else 1))
    deviation = rng.standard_normal((items, 2, 1))
    values = true + deviation + rng.standard_normal(shape)
    item, rater, time = np.indices(shape).reshape(3, -1)
    frame = pd.DataFrame({"item": item, "rater": rater, "rating": values.ravel(), "time": time})
    if linked:
        return Ratings.from_frame(frame, facets=["time"])
    return Ratings.from_frame(frame.drop(columns="time"), replicates="keep")


def intervals(items: int, rng: Rng) -> Iterator[tuple[str, Interval, float]]:
    """Intervals of one study, by column, and the true value of each."""
    pairs, four = of_pairs(items, rng), of_four(items, rng)
    upper = BIAS + EDGE * np.sqrt(2 * RESIDUAL)
    for method in ("exact", "mover", "approximate"):
        found = ag.limits_of_agreement(pairs, method=method)
        yield f"limit, {'MOVER' if method == 'mover' else method}", found.upper, upper
    concordance = ITEM / (ITEM + RESIDUAL + BIAS**2 / 2)
    yield "concordance", ag.concordance(pairs).interval(method="lin"), concordance
    consistency = ag.measurement_error(four, "consistency")
    yield "SEM, consistency", consistency.sem, np.sqrt(RESIDUAL)
    absolute = ag.measurement_error(four, "absolute")
    yield "SEM, absolute", absolute.sem, np.sqrt(RESIDUAL + RATER)


def intervals_of_replicates(items: int, rng: Rng) -> Iterator[tuple[str, Interval, float]]:
    """The same of limits of agreement with replicates: of single ratings, with a variance of 4."""
    for name, kind in (("constant", "constant"), ("changes, linked", "linked")):
        ratings = of_replicates(items, rng, linked=kind == "linked")
        found = ag.limits_of_agreement(ratings, replicates=kind)  # type: ignore[arg-type]
        yield f"true value {name}", found.upper, 2 * EDGE


def coverage(
    of_study: Callable[[int, Rng], Iterator[tuple[str, Interval, float]]], items: int, studies: int
) -> dict[str, float]:
    """Proportion of studies whose interval contains the true value, by column."""
    hits: dict[str, list[bool]] = {}
    for seed in range(studies):
        for name, interval, true in of_study(items, np.random.default_rng([11, items, seed])):
            hits.setdefault(name, []).append(interval.lower <= true <= interval.upper)
    return {name: float(np.mean(each)) for name, each in hits.items()}


def chosen(raters: int, size: int, rng: Rng, agreement: float = 0.0) -> Ratings:
    """Ratings of raters who agree on a proportion of the items, and else by chance."""
    shares = PREVALENCE if size == 3 else np.array([0.6, 0.4])
    each = rng.choice(size, p=shares, size=(ITEMS, raters + 1))
    table = np.where(rng.random((ITEMS, 1)) < agreement, each[:, :1], each[:, 1:])
    return Ratings.from_wide(table, scale="ordered", categories=range(size))


def p_values(rng: Rng) -> Iterator[tuple[str, float]]:
    """P values of all tests of one study, in which each hypothesis is true."""
    two, four = chosen(2, 3, rng), chosen(4, 3, rng)
    yield "Cohen's kappa against 0, error at no agreement", ag.cohen_kappa(two).test(error="null").p
    yield "the same, error at the estimate", ag.cohen_kappa(two).test().p
    weighted = ag.cohen_kappa(two, weights="quadratic")
    yield "quadratically weighted kappa, error at no agreement", weighted.test(error="null").p
    fleiss = ag.fleiss_kappa(four)
    yield "Fleiss' kappa of four raters, error at no agreement", fleiss.test(error="null").p
    agreeing = chosen(4, 3, rng, agreement=0.5)
    yield (
        "the same against its value, error at the estimate",
        ag.fleiss_kappa(agreeing).test(0.5).p,
    )
    by_chance, observed = 0.31, 0.5 + 0.5 * 0.38
    ac1 = (observed - by_chance) / (1 - by_chance)
    yield "Gwet's AC1 of four raters against its value", ag.gwet_ac1(agreeing).test(ac1).p
    yield (
        "alpha of four raters against its value",
        ag.krippendorff_alpha(agreeing, "nominal").test(0.5).p,
    )
    numbers = of_four(ITEMS, rng)
    agreement, consistency = ITEM / (ITEM + RATER + RESIDUAL), ITEM / (ITEM + RESIDUAL)
    for name, value in (("ICC(2,1)", agreement), ("ICC(3,1)", consistency)):
        yield f"{name} against its value, `icc_table`", ag.icc_table(numbers, null=value)["p"][name]
    concordance = ITEM / (ITEM + RESIDUAL + BIAS**2 / 2)
    pairs = of_pairs(ITEMS, rng)
    yield "concordance against its value", ag.concordance(pairs).test(concordance).p
    correlation = ag.mean_correlation(pairs, "pearson").test(consistency)
    yield "Pearson's correlation against its value", correlation.p
    unrelated = Ratings.from_wide(rng.standard_normal((ITEMS, 4)))
    yield "Kendall's W of four raters", ag.kendall_w(unrelated).test().p
    related = chosen(2, 3, rng, agreement=0.5)
    for name, test in MARGINS.items():
        yield name, ag.marginal_homogeneity(related, test).p
    binary, several = chosen(2, 2, rng, agreement=0.5), chosen(4, 2, rng, agreement=0.5)
    yield "McNemar", ag.marginal_homogeneity(binary, "mcnemar").p
    yield "McNemar, exact", ag.marginal_homogeneity(binary, "mcnemar-exact").p
    yield "Cochran's Q", ag.marginal_homogeneity(several, "cochran").p


MARGINS: Mapping[str, Any] = {
    "Stuart-Maxwell": "stuart-maxwell",
    "Bhapkar": "bhapkar",
    "Bowker": "bowker",
    "bias of raters": "rater-bias",
}


def sizes(studies: int) -> dict[str, float]:
    """Proportion of studies in which p is below .05, by test."""
    rejected: dict[str, list[bool]] = {}
    for seed in range(studies):
        for name, p in p_values(np.random.default_rng([13, seed])):
            rejected.setdefault(name, []).append(p < 0.05)
    return {name: float(np.mean(each)) for name, each in rejected.items()}


def tables(studies: int) -> Iterator[list[str]]:
    """Rows of the tables of the page, each with its header."""
    for of_study in (intervals, intervals_of_replicates):
        for items in SIZES:
            found = coverage(of_study, items, studies)
            if items == SIZES[0]:
                yield ["items", *found]
            yield [str(items), *(f"{value:.1%}" for value in found.values())]
    yield ["test", "size"]
    for name, size in sizes(studies).items():
        yield [name, f"{size:.1%}"]


if __name__ == "__main__":
    for row in tables(int(sys.argv[1]) if len(sys.argv) > 1 else 2000):
        print(f"| {' | '.join(row)} |", flush=True)
