"""Fits name raters who err together, state labels honestly, and ask for known answers."""

from __future__ import annotations

from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import reliabayes as rb
from reliabayes.html_report.answers import answer
from reliabayes.results.dependence import gain_in_words
from tests.crowds.simulated import Kind, crowd


def ratings_of(kind: Kind, *, known: int = 0) -> rb.Ratings:
    votes, truth = crowd(kind, 3)
    frame = pd.DataFrame({"item": votes.item, "rating": votes.category})
    frame["rater"] = [f"w{rater:02}" for rater in votes.rater]
    frame["gold"] = pd.Series(truth[votes.item]).where(votes.item < known)
    gold = "gold" if known else None
    return rb.Ratings.from_frame(frame, scale="nominal", gold=gold)


def fitted(kind: Kind, **options: int) -> rb.Fit:
    ratings = ratings_of(kind, **options)
    return rb.DawidSkene().fit(ratings, seed=1, chains=2, draws=100, progress=False)


@pytest.fixture(scope="module")
def together() -> rb.Fit:
    return fitted("shared criterion")


pytestmark = pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")


@pytest.mark.slow
def test_raters_who_share_a_criterion_are_a_group(together: rb.Fit) -> None:
    table = together.dependence()

    correlation, effective = table[["correlation", "effective_votes"]].to_numpy()[0]
    assert table["raters"].tolist() == ["w00, w01"]
    assert effective == pytest.approx(2 / (1 + correlation))


@pytest.mark.slow
def test_the_group_is_named_beside_all_results(together: rb.Fit) -> None:
    said = "w00 and w01 make the same errors"

    assert said in together.summary().attrs["caution"]
    assert said in " ".join(str(together).split())
    assert said in answer(together).limits[0]


def test_honest_labels_differ_where_the_caution_says_so(together: rb.Fit) -> None:
    assert together.crowd is not None
    changed = len(together.crowd.changed)

    assert changed > 0
    assert f"{changed} of 600 items have another label" in together.dependence().attrs["caution"]
    honest = together.items(stated="honest")
    assert list(honest) == list(together.items())
    equal = together.crowd.equal.probability.argmax(axis=1)
    assert (honest["category"].to_numpy() != equal).sum() == changed


@pytest.mark.slow
def test_known_answers_are_certain_and_no_further_items() -> None:
    fit = fitted("independent", known=60)

    honest, asked = fit.items(stated="honest"), fit.next_items(50)

    assert isinstance(fit.ratings, rb.Ratings)
    assert fit.ratings.gold_category is not None
    is_known = fit.ratings.gold_category >= 0
    assert is_known.sum() == 60
    assert (honest.loc[is_known, "probability"] == 1).all()
    assert not asked.index.isin(honest.index[is_known]).any()


def test_next_items_are_half_at_random_and_half_doubtful(together: rb.Fit) -> None:
    asked = together.next_items(20)

    assert asked["chosen"].tolist() == ["at random"] * 10 + ["doubtful"] * 10
    assert asked.index.is_unique
    pd.testing.assert_frame_equal(asked, together.next_items(20))
    doubtful = asked["probability"][asked["chosen"] == "doubtful"]
    others = together.items(stated="honest").drop(asked.index)["probability"]
    assert doubtful.max() <= others.min()
    assert "With the true category of 20 more items, " in asked.attrs["note"]


def test_the_picture_says_whose_votes_count_as_fewer(together: rb.Fit) -> None:
    ax = rb.plots.dependence(together, ax=Figure().subplots())

    effective = together.dependence()["effective_votes"].iloc[0]
    title = " ".join(ax.get_title(loc="left").split())
    assert title == f"w00 and w01 make the same errors: 2 votes of theirs count as {effective:.1f}"
    marked = np.asarray(ax.collections[1].get_offsets())
    assert together.crowd is not None
    assert marked[:, 0].tolist() == [together.crowd.found.items[0]]


@pytest.mark.slow
def test_independent_raters_are_no_group() -> None:
    fit = fitted("independent")

    assert fit.dependence().empty
    assert "same errors" not in fit.summary().attrs["caution"]


@pytest.mark.slow
def test_a_model_without_true_categories_has_no_dependence() -> None:
    ratings = rb.Ratings.from_wide(np.array([[1, 2, 2], [4, 4, 5], [2, 3, 2], [1, 1, 2]]))
    fit = rb.GaussianICC().fit(ratings, seed=1, draws=100, progress=False)

    with pytest.raises(AttributeError, match="has no true categories"):
        fit.dependence()


def test_stated_is_model_or_honest(together: rb.Fit) -> None:
    with pytest.raises(ValueError, match="stated must be 'model' or 'honest', not 'other'"):
        together.items(stated="other")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("score", "said"), [(0.31, "fall from 0.36 to 0.31 nats"), (0.3599, "stay at 0.36 nats")]
)
def test_it_is_said_what_further_answers_bring(score: float, said: str) -> None:
    then = Mock(calibration_error=0.021, log_score=score)
    now = Mock(calibration_error=0.034, log_score=0.36, with_answers=lambda number: then)

    text = gain_in_words(now, 50)

    assert "of 50 more items" in text
    assert "0.021 from the right ones instead of 0.034" in text
    assert said in text
