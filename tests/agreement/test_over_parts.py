"""Coefficients of ratings in parts: those of all ratings, for any number of parts."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, get_args

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb
from reliabayes import agreement
from reliabayes.agreement.icc_names import IccName
from reliabayes.agreement.icc_sums import ProductSums
from reliabayes.agreement.parted_statistics import occurrences
from reliabayes.choices import ErrorKind, Method
from reliabayes.errors import RatingsError
from reliabayes.partitions.dataset import Part, RatingsDataset
from tests.partitions.in_memory import in_parts

N_PARTS = [7, *(pytest.param(number, marks=pytest.mark.proof) for number in (1, 64))]


@pytest.fixture(scope="module")
def graded() -> rb.Ratings:
    """Items with 1 to 6 grades from 1 to 4 by some of 12 raters."""
    rng = np.random.default_rng(7)
    rows = []
    for item, truth in enumerate(rng.integers(1, 5, 400)):
        for rater in rng.choice(12, rng.integers(1, 7), replace=False):
            grade = truth if rng.random() < 0.6 else rng.integers(1, 5)
            rows.append((item, f"r{rater:02}", grade))
    frame = pd.DataFrame(rows, columns=["item", "rater", "rating"])
    pool = {f"r{rater:02}": "ab"[rater % 2] for rater in range(12)}
    frame["pool"] = frame["rater"].map(pool)
    return rb.Ratings.from_frame(frame, pool="pool", scale="numeric", categories=[1, 2, 3, 4])


def of_scale(ratings: rb.Ratings, scale: Any) -> rb.Ratings:
    """The same grades as categories, or as numbers of a continuous scale."""
    frame = ratings.to_frame()
    if scale == "continuous":
        item, rater = ratings.item, ratings.rater
        frame["rating"] = frame["rating"] + np.sin(item + 1.0) / 3 + rater / 100
        return rb.Ratings.from_frame(frame, pool="pool", scale="numeric")
    return rb.Ratings.from_frame(frame, pool="pool", scale=scale, categories=[1, 2, 3, 4])


@pytest.mark.slow
def test_rows_of_an_icc_are_computed_for_samples_of_items_only(
    graded: rb.Ratings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They hold the square of the number of raters, and values and models need their sums."""
    ratings = of_scale(graded, "continuous")
    expected = ratings.agreement()
    of_items = rb.agreement.icc(ratings, "ICC(2,1)").interval(over="items", replicates=10)
    dataset, calls = in_parts(ratings, 7), []
    rows = ProductSums.rows

    def counted(self: ProductSums, weights: Any) -> Any:
        calls.append(self.name)
        return rows(self, weights)

    monkeypatch.setattr(ProductSums, "rows", counted)

    found = dataset.agreement()
    assert calls == []
    assert "ICC(2,1)" in found.index
    pd.testing.assert_frame_equal(found, expected)
    alone = rb.agreement.icc(dataset, "ICC(2,1)").interval(over="items", replicates=10)
    assert set(calls) == {"ICC(2,1)"}
    assert (alone.lower, alone.upper) == pytest.approx((of_items.lower, of_items.upper))


