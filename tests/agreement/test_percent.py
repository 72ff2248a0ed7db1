"""Percent agreement, and kappas whose chance follows from category proportions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from reliabayes import Ratings, RatingsError, agreement
from reliabayes.arrays import Array
from tests import pairwise
from tests.pairwise import Table, tables

Load = Callable[[str], pd.DataFrame]

LEVELS = np.arange(4.0)
WEIGHTS = 1 - np.abs(LEVELS[:, None] - LEVELS) ** 2 / 9


def quadratic(one: Array, other: Array) -> Array:
    return np.asarray((one - other) ** 2 / 9)


@pytest.fixture
def diagnoses(dataset: Load) -> Ratings:
    return Ratings.from_frame(dataset("diagnoses"))


def test_fleiss_diagnoses_have_the_published_kappas(diagnoses: Ratings) -> None:
    kappas = [
        float(agreement.fleiss_kappa(diagnoses)),
        float(agreement.brennan_prediger(diagnoses)),
    ]

    assert kappas == pytest.approx([0.43024, 0.4444], abs=5e-5)


def test_fleiss_diagnoses_have_the_published_z(diagnoses: Ratings) -> None:
    assert agreement.fleiss_z(diagnoses) == pytest.approx(17.652, abs=5e-4)


def test_each_category_of_fleiss_diagnoses_has_the_published_kappa(diagnoses: Ratings) -> None:
    kappas = agreement.fleiss_kappa_by_category(diagnoses)

    assert [float(kappa) for kappa in kappas.values()] == pytest.approx(
        [0.245, 0.245, 0.520, 0.471, 0.566], abs=5e-4
    )
    assert next(iter(kappas)) == "1. Depression"


@pytest.mark.parametrize(
    ("name", "proportion"), [("irrsim_seed_test1", 0.6), ("irrsim_seed_test2", 0.7)]
)
def test_simulated_matrices_have_the_requested_agreement(
    dataset: Load, name: str, proportion: float
) -> None:
    assert float(agreement.unanimous_agreement(Ratings.from_frame(dataset(name)))) == proportion


@given(tables())
def test_percent_agreement_equals_brute_force_over_all_pairs(table: Table) -> None:
    found = agreement.percent_agreement(table.ratings(categories=LEVELS), "quadratic")

    assert float(found) == pytest.approx(pairwise.percent(table, quadratic), abs=1e-12)


@given(tables())
def test_fleiss_chance_follows_from_mean_proportions(table: Table) -> None:
    found = agreement.fleiss_kappa(table.ratings(categories=LEVELS), "quadratic")

    p = pairwise.proportions(table, LEVELS)
    by_chance = p @ WEIGHTS @ p
    expected = 1 - (1 - pairwise.percent(table, quadratic)) / (1 - by_chance)
    assert float(found) == pytest.approx(expected, abs=1e-12)


@given(tables())
def test_brennan_and_predigers_chance_follows_from_equal_proportions(table: Table) -> None:
    found = agreement.brennan_prediger(table.ratings(categories=LEVELS), "quadratic")

    expected = 1 - (1 - pairwise.percent(table, quadratic)) / (1 - WEIGHTS.mean())
    assert float(found) == pytest.approx(expected, abs=1e-12)


@given(tables())
def test_gwets_chance_follows_from_the_variance_of_proportions(table: Table) -> None:
    found = agreement.gwet_ac2(table.ratings(categories=LEVELS))

    p = pairwise.proportions(table, LEVELS)
    by_chance = WEIGHTS.sum() / 12 * (p * (1 - p)).sum()
    expected = 1 - (1 - pairwise.percent(table, quadratic)) / (1 - by_chance)
    assert float(found) == pytest.approx(expected, abs=1e-12)


@given(tables())
def test_gwets_standard_error_is_the_published_one(table: Table) -> None:
    found = agreement.gwet_ac1(table.pairable.ratings(categories=LEVELS))

    error = found.standard_error(method="analytic")

    m, pairs, far = table.pairable.within(pairwise.nominal)
    item, value = table.pairable.item, table.pairable.value
    n = len(m)
    proportions = 1.0 * (value == LEVELS[:, None]) @ (item[:, None] == range(n)) / m
    mean = proportions.mean(axis=1)
    by_chance = (mean * (1 - mean)).sum() / 3
    own = (1 - far / pairs - by_chance) / (1 - by_chance)
    own -= 2 * (1 - float(found)) * ((1 - mean) @ proportions / 3 - by_chance) / (1 - by_chance)
    # Gwet (2008), eq. 35 and 36
    assert error == pytest.approx(np.sqrt(((own - float(found)) ** 2).sum() / n / (n - 1)))


@given(tables())
def test_kappa_of_a_category_equals_kappa_of_the_category_against_the_rest(table: Table) -> None:
    found = agreement.fleiss_kappa_by_category(table.ratings())[1.0]

    split = table._replace(value=1.0 * (table.value == 1))
    assert float(found) == pytest.approx(float(agreement.fleiss_kappa(split.ratings())), abs=1e-12)


@given(tables())
def test_specific_agreement_equals_brute_force_over_all_pairs(table: Table) -> None:
    found = agreement.specific_agreement(table.ratings())[0.0]

    assert float(found) == pytest.approx(pairwise.specific(table, 0.0))


def test_items_with_one_rating_are_ignored() -> None:
    ratings = Ratings.from_wide(np.array([[1, 1], [1, 2], [2, np.nan], [1, np.nan]]))

    assert float(agreement.percent_agreement(ratings)) == 0.5
    assert float(agreement.unanimous_agreement(ratings)) == 0.5


def test_counts_need_no_raters() -> None:
    table = Table.simulated(1)
    ratings = table.ratings()
    counted = Ratings.from_counts(ratings.counts, categories=ratings.categories)

    assert float(agreement.gwet_ac1(counted)) == float(agreement.gwet_ac1(ratings))


def test_anonymous_raters_are_not_resampled() -> None:
    kappa = agreement.fleiss_kappa(Ratings.from_counts(np.array([[2, 1], [0, 3], [3, 0]])))

    with pytest.raises(
        RatingsError, match="over: raters must be identified to be resampled; found anonym"
    ):
        kappa.interval(over="raters")


def test_z_needs_the_same_number_of_ratings_of_each_item() -> None:
    with pytest.raises(RatingsError, match="the same number of ratings; found 2 to 4"):
        agreement.fleiss_z(Table.simulated(5).ratings())


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ("cubic", "weights must be linear, quadratic, .*, an array or None, not 'cubic'"),
        (np.ones((2, 2)), r"weights must be a symmetric array \(3, 3\)"),
        ([[1, 2, 0], [2, 1, 0], [0, 0, 1]], "at most 1 elsewhere"),
    ],
)
def test_invalid_weights_are_refused(weights: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        agreement.fleiss_kappa(Table.simulated(2).ratings(), weights)  # type: ignore[arg-type]


def test_weights_by_distance_need_an_order() -> None:
    ratings = Ratings.from_wide(np.array([["a", "b"], ["a", "a"]]))

    with pytest.raises(RatingsError, match="categories must be ordered or numeric"):
        agreement.gwet_ac2(ratings)
