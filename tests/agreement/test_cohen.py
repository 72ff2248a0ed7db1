"""Kappas of two raters, Light's kappa and information-based agreement."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from scipy.stats import entropy

from reliabayes import Ratings, RatingsError, agreement
from tests import pairwise
from tests.pairwise import Distance, Table, tables

Load = Callable[[str], pd.DataFrame]


def two_columns(frame: pd.DataFrame, first: pd.Series[int], second: pd.Series[int]) -> Ratings:
    wide = pd.DataFrame({"first": first, "second": second}).set_index(frame["id"])
    return Ratings.from_wide(wide)


@pytest.fixture
def by_party(dataset: Load) -> Ratings:
    """Votes, and votes predicted from the party."""
    frame = dataset("amash")
    return two_columns(frame, 1 * (frame["vote"] == "No"), 1 * (frame["party"] == "Republican"))


@pytest.fixture
def by_money(dataset: Load) -> Ratings:
    """Votes, and votes predicted from campaign contributions."""
    frame = dataset("amash")
    return two_columns(frame, 1 * (frame["vote"] == "No"), 1 * (frame["contribs"] > 13000))


@pytest.mark.parametrize(
    ("weights", "kappa", "error"),
    [(None, 0.59539, 0.00729), ("linear", 0.65238, 0.00708), ("quadratic", 0.70233, 0.00838)],
)
def test_vision_has_the_published_kappas_and_errors(
    dataset: Load, weights: str | None, kappa: float, error: float
) -> None:
    grades = ["1st grade", "2nd grade", "3rd grade", "4th Grade"]
    ratings = Ratings.from_frame(dataset("vision"), scale="ordered", categories=grades)

    found = agreement.cohen_kappa(ratings, weights)

    assert float(found) == pytest.approx(kappa, abs=5e-6)
    assert found.standard_error(method="analytic") == pytest.approx(error, abs=5e-6)


@pytest.mark.parametrize(
    ("weights", "kappa"), [(None, 0.1195), ("linear", 0.1892), ("quadratic", 0.2968)]
)
def test_anxiety_has_the_published_kappas(dataset: Load, weights: str | None, kappa: float) -> None:
    ratings = Ratings.from_frame(dataset("anxiety")).subset(raters=["rater1", "rater2"])

    assert float(agreement.cohen_kappa(ratings, weights)) == pytest.approx(kappa, abs=5e-5)


def test_diagnoses_have_the_published_kappas(dataset: Load) -> None:
    ratings = Ratings.from_frame(dataset("diagnoses"))

    two = agreement.cohen_kappa(ratings.subset(raters=["rater2", "rater3"]))
    light = agreement.light_kappa(ratings)

    assert float(two) == pytest.approx(0.6311, abs=5e-5)
    assert float(light) == pytest.approx(0.459, abs=5e-4)


def test_a_vote_against_parties_has_the_published_agreement(by_party: Ratings) -> None:
    cohen, scott = agreement.cohen_kappa(by_party), agreement.scott_pi(by_party)
    shared = agreement.information_agreement(by_party)

    assert float(cohen.part("observed agreement")) == pytest.approx(0.580569, abs=5e-7)
    assert float(cohen) == pytest.approx(0.159211, abs=5e-7)
    assert float(scott) == pytest.approx(0.158638, abs=5e-7)
    assert float(shared) == pytest.approx(0.123638, abs=5e-7)
    assert float(cohen.part("expected agreement")) == pytest.approx(0.501146, abs=5e-7)
    assert float(scott.part("expected agreement")) == pytest.approx(0.501485, abs=5e-7)
    assert [float(shared.part(name)) for name in shared.parts] == pytest.approx(
        [0.123312, 0.999417, 0.995312], abs=5e-7
    )


def test_a_vote_against_money_has_the_published_agreement(by_money: Ratings) -> None:
    functions = (
        agreement.percent_agreement,
        agreement.cohen_kappa,
        agreement.scott_pi,
        agreement.information_agreement,
    )

    assert [float(function(by_money)) for function in functions] == pytest.approx(
        [0.597156, 0.192790, 0.192499, 0.151742], abs=5e-7
    )


@given(tables())
def test_kappa_exceeds_pi_by_how_differently_raters_use_categories(table: Table) -> None:
    pair = table.ratings(categories=range(4)).subset(raters=[0, 1])
    kappa, pi = agreement.cohen_kappa(pair), agreement.scott_pi(pair)

    p = pair.table(0, 1).to_numpy() / pair.table(0, 1).to_numpy().sum()
    excess = ((p.sum(axis=1) - p.sum(axis=0)) ** 2).sum() / 4
    by_chance = [float(each.part("expected agreement")) for each in (kappa, pi)]
    assert by_chance[1] - by_chance[0] == pytest.approx(excess, abs=1e-12)
    assert not float(kappa) < float(pi) - 1e-12


@pytest.mark.parametrize("function", [agreement.cohen_kappa, agreement.scott_pi])
def test_kappas_are_undefined_if_chance_alone_gives_perfect_agreement(function: Any) -> None:
    same = Ratings.from_wide(np.full((3, 2), "a"), categories=["a", "b"])

    with pytest.warns(UserWarning, match="chance alone gives perfect agreement"):
        assert np.isnan(float(function(same)))


def test_a_category_on_which_raters_never_agree_has_no_information_in_agreement() -> None:
    wide = pd.DataFrame({"first": list("abcca"), "second": list("baccc")})

    found = agreement.information_agreement(Ratings.from_wide(wide))

    entropies = [entropy([2, 1, 2], base=2), entropy([1, 1, 3], base=2)]
    assert float(found) == pytest.approx(0.4 * np.log2(0.4 / 0.24) / np.mean(entropies))


DISTANCES = [
    (None, pairwise.nominal),
    ("linear", pairwise.absolute),
    ("quadratic", pairwise.squared),
]


@pytest.mark.parametrize(("weights", "distance"), DISTANCES)
@given(tables())
def test_lights_kappa_is_the_mean_of_cohens_kappas(
    weights: str | None, distance: Distance, table: Table
) -> None:
    found = agreement.light_kappa(table.ratings(), weights)

    assert float(found) == pytest.approx(pairwise.light(table, distance), abs=1e-12)


@given(tables())
def test_analytic_error_of_cohens_kappa_is_that_of_fleiss_cohen_and_everitt(table: Table) -> None:
    ratings = table.ratings(categories=range(4)).subset(raters=[0, 1])

    found = agreement.cohen_kappa(ratings, "quadratic")

    first, second = ratings.rater == 0, ratings.rater == 1
    _, mine, others = np.intersect1d(ratings.item[first], ratings.item[second], return_indices=True)
    p = np.zeros((4, 4))
    np.add.at(p, (ratings.category[first][mine], ratings.category[second][others]), 1 / len(mine))
    levels = np.arange(4)
    weight = 1 - (levels[:, None] - levels) ** 2 / 9
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    observed, by_chance = (weight * p).sum(), rows @ weight @ columns
    mean = (weight @ columns)[:, None] + weight @ rows
    # Fleiss, Cohen & Everitt (1969), eq. 13
    variance = (p * (weight * (1 - by_chance) - mean * (1 - observed)) ** 2).sum()
    variance -= (observed * by_chance - 2 * by_chance + observed) ** 2
    expected = np.sqrt(max(variance, 0) / len(mine)) / (1 - by_chance) ** 2
    assert found.standard_error(method="analytic") == pytest.approx(expected, abs=1e-7)


@given(tables())
def test_scotts_pi_equals_fleiss_kappa_of_two_raters(table: Table) -> None:
    two = table.part(np.isin(table.rater, [0, 1]) & (table.item < 3)).ratings()

    assert float(agreement.scott_pi(two)) == pytest.approx(float(agreement.fleiss_kappa(two)))


@given(tables())
def test_information_is_averaged_over_pairs_of_raters(table: Table) -> None:
    ratings = table.ratings()
    pairs = [[0, 1], [0, 2], [1, 2]]

    whole = agreement.information_agreement(ratings.subset(raters=[0, 1, 2]))

    each = [agreement.information_agreement(ratings.subset(raters=pair)) for pair in pairs]
    assert float(whole) == pytest.approx(np.mean([float(one) for one in each]))


def test_no_rater_is_compared_with_themselves() -> None:
    frame = Table.simulated(2, items=20).frame
    twice = pd.concat([frame, frame[frame["rater"] == 3].assign(rating=1)])
    ratings = Ratings.from_frame(twice, replicates="keep")
    pairs = [[one, other] for other in range(4) for one in range(other)]

    light = agreement.light_kappa(ratings)

    each = [agreement.cohen_kappa(ratings.subset(raters=pair)) for pair in pairs]
    assert float(light) == pytest.approx(np.mean([float(kappa) for kappa in each]))


def test_cohens_kappa_needs_exactly_two_raters() -> None:
    with pytest.raises(RatingsError, match="there must be exactly two raters; found 4"):
        agreement.cohen_kappa(Table.simulated(1).ratings())


def test_raters_must_be_identified() -> None:
    ratings = Ratings.from_counts(np.array([[2, 0], [1, 1]]))

    with pytest.raises(RatingsError, match="light_kappa: it must be known who gave each rating"):
        agreement.light_kappa(ratings)
