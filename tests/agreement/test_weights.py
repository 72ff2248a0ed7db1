"""Agreement weights by name, arrays of weights, and tolerances."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from reliabayes import Ratings, RatingsError, agreement
from reliabayes.arrays import Array
from tests.pairwise import Table, tables

NONE = None
# Krippendorff (2011), four observers of twelve units; the last was rated once.
UNITS: list[list[int | None]] = [
    [1, 1, NONE, 1],
    [2, 2, 3, 2],
    [3, 3, 3, 3],
    [3, 3, 3, 3],
    [2, 2, 2, 2],
    [1, 2, 3, 4],
    [4, 4, 4, 4],
    [1, 1, 2, 1],
    [2, 2, 2, 2],
    [NONE, 5, 5, 5],
    [NONE, NONE, 1, 1],
    [NONE, NONE, 3, NONE],
]
DIAGNOSES = np.array([[40, 6, 4, 15], [4, 25, 1, 5], [4, 2, 21, 9], [17, 13, 12, 45]])
VIDEO = ["4434", "4445", "4455", "4444", "4324", "4434", "4325", "4434", "4334", "4334"]
VIDEO += ["4434", "4334", "4444", "4444", "4434", "4444", "4444", "4444", "4444", "4554"]


@pytest.fixture
def units() -> Ratings:
    return Ratings.from_wide(np.array(UNITS, np.float64), scale="numeric")


@pytest.fixture
def complete() -> Ratings:
    """Without the unit rated once."""
    return Ratings.from_wide(np.array(UNITS[:-1], np.float64), scale="numeric")


@pytest.fixture
def pair() -> Ratings:
    """Of the first rater in rows, of the second in columns."""
    cells = np.repeat(np.arange(16), DIAGNOSES.ravel())
    return Ratings.from_wide(1 + np.column_stack(np.divmod(cells, 4)), scale="numeric")


@pytest.mark.parametrize(
    ("name", "size", "upper"),
    [
        ("linear", 4, [0.666666667, 0.333333333, 0, 0.666666667, 0.333333333, 0.666666667]),
        ("quadratic", 4, [0.888888889, 0.555555556, 0, 0.888888889, 0.555555556, 0.888888889]),
        ("ratio", 4, [0.691358025, 0.305555556, 0, 0.888888889, 0.691358025, 0.943310658]),
        ("ordinal", 4, [5 / 6, 1 / 2, 0, 5 / 6, 1 / 2, 5 / 6]),
        (
            "radical",
            5,
            [
                0.5,
                0.292893219,
                0.133974596,
                0,
                0.5,
                0.292893219,
                0.133974596,
                0.5,
                0.292893219,
                0.5,
            ],
        ),
        ("circular", 5, [0.618033989, 0, 0, 0.618033989, 0.618033989, 0, 0, 0.618033989, 0]),
    ],
)
def test_tables_of_weights_are_those_of_irrcac(name: Any, size: int, upper: list[float]) -> None:
    table = agreement.weight_table(range(1, size + 1), name)

    found = table.to_numpy()[np.triu_indices(size, 1)]
    assert found[: len(upper)] == pytest.approx(upper, abs=1e-9)
    assert (np.diag(table) == 1).all()
    assert table.to_numpy() == pytest.approx(table.to_numpy().T)


@pytest.mark.parametrize(
    ("function", "name", "value", "error"),
    [
        (agreement.gwet_ac2, "ordinal", 0.89894, 0.1069),
        (agreement.gwet_ac2, "circular", 0.8302, 0.13265),
        (agreement.gwet_ac2, "quadratic", 0.914, 0.10396),
        (agreement.fleiss_kappa, "linear", 0.81794, 0.1485),
        (agreement.fleiss_kappa, "ratio", 0.82134, 0.15239),
        (agreement.fleiss_kappa, "bipolar", 0.85307, 0.14463),
        (agreement.brennan_prediger, "circular", 0.82355, 0.13696),
        (agreement.brennan_prediger, "bipolar", 0.88815, 0.11246),
        (agreement.brennan_prediger, "quadratic", 0.90152, 0.11089),
    ],
)
def test_several_raters_have_the_weighted_coefficients_of_irrcac(
    units: Ratings, function: Any, name: str, value: float, error: float
) -> None:
    found = function(units, name)

    assert float(found) == pytest.approx(value, abs=6e-6)
    assert agreement.gwet_error(found) == pytest.approx(error, abs=6e-6)


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("radical", 0.78873, 0.12826),
        ("ratio", 0.81327, 0.12844),
        ("quadratic", 0.85991, 0.11852),
    ],
)
def test_congers_kappa_has_the_values_of_irrcac(
    complete: Ratings, name: Any, value: float, error: float
) -> None:
    found = agreement.conger_kappa(complete, name)

    assert float(found) == pytest.approx(value, abs=6e-6)
    assert found.standard_error(method="analytic") == pytest.approx(error, abs=6e-6)


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        (lambda one, other: np.abs(one - other), 0.80038),
        ("ratio", 0.7974),
        ("circular", 0.78998),
        ("bipolar", 0.83499),
    ],
)
def test_metrics_of_alpha_are_the_weights_of_irrcac(
    units: Ratings, metric: Any, value: float
) -> None:
    assert float(agreement.krippendorff_alpha(units, metric)) == pytest.approx(value, abs=6e-6)


@pytest.mark.parametrize(
    ("function", "name", "value", "error"),
    [
        (agreement.cohen_kappa, "linear", 0.406810874013446, 0.0533880507127633),
        (agreement.cohen_kappa, "radical", 0.419424501191536, 0.0483357817429235),
        (agreement.cohen_kappa, "ratio", 0.413188619583094, 0.063344249521486),
        (agreement.scott_pi, "ordinal", 0.389264012324269, 0.0618025429466568),
        (agreement.scott_pi, "ratio", 0.412489419776812, 0.0634895061730339),
        (agreement.scott_pi, "circular", 0.444207413665646, 0.0493647516189641),
        (agreement.scott_pi, "quadratic", 0.382030365715624, 0.0660589683749454),
    ],
)
def test_two_raters_have_the_weighted_coefficients_of_irrcac(
    pair: Ratings, function: Any, name: str, value: float, error: float
) -> None:
    found = function(pair, name)

    assert float(found) == pytest.approx(value, abs=6e-6)
    assert found.standard_error(method="analytic") == pytest.approx(error, abs=6e-6)


@pytest.mark.parametrize(
    ("name", "value"),
    [("radical", 0.41787037336056), ("circular", 0.488439306358382), ("quadratic", 0.2985729967)],
)
def test_ac2_of_a_table_is_that_of_irrcac(pair: Ratings, name: Any, value: float) -> None:
    assert float(agreement.gwet_ac2(pair, name)) == pytest.approx(value, abs=1e-9)


def test_a_table_of_weights_is_the_name_of_the_weights(units: Ratings) -> None:
    table = agreement.weight_table([5, 3, 1, 2, 4], "radical")

    by_name, by_table = (agreement.gwet_ac2(units, each) for each in ("radical", table))

    assert by_table.value == pytest.approx(by_name.value, abs=1e-12)


def test_labels_are_one_apart_in_the_order_that_is_given() -> None:
    ordered = agreement.weight_table(["low", "medium", "high"], "linear")

    assert ordered.to_numpy()[0].tolist() == [1, 0.5, 0]


def test_two_zeros_agree_by_ratio_and_three_categories_in_a_circle_are_equally_far() -> None:
    ratio = agreement.weight_table([0, 1, 3], "ratio")
    circular = agreement.weight_table([1, 2, 3], "circular")

    assert ratio.to_numpy()[0].tolist() == [1, 0, 0]
    assert circular.to_numpy().tolist() == np.eye(3).tolist()


def test_kappa_with_asymmetric_weights_counts_who_erred(pair: Ratings) -> None:
    weights = np.eye(4)
    weights[0, 1] = 0.5  # where the first rater alone chose the first category

    found = agreement.cohen_kappa(pair, weights)

    share = DIAGNOSES / DIAGNOSES.sum()
    observed = (weights * share).sum()
    by_chance = share.sum(axis=1) @ weights @ share.sum(axis=0)
    assert float(found) == pytest.approx((observed - by_chance) / (1 - by_chance))
    mirrored = agreement.cohen_kappa(pair, weights.T)
    assert float(mirrored) != pytest.approx(float(found), abs=1e-4)


@pytest.mark.parametrize("function", [agreement.scott_pi, agreement.light_kappa])
def test_other_coefficients_need_symmetric_weights(pair: Ratings, function: Any) -> None:
    with pytest.raises(ValueError, match="weights must be a symmetric array"):
        function(pair, np.triu(np.ones((4, 4))))


def test_weights_by_ratio_need_numbers_that_are_not_negative() -> None:
    below = Ratings.from_wide(np.array([[-1, 2], [2, 2], [3, 2]]))
    ordered = Ratings.from_wide(np.array([[1, 2], [2, 2]]), scale="ordered")

    with pytest.raises(RatingsError, match='non-negative numbers for the weights "ratio"'):
        agreement.cohen_kappa(below, "ratio")
    with pytest.raises(RatingsError, match='numeric scale for the weights "ratio"'):
        agreement.cohen_kappa(ordered, "ratio")
    with pytest.raises(ValueError, match='non-negative numbers for "ratio"; found'):
        agreement.weight_table(["a", "b"], "ratio")
    with pytest.raises(ValueError, match="listed once each"):
        agreement.weight_table([1, 1], "linear")


def test_video_agrees_within_one_on_ninety_percent() -> None:
    """irr 0.84.1: agree(video, 1) is 90."""
    ratings = Ratings.from_wide(np.array([list(row) for row in VIDEO]).astype(int))

    within_one = agreement.unanimous_agreement(ratings, tolerance=1)

    assert float(within_one) == pytest.approx(0.9)
    assert float(agreement.unanimous_agreement(ratings, tolerance=0)) == pytest.approx(
        float(agreement.unanimous_agreement(ratings))
    )


def pairs_within(table: Table, tolerance: float) -> float:
    def is_far(one: Array, other: Array) -> Array:
        return np.asarray(np.abs(one - other) > tolerance, np.float64)

    pairs, far = table.pairable.within(is_far)[1:]
    return float(np.mean(1 - far / pairs))


@given(tables())
def test_pairs_within_a_tolerance_equal_brute_force(table: Table) -> None:
    found = agreement.percent_agreement(table.ratings(), tolerance=1)

    assert float(found) == pytest.approx(pairs_within(table, 1), abs=1e-12)


@given(tables())
def test_ranges_within_a_tolerance_equal_brute_force(table: Table) -> None:
    found = agreement.unanimous_agreement(table.ratings(), tolerance=1)

    grouped = table.pairable.frame.groupby("item")["rating"]
    assert float(found) == pytest.approx(float(np.mean(grouped.agg(np.ptp) <= 1)), abs=1e-12)


def test_differences_of_a_tolerance_are_not_lost_to_rounding() -> None:
    ratings = Ratings.from_wide(pd.DataFrame({"x": [0.1, 0.2], "y": [0.3, 0.5]}))

    assert float(agreement.percent_agreement(ratings, tolerance=0.2)) == 0.5


def test_a_tolerance_of_ordered_categories_counts_ranks() -> None:
    words = np.array([["low", "medium"], ["low", "high"]])
    ratings = Ratings.from_wide(words, scale="ordered", categories=["low", "medium", "high"])

    assert float(agreement.percent_agreement(ratings, tolerance=1)) == 0.5


def test_a_tolerance_needs_an_order_and_excludes_weights(units: Ratings) -> None:
    nominal = Ratings.from_wide(np.array([["a", "b"], ["a", "a"]]))

    with pytest.raises(RatingsError, match="categories must be ordered or numeric"):
        agreement.unanimous_agreement(nominal, tolerance=1)
    with pytest.raises(ValueError, match="tolerance must be a finite number of 0 or more, not -1"):
        agreement.percent_agreement(units, tolerance=-1)
    with pytest.raises(ValueError, match="pass one"):
        agreement.percent_agreement(units, "linear", tolerance=1)
