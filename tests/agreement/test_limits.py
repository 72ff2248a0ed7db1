"""Limits of agreement and their intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import linregress, nct, norm

from reliabayes import Ratings, RatingsError
from reliabayes.agreement import limits_of_agreement
from tests.agreement.test_concordance import AGAIN, MINI, WRIGHT, of

# Giavarina (2015), https://doi.org/10.11613/BM.2015.015
A = [1, 5, 10, 20, 50, 40, 50, 60, 70, 80, 90, 100, 150, 200, 250, 300, 350, 400, 450, 500]
A = [*A, 550, 600, 650, 700, 750, 800, 850, 900, 950, 1000]
B = [8, 16, 30, 24, 39, 54, 40, 68, 72, 62, 122, 80, 181, 259, 275, 380, 320, 434, 479, 587, 626]
B = [*B, 648, 738, 766, 793, 851, 871, 957, 1001, 960]


def repeated(rows: Any, *, facets: Any = None) -> Ratings:
    frame = pd.DataFrame(rows, columns=["item", "rater", "day", "rating"])
    return Ratings.from_frame(frame, scale="numeric", facets=facets, replicates="keep")


def simulated(seed: int, *, linked: bool) -> tuple[np.ndarray[Any, Any], Ratings]:
    """Differences of 12 items on 3 days, those of an item alike, and the ratings."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(20, 4, (12, 1, 3 if linked else 1))
    x = truth + rng.normal(0, 1, (12, 2, 1)) + rng.normal(0, [[1], [2]], (12, 2, 3))
    rows = [(i, "ab"[r], d, x[i, r, d]) for i in range(12) for r in range(2) for d in range(3)]
    return x, repeated(rows, facets=["day"])


def test_limits_of_two_meters() -> None:
    ratings = of(WRIGHT, MINI)

    exact, approximate, mover = (
        limits_of_agreement(ratings, method=method) for method in ("exact", "approximate", "mover")
    )

    assert [exact.bias.value, exact.sd] == pytest.approx([-2.118, 38.765], abs=5e-4)
    assert [exact.lower.value, exact.upper.value] == pytest.approx([-78.10, 73.86], abs=5e-3)
    assert [exact.lower.lower, exact.lower.upper] == pytest.approx([-124.16, -53.09], abs=6e-3)
    assert [exact.upper.lower, exact.upper.upper] == pytest.approx([48.86, 119.93], abs=6e-3)
    limits = [approximate.lower.lower, approximate.lower.upper]
    assert limits == pytest.approx([-112.85, -43.34], abs=6e-3)
    assert mover.upper.upper == pytest.approx(117.59, abs=5e-3)


@pytest.mark.parametrize(
    ("method", "x", "y", "lower", "upper", "outer"),
    [  # SimplyAgree 0.3.0, agreement_limit(alpha = .025)
        (
            "mover",
            *(WRIGHT, AGAIN, -37.6371554504836, 47.51950839166),
            (-62.1422102, 72.0245631),
        ),
        (
            "approximate",
            *(WRIGHT, AGAIN, -37.6371554504836, 47.51950839166),
            (-57.1142734, 66.9966264),
        ),
        (
            "approximate",
            *(A, B, -95.3850713861745, 41.0517380528412),
            (-117.8471389, 63.5138056),
        ),
        ("exact", A, B, -95.3850713861745, 41.0517380528412, (-123.1123901, 68.7790568)),
    ],
)
def test_outer_limits(
    method: Any, x: Any, y: Any, lower: float, upper: float, outer: tuple[float, float]
) -> None:
    found = limits_of_agreement(of(x, y), method=method)

    assert [found.lower.value, found.upper.value] == pytest.approx([lower, upper])
    assert (found.lower.lower, found.upper.upper) == pytest.approx(outer)


def test_interval_of_the_bias() -> None:
    found = limits_of_agreement(of(A, B), prob=0.975).bias

    assert [found.lower, found.upper] == pytest.approx([-42.1881228049891, -12.1452105283442])


def test_trend_is_the_regression_of_differences_on_means() -> None:
    d, mean = np.subtract(WRIGHT, MINI), np.add(WRIGHT, MINI) / 2
    line = linregress(mean, d)

    found = limits_of_agreement(of(WRIGHT, MINI), trend=True)

    assert found.slope is not None
    assert [found.slope.value, found.slope.standard_error] == pytest.approx(
        [0.0286874451525492, 0.0882064082765469]  # R: lm(x - y ~ mean)
    )
    assert [found.at(0).bias.value, found.sd] == pytest.approx([-15.067497300039, 39.8960341828377])
    assert found.at(300).bias.standard_error == pytest.approx(
        np.hypot(found.sd / np.sqrt(17), (300 - mean.mean()) * line.stderr)
    )
    assert found.bias.value == pytest.approx(d.mean())


def test_exact_limits_of_a_trend_are_those_of_a_regression() -> None:
    found = limits_of_agreement(of(WRIGHT, MINI), trend=True, agree=0.9).at(300)
    scale = found.bias.standard_error / found.sd

    quantiles = np.asarray(nct.ppf([0.025, 0.975], 15, norm.ppf(0.95) / scale)) * scale * found.sd

    assert [found.upper.lower, found.upper.upper] == pytest.approx(found.bias.value + quantiles)
    assert [found.lower.lower, found.lower.upper] == pytest.approx(
        (found.bias.value - quantiles)[::-1]
    )


