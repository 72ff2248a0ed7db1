"""One vote of each rater on an item, by what the rater gave it most often."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb
from reliabayes.partitions import with_one_vote_each
from reliabayes.ratings.one_vote import one_vote_each

ROWS = [
    ("a", "x", "yes"),
    ("a", "x", "yes"),
    ("a", "x", "no"),
    ("a", "y", "no"),
    ("b", "x", "no"),
    ("b", "x", "yes"),
    ("b", "y", "no"),
]


def table(rows: list[tuple[Any, str, str]]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["item", "rater", "rating"])
    return frame.assign(run=frame.groupby(["item", "rater"]).cumcount())


def many_repeats(seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    cells = [(i, f"r{r}", 1 + (i + r) % 4) for i in range(30) for r in range(4) if (i + r) % 5]
    rows = [(i, r, k) for i, r, n in cells for k in rng.choice(["a", "b", "c"], n)]
    return table(rows)


def by_counting(frame: pd.DataFrame) -> dict[Any, str]:
    """The same votes, one pair of item and rater at a time."""
    overall = Counter(zip(frame["rater"], frame["rating"], strict=True))
    return {
        (item, rater): min(
            Counter(given).items(), key=lambda each: (-each[1], -overall[rater, each[0]], each[0])
        )[0]
        for (item, rater), given in frame.groupby(["item", "rater"])["rating"]
    }


def test_the_vote_is_what_a_rater_gave_most_and_ties_go_to_what_the_rater_gives_more_often() -> (
    None
):
    votes = one_vote_each(rb.Ratings.from_frame(table(ROWS), facets=["run"])).to_frame()

    assert votes["rating"].tolist() == ["yes", "no", "yes", "no"]
    assert votes.columns.tolist() == ["item", "rater", "rating"]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_votes_are_those_of_counting(seed: int) -> None:
    frame = many_repeats(seed)

    votes = one_vote_each(rb.Ratings.from_frame(frame, facets=["run"])).to_frame()

    found = dict(zip(zip(votes["item"], votes["rater"], strict=True), votes["rating"], strict=True))
    assert found == by_counting(frame)


def test_ratings_without_repeats_stay_as_they_are() -> None:
    ratings = rb.Ratings.from_frame(table(ROWS).query("run == 0"), facets=["run"])

    assert one_vote_each(ratings) is ratings


def test_votes_say_how_many_ratings_were_repeats() -> None:
    votes = one_vote_each(rb.Ratings.from_frame(table(ROWS), facets=["run"]))

    assert votes.notes[-1].startswith("3 of 7 ratings repeat a rater's rating of an item.")


def test_parts_have_the_votes_of_the_whole_table(tmp_path: Path) -> None:
    frame = many_repeats(4)
    parts = rb.partition(frame, tmp_path / "parts", facets=["run"], partitions=3, scale="nominal")
    whole = rb.Ratings.from_frame(frame, facets=["run"], scale="nominal")

    votes = with_one_vote_each(parts)

    assert not isinstance(votes, rb.Ratings)
    assert len(votes) == whole.n_pairs
    assert votes.to_ratings() == one_vote_each(whole)


def test_models_count_votes_alike_in_memory_and_in_parts(tmp_path: Path) -> None:
    frame = many_repeats(5)
    parts = rb.partition(frame, tmp_path / "parts", facets=["run"], partitions=3, scale="nominal")
    votes = one_vote_each(rb.Ratings.from_frame(frame, facets=["run"], scale="nominal"))
    model = rb.DawidSkene(repeats="one_vote")

    estimate = model.em(parts)

    assert len(estimate.ratings) == len(votes)
    assert estimate.log_likelihood == pytest.approx(rb.DawidSkene().em(votes).log_likelihood)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")  # of few draws
def test_a_model_counts_votes_in_fits_and_data_and_refuses_what_is_not_counted() -> None:
    ratings = rb.Ratings.from_frame(many_repeats(6), facets=["run"])
    model = rb.DawidSkene(repeats="one_vote")

    fit = model.fit(ratings, seed=1, draws=20, progress=False)

    votes = one_vote_each(ratings)
    assert fit.ratings == votes
    np.testing.assert_equal(model.stan_data(ratings), rb.DawidSkene().stan_data(votes))
    with pytest.raises(rb.RatingsError, match="a rater must have one vote on an item"):
        model.problem(ratings)


def test_repeats_must_be_one_of_two_words() -> None:
    with pytest.raises(ValueError, match="'independent' or 'one_vote', not 'mean'"):
        rb.LogitICC(repeats="mean")  # type: ignore[arg-type]
