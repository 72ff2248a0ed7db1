"""Agreement on sets of labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from reliabayes import Ratings, RatingsError, agreement, read_ratings

# stats.stackexchange.com/questions/407453: two coders of eleven items.
ONE = ["l1;l2", "l1;l2", "l1", "l3", "l3", "l4", "l2", "l1;l2", "l1;l2", "l1", "l1"]
OTHER = ["l1", "l2; l1", "l1", "l3", "l1;l3", "l4", "l4", "l1", "l1;l2;l3", "l1", "l1"]


@pytest.fixture
def coders() -> Ratings:
    return Ratings.from_wide(pd.DataFrame({"one": ONE, "other": OTHER}), separator=";")


@pytest.mark.parametrize(
    ("metric", "value"), [("masi", 0.5403556771545828), ("jaccard", 0.6015625)]
)
def test_alpha_of_sets_is_that_of_nltk(coders: Ratings, metric: Any, value: float) -> None:
    """NLTK 3.10.4 AnnotationTask, with MASI of weights 2/3 and 1/3."""
    assert float(agreement.krippendorff_alpha(coders, metric)) == pytest.approx(value, abs=1e-12)


def test_sets_are_categories_of_their_own_for_nominal_coefficients() -> None:
    """crowd-kit: tests of alpha with sets."""
    sets = [[["dog"], ["dog"]], [["cat"], ["cat"]], [["cat"], ["cat", "mouse"]]]
    rows = [(item, rater, x) for item, row in enumerate(sets) for rater, x in enumerate(row)]

    ratings = Ratings.from_frame(pd.DataFrame(rows, columns=["item", "rater", "rating"]))

    assert ratings.categories.tolist() == ["cat", "cat;mouse", "dog"]
    assert ratings.separator == ";"
    assert float(agreement.krippendorff_alpha(ratings)) == pytest.approx(0.5454545454545454)


@pytest.mark.parametrize(
    ("one", "other", "masi", "jaccard"),
    [
        ([1, 2], [1, 2, 3, 4], 2 / 3, 1 / 2),
        ([1, 2, 3], [1, 2], 5 / 9, 1 / 3),
        ([1, 2], [2, 3], 1 - 1 / 9, 2 / 3),
        ([1], [2], 1, 1),
        ([], [2], 1, 1),
    ],
)
def test_masi_weighs_how_sets_overlap(
    one: list[int], other: list[int], masi: float, jaccard: float
) -> None:
    found = [
        1 - agreement.weight_table([one, other], name).to_numpy()[0, 1]
        for name in ("masi", "jaccard")
    ]

    assert found == pytest.approx([masi, jaccard])


def test_weights_of_sets_are_the_metric_of_alpha(coders: Ratings) -> None:
    by_name = agreement.fleiss_kappa(coders, "masi")
    by_table = agreement.fleiss_kappa(coders, agreement.weight_table(coders.categories, "masi"))

    assert float(by_name) == pytest.approx(float(by_table))
    # Without the correction for few ratings, alpha is Fleiss' kappa of two complete raters.
    alpha = float(agreement.krippendorff_alpha(coders, "masi"))
    assert 1 - alpha == pytest.approx((1 - float(by_name)) * 21 / 22)


def test_lists_in_json_lines_and_texts_are_the_same_sets(tmp_path: Path, coders: Ratings) -> None:
    lists, texts = tmp_path / "sets.jsonl", tmp_path / "sets.csv"
    frame = coders.to_frame().astype({"rating": str})
    rows = frame.assign(rating=frame["rating"].str.split(";")).to_dict("records")
    lists.write_text("\n".join(json.dumps(row) for row in rows))
    frame.to_csv(texts, index=False)

    of_lists, of_texts = read_ratings(lists), read_ratings(texts, separator=";")

    assert of_lists == of_texts == coders.subset()


def test_an_empty_set_is_a_rating() -> None:
    frame = pd.DataFrame({"item": [1, 1, 2, 2], "rater": list("abab")})
    frame["rating"] = [[], [], ["x"], ["x", "y"]]

    ratings = Ratings.from_frame(frame)

    assert ratings.categories.tolist() == ["(none)", "x", "x;y"]
    weights = agreement.weight_table(ratings.categories, "jaccard").to_numpy()
    assert weights[0].tolist() == [1, 0, 0]


def test_sets_of_numbers_have_no_decimals() -> None:
    polars = pytest.importorskip("polars")
    frame = pd.DataFrame({"item": [1, 1, 2, 2], "rater": list("abab"), "rating": [1.0, 2, 1, 1]})
    lists = polars.from_pandas(frame).with_columns(rating=polars.Series([[1], [2], [1], [1, 2]]))

    assert Ratings.from_frame(frame, separator=";").categories.tolist() == ["1", "2"]
    assert Ratings.from_frame(lists).categories.tolist() == ["1", "1;2", "2"]


def test_declared_categories_may_be_sets(coders: Ratings) -> None:
    every: list[Any] = [["l1"], ["l2", "l1"], "l3; l1", "l3", "l4", "l2", ["l1", "l2", "l3"]]

    ratings = Ratings.from_wide(
        pd.DataFrame({"one": ONE, "other": OTHER}), separator=";", categories=every
    )

    assert ratings.categories.tolist()[:3] == ["l1", "l1;l2", "l1;l3"]
    assert float(agreement.krippendorff_alpha(ratings, "masi")) == pytest.approx(
        float(agreement.krippendorff_alpha(coders, "masi"))
    )


def test_bad_sets_and_ratings_that_are_none_are_refused(coders: Ratings) -> None:
    frame = pd.DataFrame({"item": [1, 1], "rater": [1, 2], "rating": [["a;b"], ["a"]]})
    plain = Ratings.from_wide(np.array([["a", "b"], ["a", "a"]]))

    with pytest.raises(RatingsError, match="rating: no label may hold the separator ';'"):
        Ratings.from_frame(frame)
    with pytest.raises(RatingsError, match="separator: it must be the text between two labels"):
        Ratings.from_frame(frame, separator="")
    with pytest.raises(RatingsError, match='a set of labels for the metric "masi"; found'):
        agreement.krippendorff_alpha(plain, "masi")
    with pytest.raises(RatingsError, match='a set of labels for the weights "jaccard"; found'):
        agreement.fleiss_kappa(plain, "jaccard")
    with pytest.raises(RatingsError, match="need a declared order"):
        Ratings.from_frame(
            coders.to_frame().astype({"rating": str}), separator=";", scale="ordered"
        )
