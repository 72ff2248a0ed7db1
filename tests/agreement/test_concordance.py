"""Concordance correlation, its parts and Lin's interval."""

from __future__ import annotations

import numpy as np
import pytest

from reliabayes import Ratings, RatingsError, agreement
from reliabayes.arrays import Array
from tests.partitions.in_memory import in_parts

# Bland & Altman (1986): peak expiratory flow by two meters, twice each
WRIGHT = [494, 395, 516, 434, 476, 557, 413, 442, 650, 433, 417, 656, 267, 478, 178, 423, 427]
AGAIN = [490, 397, 512, 401, 470, 611, 415, 431, 638, 429, 420, 633, 275, 492, 165, 372, 421]
MINI = [512, 430, 520, 428, 500, 600, 364, 380, 658, 445, 432, 626, 260, 477, 259, 350, 451]
JUDGES = [[9, 6, 8, 7, 10, 6], [2, 1, 4, 1, 5, 2]]  # the first two of Shrout & Fleiss (1979)


def of(*columns: list[int]) -> Ratings:
    return Ratings.from_wide(np.column_stack(columns), scale="numeric")


def scores(raters: int = 4) -> Array:
    rng = np.random.default_rng(1)
    return np.asarray(rng.normal(size=(30, 1)) + rng.normal(0.3, 0.5, (30, raters)))


@pytest.mark.parametrize(
    ("ratings", "value", "limits", "parts"),
    [  # epiR 2.0.94, epi.ccc: accuracy, scale and location shift
        (
            of(WRIGHT, AGAIN),
            0.982130561882737,
            [0.952183131903441, 0.993385636913248],
            [0.99867799117451, 1.02837493583982, -0.0431809687237289],
        ),
        (
            of(*JUDGES),
            0.106951871657754,
            [-0.0562550071259736, 0.264591773823591],
            [0.143490993208543, 1.00623058987491, -3.45515824237818],
        ),
    ],
)
def test_concordance_of_two(
    ratings: Ratings, value: float, limits: list[float], parts: list[float]
) -> None:
    found = agreement.concordance(ratings)

    interval = found.interval(method="lin")

    assert found.value == pytest.approx(value)
    assert [interval.lower, interval.upper] == pytest.approx(limits)
    names = ("accuracy", "scale shift", "location shift")
    assert [found.part(name).value for name in names] == pytest.approx(parts)


def test_concordance_of_two_meters() -> None:
    found = agreement.concordance(of(WRIGHT, MINI))
    interval = found.interval(method="lin")

    shown = [found.value, interval.lower, interval.upper, found.part("accuracy").value]

    assert shown == pytest.approx([0.94274, 0.85049, 0.97873, 0.99943], abs=5e-6)


def test_concordance_of_several_raters_is_that_of_barnhart() -> None:
    x = scores()
    covariance, mean = np.asarray(np.cov(x.T, ddof=0)), x.mean(axis=0)
    pairs = np.triu_indices(4, 1)
    apart = (mean[:, None] - mean) ** 2 + np.add.outer(np.diag(covariance), np.diag(covariance))
    weight, r = apart[pairs], np.asarray(np.corrcoef(x.T))[pairs]

    found = agreement.concordance(Ratings.from_wide(x))

    assert found.value == pytest.approx(2 * covariance[pairs].sum() / weight.sum())
    assert found.part("precision").value == pytest.approx(weight @ r / weight.sum())
    product = found.part("precision").value * found.part("accuracy").value
    assert product == pytest.approx(found.value)


def test_concordance_is_iota_of_numbers() -> None:
    x = scores()
    x[[3, 7, 11], [0, 1, 2]] = np.nan
    ratings = Ratings.from_wide(x)

    ours, iota = agreement.concordance(ratings), agreement.iota(ratings)

    assert ours.value == pytest.approx(iota.value)
    one, other = (each.interval() for each in (ours, iota))
    assert one.over == "both"
    assert (one.lower, one.upper) == pytest.approx((other.lower, other.upper))


def test_parts_have_intervals_over_raters() -> None:
    x = scores()
    found = agreement.concordance(Ratings.from_wide(x)).part("precision")

    without = [
        agreement.concordance(Ratings.from_wide(np.delete(x, r, axis=1))).part("precision").value
        for r in range(4)
    ]

    error = found.standard_error(over="raters", method="jackknife")
    assert error == pytest.approx(np.sqrt(3 * np.var(without)))


def test_concordance_of_a_dataset_in_parts() -> None:
    ratings = of(WRIGHT, MINI)

    ours, parted = (agreement.concordance(each) for each in (ratings, in_parts(ratings, 3)))

    assert parted.value == pytest.approx(ours.value)
    assert parted.interval(method="lin").lower == pytest.approx(ours.interval(method="lin").lower)
    assert parted.part("accuracy").value == pytest.approx(ours.part("accuracy").value)


def test_many_raters_have_no_parts_of_pairs() -> None:
    found = agreement.concordance(Ratings.from_wide(scores(11)))

    assert list(found.parts) == ["observed disagreement", "expected disagreement"]


def test_constant_differences() -> None:
    found = agreement.concordance(of([1, 3, 5, 8], [2, 4, 6, 9]))

    interval = found.interval(method="lin")

    assert found.part("precision").value == pytest.approx(1)
    assert found.part("accuracy").value == pytest.approx(found.value)
    assert interval.lower < found.value < interval.upper <= 1


def test_three_pairs_have_an_interval() -> None:
    interval = agreement.concordance(of([1, 3, 8], [2, 3, 6])).interval(method="lin")

    assert -1 <= interval.lower < interval.upper <= 1


def test_ratings_without_a_concordance() -> None:
    nominal = Ratings.from_wide(np.array([["a", "b"], ["b", "b"]]))

    with pytest.raises(RatingsError, match=r"ratings must be numbers here; .*scale="):
        agreement.concordance(nominal)
    with pytest.raises(ValueError, match='method "lin" is for the concordance of two raters'):
        agreement.concordance(Ratings.from_wide(scores())).interval(method="lin")
    with pytest.raises(ValueError, match='method "lin" supports over="items" only'):
        agreement.concordance(of(WRIGHT, MINI)).interval(method="lin", over="raters")
    with pytest.raises(ValueError, match="for the concordance of two raters, not for Cohen's kap"):
        agreement.cohen_kappa(of([1, 2, 2], [1, 2, 1])).interval(method="lin")
