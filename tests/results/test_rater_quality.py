"""Columns of `raters()` by category, and raters who have not rated yet."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import logit

import reliabayes as rb
from reliabayes.models import Covariates
from tests.plots.test_plots import made_of


def rated(*rows: str, categories: str) -> rb.Ratings:
    """Ratings of items in columns by raters in rows, a letter each."""
    return rb.Ratings.from_wide(
        pd.DataFrame(map(list, rows), index=list("xyz")[: len(rows)]).T,
        scale="nominal",
        categories=list(categories),
    )


def same(values: Any) -> Any:
    """400 draws that are all the same."""
    return np.broadcast_to(np.asarray(values, float), (400, *np.shape(values)))


def test_raters_of_two_categories_have_their_rate_and_bias_of_the_second() -> None:
    ratings = rated("nyyy", "nnny", categories="ny")
    drawn = {"a": [0.5, 0.2], "p": [[0.4, 0.6], [0.9, 0.1]], "prevalence": [[0.7, 0.3]]}
    fit = made_of(rb.RaterTAP(), ratings, **{name: same(x) for name, x in drawn.items()})

    table = fit.raters().loc[["x", "y"]]

    assert table["rate[y]"].tolist() == [0.75, 0.25]
    assert table["bias[y]"].tolist() == pytest.approx([0.3, -0.2])
    assert table["accuracy[n]"].tolist() == pytest.approx([0.5 + 0.5 * 0.4, 0.2 + 0.8 * 0.9])
    assert table["accuracy[y]"].tolist() == pytest.approx([0.5 + 0.5 * 0.6, 0.2 + 0.8 * 0.1])
    assert not {"rate[n]", "bias[n]"} & {*table}


def test_accuracies_by_true_category_are_the_diagonal_of_the_confusion_matrix() -> None:
    ratings = rated("abc", "abb", categories="abc")
    matrices = np.random.default_rng(1).dirichlet(np.ones(3), (2, 3))
    drawn = {"prevalence": np.full(3, 1 / 3), "confusion": matrices}
    fit = made_of(rb.DawidSkene(), ratings, **{name: same(x) for name, x in drawn.items()})

    table: Any = fit.raters().loc[["x", "y"]]

    names = [f"accuracy[{category}]" for category in "abc"]
    assert table[names].to_numpy() == pytest.approx(matrices.diagonal(axis1=1, axis2=2))
    assert table.loc["y", ["rate[a]", "rate[b]", "rate[c]"]].tolist() == pytest.approx(
        [1 / 3, 2 / 3, 0]
    )
    assert not any(name.startswith("bias") for name in table)  # nobody guesses


def test_many_categories_have_no_columns_of_their_own() -> None:
    ratings = rated("abcde", "abcde", categories="abcde")

    table: Any = rb.DawidSkene().em(ratings, priors=True).raters()

    assert [name for name in table if "[" in name] == []


def test_a_fixed_prevalence_has_no_bias() -> None:
    ratings = rated("nyyy", "nnny", categories="ny")

    table = rb.MACE(prevalence="uniform").em(ratings, priors=True).raters()

    assert "rate[y]" in table
    assert "bias[y]" not in table


# A new rater: the error of a median of 400 draws is 1.25 sd / 20, of a 5% quantile 2.1 sd / 20.

UPPER = 1.645  # standard scores of an interval of 90%


def test_a_new_rater_of_a_hierarchy_has_log_odds_from_their_distribution() -> None:
    ratings = rated("nyyy", "nnny", categories="ny")
    drawn = {"prevalence": [0.5, 0.5], "location": [-2, -1], "spread": [0.8, 1.5]}
    drawn |= {"effect": np.zeros((2, 2)), "ability_spread": 0.0, "ability": np.zeros(2)}
    fit = made_of(rb.HierarchicalDawidSkene(), ratings, **{k: same(x) for k, x in drawn.items()})

    table = fit.new_rater()

    places = ["lower_90", "median", "upper_90"]
    log_odds = logit(table.loc[["accuracy[n]", "accuracy[y]"], places].to_numpy())
    expected = np.add.outer([2, 1], np.zeros(3)) + np.outer([0.8, 1.5], [-UPPER, 0, UPPER])
    error = np.outer([0.8, 1.5], [2.1, 1.25, 2.1]) / 20
    assert (np.abs(log_odds - expected) < 4 * error).all()
    shown = {*fit.raters()} - {"sd", "lower_90", "upper_90", "ratings", "pr_poor", "rate[y]"}
    assert set(table.index) == shown - {"information_lost", "most_used", "share_most_used"}


@pytest.mark.slow
def test_a_new_rater_on_a_latent_scale_has_an_accuracy_at_its_covariates() -> None:
    ratings = rated("nyyy", "nnny", categories="ny")
    years = Covariates(("years",), ("x", "y"), ((1.0,), (5.0,)))
    drawn = {"prevalence": [0.6, 0.4], "mean_alpha": 0.5, "sd_alpha": 1.2, "sd_delta": [1.0]}
    drawn |= {"eta": [0.1], "mean_p": [0.3, 0.7], "concentration": 8.0}
    drawn |= {"alpha": np.zeros(2), "p": np.full((2, 2), 0.5)}
    fit = made_of(rb.LatentTAP(covariates=years), ratings, **{k: same(x) for k, x in drawn.items()})

    table = fit.new_rater(covariates={"years": 10})

    a = logit(table.loc["a", ["lower_90", "median", "upper_90"]].to_numpy(float))
    expected = 0.5 + 10 * 0.1 + 1.2 * np.array([-UPPER, 0, UPPER])
    assert (np.abs(a - expected) < 4 * 1.2 * np.array([2.1, 1.25, 2.1]) / 20).all()
    guess = stats.beta(1 + 8 * 0.7, 1 + 8 * 0.3)
    error = guess.std() / 20
    assert table.loc["bias[y]", "mean"] == pytest.approx(guess.mean() - 0.4, abs=4 * error)
    for given in ({}, {"years": np.nan}, {"age": 10}):
        with pytest.raises(ValueError, match=r"model's \(years\).* Pass covariates={'years': 1.0}"):
            fit.new_rater(covariates=given)


def test_a_new_rater_of_scores_has_an_effect_in_each_pool() -> None:
    rng = np.random.default_rng(1)
    frame = rb.simulate.crossed(5, 4).assign(pool=lambda x: np.where(x["rater"] < 3, "a", "b"))
    ratings = rb.Ratings.from_frame(frame.assign(rating=rng.normal(size=20)), pool="pool")
    drawn = {"sd_item": [1, 1], "sd_rater": [0.5, 2], "sd_residual": [1], "mean": [0, 0]}
    drawn |= {"factor_item": np.eye(2)}
    fit = made_of(rb.GaussianXCC(), ratings, **{name: same(x) for name, x in drawn.items()})

    table = fit.new_rater(prob=0.5)

    assert table.index.tolist() == ["effect[a]", "effect[b]"]
    assert table["sd"].tolist() == pytest.approx([0.5, 2], rel=4 / np.sqrt(800))
    assert list(table) == ["median", "mean", "sd", "lower_50", "upper_50"]


def test_a_new_rater_of_a_g_study_is_in_a_new_session_if_raters_are_nested() -> None:
    cells = pd.MultiIndex.from_product([range(4), range(6)]).to_frame(index=False)
    frame = cells.set_axis(["item", "rater"], axis=1).assign(day=lambda x: x["rater"] // 2)
    frame["rating"] = np.random.default_rng(1).normal(size=24)
    ratings = rb.Ratings.from_frame(frame, facets=["day"])
    sds = {"item": 1.0, "day": 3.0, "rater:day": 4.0, "item x day": 1.0, "residual": 1.0}
    model = rb.GStudy("item x (rater:day)")
    names = model.problem(ratings).coords["source"]
    sd = [sds.get(name, 1.0) for name in names]

    table = made_of(model, ratings, sd=same(sd), mean=same(0.0)).new_rater()

    assert {"day", "rater:day"} <= set(names)
    assert table.loc["effect", "sd"] == pytest.approx(5, rel=4 / np.sqrt(800))
    fixed = rb.GStudy("item x (rater:day)", fixed=("rater",))
    with pytest.raises(AttributeError, match="no population of raters"):
        made_of(fixed, ratings, sd=same(sd), mean=same(0.0)).new_rater()


def test_raters_without_a_population_say_nothing_of_a_new_one() -> None:
    ratings = rated("nyyy", "nnny", categories="ny")
    drawn = {"a": [0.5, 0.2], "p": [[0.4, 0.6], [0.9, 0.1]], "prevalence": [[0.7, 0.3]]}
    fit = made_of(rb.RaterTAP(), ratings, **{name: same(x) for name, x in drawn.items()})

    with pytest.raises(AttributeError, match=r"RaterTAP estimates no population.*LatentTAP"):
        fit.new_rater()
    with pytest.raises(ValueError, match=r"because the model has none\); found {'years': 1}"):
        fit.new_rater(covariates={"years": 1})
