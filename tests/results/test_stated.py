"""Labels and raters of fits, as the model holds them or calibrated on other crowds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from matplotlib.figure import Figure

import reliabayes as rb
from reliabayes.crowds.statement import Statement
from reliabayes.results.stated import correct_ratings
from tests.crowds.simulated import crowd

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")]


def ratings_of(known: int = 0) -> tuple[rb.Ratings, pd.Series]:
    """Ratings by independent raters, and how often each is right."""
    votes, truth = crowd("independent", 3)
    frame = pd.DataFrame({"item": votes.item, "rater": votes.rater, "rating": votes.category})
    frame["gold"] = pd.Series(truth[votes.item]).where(votes.item < known)
    ratings = rb.Ratings.from_frame(frame, scale="nominal", gold="gold" if known else None)
    is_right = pd.Series(votes.category == truth[votes.item])
    return ratings, is_right.groupby(votes.rater).mean()


@pytest.fixture(scope="module")
def fit() -> rb.Fit:
    model = rb.DawidSkene(stated="honest")
    return model.fit(ratings_of()[0], seed=1, chains=2, draws=300, progress=False)


def test_a_model_says_what_is_stated_unless_one_asks(fit: rb.Fit) -> None:
    plain = replace(fit, model=rb.DawidSkene())

    for one, other in ((fit, plain), (plain, fit)):
        wanted = one.model.stated
        pd.testing.assert_frame_equal(one.items(), other.items(stated=wanted))
        pd.testing.assert_frame_equal(one.raters(), other.raters(stated=wanted))
        assert one.correct_share().equals(other.correct_share(stated=wanted))
    assert not fit.items().equals(plain.items())


def test_the_posterior_does_not_depend_on_what_is_stated(fit: rb.Fit) -> None:
    again = rb.DawidSkene().fit(fit.ratings, seed=1, chains=2, draws=300, progress=False)

    assert again.posterior.equals(fit.posterior)
    assert again.quantities.equals(fit.quantities)


def test_intervals_of_stated_accuracies_hold_what_is_right(fit: rb.Fit) -> None:
    _, right = ratings_of()

    table = fit.raters().loc[right.index]

    assert right.between(table["lower_90"], table["upper_90"]).mean() >= 0.85
    assert float(fit.correct_share().mean()) == pytest.approx(right.mean(), abs=0.05)


def test_without_known_answers_it_is_said_that_other_crowds_decide(fit: rb.Fit) -> None:
    ratings, _ = ratings_of(known=20)
    told = replace(fit, ratings=ratings)

    said = "are calibrated on other crowds; only known answers (gold)"

    assert said in fit.items().attrs["caution"]
    assert said in str(fit.raters().attrs["caution"])
    assert said not in told.items().attrs["caution"]
    assert said not in replace(fit, model=rb.DawidSkene()).items().attrs["caution"]


def test_a_paper_says_what_is_stated(fit: rb.Fit) -> None:
    share = fit.correct_share()

    sentence = fit.methods().sentence

    assert f"accuracy = {float(share.median()):.2f}".replace("0.", ".") in sentence
    assert "allows for errors that raters share" in sentence
    plain = replace(fit, model=rb.DawidSkene()).methods().sentence
    assert "allows for errors" not in plain


def test_pictures_show_accuracies_as_stated(fit: rb.Fit) -> None:
    ax: Any = rb.plots.raters(fit, ax=Figure().subplots())

    drawn = np.sort(ax.lines[0].get_xdata())
    stated = np.sort(np.median(fit.correct_share("rater").values.reshape(-1, 40), axis=0))
    assert drawn == pytest.approx(stated)


def in_pools(fit: rb.Fit) -> tuple[rb.Fit, pd.Series]:
    """The same draws with three pools of raters, and how often each pool is right."""
    frame = fit.ratings.to_frame()
    frame["pool"] = (frame["rater"] % 3).map("pool {}".format)
    ratings = rb.Ratings.from_frame(frame, scale="nominal", pool="pool")
    _, truth = crowd("independent", 3)
    right = frame["rating"] == truth[frame["item"]]
    return replace(fit, ratings=ratings), right.groupby(frame["pool"]).mean()


def test_pools_are_stated_as_their_raters_are(fit: rb.Fit) -> None:
    of_pools, right = in_pools(fit)
    share = of_pools.correct_share("pool", stated="honest")

    table = of_pools.pools()

    medians = share.median(("chain", "draw")).to_series()
    assert table["accuracy"].to_dict() == pytest.approx(medians.to_dict())
    right = right.loc[table.index]
    assert right.between(table["lower_90"], table["upper_90"]).all()
    assert "are calibrated on other crowds" in table.attrs["caution"]
    difference = of_pools.contrast("accuracy", "pool 0", "pool 2").draws["accuracy"]
    expected = share.sel(pool="pool 0", drop=True) - share.sel(pool="pool 2", drop=True)
    xr.testing.assert_allclose(difference, expected)


def test_a_picture_of_pools_shows_accuracies_as_stated(fit: rb.Fit) -> None:
    of_pools, _ = in_pools(fit)

    ax: Any = rb.plots.pools(of_pools, ax=Figure().subplots())

    medians, raters = ax.lines
    assert list(medians.get_xdata()) == pytest.approx(of_pools.pools()["accuracy"].to_list())
    by_rater = fit.raters()["accuracy"]
    assert np.sort(raters.get_xdata()) == pytest.approx(np.sort(by_rater))


def test_accuracies_of_pools_by_the_model_are_means_over_the_ratings_of_its_raters(
    fit: rb.Fit,
) -> None:
    of_pools, _ = in_pools(fit)
    ratings = of_pools.ratings
    assert ratings.rater_pool is not None

    found = of_pools.accuracies("pool", stated="model")

    draws = fit.quantities["accuracy"].values
    for pool, name in enumerate(ratings.pools):
        weight = (ratings.rater_pool == pool) * ratings.ratings_per_rater
        expected = np.average(draws, axis=2, weights=weight)
        assert found.sel(pool=name).values == pytest.approx(expected)
    assert of_pools.accuracies("rater", stated="model").equals(fit.quantities["accuracy"])


def test_accuracies_need_pools_or_true_categories(fit: rb.Fit, of_judges: rb.Fit) -> None:
    with pytest.raises(ValueError, match="pass pool="):
        fit.accuracies("pool")
    with pytest.raises(ValueError, match="by must be 'pool' or 'rater', not 'all'"):
        fit.accuracies("all")  # type: ignore[arg-type]
    with pytest.raises(AttributeError, match="has no true categories"):
        of_judges.accuracies("rater")


def test_known_answers_leave_nothing_to_state() -> None:
    ratings, right = ratings_of(known=10**6)
    statement = statement_of_halves(ratings, beyond=(0.5, 0.5))

    found = correct_ratings(statement, ratings, 3, np.random.default_rng(1))

    expected = right.loc[ratings.raters].to_numpy() * ratings.ratings_per_rater
    assert found == pytest.approx(np.tile(expected, (3, 1)))


def test_right_ratings_are_as_many_as_their_stated_probabilities_add_up_to() -> None:
    ratings, _ = ratings_of()
    statement = statement_of_halves(ratings)
    p = statement.probabilities()[ratings.item, ratings.category]
    expected = np.bincount(ratings.rater, p, ratings.n_raters)

    found = correct_ratings(statement, ratings, 400, np.random.default_rng(1))

    error = found.std(axis=0, ddof=1) / np.sqrt(len(found))
    assert (np.abs(found.mean(axis=0) - expected) < 4.5 * error).all()


def test_what_crowds_and_raters_differ_by_widens_log_odds() -> None:
    ratings, _ = ratings_of()
    narrow, wide = (
        correct_ratings(each, ratings, 2000, np.random.default_rng(1)) / ratings.ratings_per_rater
        for each in (statement_of_halves(ratings), statement_of_halves(ratings, (0.3, 0.4)))
    )

    one, two = (np.log(each / (1 - each)).var(axis=0) for each in (narrow, wide))

    assert np.mean(two - one) == pytest.approx(0.3**2 + 0.4**2, rel=0.15)


def statement_of_halves(ratings: rb.Ratings, beyond: tuple[float, float] = (0.0, 0.0)) -> Statement:
    """Log odds of random size, temperatures of 1 that are certain, and nothing misled."""
    odds = np.random.default_rng(2).normal(0, 2, (ratings.n_items, len(ratings.categories)))
    prevalence = np.full(odds.shape[1], 1 / odds.shape[1])
    at = np.array([0.0, -40.0])
    return Statement(odds, prevalence, np.zeros(len(odds)), at, at, np.zeros((2, 2)), beyond)


def test_without_three_known_raters_the_model_is_stated() -> None:
    ratings = rb.Ratings.from_wide(np.array([[0, 0], [1, 1], [0, 1], [1, 1]]), scale="nominal")
    fit = rb.DawidSkene(stated="honest").fit(ratings, seed=1, draws=100, progress=False)

    assert not fit.states_honestly()
    assert fit.items().equals(fit.items(stated="model"))
    with pytest.raises(ValueError, match="three or more are known"):
        fit.correct_share(stated="honest")


def test_a_model_states_by_itself_or_honestly() -> None:
    with pytest.raises(ValueError, match="stated must be 'model' or 'honest', not 'other'"):
        rb.MACE(stated="other")  # type: ignore[arg-type]
