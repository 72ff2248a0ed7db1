"""The page of labels of public crowds shows what was measured."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb
from benchmarks.labels import HONEST, METHODS, SETS, SLOW, STATED, crowd, measured, votes
from docs.generate import labels, stated
from tests.conftest import ROOT

RESULTS = pd.read_csv(labels.RESULTS)


def test_each_method_was_measured_on_each_set_but_where_it_takes_minutes() -> None:
    found = RESULTS.groupby("method", sort=False)["set"].apply(list)

    assert list(found.index) == [*METHODS, *HONEST]
    for method, sets in found.items():
        assert method in SLOW or sets == list(SETS.values())


def test_votes_with_weights_are_proportions_of_the_weights() -> None:
    ratings = rb.Ratings.from_wide(np.array([["x", "x", "y"], ["y", "x", None]]))

    found = votes(pd.Series([3.0, 1.0, 2.0]), ratings)

    assert found.probability.to_numpy() == pytest.approx(np.array([[4 / 6, 2 / 6], [1 / 4, 3 / 4]]))


def test_the_page_has_a_row_for_each_measurement_with_its_figures() -> None:
    ((path, page),) = labels.pages()

    first = RESULTS.iloc[0]
    assert path == "labels.md"
    assert (
        f"| votes | {first['items']:.0f} | {first['right']:.3f} | {first['log_score']:.3f}" in page
    )
    assert page.count("\n| ") == len(RESULTS) + len(METHODS) + len(HONEST) + 2 * (len(SETS) + 1)


def test_items_at_95_percent_and_more_are_pooled_over_sets() -> None:
    of = {"method": "m", "right": 0.9, "log_score": 1.0, "calibration_error": 0.1, "seconds": 1.0}
    missing = dict.fromkeys(("raters", "raters_covered", "correct_covered"), np.nan)
    peer = {**of, **missing, "method": "crowd-kit X", "right": 0.95, "settled": 0.0}
    rows = [
        {"set": "a", "items": 100, "settled": 0.5, "settled_stated": 1.0, "settled_right": 0.8},
        {"set": "b", "items": 300, "settled": 0.1, "settled_stated": 0.96, "settled_right": np.nan},
    ]
    found = pd.DataFrame([{**of, **missing, **row} for row in rows])
    peers = pd.DataFrame([{**row, **peer} for row in rows])

    page = labels.summary(pd.concat([found, peers]))

    # (50 * 1 + 30 * 0.96) / 80 = 0.985, and 80 of 400 items
    assert "| m | 2 | -0.050 | -0.050 | 1.000 | 0.100 | 0.985 | 0.800 | 0.20 |  |  | 1.0 |" in page


def test_bins_are_pooled_over_sets_and_those_at_95_percent_and_more_are_sure() -> None:
    rows = [
        ("a", "m", "(0.5, 0.6]", 10, 0.6, 0.5),
        ("a", "m", "(0.95, 0.99]", 30, 0.96, 0.9),
        ("b", "n", "(0.95, 0.99]", 10, 0.98, 0.5),
        ("b", "n", "(0.99, 1.0]", 40, 1.0, 1.0),
        ("b", "x", "(0.99, 1.0]", 40, 1.0, 0.0),
    ]
    columns = ["set", "method", "stated_in", "items", "stated", "right"]

    bins = stated.pooled(pd.DataFrame(rows, columns=columns), ("m", "n"))

    assert bins["items"].tolist() == [10, 40, 40]
    assert bins["right"].tolist() == pytest.approx([0.5, 0.8, 1.0])
    assert stated.sure(bins) == pytest.approx(((0.965 + 1) / 2, 0.9))


def test_the_page_of_known_answers_has_what_the_picture_finds() -> None:
    page = (ROOT / "docs" / "known_answers.md").read_text()

    assert page.count(f"![{stated.finding(pd.read_csv(STATED))}]") == 2


@pytest.mark.slow
def test_votes_on_bluebirds_are_as_measured() -> None:
    """The only set with a few thousand ratings that tests may load."""
    if not (rb.datasets.folder() / "bluebirds.csv").exists():
        pytest.skip("bluebirds are missing")

    found, _ = measured(METHODS["votes"], crowd("bluebirds"))

    row = RESULTS[(RESULTS["set"] == "bluebirds") & (RESULTS["method"] == "votes")].iloc[0]
    assert found["right"] == pytest.approx(row["right"], abs=1e-3)
    assert found["log_score"] == pytest.approx(row["log_score"], abs=1e-3)