def test_ratios_are_those_of_logarithms() -> None:
    plain = limits_of_agreement(
        Ratings.from_wide(np.log(np.column_stack([WRIGHT, MINI])), scale="numeric")
    )

    found = limits_of_agreement(of(WRIGHT, MINI), log=True)

    for name in ("bias", "lower", "upper"):
        one, other = getattr(found, name), getattr(plain, name)
        assert [one.value, one.lower, one.upper] == pytest.approx(
            np.exp([other.value, other.lower, other.upper])
        )
    assert found.sd == plain.sd
    assert found.points[1] == pytest.approx(np.divide(WRIGHT, MINI))


def test_swapped_raters_have_limits_of_the_other_sign() -> None:
    one, other = limits_of_agreement(of(WRIGHT, MINI)), limits_of_agreement(of(MINI, WRIGHT))

    assert one.table()[["value", "lower", "upper"]].to_numpy() == pytest.approx(
        -other.table()
        .loc[["bias", "upper limit", "lower limit"], ["value", "upper", "lower"]]
        .to_numpy()
    )


def test_constant_replicates_have_the_variance_of_single_ratings() -> None:
    x, ratings = simulated(1, linked=False)
    means, within = x.mean(axis=2), x.var(axis=2, ddof=1).mean(axis=0)
    d = means[:, 0] - means[:, 1]

    found = limits_of_agreement(ratings, replicates="constant")

    assert found.bias.value == pytest.approx(d.mean())
    assert found.sd**2 == pytest.approx(d.var(ddof=1) + within.sum() * 2 / 3)
    assert found.bias.standard_error == pytest.approx(np.sqrt(d.var(ddof=1) / 12))


def test_linked_replicates_have_the_variances_of_a_balanced_analysis() -> None:
    x, ratings = simulated(2, linked=True)
    d = x[:, 0] - x[:, 1]
    within = d.var(axis=1, ddof=1).mean()

    found = limits_of_agreement(ratings, replicates="linked")

    assert found.bias.value == pytest.approx(d.mean())
    assert found.sd**2 == pytest.approx(d.mean(axis=1).var(ddof=1) + within * 2 / 3, rel=1e-6)


def test_unequal_replicates_and_an_item_with_one() -> None:
    _, ratings = simulated(3, linked=True)
    frame = ratings.to_frame()
    is_left = ~((frame["item"] == 0) & (frame["day"] > 0)) & ~(
        (frame["item"] == 1) & (frame["day"] == 2)
    )
    fewer = Ratings.from_frame(frame[is_left], facets=["day"])

    constant = limits_of_agreement(fewer, replicates="constant")
    linked = limits_of_agreement(fewer, replicates="linked")

    assert len(constant.points[0]) == 12
    assert len(linked.points[0]) == 33
    assert constant.bias.value == pytest.approx(constant.points[1].mean())
    assert linked.lower.lower < linked.lower.value < linked.lower.upper < linked.bias.lower


@pytest.mark.parametrize("method", ["exact", "mover", "approximate"])
def test_constant_differences_have_limits_without_width(method: Any) -> None:
    found = limits_of_agreement(of([1, 3, 5, 8], [2, 4, 6, 9]), method=method)

    assert found.table()[["value", "lower", "upper"]].to_numpy().tolist() == [[-1.0] * 3] * 3


def test_three_pairs_have_finite_limits() -> None:
    found = limits_of_agreement(of([1, 3, 8], [2, 3, 6]))

    assert np.isfinite(found.table().to_numpy()).all()


def test_items_that_one_rater_rated_do_not_count() -> None:
    wide = np.column_stack([[*WRIGHT, 500, np.nan], [*MINI, np.nan, 300]])

    found = limits_of_agreement(Ratings.from_wide(wide, scale="numeric"))

    assert found.bias == limits_of_agreement(of(WRIGHT, MINI)).bias


def test_repr_says_what_the_limits_mean() -> None:
    shown = repr(limits_of_agreement(of(WRIGHT, MINI)))

    assert shown.startswith("95% of differences of 0 and 1 lie between -78.1 and 73.86\n")
    assert "lower limit" in shown


ROWS = [(i, r, d, i + d + (r == "a")) for i in range(4) for r in "ab" for d in range(2)]


@pytest.mark.parametrize(
    ("ratings", "options", "message"),
    [
        (repeated(ROWS), {}, r"found 2 ratings of item 0 by 'a'\. Pass replicates="),
        (repeated(ROWS), {"replicates": "linked"}, r"found no facets\. Name the column"),
        (of(WRIGHT, MINI), {"replicates": "constant"}, "needs repeated ratings by both"),
        (of(WRIGHT, MINI, AGAIN), {}, r"there must be two raters; found 3\. Select them"),
        (of([0, 1, 2], [1, 2, 3]), {"log": True}, "above 0 for logarithms; found 0 of item 0"),
        (of([1, 3, 2], [2, 0, 1]), {"trend": True}, "items must differ in their mean"),
        (
            Ratings.from_wide(np.array([["a", "b"], ["b", "b"]])),
            {},
            r"ratings must be numbers here; .*scale=",
        ),
    ],
)
def test_ratings_without_limits(ratings: Ratings, options: Any, message: str) -> None:
    with pytest.raises(RatingsError, match=message):
        limits_of_agreement(ratings, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"agree": 1}, "agree must lie strictly between 0 and 1, not 1"),
        ({"prob": 0}, "prob must lie strictly between 0 and 1, not 0"),
        ({"method": "delta"}, "method must be one of exact, mover, approximate"),
        ({"replicates": "nested"}, "replicates must be one of constant, linked"),
        ({"replicates": "constant", "method": "exact"}, 'method must be "mover" with replicates'),
        ({"replicates": "constant", "trend": True}, "trend=True is for pairs of single ratings"),
    ],
)
def test_options_that_do_not_exist_or_fit(options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        limits_of_agreement(of(WRIGHT, MINI), **options)
