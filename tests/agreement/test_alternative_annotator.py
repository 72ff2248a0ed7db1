"""The alternative annotator test, against what its authors print."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb
from reliabayes import datasets
from reliabayes.agreement import alt_test

SETS = ("cebab_aspects", "lgbteen", "summeval", "10k_prompts")
PEOPLE = ["Ann", "Bob", "Cem"]


@pytest.mark.parametrize("name", SETS)
def test_rates_are_those_that_the_authors_print(name: str) -> None:
    folder, file = datasets.folder(), f"alttest_{name}.csv"
    if not (folder / file).is_file():
        pytest.skip(f"no {file} in {folder}")
    wanted = json.loads((folder / "alttest_expected.json").read_text())["sets"][file]
    ratings = rb.Ratings.from_frame(pd.read_csv(folder / file), pool="pool", missing="drop")

    found = {
        judge: alt_test(ratings, judge, epsilon=wanted["epsilon"], score=wanted["score"])
        for judge in wanted["judges"]
    }

    for judge, numbers in wanted["judges"].items():
        assert found[judge].winning_rate == pytest.approx(numbers["winning_rate"], abs=0.005)
        advantage = found[judge].advantage_probability
        assert advantage == pytest.approx(numbers["advantage_probability"], abs=0.0051)


def ratings_of(answers: Any) -> rb.Ratings:
    return rb.Ratings.from_wide(pd.DataFrame(answers, columns=[*PEOPLE, "judge"]))


def test_a_judge_that_always_agrees_wins_against_all_and_one_that_never_does_against_none() -> None:
    answers = np.random.default_rng(1).integers(0, 2, (40, 1)) * np.ones((1, 4), int)
    wrong = np.column_stack([answers[:, :3], 1 - answers[:, 0]])

    assert alt_test(ratings_of(answers), "judge", PEOPLE).winning_rate == 1.0
    found = alt_test(ratings_of(wrong), "judge", PEOPLE)
    assert (found.winning_rate, found.advantage_probability, found.passes) == (0.0, 0.0, False)
    assert str(found).startswith("judge does not pass the alternative annotator test: it wins")


@pytest.mark.parametrize(
    ("judge", "human", "message"),
    [
        ("Dan", PEOPLE, "judge: judge must be the id of a rater who is no person"),
        ("judge", "human", "human: human must name pools or raters"),
        ("judge", ["Ann"], "at least one person must share 30 items"),
    ],
)
def test_what_cannot_be_tested_is_refused(judge: str, human: Any, message: str) -> None:
    answers = np.random.default_rng(1).integers(0, 2, (40, 4))

    with pytest.raises(rb.RatingsError, match=message):
        alt_test(ratings_of(answers), judge, human)
