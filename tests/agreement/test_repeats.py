"""Coefficients where raters rated items more than once: agreement between raters, and within."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from reliabayes import Ratings, RatingsError, agreement
from reliabayes.agreement import Coefficient
from reliabayes.agreement.icc_between_raters import BetweenRaterSums
from reliabayes.agreement.icc_names import IccName
from reliabayes.agreement.icc_sums import TwoWaySums
from reliabayes.agreement.within_raters import within_raters
from tests import pairwise
from tests.pairwise import Table, tables

LEVELS = np.arange(4.0)
WEIGHTS = 1 - np.abs(LEVELS[:, None] - LEVELS) ** 2 / 9
TIMES = np.array([1, 0, 2, 1, 1])  # how often raters occur in a sample


def quadratic(one: Any, other: Any) -> Any:
    return (one - other) ** 2 / 9


def repeated(table: Table, *, within: bool = False) -> Table:
    """The ratings on two days, of which the second lacks some; pairs are between or within raters.

    Ratings that share a number form no pair.
    """
    rng = np.random.default_rng(len(table.item))
    again = table.part(np.flatnonzero(rng.random(len(table.item)) < 0.7))
    again = again._replace(value=(again.value + rng.integers(0, 2, len(again.item))) % 4)
    both = [np.concatenate(pair) for pair in zip(table, again, strict=True)]
    if within:
        unit = table.item * 10 + table.rater
        ids = np.unique(unit, return_inverse=True)[1]
        first, second = ids, ids[again.number]
        both[0], both[3] = np.append(first, second), np.arange(len(both[0]))
    return Table(*both)


def on_days(table: Table) -> Ratings:
    day = np.where(pd.DataFrame(table.frame).duplicated(["item", "rater"]), "tue", "mon")
    frame = table.frame.assign(day=day)
    return Ratings.from_frame(frame, facets=["day"], scale="numeric", categories=LEVELS)


def sampled(found: Coefficient, raters: int) -> float:
    """The coefficient if raters occur as often as in a sample."""
    return float(found.formula(np.asarray(found.rows(TIMES[:raters])).sum(axis=0)))


@pytest.mark.slow
@given(tables())
def test_pairs_within_raters_do_not_count_as_agreement(table: Table) -> None:
    both = repeated(table)
    ratings = on_days(both)

    assert float(agreement.percent_agreement(ratings, "quadratic")) == pytest.approx(
        pairwise.percent(both, quadratic), abs=1e-12
    )
    assert float(agreement.krippendorff_alpha(ratings)) == pytest.approx(
        pairwise.alpha(both, pairwise.squared), abs=1e-12
    )
    assert float(agreement.krippendorff_alpha(ratings, "ordinal")) == pytest.approx(
        pairwise.alpha(both, pairwise.ordinal(both)), abs=1e-12
    )
    assert float(agreement.specific_agreement(ratings)[1.0]) == pytest.approx(
        pairwise.specific(both, 1.0), abs=1e-12
    )


@given(tables())
def test_chance_in_kappas_between_raters_follows_from_mean_proportions(table: Table) -> None:
    both = repeated(table)
    p = pairwise.proportions(both, LEVELS)

    found = agreement.fleiss_kappa(on_days(both), "quadratic")

    expected = 1 - (1 - pairwise.percent(both, quadratic)) / (1 - p @ WEIGHTS @ p)
    assert float(found) == pytest.approx(expected, abs=1e-12)


@given(tables())
def test_each_category_counts_pairs_of_different_raters(table: Table) -> None:
    both = repeated(table)
    in_one = both._replace(value=(both.value == 1).astype(float))
    p = pairwise.proportions(both, np.array([1.0]))[0]

    found = agreement.fleiss_kappa_by_category(on_days(both))[1.0]

    expected = 1 - (1 - pairwise.percent(in_one)) / (2 * p * (1 - p))
    assert float(found) == pytest.approx(expected, abs=1e-12)


@given(tables())
def test_copies_of_a_resampled_rater_form_no_pair_either(table: Table) -> None:
    both = repeated(table)
    n_raters = int(table.rater.max()) + 1
    copies = both.with_raters(TIMES)

    found = agreement.percent_agreement(on_days(both), "quadratic")

    expected = pairwise.percent(copies, quadratic)
    assert sampled(found, n_raters) == pytest.approx(expected, abs=1e-12)


@given(tables())
def test_agreement_within_raters_equals_brute_force_over_their_pairs(table: Table) -> None:
    own = repeated(table, within=True)
    ratings = on_days(repeated(table))

    percent = within_raters(ratings, agreement.percent_agreement)
    alpha = within_raters(ratings, agreement.krippendorff_alpha)

    assert float(percent) == pytest.approx(pairwise.percent(own), abs=1e-12)
    assert float(alpha) == pytest.approx(pairwise.alpha(own, pairwise.squared), abs=1e-12)


def radiologists() -> pd.DataFrame:
    """Four raters grade 60 items on two days; raters differ in severity, and on items."""
    rng = np.random.default_rng(1)
    shape = 60, 4, 2
    item, severity = rng.normal(size=(60, 1, 1)), 0.3 * rng.normal(size=(1, 4, 1))
    own = 0.4 * rng.normal(size=(60, 4, 1))
    score = item + severity + own + 0.3 * rng.normal(size=shape)
    place = np.indices(shape).reshape(3, -1)
    return pd.DataFrame(
        {"item": place[0], "rater": place[1], "day": place[2], "rating": score.ravel()}
    )


@pytest.fixture(scope="module")
def scores() -> Ratings:
    return Ratings.from_frame(radiologists(), facets=["day"], scale="numeric")


def test_iccs_are_those_of_the_crossed_design_with_interaction(scores: Ratings) -> None:
    study = agreement.g_study(scores, "item x rater")
    four = study.d_study({"rater": 4})

    found = [float(agreement.icc(scores, f"ICC({n},{k})")) for n in "23" for k in "1k"]  # type: ignore[arg-type]

    expected = [study.phi, four["phi"].iloc[0], study.g, four["g"].iloc[0]]
    assert found == pytest.approx(expected, abs=1e-10)


def test_k_is_the_number_of_raters_and_not_of_ratings(scores: Ratings) -> None:
    single = float(agreement.icc(scores, "ICC(1,1)"))

    assert float(agreement.icc(scores, "ICC(1,k)")) == pytest.approx(4 * single / (1 + 3 * single))


@pytest.mark.parametrize("name", ["ICC(2,1)", "ICC(3,1)"])
def test_sums_between_raters_are_those_of_the_two_way_design_without_repeats(name: IccName) -> None:
    values = np.random.default_rng(2).normal(size=(7, 1)) + np.random.default_rng(3).normal(
        size=(7, 5)
    )
    ratings = Ratings.from_wide(values, scale="numeric")
    found, published = BetweenRaterSums(ratings, name), TwoWaySums(ratings, name)

    for times in (None, TIMES):
        sums = [np.asarray(each.rows(times)).sum(axis=0) for each in (found, published)]
        assert found.single(sums[0]) == pytest.approx(published.single(sums[1]), abs=1e-12)


def test_the_table_has_rows_between_and_within_raters_and_says_so(scores: Ratings) -> None:
    table = scores.agreement()

    within = agreement.g_study(scores, "item x rater").components["variance"]
    assert table.loc["ICC(1,1), within raters", "value"] == pytest.approx(
        1 - within["residual"] / within.sum(), abs=0.01
    )
    assert table["lower_95"].notna().all()
    assert "by different raters, whether or not day is the same" in table.attrs["pairs"]
    assert "In ICC(., k), k is 4 raters" in table.attrs["pairs"]
    assert table.attrs["finding"].startswith("Between raters, ICC(2,1) is 0.71 (")


def test_a_table_without_repeats_says_nothing_of_pairs() -> None:
    ratings = Ratings.from_wide(np.array([["a", "a"], ["b", "b"], ["b", "a"], ["c", "c"]]))

    table = ratings.agreement()

    assert table.attrs["pairs"] == ""
    assert not table.index.str.contains("within").any()


@pytest.mark.parametrize(
    "function",
    [
        agreement.icc_table,
        agreement.fleiss_z,
        agreement.krr_bootstrap,
        agreement.krr_curve,
        lambda ratings: agreement.icc(ratings, k="columns"),
    ],
)
def test_what_takes_one_rating_of_each_rater_refuses_more(
    scores: Ratings, function: Callable[[Ratings], Any]
) -> None:
    with pytest.raises(RatingsError, match=r"at most once; found 480 ratings of 240 pairs"):
        function(scores)
