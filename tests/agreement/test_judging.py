"""Preference for a slot, votes and corrected rates, against published verdicts and numbers."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import logit

import reliabayes as rb
from reliabayes import datasets
from reliabayes.agreement import effective_votes, position, rogan_gladen

FIRST = {"original": 1, "swapped": 2}


def verdicts(**options: Any) -> tuple[rb.Ratings, dict[str, Any]]:
    """Verdicts of six models by two prompts on a hundred pairs, and numbers that were counted."""
    folder = datasets.folder()
    if not (folder / "llmbar_natural.csv").is_file():
        pytest.skip(f"no llmbar_natural.csv in {folder}")
    frame = pd.read_csv(folder / "llmbar_natural.csv", dtype={"rating": "Int64"})
    ratings = rb.Ratings.from_frame(
        frame, rater="judge", gold="gold", facets=["order"], missing="drop", **options
    )
    return ratings, json.loads((folder / "llmbar_natural.json").read_text())


def test_consistent_shares_and_preference_scores_are_those_that_were_counted() -> None:
    ratings, wanted = verdicts(scale="nominal")

    found = position(ratings, "order", FIRST)

    for judge, numbers in wanted["position"].items():
        row = found.loc[judge]
        assert row["pairs"] == numbers["consistent"] + numbers["primacy"] + numbers["recency"]
        assert row["consistent"] == pytest.approx(numbers["position_consistency"], abs=1e-12)
        assert row["preference_score"] == pytest.approx(numbers["preference_score"], abs=0.005)
    vanilla = found.loc[["GPT-4/Vanilla", "ChatGPT/Vanilla", "Falcon/Vanilla"]]
    assert list(vanilla["consistent"]) == [0.95, 0.71, 0.52]
    assert list(vanilla["preference_score"].round(12)) == [-0.01, -0.21, -0.48]


def test_votes_are_those_of_the_correlation_of_errors_that_was_computed() -> None:
    ratings, wanted = verdicts(scale="nominal")
    numbers = wanted["votes_six"]

    found = effective_votes(
        ratings.subset(raters=numbers["judges"], facets={"order": ["original"]})
    )

    assert found["items"] == 98
    assert found["error_correlation"] == pytest.approx(numbers["mean_error_correlation"])
    assert found["votes"] == pytest.approx(numbers["kish_effective_votes"])


def comparisons(seed: int, log_odds: float, tie: float, pairs: int) -> rb.Ratings:
    """Answers of very different quality, where the first slot has so much higher log odds."""
    rng = np.random.default_rng(seed)
    better = rng.normal(0, 2, pairs)
    frames = []
    for order, sign in (("AB", 1), ("BA", -1)):
        half = 0.5 * (log_odds + sign * better)
        weights = np.exp(np.stack([half, -half, np.full(pairs, np.log(tie))], axis=1))
        edges = (weights / weights.sum(1, keepdims=True)).cumsum(1)
        slot = (rng.random((pairs, 1)) > edges[:, :2]).sum(1)
        answer = np.array([*order, "tie"], dtype=object)[slot]
        frames.append(pd.DataFrame({"item": range(pairs), "order": order, "rating": answer}))
    return with_person(pd.concat(frames))


def with_person(frame: pd.DataFrame) -> rb.Ratings:
    """Ratings by a judge, and one by a person, because one rater alone is refused."""
    of_person = frame.iloc[:1].assign(rater="person")
    return rb.Ratings.from_frame(
        pd.concat([frame.assign(rater="judge"), of_person]), facets=["order"]
    )


def test_log_odds_of_the_first_slot_do_not_depend_on_quality_and_use_ties() -> None:
    ratings = comparisons(1, 0.8, 0.5, 4000)

    row = position(ratings, "order", {"AB": "A", "BA": "B"}).loc["judge"]

    assert row["first_slot_log_odds_lower_90"] < 0.8 < row["first_slot_log_odds_upper_90"]
    width = row["first_slot_log_odds_upper_90"] - row["first_slot_log_odds_lower_90"]
    assert width < 0.2
    assert row[["consistent", "to_first", "to_second"]].sum() == pytest.approx(1.0)


def test_log_odds_without_ties_are_half_those_of_pairs_that_lean() -> None:
    table = [("A", "B")] * 200 + [("B", "A")] * 50 + [("A", "A")] * 30
    frame = pd.DataFrame(
        [
            (item, order, rating)
            for item, pair in enumerate(table)
            for order, rating in zip(("AB", "BA"), pair, strict=True)
        ],
        columns=["item", "order", "rating"],
    )
    ratings = with_person(frame)

    row = position(ratings, "order", {"AB": "A", "BA": "B"}).loc["judge"]

    # The median of the posterior is within a tenth of an sd of the maximum of the likelihood.
    sd = 0.5 * np.sqrt(1 / 200 + 1 / 50)
    assert row["first_slot_log_odds"] == pytest.approx(0.5 * logit(0.8), abs=0.1 * sd)


def test_pairs_in_one_order_only_are_counted_and_left_out() -> None:
    ratings = comparisons(2, 0.5, 0.2, 50)
    frame = ratings.to_frame().query("rater == 'judge'")
    frame = frame[(frame["item"] >= 10) | (frame["order"] == "AB")]

    row = position(with_person(frame), "order", {"AB": "A", "BA": "B"}).loc["judge"]

    assert (row["pairs"], row["one_order"]) == (40, 10)


@pytest.mark.parametrize(
    ("order", "first", "message"),
    [
        ("slot", {"AB": "A", "BA": "B"}, "order must be a facet of the ratings"),
        ("order", {"AB": "A"}, "first must name the answer in the first slot of two orders"),
        ("order", {"AB": "A", "BA": "A"}, "first must name the answer in the first slot"),
    ],
)
def test_orders_must_be_explained(order: str, first: dict[str, str], message: str) -> None:
    with pytest.raises(rb.RatingsError, match=message):
        position(comparisons(1, 0.0, 0.5, 20), order, first)


def test_the_corrected_rate_is_the_published_one() -> None:
    found = rogan_gladen(0.4, 1000, 0.9, 200, 0.7, 200)

    assert list(found.round(4)) == [0.1667, 0.0564, 0.2627]


def test_a_judge_no_better_than_chance_corrects_nothing() -> None:
    with pytest.raises(ValueError, match="such a judge tells nothing of the rate"):
        rogan_gladen(0.4, 1000, 0.5, 200, 0.5, 200)
