"""How many ratings a label needs, how labels and raters do against known answers, and pools."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb
from reliabayes.results import rating_probabilities
from reliabayes.results.known_answers import known_items, predicted_probabilities
from tests.plots.test_plots import made_of


def with_confusion(frame: pd.DataFrame, confusion: Any, **columns: Any) -> rb.Fit:
    """A fit whose draws all have the given confusion matrices, and even prevalence."""
    raters = len(frame["rater"].unique())
    ratings = rb.Ratings.from_frame(frame, scale="nominal", categories=[0, 1], **columns)
    matrices = np.broadcast_to(np.asarray(confusion, float), (400, raters, 2, 2))
    return made_of(rb.DawidSkene(), ratings, prevalence=np.full((400, 2), 0.5), confusion=matrices)


def crossed(items: int, raters: int) -> pd.DataFrame:
    rating = np.random.default_rng(1).integers(0, 2, items * raters)
    return rb.simulate.crossed(items, raters).assign(rating=rating)


SYMMETRIC = [[0.8, 0.2], [0.2, 0.8]]


@pytest.mark.parametrize(
    ("accuracy", "expected"),
    [
        (0.79, 1),  # one rating is correct with probability 0.8
        (0.88, 3),  # 0.8^3 + 3 0.8^2 0.2 = 0.896, and no more than 0.8 for two with ties split
        (0.93, 5),  # binomial: 0.942
        (0.96, 7),  # binomial: 0.967
    ],
)
def test_equal_raters_need_as_many_ratings_as_the_binomial_distribution_says(
    accuracy: float, expected: int
) -> None:
    fit = with_confusion(crossed(4, 3), SYMMETRIC)

    found = fit.raters_needed(accuracy=accuracy)

    assert found.dims == ("chain", "draw")
    assert found.median() == expected


@pytest.mark.slow
def test_stopping_when_sure_takes_as_many_ratings_as_a_random_walk() -> None:
    # Log odds step by log 4, up with probability 0.8, and leave 0.05..0.95 at 3 steps: Wald (1944).
    up = 4**3 / (4**3 + 1)
    duration = 3 * (2 * up - 1) / (0.8 - 0.2)
    fit = with_confusion(crossed(4, 3), SYMMETRIC)

    found = fit.raters_needed(accuracy=0.95, adaptive=True)

    sd_of_mean = 3.2 / np.sqrt(1000)  # durations have an sd of about 3.2
    assert float(found.mean()) == pytest.approx(duration, abs=4 * sd_of_mean / np.sqrt(100))
    assert float(found.std()) < 2 * sd_of_mean


@pytest.mark.slow
def test_raters_who_tell_nothing_are_never_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rating_probabilities, "SIMULATED_ITEMS", 50)
    fit = with_confusion(crossed(4, 3), np.full((2, 2), 0.5))

    assert np.isinf(fit.raters_needed(accuracy=0.9, adaptive=True)).all()


@pytest.mark.slow
def test_raters_of_a_pool_alone_are_simulated() -> None:
    frame = crossed(4, 2).assign(pool=lambda x: x["rater"].map({1: "good", 2: "bad"}))
    confusion = [np.full((2, 2), 0.5), SYMMETRIC]
    fit = with_confusion(frame, confusion[::-1], pool="pool")

    assert fit.raters_needed(accuracy=0.88, pool="good").median() == 3
    assert np.isinf(fit.raters_needed(accuracy=0.88, pool="bad")).all()
    with pytest.raises(ValueError, match=r"'ugly' is not a pool\. Choose from: bad, good"):
        fit.raters_needed(accuracy=0.88, pool="ugly")


def test_exactly_one_target_is_given() -> None:
    fit = with_confusion(crossed(4, 2), SYMMETRIC)

    with pytest.raises(ValueError, match="pass either reliability"):
        fit.raters_needed()
    with pytest.raises(ValueError, match="pass either reliability or accuracy, not both"):
        fit.raters_needed(0.8, accuracy=0.9)
    with pytest.raises(ValueError, match="accuracy must lie strictly between 0 and 1, not 95"):
        fit.raters_needed(accuracy=95)
    with pytest.raises(AttributeError, match=r"no ICC; .* Pass raters_needed\(accuracy=0.95\)"):
        fit.raters_needed(0.8)


@functools.cache
def vendors() -> tuple[rb.Fit, pd.DataFrame]:
    """Ratings by six raters of two vendors, of accuracies that are known, a third with gold."""
    rng = np.random.default_rng(7)
    frame = rb.simulate.crossed(300, 6)
    truth = rng.integers(0, 3, 301)[frame["item"]]
    accuracy = np.array([0, 0.9, 0.9, 0.9, 0.6, 0.6, 0.6])[frame["rater"]]
    wrong = (truth + rng.integers(1, 3, len(frame))) % 3
    frame["rating"] = np.where(rng.random(len(frame)) < accuracy, truth, wrong)
    frame["vendor"] = np.where(frame["rater"] < 4, "A", "C")
    frame["gold"] = np.where(frame["item"] <= 100, truth, np.nan)
    ratings = rb.Ratings.from_frame(frame, pool="vendor", gold="gold", scale="nominal")
    return rb.DawidSkene().fit(ratings, seed=1, progress=False), frame.assign(truth=truth)


@pytest.mark.slow
def test_accuracies_of_pools_are_found_and_compared() -> None:
    fit, _ = vendors()

    table: Any = fit.pools()
    difference: Any = fit.contrast("accuracy", "A", "C").summary().loc["accuracy"]

    assert table.index.tolist() == ["C", "A"]
    for vendor, truth in {"A": 0.9, "C": 0.6}.items():
        assert table.loc[vendor, "lower_90"] < truth < table.loc[vendor, "upper_90"]
    assert table["pr_lowest"].tolist() == [1, 0]
    assert difference["lower_90"] < 0.3 < difference["upper_90"]
    by_hand = fit.quantities["accuracy"].values.reshape(-1, 2, 3).mean(axis=2)
    assert difference["median"] == pytest.approx(np.median(by_hand @ [1, -1]))


def test_agreement_of_pools_is_that_of_pairs_of_ratings() -> None:
    fit, frame = vendors()
    wide = frame.pivot(index="item", columns="rater", values="rating").to_numpy()
    equal = (wide[:, :, None] == wide[:, None, :]).mean(axis=0)
    expected = {"A": (equal[:3].sum() - 3) / 15, "C": (equal[3:].sum() - 3) / 15}

    assert fit.pools()["agreement"].to_dict() == pytest.approx(expected)


def test_raters_against_gold_are_counted() -> None:
    fit, frame = vendors()
    known = frame[frame["item"] <= 100]
    hits = known["rating"].eq(known["truth"]).groupby(known["rater"]).sum()

    table: Any = fit.against_gold()

    raters = table.loc["rater"]
    assert raters["correct"].astype(int).sort_index().to_dict() == hits.to_dict()
    assert raters["accuracy"].is_monotonic_increasing
    assert table.loc[("pool", "A"), "correct"] == hits[:3].sum()
    assert table.loc[("rater", 1), "lower_90"] < 0.9 < table.loc[("rater", 1), "upper_90"]


@pytest.mark.slow
def test_labels_against_gold_are_those_of_a_fit_without_the_gold_of_the_item() -> None:
    _, frame = vendors()
    few = frame[(frame["rater"] > 3) & (frame["item"] <= 60)]  # poor raters: gold counts
    reading: dict[str, Any] = {"scale": "nominal", "gold": "gold", "categories": [0, 1, 2]}
    few = few.assign(gold=few["gold"].where(few["item"] <= 12))
    ratings = rb.Ratings.from_frame(few, **reading)
    fit = rb.DawidSkene().fit(ratings, seed=1, draws=400, progress=False)
    assert ratings.gold_category is not None
    expected = []
    for item in (1, 2):
        without = few.assign(gold=few["gold"].where(few["item"] != item))
        refit = rb.DawidSkene().fit(
            rb.Ratings.from_frame(without, **reading), seed=1, draws=400, progress=False
        )
        expected.append(refit.category_probabilities().loc[item].to_numpy())

    known = known_items(ratings)
    posterior: Any = fit._draws()
    draws = rb.DawidSkene().rating_probabilities(posterior)
    assert draws is not None
    found = predicted_probabilities(ratings, draws, known, ratings.gold_category[known])
    table: Any = fit.against_gold()

    assert found[:2] == pytest.approx(np.array(expected), abs=0.06)  # of two posteriors
    hits = (found.argmax(axis=1) == ratings.gold_category[known]).sum()
    counted = table.loc[("labels", "model"), "correct"]
    assert counted == pytest.approx(hits, abs=1)  # of 400 draws instead of 1600
    assert counted < 12  # with its gold all are right


def test_without_gold_there_is_nothing_to_compare_with() -> None:
    fit = with_confusion(crossed(4, 2), SYMMETRIC)

    with pytest.raises(ValueError, match="no true category is known: pass gold="):
        fit.against_gold()
    with pytest.raises(ValueError, match="the ratings have no pools: pass pool="):
        fit.pools()


@pytest.mark.slow
def test_raters_who_give_one_category_are_found_where_it_is_common() -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"item": np.repeat(np.arange(600), 6)})
    frame["rater"] = [f"w{j}" for _ in range(600) for j in rng.choice(30, 6, replace=False) + 1]
    truth = (rng.random(600) < 0.15)[frame["item"]]  # 85% of the items are ok
    is_right = rng.random(len(frame)) < 0.85
    spams = frame["rater"].isin(["w17", "w22"])
    frame["rating"] = np.where((truth == is_right) & ~spams, "bad", "ok")

    fit = rb.DawidSkene().fit(rb.Ratings.from_frame(frame, scale="nominal"), seed=1, progress=False)

    table = fit.raters()
    assert set(table.index[:2]) == {"w17", "w22"}
    assert (table["pr_poor"] > 0.95).sum() == 2
    assert table["most_used"].iloc[:2].tolist() == ["ok", "ok"]
    assert table["share_most_used"].iloc[:2].tolist() == [1, 1]
    typical = fit.quantities["informativeness"].median("rater")
    lost = typical - fit.quantities["informativeness"].sel(rater="w17")
    assert table.loc["w17", "information_lost"] == pytest.approx(float(lost.median()))