FUNCTIONS: dict[str, tuple[str, Callable[..., Any]]] = {
    "alpha": ("nominal", agreement.krippendorff_alpha),
    "alpha, ordinal": ("ordered", agreement.krippendorff_alpha),
    "alpha, interval": ("numeric", agreement.krippendorff_alpha),
    "alpha, continuous": ("continuous", agreement.krippendorff_alpha),
    "alpha, ratio": ("numeric", partial(agreement.krippendorff_alpha, metric="ratio")),
    "Fleiss": ("nominal", agreement.fleiss_kappa),
    "Fleiss, quadratic": ("ordered", partial(agreement.fleiss_kappa, weights="quadratic")),
    "Brennan-Prediger": ("nominal", agreement.brennan_prediger),
    "AC1": ("nominal", agreement.gwet_ac1),
    "AC2": ("ordered", agreement.gwet_ac2),
    "percent": ("nominal", agreement.percent_agreement),
    "unanimous": ("nominal", agreement.unanimous_agreement),
    "Conger": ("nominal", agreement.conger_kappa),
    "iota": ("numeric", agreement.iota),
    "Light": ("nominal", agreement.light_kappa),
    "information": ("nominal", agreement.information_agreement),
    "kappa_x": ("nominal", agreement.kappa_x),
    "kappa_x, continuous": ("continuous", agreement.kappa_x),
    "normalized kappa_x": ("numeric", agreement.normalized_kappa_x),
    "normalized by kappa": ("nominal", partial(agreement.normalized_kappa_x, irr="kappa")),
    "ICC(1,1)": ("continuous", partial(agreement.icc, name="ICC(1,1)")),
    "ICC(2,1)": ("continuous", partial(agreement.icc, name="ICC(2,1)")),
    "ICC(3,k)": ("numeric", partial(agreement.icc, name="ICC(3,k)")),
    "ICC(2,1), columns": ("numeric", partial(agreement.icc, name="ICC(2,1)", k="columns")),
}


