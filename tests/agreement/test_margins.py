"""Tests of equal margins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2

from reliabayes import Ratings, RatingsError
from reliabayes.agreement import marginal_homogeneity
from reliabayes.choices import MarginTest
from tests.partitions.in_memory import in_parts

SPARSE = [[144, 33, 84, 126], [2, 4, 14, 29], [0, 2, 6, 25], [0, 0, 1, 5]]
SMALL = [[20, 10, 5], [3, 30, 15], [0, 5, 40]]
BORTZ = [[53, 5, 2], [11, 14, 5], [1, 6, 3]]
EQUAL = [[20, 5, 3], [5, 30, 9], [3, 4, 25]]  # the first category has equal margins
PERFECT = [[30, 0, 0], [0, 10, 2], [0, 4, 8]]  # on the first category
HYP = [[732, 1602, 1672, 1385], [1524, 837, 1600, 1484], [1575, 1554, 841, 1524]]
HYP = [*HYP, [1577, 1437, 1363, 791]]
VISION = [[1520, 266, 124, 66], [234, 1512, 432, 78], [117, 362, 1772, 205], [36, 82, 179, 492]]
CATS6 = [[5, 8, 1, 2, 4, 2], [3, 5, 3, 5, 5, 0], [1, 2, 6, 11, 2, 1]]
CATS6 = [*CATS6, [0, 1, 5, 4, 3, 3], [0, 0, 1, 2, 5, 2], [0, 0, 1, 2, 1, 4]]


def of(table: Any, scale: Any = "ordered", categories: Any = None) -> Ratings:
    return Ratings.from_table(np.array(table), scale=scale, categories=categories)


@pytest.mark.parametrize(
    ("test", "table", "statistic", "df"),
    [  # coin 1.4.2 (mh_test), DescTools, R's mcnemar.test, statsmodels 0.15.0, Uebersax's MH
        ("stuart-maxwell", SPARSE, 271.922246968262, 3),
        ("stuart-maxwell", SMALL, 13.7647058823529, 2),
        ("stuart-maxwell", BORTZ, 1.36186770428016, 2),
        ("stuart-maxwell", CATS6, 19.2725696261586, 5),
        ("stuart-maxwell", HYP, 0.0897221807362117, 3),
        ("stuart-maxwell", EQUAL, 1.49253731343284, 2),
        ("stuart-maxwell", PERFECT, 2 / 3, 1),
        ("stuart-maxwell", VISION, 11.957, 3),
        ("bhapkar", SPARSE, 636.0276563122018, 3),
        ("bhapkar", BORTZ, 1.3806706114398393, 2),
        ("bhapkar", EQUAL, 1.5142690739662161, 2),
        ("bhapkar", PERFECT, 0.675, 1),
        ("bhapkar", VISION, 11.976, 3),
        ("bowker", SPARSE, 297.610989010989, 6),
        ("bowker", SMALL, 13.7692307692308, 3),
        ("bowker", BORTZ, 2.67424242424242, 3),
        ("bowker", VISION, 19.1065502152668, 6),
        ("rater-bias", VISION, 11.885, 1),
    ],
)
def test_published_statistics(test: MarginTest, table: Any, statistic: float, df: int) -> None:
    found = marginal_homogeneity(of(table), test)

    assert found.statistic == pytest.approx(statistic, rel=4e-5)
    assert (found.distribution, found.df) == ("chi-squared", df)
    assert found.p == pytest.approx(chi2.sf(statistic, df), rel=2e-4)


def test_share_of_the_higher_ratings_by_the_second_rater() -> None:
    assert marginal_homogeneity(of(VISION), "rater-bias").estimate == pytest.approx(
        0.5369, abs=5e-5
    )


@pytest.mark.parametrize(
    ("table", "p"),
    [  # VassarStats, by statsmodels
        ([[101, 121], [59, 33]], 4e-06),
        ([[101, 70], [59, 33]], 0.378688),
        ([[101, 10], [30, 33]], 0.002221),
    ],
)
def test_exact_p_of_two_categories(table: Any, p: float) -> None:
    found = marginal_homogeneity(of(table, "nominal"), "mcnemar-exact")

    assert found.p == pytest.approx(p, abs=1e-6)
    assert (found.distribution, found.df) == ("binomial", table[0][1] + table[1][0])


def test_all_tests_of_two_categories_by_two_raters_are_mcnemars() -> None:
    ratings = of([[101, 121], [59, 33]])
    tests: tuple[MarginTest, ...] = ("stuart-maxwell", "bowker", "rater-bias", "cochran")

    found = [marginal_homogeneity(ratings, test) for test in ("mcnemar", *tests)]

    assert [each.statistic for each in found] == pytest.approx([(121 - 59) ** 2 / 180] * 5)
    assert [each.df for each in found] == [1] * 5


def test_cochrans_q_of_several_raters() -> None:
    """Against its definition: variance between raters over that within items."""
    x = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 0], [1, 0, 0], [1, 1, 0], [0, 0, 0], [1, 1, 0]])
    between = 7 * (x.mean(axis=0) - x.mean()) ** 2
    within = x.var(axis=1, ddof=1).mean()

    found = marginal_homogeneity(Ratings.from_wide(x, scale="nominal"), "cochran")

    assert found.statistic == pytest.approx(between.sum() / within)
    assert found.df == 2


def test_margins_of_vision(dataset: Callable[[str], pd.DataFrame]) -> None:
    found = marginal_homogeneity(Ratings.from_frame(dataset("vision"), scale="nominal"))

    assert found.statistic == pytest.approx(11.957, abs=5e-4)
    assert found.df == 3


def test_categories_that_nobody_used_change_nothing() -> None:
    more = of(SMALL).table()
    tests: tuple[MarginTest, ...] = ("stuart-maxwell", "bhapkar", "bowker", "rater-bias")
    declared = Ratings.from_table(more, categories=[0, 7, 1, 2], scale="ordered")

    for test in tests:
        assert marginal_homogeneity(declared, test) == marginal_homogeneity(of(SMALL), test)


def test_category_that_one_rater_alone_used() -> None:
    found = marginal_homogeneity(of([[20, 0, 5], [3, 0, 7], [1, 0, 9]]))

    assert found.df == 2
    assert found.p < 0.01


@pytest.mark.parametrize("table", [[[5, 0], [0, 7]], [[9, 0], [0, 0]]])
def test_raters_who_never_differ_have_nothing_to_reject(table: Any) -> None:
    tests: tuple[MarginTest, ...] = ("stuart-maxwell", "bhapkar", "bowker", "mcnemar", "cochran")

    found = [marginal_homogeneity(of(table), test) for test in tests]

    assert [(each.statistic, each.df, each.p) for each in found] == [(0, 0, 1)] * 5
    assert marginal_homogeneity(of(table), "mcnemar-exact").p == 1


def test_margins_without_a_common_item_differ_as_far_as_can_be() -> None:
    assert marginal_homogeneity(of([[0, 6], [0, 0]]), "bhapkar").p == 0


def test_order_of_categories_matters_to_bias_only() -> None:
    order = [2, 0, 1]
    shuffled = of(np.array(SMALL)[np.ix_(order, order)])

    for test in ("stuart-maxwell", "bhapkar", "bowker"):
        one, other = (marginal_homogeneity(each, test) for each in (of(SMALL), shuffled))
        assert one.statistic == pytest.approx(other.statistic)
    bias = [marginal_homogeneity(each, "rater-bias").statistic for each in (of(SMALL), shuffled)]
    assert bias == pytest.approx([(30 - 8) ** 2 / 38, (15 - 23) ** 2 / 38])


def test_tests_of_a_dataset_in_parts() -> None:
    ratings = of([[101, 121], [59, 33]], "nominal")
    tests: tuple[MarginTest, ...] = ("stuart-maxwell", "cochran")

    for test in tests:
        found = marginal_homogeneity(in_parts(ratings, 3), test)
        assert found.statistic == pytest.approx(marginal_homogeneity(ratings, test).statistic)


THREE = np.array([[1, 2, 1], [2, 2, 1], [1, 1, 2]])


@pytest.mark.parametrize(
    ("ratings", "test", "message"),
    [
        (
            Ratings.from_wide(THREE),
            "bowker",
            'test="bowker" is for two raters; found 3. Select two',
        ),
        (of(SMALL), "mcnemar", 'test="mcnemar" is for two categories; found 3. Use test="bowker"'),
        (of(SMALL), "cochran", 'test="cochran" is for two categories; found 3'),
        (of(SMALL, "nominal"), "rater-bias", 'must be ordered or numeric; .* Pass scale="ordered"'),
        (
            Ratings.from_wide(
                np.where(THREE == 3, 1, THREE * [[1, 1, np.nan], [1, 1, 1], [1, 1, 1]])
            ),
            "cochran",
            "needs a rating of each item by each rater; found 8 ratings of 3 items by 3 raters",
        ),
        (Ratings.from_counts(np.array([[1, 1], [2, 0]])), "bowker", "must be known who gave each"),
    ],
)
def test_ratings_that_a_test_does_not_take(
    ratings: Ratings, test: MarginTest, message: str
) -> None:
    with pytest.raises(RatingsError, match=message):
        marginal_homogeneity(ratings, test)


def test_test_that_does_not_exist() -> None:
    with pytest.raises(ValueError, match="test must be one of stuart-maxwell, bhapkar, bowker, "):
        marginal_homogeneity(of(SMALL), "maxwell")  # type: ignore[arg-type]
