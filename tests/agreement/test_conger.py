"""Conger's kappa and iota."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from reliabayes import Ratings, RatingsError
from reliabayes.agreement import cohen_kappa, conger_kappa, iota
from reliabayes.agreement.scales import DistanceName
from tests import pairwise
from tests.pairwise import Distance, Table, tables

Load = Callable[[str], pd.DataFrame]


@pytest.mark.parametrize("coefficient", [conger_kappa, iota])
def test_diagnoses_have_the_published_kappa(
    dataset: Load, coefficient: Callable[[Ratings], float]
) -> None:
    ratings = Ratings.from_frame(dataset("diagnoses"))

    assert float(coefficient(ratings)) == pytest.approx(0.44181, abs=5e-6)


def test_anxiety_has_the_published_iota(dataset: Load) -> None:
    ratings = Ratings.from_frame(dataset("anxiety"))

    assert float(iota(ratings)) == pytest.approx(0.1900, abs=5e-5)


@pytest.mark.parametrize(
    ("weights", "distance"), [(None, pairwise.nominal), ("quadratic", pairwise.squared)]
)
@given(tables())
def test_congers_kappa_equals_brute_force_over_pairs_of_raters(
    weights: str | None, distance: Distance, table: Table
) -> None:
    found = conger_kappa(table.ratings(), weights)

    assert float(found) == pytest.approx(pairwise.conger(table, distance), abs=1e-12)


@pytest.mark.parametrize("name", ["nominal", "absolute", "squared"])
@given(tables())
def test_iota_equals_brute_force_for_any_distance(name: DistanceName, table: Table) -> None:
    found = iota(table.ratings(), distance=name)

    expected = pairwise.conger(table, getattr(pairwise, name))
    assert float(found) == pytest.approx(expected, abs=1e-12)


@given(tables())
def test_a_custom_distance_equals_the_named_distance(table: Table) -> None:
    found = iota(table.ratings(), distance=pairwise.absolute)

    assert float(found) == pytest.approx(float(iota(table.ratings(), distance="absolute")))


def test_with_two_raters_and_complete_data_it_equals_cohens_kappa() -> None:
    ratings = Ratings.from_wide(np.array([[1, 2], [3, 3], [1, 1], [2, 2], [3, 1]]))

    assert float(conger_kappa(ratings)) == pytest.approx(float(cohen_kappa(ratings)))


def test_distances_of_several_variables_add_up() -> None:
    grammar, style = Table.simulated(1), Table.simulated(2)
    both = [grammar.ratings(), style.ratings()]

    found = iota(*both)

    observed, expected = (
        sum(float(iota(each).part(f"{which} disagreement")) for each in both)
        for which in ("observed", "expected")
    )
    assert float(found) == pytest.approx(1 - observed / expected)


def test_a_variable_given_twice_changes_nothing() -> None:
    ratings = Table.simulated(3).ratings()

    one, two = (iota(*times * [ratings]).interval(replicates=50) for times in (1, 2))

    assert (two.lower, two.upper) == pytest.approx((one.lower, one.upper))


def test_raters_must_be_identified() -> None:
    with pytest.raises(RatingsError, match="Iota: it must be known who gave each rating"):
        iota(Ratings.from_counts(np.array([[2, 0], [1, 1]])))


def test_unknown_distances_are_refused() -> None:
    with pytest.raises(ValueError, match="distance must be one of nominal, absolute, squared, or"):
        iota(Table.simulated(4).ratings(), distance="cubic")  # type: ignore[arg-type]