@pytest.mark.parametrize("number", N_PARTS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_coefficient_and_its_interval_are_those_in_memory(
    graded: rb.Ratings, name: str, number: int
) -> None:
    scale, function = FUNCTIONS[name]
    ratings = of_scale(graded, scale)

    found = function(parted(ratings, number))

    expected = function(ratings)
    assert found.value == pytest.approx(expected.value, rel=1e-12)
    assert list(found.parts) == list(expected.parts)
    assert limits(found.interval()) == pytest.approx(limits(expected.interval()), abs=1e-9)


@pytest.mark.parametrize("number", N_PARTS)
@pytest.mark.parametrize("method", ["percentile", "bca", "jackknife", "analytic"])
def test_intervals_over_items_are_those_in_memory(
    graded: rb.Ratings, method: Method, number: int
) -> None:
    ratings = of_scale(graded, "nominal")
    options: dict[str, Any] = {"over": "items", "method": method, "replicates": 50, "seed": 3}

    found = agreement.krippendorff_alpha(in_parts(ratings, number)).interval(**options)

    expected = agreement.krippendorff_alpha(ratings).interval(**options)
    assert limits(found) == pytest.approx(limits(expected), rel=1e-12)


@pytest.mark.parametrize("number", N_PARTS)
def test_samples_of_items_are_those_in_memory(graded: rb.Ratings, number: int) -> None:
    ratings = of_scale(graded, "nominal")

    found = agreement.gwet_ac1(in_parts(ratings, number)).bootstrap(replicates=20)

    expected = agreement.gwet_ac1(ratings).bootstrap(replicates=20)
    assert found == pytest.approx(expected, rel=1e-12)


def test_samples_of_items_that_all_differ_do_not_depend_on_the_number_of_parts(
    graded: rb.Ratings,
) -> None:
    ratings = of_scale(graded, "continuous")

    one, other = (
        agreement.krippendorff_alpha(parted(ratings, number)).bootstrap(replicates=20)
        for number in (1, 64)
    )

    assert one == pytest.approx(other, rel=1e-10)


@pytest.mark.parametrize("number", N_PARTS)
def test_samples_of_raters_are_those_in_memory(graded: rb.Ratings, number: int) -> None:
    ratings = of_scale(graded, "nominal")

    found = agreement.fleiss_kappa(in_parts(ratings, number)).bootstrap(
        over="raters", replicates=20
    )

    expected = agreement.fleiss_kappa(ratings).bootstrap(over="raters", replicates=20)
    assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.slow
def test_samples_of_items_and_raters_do_not_depend_on_the_number_of_parts(
    graded: rb.Ratings,
) -> None:
    ratings = of_scale(graded, "nominal")

    one, other = (
        agreement.krippendorff_alpha(in_parts(ratings, number)).bootstrap(
            over="both", replicates=150
        )
        for number in (1, 7)
    )

    assert one == pytest.approx(other, rel=1e-12)


@pytest.mark.slow
def test_samples_of_items_and_raters_vary_as_those_in_memory(graded: rb.Ratings) -> None:
    ratings = of_scale(graded, "nominal")
    options: dict[str, Any] = {"over": "both", "replicates": 1000}

    found = agreement.krippendorff_alpha(in_parts(ratings, 2)).bootstrap(**options)

    expected = agreement.krippendorff_alpha(ratings).bootstrap(**options)
    # The standard error of a standard deviation of 1,000 is 2.2% of it, of the ratio of two 3.2%.
    assert found.std() == pytest.approx(expected.std(), rel=0.1)
    assert found.mean() == pytest.approx(expected.mean(), abs=5 * expected.std() / 1000**0.5)


def test_occurrences_of_items_have_a_poisson_distribution() -> None:
    found = occurrences(np.arange(1_000_000), np.uint64(2012))

    frequency = np.bincount(found.astype(int), minlength=6)[:6] / 1e6
    expected = [math.exp(-1) / math.factorial(k) for k in range(6)]
    # Standard errors are at most 0.0005.
    assert frequency == pytest.approx(expected, abs=0.0025)


@pytest.mark.parametrize("number", N_PARTS)
@pytest.mark.parametrize(
    "function", [agreement.cohen_kappa, agreement.scott_pi, agreement.information_agreement]
)
def test_coefficients_of_two_raters_are_those_in_memory(
    graded: rb.Ratings, function: Callable[..., agreement.Coefficient], number: int
) -> None:
    ratings = of_scale(graded, "nominal").subset(raters=["r01", "r02"])

    found = function(in_parts(ratings, number))

    expected = function(ratings)
    assert found.value == pytest.approx(expected.value, rel=1e-12)
    assert limits(found.interval()) == pytest.approx(limits(expected.interval()), rel=1e-9)


@pytest.mark.parametrize(
    "function", [agreement.specific_agreement, agreement.fleiss_kappa_by_category]
)
def test_coefficients_by_category_are_those_in_memory(
    graded: rb.Ratings, function: Callable[..., dict[Any, agreement.Coefficient]]
) -> None:
    ratings = of_scale(graded, "nominal")

    found = function(in_parts(ratings, 7))

    expected = {category: each.value for category, each in function(ratings).items()}
    assert {category: each.value for category, each in found.items()} == pytest.approx(expected)


def two_of(ratings: rb.Ratings, repeats: int) -> rb.Ratings:
    """Grades by two raters above 0, once or repeatedly, on occasions that differ by item."""
    rng = np.random.default_rng(repeats)
    two = ratings.subset(raters=["r01", "r02"]).to_frame()
    frame = pd.concat([two.assign(day=day) for day in range(repeats)])
    frame["rating"] = frame["rating"] + rng.normal(0, 0.2, len(frame))
    return rb.Ratings.from_frame(
        frame.sample(frac=0.9, random_state=0), facets=["day"] if repeats > 1 else [], pool="pool"
    )


@pytest.mark.parametrize("number", N_PARTS)
@pytest.mark.parametrize(
    "options",
    [{}, {"trend": True}, {"log": True}, {"replicates": "constant"}, {"replicates": "linked"}],
    ids=str,
)
def test_limits_of_agreement_are_those_in_memory(
    graded: rb.Ratings, options: dict[str, Any], number: int
) -> None:
    ratings = two_of(graded, 3 if "replicates" in options else 1)

    found = agreement.limits_of_agreement(in_parts(ratings, number), **options)

    expected = agreement.limits_of_agreement(ratings, **options)
    pd.testing.assert_frame_equal(found.table(), expected.table(), rtol=1e-12)
    assert found.sd == pytest.approx(expected.sd, rel=1e-12)
    assert found.size == expected.size


@pytest.mark.parametrize("number", N_PARTS)
@pytest.mark.parametrize(("kind", "repeats"), [(k, n) for k in get_args(ErrorKind) for n in (1, 3)])
def test_errors_of_measurement_are_those_in_memory(
    kind: ErrorKind, repeats: int, number: int
) -> None:
    rng = np.random.default_rng(5)
    grades = rng.normal(5, 1, (repeats, 90, 1)) + rng.normal(0, 0.3, (1, 1, 4))
    frames = [pd.DataFrame(each + rng.normal(0, 0.5, (90, 4))) for each in grades]
    long = pd.concat([each.melt(ignore_index=False).reset_index() for each in frames])
    long.columns = pd.Index(["item", "rater", "rating"])
    ratings = rb.Ratings.from_frame(long, replicates="keep")

    found = agreement.measurement_error(in_parts(ratings, number), kind)

    expected = agreement.measurement_error(ratings, kind)
    pd.testing.assert_frame_equal(found.table(), expected.table(), rtol=1e-12)
    assert rb.methods(found) == rb.methods(expected)


def test_raters_who_left_out_items_of_one_part_have_no_absolute_error(graded: rb.Ratings) -> None:
    with pytest.raises(RatingsError, match=r"found \d+ of 4800 pairs of item and rater"):
        agreement.measurement_error(in_parts(graded, 7))


@pytest.mark.slow
@pytest.mark.parametrize("number", N_PARTS)
@pytest.mark.parametrize(
    ("scale", "coefficient"),
    [
        ("nominal", agreement.cohen_kappa),
        ("ordered", lambda two: agreement.cohen_kappa(two, "linear")),
        ("continuous", agreement.krippendorff_alpha),
        ("numeric", agreement.icc),
        ("numeric", agreement.kappa_x),
    ],
)
def test_coefficients_of_pairs_are_those_in_memory(
    graded: rb.Ratings, scale: str, coefficient: Any, number: int
) -> None:
    raters = ["r00", "r01", "r03"] if coefficient is not agreement.kappa_x else ["r00", "r01"]
    ratings = of_scale(graded.subset(raters=raters), scale)

    found = agreement.pairwise(parted(ratings, number), coefficient)

    expected = agreement.pairwise(ratings, coefficient)
    assert found["value"].notna().all()
    pd.testing.assert_frame_equal(found, expected, rtol=1e-9)
    assert found["value"].tolist() == pytest.approx(expected["value"].tolist(), rel=1e-12)


@pytest.mark.slow
def test_pairs_are_compared_on_the_parts_in_which_they_share_items(graded: rb.Ratings) -> None:
    some = of_scale(graded.subset(raters=["r00", "r01", "r03"]), "nominal").to_frame()
    again = pd.concat([some, some.sample(frac=0.2, random_state=1)])  # a rater's second rating
    ratings = rb.Ratings.from_frame(again, pool="pool", replicates="keep", scale="nominal")

    found = agreement.pairwise(in_parts(ratings, 64), agreement.krippendorff_alpha)

    expected = agreement.pairwise(ratings, agreement.krippendorff_alpha)
    pd.testing.assert_frame_equal(found, expected, rtol=1e-9)


def test_difference_of_coefficients_is_that_in_memory(graded: rb.Ratings) -> None:
    def less(ratings: Any) -> agreement.Interval:
        fleiss, alpha = agreement.fleiss_kappa(ratings), agreement.krippendorff_alpha(ratings)
        return (fleiss - alpha.part("observed disagreement")).interval()

    ratings = of_scale(graded, "nominal")

    found = less(in_parts(ratings, 7))

    assert limits(found) == pytest.approx(limits(less(ratings)), rel=1e-9)


@pytest.mark.parametrize(
    ("name", "published"), [("ICC(1,1)", 0.17), ("ICC(2,1)", 0.29), ("ICC(3,1)", 0.71)]
)
def test_complete_designs_have_published_iccs(name: IccName, published: float) -> None:
    ratings = rb.Ratings.from_frame(rb.datasets.load("shrout_fleiss_1979"))

    found = agreement.icc(in_parts(ratings, 3), name)

    # Shrout & Fleiss (1979), table 4.
    assert float(found) == pytest.approx(published, abs=0.005)


def test_difference_from_a_coefficient_in_memory_is_refused(graded: rb.Ratings) -> None:
    ratings = of_scale(graded, "nominal")

    with pytest.raises(RatingsError, match="both coefficients must be of the same dataset"):
        agreement.fleiss_kappa(in_parts(ratings, 2)) - agreement.fleiss_kappa(ratings)


def test_categories_of_a_continuous_scale_are_refused(graded: rb.Ratings) -> None:
    ratings = of_scale(graded, "continuous")

    with pytest.raises(RatingsError, match="must be declared"):
        agreement.krippendorff_alpha(parted(ratings, 2), "nominal")


@pytest.mark.slow
@pytest.mark.parametrize("scale", ["nominal", "ordered", "continuous"])
def test_table_of_coefficients_is_that_in_memory(graded: rb.Ratings, scale: str) -> None:
    ratings = of_scale(graded, scale)

    found = parted(ratings, 7).agreement()

    pd.testing.assert_frame_equal(found, ratings.agreement(), rtol=1e-9)


def test_table_of_coefficients_has_intervals_by_the_bootstrap(graded: rb.Ratings) -> None:
    options: dict[str, Any] = {"over": "items", "method": "percentile", "replicates": 100}

    found = in_parts(of_scale(graded, "nominal"), 7).agreement(**options)

    one = agreement.krippendorff_alpha(of_scale(graded, "nominal")).interval(**options)
    row = found.loc["alpha (nominal)"]
    assert [row["lower_95"], row["upper_95"]] == pytest.approx([one.lower, one.upper])


@dataclass(frozen=True)
class ContinuousPart:
    """A part that does not know the values that ratings can have."""

    part: Part

    @property
    def n_items(self) -> int:
        return self.part.n_items

    @property
    def n_ratings(self) -> int:
        return self.part.n_ratings

    def read(self) -> rb.Ratings:
        return replace(self.part.read(), given_categories=None)

    def item_ids(self) -> pd.Index[Any]:
        return self.part.item_ids()


def parted(ratings: rb.Ratings, number: int) -> RatingsDataset:
    """Parts, which know the categories only if they are declared."""
    whole = in_parts(ratings, number)
    if ratings.given_categories is not None:
        return whole
    parts = [ContinuousPart(part) for part in whole.parts]
    return replace(whole, categories=None, parts=parts)


def limits(interval: agreement.Interval) -> tuple[float, float, float]:
    return interval.lower, interval.upper, interval.standard_error


@pytest.mark.slow
def test_pairs_in_parts_are_of_different_raters_as_in_memory(graded: rb.Ratings) -> None:
    again = pd.concat([graded.to_frame().assign(day=1), graded.to_frame().assign(day=2)])
    again["rating"] = np.where(again["day"] == 2, again["rating"] % 4 + 1, again["rating"])
    ratings = rb.Ratings.from_frame(
        again, pool="pool", facets=["day"], scale="numeric", categories=[1, 2, 3, 4]
    )

    found, expected = in_parts(ratings, 7).agreement(), ratings.agreement()

    between = expected[~expected.index.str.endswith("within raters")]
    assert found["value"].to_dict() == pytest.approx(between["value"].to_dict(), rel=1e-9)
    assert found.attrs["pairs"].startswith(expected.attrs["pairs"])
    assert found.attrs["pairs"].endswith("needs all ratings in memory and is left out.")
