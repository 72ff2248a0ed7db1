"""Guidelines: the published words and borders, and the caution."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliabayes import guidelines
from reliabayes.guidelines import GUIDELINES, Guideline, interpret

PUBLISHED = {
    "altman": {0.1: "poor", 0.3: "fair", 0.5: "moderate", 0.7: "good", 0.9: "very good"},
    "cicchetti": {0.3: "poor", 0.5: "fair", 0.7: "good", 0.8: "excellent"},
    "fleiss": {0.3: "poor", 0.7: "fair", 0.8: "excellent"},
    "koo_li": {0.4: "poor", 0.7: "moderate", 0.8: "good", 0.95: "excellent"},
    "landis_koch": {
        -0.1: "poor", 0.1: "slight", 0.3: "fair", 0.5: "moderate", 0.7: "substantial",
        0.9: "almost perfect",
    },
    "portney_watkins": {0.7: "poor to moderate", 0.8: "reasonable"},
    "shrout": {
        0.05: "virtually none", 0.2: "slight", 0.5: "fair", 0.7: "moderate", 0.9: "substantial",
    },
}  # fmt: skip

named = st.sampled_from(sorted(GUIDELINES))


def test_every_guideline_is_tested() -> None:
    assert set(PUBLISHED) == set(GUIDELINES)


@pytest.mark.parametrize(
    ("name", "value", "word"),
    [(name, value, word) for name, words in PUBLISHED.items() for value, word in words.items()],
)
def test_words_are_the_published_ones(name: str, value: float, word: str) -> None:
    assert interpret(value, name) == word


@given(name=named, values=st.lists(st.floats(-1, 1), min_size=2))
def test_larger_values_never_have_lesser_words(name: str, values: list[float]) -> None:
    words = GUIDELINES[name].words

    ranks = [words.index(interpret(value, name)) for value in sorted(values)]

    assert ranks == sorted(ranks)


@given(name=named)
def test_a_border_belongs_to_the_upper_range(name: str) -> None:
    guideline = GUIDELINES[name]

    assert [interpret(start, name) for start in guideline.lower] == list(guideline.words)
    assert interpret(math.nextafter(guideline.lower[-1], 0), name) == guideline.words[-2]


def test_nan_is_undefined() -> None:
    assert interpret(np.nan, "altman") == "undefined"


def test_a_guideline_of_the_user_is_accepted() -> None:
    mine = Guideline(name="Us", lower=(0, 0.5), words=("no", "yes"), made_for="this", source="")

    assert interpret(0.5, mine) == "yes"


@given(name=named)
def test_the_caution_names_the_purpose_of_the_guideline(name: str) -> None:
    guideline = GUIDELINES[name]

    assert guideline.name in guideline.caution
    assert guideline.made_for in guideline.caution


def test_the_catalogue_has_a_row_for_each_range() -> None:
    rows = guidelines.catalogue().groupby("guideline").size()

    assert rows.to_dict() == {name: len(each.words) for name, each in GUIDELINES.items()}


def test_an_unknown_guideline_is_refused_with_a_suggestion() -> None:
    with pytest.raises(
        ValueError, match=r"guideline must be .* found 'koo-li'. Did you mean 'koo_li'"
    ):
        interpret(0.5, "koo-li")


def test_a_value_above_one_is_refused() -> None:
    with pytest.raises(ValueError, match=r"must be at most 1; found 55"):
        interpret(55, "altman")
