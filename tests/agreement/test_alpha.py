"""Krippendorff's alpha: published values, brute force over all pairs, and invariances."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from reliabayes import Ratings, RatingsError
from reliabayes.agreement import krippendorff_alpha
from reliabayes.agreement.alpha import Metric
from reliabayes.choices import Scale
from tests import pairwise
from tests.pairwise import Distance, Table, tables

Load = Callable[[str], pd.DataFrame]

# Four observers and twelve units.
# Krippendorff (2011), section E. https://repository.upenn.edu/asc_papers/43
OBSERVERS = """
1 2 3 3 2 1 4 1 2 . . .
1 2 3 3 2 2 4 1 2 5 . 3
. 3 3 3 2 3 4 2 2 5 1 .
1 2 3 3 2 4 4 1 2 5 1 .
"""


@pytest.fixture
def units() -> Ratings:
    cells = [line.split() for line in OBSERVERS.strip().splitlines()]
    table = pd.DataFrame(cells).replace(".", None).astype(float)
    return Ratings.from_wide(table.to_numpy().T)


@pytest.mark.parametrize(
    ("metric", "published"),
    [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)],
)
def test_krippendorffs_example_has_the_published_alphas(
    units: Ratings, metric: Metric, published: float
) -> None:
    alpha = krippendorff_alpha(units, metric)

    assert float(alpha) == pytest.approx(published, abs=0.0005)


@pytest.mark.parametrize(
    ("name", "alphas"),
    [
        ("irrsim_seed_test1", [0.57177, 0.54657, 0.50219]),
        ("irrsim_seed_test2", [0.47706, 0.26273, 0.16176]),
    ],
)
def test_simulated_matrices_have_their_reference_alphas(
    dataset: Load, name: str, alphas: list[float]
) -> None:
    ratings = Ratings.from_frame(dataset(name))

    found = [float(krippendorff_alpha(ratings, m)) for m in ("nominal", "ordinal", "interval")]

    assert found == pytest.approx(alphas, abs=5e-6)


def test_fleiss_diagnoses_have_the_published_alpha(dataset: Load) -> None:
    ratings = Ratings.from_frame(dataset("diagnoses"))

    assert float(krippendorff_alpha(ratings)) == pytest.approx(0.43341, abs=5e-6)


def test_two_sets_of_word_pairs_have_their_reference_alpha(dataset: Load) -> None:
    first, second = dataset("wordsim353_set1"), dataset("wordsim353_set2")
    second = second[second["rater"].isin([f"set2_{number}" for number in range(1, 14)])]
    ratings = Ratings.from_frame(pd.concat([first, second.assign(item="2 " + second["item"])]))

    assert float(krippendorff_alpha(ratings)) == pytest.approx(0.5899, abs=5e-5)


METRICS: dict[Metric, Distance] = {
    "nominal": pairwise.nominal,
    "interval": pairwise.squared,
    "ratio": lambda c, k: np.where(c + k > 0, (c - k) ** 2 / np.maximum(c + k, 1) ** 2, 0.0),
    "circular": lambda c, k: np.sin(np.pi * (c - k) / 4) ** 2,
    "bipolar": lambda c, k: (c - k) ** 2 / np.maximum((c + k) * (6 - c - k), 1e-9),
}


@pytest.mark.parametrize("metric", METRICS)
@given(tables())
def test_alpha_equals_brute_force_over_all_pairs(metric: Metric, table: Table) -> None:
    ratings = table.ratings(categories=range(4))

    alpha = krippendorff_alpha(ratings, metric)

    assert float(alpha) == pytest.approx(pairwise.alpha(table, METRICS[metric]), abs=1e-12)


@given(tables())
def test_ordinal_alpha_counts_the_ratings_between(table: Table) -> None:
    alpha = krippendorff_alpha(table.ratings(), "ordinal")

    expected = pairwise.alpha(table, pairwise.ordinal(table))
    assert float(alpha) == pytest.approx(expected, abs=1e-12)


def test_ordinal_alpha_depends_on_the_order_only() -> None:
    table = Table.simulated(3, levels=4)
    stretched = table._replace(value=np.exp(table.value))

    one, other = (krippendorff_alpha(each.ratings(), "ordinal") for each in (table, stretched))

    assert float(one) == pytest.approx(float(other))


def test_equal_numbers_cause_no_disagreement_by_rounding() -> None:
    numbers = np.random.default_rng(1).normal(size=(100, 1))
    ratings = Ratings.from_wide(np.tile(numbers, 7))

    assert float(krippendorff_alpha(ratings).part("observed disagreement")) == 0


@pytest.mark.parametrize("scale", ["nominal", "ordered"])
def test_a_custom_metric_receives_numbers_or_labels(scale: Scale) -> None:
    table = Table.simulated(4)
    labelled = table.frame.assign(rating=table.frame["rating"].map({0: "a", 1: "b", 2: "c"}))
    ratings = Ratings.from_frame(labelled, scale=scale, categories=["a", "b", "c"])

    by_label = krippendorff_alpha(ratings, lambda c, k: 1.0 * (c != k))
    by_number = krippendorff_alpha(table.ratings(), lambda c, k: np.abs(np.sign(c - k)))

    assert float(by_label) == pytest.approx(float(krippendorff_alpha(ratings, "nominal")))
    assert float(by_number) == pytest.approx(float(by_label))


@pytest.mark.parametrize(
    ("scale", "metric"), [("nominal", "nominal"), ("ordered", "ordinal"), ("numeric", "interval")]
)
def test_the_metric_follows_from_the_scale(scale: Scale, metric: Metric) -> None:
    alpha = krippendorff_alpha(Table.simulated(5).ratings(scale=scale))

    assert alpha.name == f"Krippendorff's alpha ({metric})"


def test_parts_are_observed_and_expected_disagreement() -> None:
    alpha = krippendorff_alpha(Table.simulated(6).ratings())

    observed, expected = (
        float(alpha.part(f"{which} disagreement")) for which in ("observed", "expected")
    )

    assert float(alpha) == pytest.approx(1 - observed / expected)


def test_items_with_one_rating_are_ignored() -> None:
    table = Table.simulated(7)
    more = table.frame.assign(rating=table.value)
    more.loc[len(more)] = [99, 0, 77.0]

    alone = krippendorff_alpha(Ratings.from_frame(more), "interval")

    assert float(alone) == pytest.approx(float(krippendorff_alpha(table.ratings())), abs=1e-9)


def test_the_ratio_metric_of_ordered_numbers_asks_for_the_numeric_scale() -> None:
    ratings = Ratings.from_wide(np.array([[1, 2], [3, 3]]), scale="ordered")

    with pytest.raises(RatingsError, match=r'found the ordered categories 1, 2, 3. .*"numeric"'):
        krippendorff_alpha(ratings, "ratio")


def test_the_ratio_metric_needs_non_negative_numbers() -> None:
    ratings = Ratings.from_wide(np.array([[-1, 2], [3, 4]]))

    with pytest.raises(RatingsError, match=r"must be non-negative numbers .* found -1, 2, 3, 4"):
        krippendorff_alpha(ratings, "ratio")


def test_the_interval_metric_needs_an_order() -> None:
    ratings = Ratings.from_wide(np.array([["a", "b"], ["a", "a"]]))

    with pytest.raises(RatingsError, match="categories must be ordered or numeric"):
        krippendorff_alpha(ratings, "interval")


def test_unknown_metrics_are_refused() -> None:
    with pytest.raises(ValueError, match=r"must be one of nominal, .*, or a function, not 'cubic'"):
        krippendorff_alpha(Table.simulated(8).ratings(), "cubic")  # type: ignore[arg-type]


def test_a_custom_metric_must_be_a_distance() -> None:
    with pytest.raises(ValueError, match="a distance must take two arrays"):
        krippendorff_alpha(Table.simulated(9).ratings(), lambda c, k: c - k)
