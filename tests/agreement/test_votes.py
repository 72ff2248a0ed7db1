"""Majority votes, with weights of raters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb

Load = Callable[[str], pd.DataFrame]

# crowd-kit, tests of aggregation: votes of five workers on five tasks; "-" for none.
WORKERS = pd.DataFrame(
    {
        "w1": ["no", "yes", "yes", "yes", "yes"],
        "w2": ["yes", "yes", "no", "yes", "no"],
        "w3": [None, "yes", "no", "yes", "no"],
        "w4": ["yes", "no", "yes", "yes", "no"],
        "w5": ["no", "no", "no", "yes", "no"],
    },
    index=["t1", "t2", "t3", "t4", "t5"],
)


@pytest.fixture
def workers() -> rb.Ratings:
    return rb.Ratings.from_wide(WORKERS)


def test_shares_of_votes_are_those_of_crowd_kit(workers: rb.Ratings) -> None:
    votes = rb.majority_vote(workers)

    assert votes["category"].fillna("-").tolist() == ["-", "yes", "no", "yes", "no"]
    assert votes["share"].tolist() == pytest.approx([0.5, 0.6, 0.6, 1, 0.8])
    assert votes["tied"].tolist() == [True, False, False, False, False]
    assert votes["ratings"].tolist() == [4, 5, 5, 5, 5]
    assert votes.attrs["weights"] == dict.fromkeys(WORKERS, 1.0)


def test_ties_are_broken_only_if_asked(workers: rb.Ratings) -> None:
    first = rb.majority_vote(workers, ties="first")
    at_random = [
        rb.majority_vote(workers, ties="random", seed=seed)["category"].iloc[0]
        for seed in range(40)
    ]

    assert first["category"].tolist() == ["no", "yes", "no", "yes", "no"]
    assert first["tied"].tolist() == [True, False, False, False, False]
    assert 10 < at_random.count("yes") < 30


@pytest.mark.parametrize(
    ("name", "shares", "accuracy"),
    [
        (
            "bluebirds",
            [0.6926746166950596, 0.482793867120954, 0.672572402044293, 0.3390119250425895],
            0.7592592592592593,
        ),
        (
            "snow2008_rte",
            [0.1561798910961772, 0.3354759713217272, 0.9240634273638061, 0.3440773131219025],
            0.91875,
        ),
    ],
)
def test_agreement_with_the_aggregate_is_that_of_crowd_kit(
    dataset: Load, name: str, shares: list[float], accuracy: float
) -> None:
    """crowd-kit 1.4.2: Wawa().fit_predict_proba(frame)[1] of the first items."""
    ratings = rb.Ratings.from_frame(dataset(name), gold="gold", scale="nominal")

    votes = rb.majority_vote(ratings, "wawa")

    of_one = np.where(votes["category"] == 1, votes["share"], 1 - votes["share"])
    assert of_one[:4] == pytest.approx(shares, abs=1e-9)
    truth = dataset(name).groupby("item")["gold"].first()
    assert (votes["category"] == truth).mean() == pytest.approx(accuracy)


@pytest.mark.parametrize(
    ("name", "ties", "accuracy"),
    [("bluebirds", 0, 0.7592592592592593), ("snow2008_rte", 65, 0.9319727891156463)],
)
def test_ties_of_crowds_stay(dataset: Load, name: str, ties: int, accuracy: float) -> None:
    votes = rb.majority_vote(rb.Ratings.from_frame(dataset(name), scale="nominal"))

    truth = dataset(name).groupby("item")["gold"].first()
    is_clear = ~votes["tied"]
    assert votes["tied"].sum() == votes["category"].isna().sum() == ties
    assert (votes["category"] == truth)[is_clear].mean() == pytest.approx(accuracy)


def test_zero_based_weights_are_the_share_of_votes_with_the_weighted_majority(
    dataset: Load,
) -> None:
    ratings = rb.Ratings.from_frame(dataset("bluebirds"), scale="nominal")

    votes = rb.majority_vote(ratings, "zero-based")

    frame = ratings.to_frame()
    agrees = frame["rating"].astype(int) == frame["item"].map(votes["category"])
    share = agrees.groupby(frame["rater"]).mean()
    assert [*votes.attrs["weights"].values()] == pytest.approx(share.to_numpy(), abs=1e-9)


def test_gold_weighs_raters_by_how_often_they_are_right() -> None:
    frame = pd.DataFrame(
        [
            (1, "a", "x", "x"),
            (1, "b", "y", "x"),
            (2, "a", "x", None),
            (2, "b", "y", None),
            (2, "c", "y", None),
            (3, "a", "y", "y"),
            (3, "b", "y", "y"),
        ],
        columns=["item", "rater", "rating", "gold"],
    )
    ratings = rb.Ratings.from_frame(frame, gold="gold")

    votes = rb.majority_vote(ratings, "gold")

    assert votes.attrs["weights"] == {"a": 1, "b": 0.5, "c": 0.75}  # c rated none: 3 of 4
    assert votes["category"].tolist() == ["x", "y", "y"]
    assert votes["share"].tolist() == pytest.approx([1 / 1.5, 1.25 / 2.25, 1])


def test_weights_may_be_given_and_zeros_leave_a_tie(workers: rb.Ratings) -> None:
    weights = pd.Series({"w1": 3.0, "w2": 1, "w3": 1, "w4": 1, "w5": 1})
    nobody = dict.fromkeys(WORKERS, 0.0)

    votes = rb.majority_vote(workers, weights)
    empty = rb.majority_vote(workers, nobody)

    assert votes["category"].tolist() == ["no", "yes", "yes", "yes", "no"]
    assert votes["share"].tolist()[:2] == pytest.approx([4 / 6, 5 / 7])
    assert empty["share"].isna().all()
    assert empty["category"].iloc[:3].isna().all()


def test_counts_have_votes_without_weights() -> None:
    ratings = rb.Ratings.from_counts(np.array([[3, 0, 1], [1, 1, 2]]), categories=["a", "b", "c"])

    votes = rb.majority_vote(ratings)

    assert votes["category"].tolist() == ["a", "c"]
    assert votes.attrs["weights"] is None
    with pytest.raises(rb.RatingsError, match="it must be known who gave each rating"):
        rb.majority_vote(ratings, "wawa")


def test_order_of_rows_and_names_of_raters_change_nothing(dataset: Load) -> None:
    frame = dataset("snow2008_rte")
    turned = frame.sample(frac=1, random_state=1).assign(rater=lambda x: x["rater"].str[::-1])

    one, other = (
        rb.majority_vote(rb.Ratings.from_frame(each, scale="nominal"), "zero-based")
        for each in (frame, turned)
    )

    pd.testing.assert_frame_equal(one, other)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"w1": 1.0}, "there must be a weight for each rater; found none for 'w2'"),
        ({**dict.fromkeys(WORKERS, 1.0), "w3": -1}, "of 0 or more; found others for 'w3'"),
        ({**dict.fromkeys(WORKERS, 1.0), "w3": np.nan}, "of 0 or more; found others for 'w3'"),
        ("gold", "the true category of some items must be known"),
        ("glad", "weights must be wawa, zero-based, gold, numbers by rater or None, not 'glad'"),
    ],
)
def test_invalid_weights_are_refused(workers: rb.Ratings, weights: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rb.majority_vote(workers, weights)


def test_other_ways_to_break_ties_are_refused(workers: rb.Ratings) -> None:
    with pytest.raises(ValueError, match="ties must be"):
        rb.majority_vote(workers, ties="last")  # type: ignore[arg-type]
