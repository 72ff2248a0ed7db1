"""Cross-replication reliability: published values, brute force over all pairs, and errors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from reliabayes import Ratings, RatingsError
from reliabayes.agreement import cohen_kappa, kappa_x, krippendorff_alpha, normalized_kappa_x
from reliabayes.agreement.scales import DistanceName
from reliabayes.choices import Scale
from tests import pairwise
from tests.pairwise import Table, tables

Load = Callable[[str], pd.DataFrame]


def from_strings(first: dict[int, str], second: dict[int, str]) -> Ratings:
    """Ratings of one character each, by two pools with as many raters as needed."""
    rows = [
        (item, f"{pool}{place}", letter, pool)
        for pool, strings in (("A", first), ("B", second))
        for item, string in strings.items()
        for place, letter in enumerate(string)
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "rating", "pool"])
    return Ratings.from_frame(frame, pool="pool")


def test_four_items_have_the_published_kappa() -> None:
    ratings = from_strings(
        {1: "ab", 2: "ab", 3: "aa", 4: "aa"}, {1: "bb", 2: "ab", 3: "aa", 4: "aa"}
    )

    found = kappa_x(ratings)

    assert float(found.part("observed disagreement")) == 0.25
    assert float(found.part("expected disagreement")) == 0.4375
    assert float(found) == pytest.approx(0.428571, abs=5e-7)


def test_incomplete_data_have_the_published_kappa() -> None:
    ratings = from_strings(
        {1: "BB", 2: "BBB", 3: "AA", 4: "AAA", 5: "AB"},
        {1: "BB", 2: "AB", 3: "AB", 4: "AB", 5: "AA"},
    )

    found = kappa_x(ratings)

    assert float(found.part("observed disagreement")) == pytest.approx(0.4090909, abs=5e-8)
    assert float(found.part("expected disagreement")) == 0.5
    assert float(found) == pytest.approx(0.1818182, abs=5e-8)


def test_word_pairs_have_their_reference_kappas(dataset: Load) -> None:
    ratings = Ratings.from_frame(dataset("wordsim_two_pools"), pool="pool")

    found = kappa_x(ratings)
    normalized = normalized_kappa_x(ratings)

    assert float(found.part("observed disagreement")) == pytest.approx(7.91648, abs=5e-6)
    assert float(found.part("expected disagreement")) == pytest.approx(26.85061, abs=5e-6)
    assert [float(normalized.part(name)) for name in normalized.parts] == pytest.approx(
        [0.70517, 0.65054, 0.76472], abs=5e-6
    )
    assert float(normalized) == pytest.approx(0.99978, abs=5e-6)


def test_intervals_of_a_normalized_kappa_near_one_go_beyond_it(dataset: Load) -> None:
    ratings = Ratings.from_frame(dataset("wordsim_two_pools"), pool="pool")
    normalized = normalized_kappa_x(ratings)

    whole = normalized.interval(method="analytic")
    of_part = normalized.part("kappa_x").interval(method="analytic")

    assert whole.upper - float(normalized) == pytest.approx(float(normalized) - whole.lower)
    assert whole.upper > 1 > of_part.upper


@pytest.mark.parametrize(
    ("question", "kappa", "normalized"),
    [
        ("hate_speech", 0.2380, 0.4739),
        ("aggressive", 0.2617, 0.7424),
        ("offensive", 0.3096, 0.6684),
    ],
)
def test_tweets_have_their_reference_kappas(
    dataset: Load, question: str, kappa: float, normalized: float
) -> None:
    ratings = Ratings.from_frame(dataset("hs_brexit"), rating=question, pool="pool")

    found = [float(kappa_x(ratings)), float(normalized_kappa_x(ratings))]

    assert found == pytest.approx([kappa, normalized], abs=5e-5)


@pytest.mark.parametrize("name", ["nominal", "absolute", "squared"])
@given(tables())
def test_kappa_x_equals_brute_force_over_all_pairs(name: DistanceName, table: Table) -> None:
    found = kappa_x(table.pooled(), name)

    expected = pairwise.kappa_x(table, np.arange(5) % 2, getattr(pairwise, name))
    assert float(found) == pytest.approx(expected, abs=1e-12)


@given(tables())
def test_a_custom_distance_equals_the_named_distance(table: Table) -> None:
    ratings = table.pooled()

    assert float(kappa_x(ratings, pairwise.absolute)) == pytest.approx(
        float(kappa_x(ratings, "absolute")), abs=1e-12
    )


@pytest.mark.parametrize(
    ("scale", "default"), [("nominal", "nominal"), ("ordered", "absolute"), ("numeric", "squared")]
)
def test_the_distance_follows_from_the_scale(scale: Scale, default: DistanceName) -> None:
    table = Table.simulated(1, levels=4)
    frame = table.frame.assign(pool=table.rater % 2)
    ratings = Ratings.from_frame(frame, pool="pool", scale=scale)

    assert float(kappa_x(ratings)) == float(kappa_x(ratings, default))


def test_with_one_rater_per_pool_it_equals_cohens_kappa() -> None:
    wide = np.array([[1, 2], [3, 3], [1, 1], [2, 2], [3, 1]])
    ratings = Ratings.from_wide(wide, pool={0: "a", 1: "b"})

    assert float(kappa_x(ratings, "nominal")) == pytest.approx(float(cohen_kappa(ratings)))


def test_normalized_kappa_divides_by_the_alphas_of_the_pools() -> None:
    ratings = Table.simulated(2, items=30).pooled()

    normalized = normalized_kappa_x(ratings, "nominal")

    alphas = [krippendorff_alpha(ratings.subset(pools=[pool]), "nominal") for pool in (0, 1)]
    across, *within = (float(normalized.part(name)) for name in normalized.parts)
    assert within == pytest.approx([float(alpha) for alpha in alphas])
    assert across == float(kappa_x(ratings, "nominal"))


@pytest.mark.parametrize("name", ["nominal", "absolute", "squared"])
@given(tables())
def test_kappas_within_pools_equal_brute_force_over_all_pairs(
    name: DistanceName, table: Table
) -> None:
    pool, distance = np.arange(5) % 2, getattr(pairwise, name)

    found = normalized_kappa_x(table.pooled(), name, irr="kappa")

    within = [pairwise.conger(table.part(pool[table.rater] == each), distance) for each in (0, 1)]
    assert [float(found.part(part)) for part in found.parts] == pytest.approx(
        [pairwise.kappa_x(table, pool, distance), *within], abs=1e-12
    )


def test_with_two_raters_per_pool_kappa_is_that_of_cohen() -> None:
    wide = np.array([[1, 1, 1, 2], [2, 2, 2, 2], [1, 2, 1, 1], [3, 3, 3, 3], [3, 3, 3, 3]])
    ratings = Ratings.from_wide(wide, pool={0: "a", 1: "a", 2: "b", 3: "b"}, scale="nominal")

    found = normalized_kappa_x(ratings, irr="kappa")

    cohen = [float(cohen_kappa(ratings.subset(pools=[pool]))) for pool in ("a", "b")]
    # By hand: 4 and 4 of 5 items agree; by chance 8 and 8 of 25.
    assert cohen == pytest.approx([(0.8 - 8 / 25) / (1 - 8 / 25)] * 2)
    assert float(found) == pytest.approx(float(kappa_x(ratings)) / np.sqrt(np.prod(cohen)))
    assert [*found.parts] == ["kappa_x", "kappa of the first pool", "kappa of the second pool"]


def test_the_reliability_within_pools_is_alpha_or_kappa() -> None:
    with pytest.raises(ValueError, match="irr must be one of alpha, kappa, not 'pi'"):
        normalized_kappa_x(Table.simulated(2).pooled(), irr="pi")  # type: ignore[arg-type]


def test_items_rated_by_one_pool_are_ignored() -> None:
    shared = ({1: "ab", 2: "bb"}, {1: "aa", 2: "b"})
    more = ({**shared[0], 3: "bb"}, {**shared[1], 4: "aaa"})

    assert float(kappa_x(from_strings(*more))) == float(kappa_x(from_strings(*shared)))


@pytest.mark.parametrize("second", [{1: "aa", 2: "bb"}, {1: "ab", 2: "ba"}])
def test_normalized_kappa_x_is_undefined_if_a_pool_disagrees_beyond_chance(
    second: dict[int, str],
) -> None:
    ratings = from_strings({1: "ab", 2: "ba"}, second)

    with pytest.warns(UserWarning, match="Normalized kappa_x is undefined: a pool's alpha is not"):
        assert np.isnan(float(normalized_kappa_x(ratings)))


def test_a_pool_with_single_ratings_has_no_alpha() -> None:
    ratings = from_strings({1: "ab", 2: "bb"}, {1: "a", 2: "b"})

    with pytest.raises(RatingsError, match="at least one item must have two ratings by pool 'B'"):
        normalized_kappa_x(ratings)


def test_there_must_be_two_pools() -> None:
    with pytest.raises(RatingsError, match=r"there must be exactly two pools of raters; found 0"):
        kappa_x(Table.simulated(3).ratings())


def test_pools_must_share_an_item() -> None:
    with pytest.raises(
        RatingsError, match="at least one item must have ratings by both pools; found none"
    ):
        kappa_x(from_strings({1: "ab"}, {2: "ab"}))
