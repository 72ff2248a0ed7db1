"""Stated probabilities of true categories beside the answers of experts."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb
from benchmarks import labels
from tests.models.known_answers import KINDS, crowd, diagram, known, scores, vendors
from tests.models.test_annotation import Load

MODELS: dict[str, Any] = {
    "DawidSkene": rb.DawidSkene(),
    "HierarchicalDawidSkene": rb.HierarchicalDawidSkene(),
    "MACE": rb.MACE(),
    "RaterTAP": rb.RaterTAP(),
    "TAP": rb.TAP(),
    "LatentTAP": rb.LatentTAP(),
}
SETS = {  # and the models that take minutes there
    "snow2008_rte": (),
    "snow2008_temp": (),
    "bluebirds": (),
    "crowd_ms": (),
    "crowd_web": ("LatentTAP",),
    "vendors": ("LatentTAP",),
}


def test_scores_are_those_of_a_hand_computed_example() -> None:
    probability = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.04, 0.96]])

    found = scores(probability, np.array([0, 1, 1, 1], np.int32))

    assert found == pytest.approx(
        {
            "right": 0.75,
            "stated": (0.9 + 0.8 + 0.7 + 0.96) / 4,
            "log_score": -np.log([0.9, 0.2, 0.7, 0.96]).mean(),
            "calibration_error": (abs(0.9 + 0.96 - 2) + 0.8 + 0.3) / 4,
            "settled": 0.25,
            "settled_stated": 0.96,
            "settled_right": 1.0,
        }
    )


def test_a_tie_between_two_categories_is_right_half_of_the_time() -> None:
    found = scores(np.array([[0.5, 0.5, 0.0], [0.4, 0.2, 0.4]]), np.array([1, 1], np.int32))

    assert found["right"] == (0.5 + 0) / 2


def test_items_without_an_answer_do_not_count() -> None:
    probability = np.array([[0.9, 0.1], [0.2, 0.8]])

    assert scores(probability, np.array([0, -1], np.int32)) == scores(
        probability[:1], np.array([0], np.int32)
    )


@pytest.mark.parametrize("name", list(SETS)[:5])
def test_recommended_model_is_as_often_right_as_the_best_of_the_documentation(
    name: str, dataset: Load
) -> None:
    ratings, _ = known(table_of(name, dataset))
    measured = pd.read_csv(labels.RESULTS)
    right = measured[measured["set"] == labels.SETS[name]].set_index("method")["right"]

    found = type(rb.recommend(ratings).model).__name__

    assert right[found] > right[right.index.isin(list(MODELS))].max() - 0.025  # it says 0.02


@pytest.mark.posteriors
def test_more_climbs_of_a_hierarchy_fit_votes_better_and_draws_are_right_more_often(
    dataset: Load,
) -> None:
    """On web pages the point that fits votes best is right for fewer items than another."""
    ratings, gold = known(table_of("crowd_web", dataset))

    few, many = (rb.HierarchicalDawidSkene().em(ratings, restarts=n) for n in (0, 3))
    fit = rb.HierarchicalDawidSkene().fit(ratings, seed=1, chains=2, draws=500, progress=False)

    def right(found: rb.PointEstimate | rb.Fit) -> float:
        best = found.category_probabilities().to_numpy().argmax(axis=1)
        return float((best == gold)[gold >= 0].mean())

    assert many.log_likelihood > few.log_likelihood - 0.1
    assert right(fit) > max(right(few), right(many))


@pytest.mark.posteriors
@pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")
@pytest.mark.parametrize("name", SETS)
def test_probabilities_of_categories_beside_known_answers(name: str, dataset: Load) -> None:
    ratings, gold = known(table_of(name, dataset))
    votes = np.asarray(ratings.counts / ratings.ratings_per_item[:, None])
    probability = {"votes": votes}
    hits, share = ratings.category == gold[ratings.item], {}
    chosen = {model: MODELS[model] for model in MODELS if model not in SETS[name]}
    for model, settings in (chosen | {"recommended": rb.recommend(ratings).model}).items():
        fit = settings.fit(ratings, seed=1, chains=2, draws=500, progress=False)
        probability[model] = fit.category_probabilities().to_numpy()
        share[model] = fit.correct_share().quantile([0.05, 0.5, 0.95]).round(3).values.tolist()

    found = pd.DataFrame({model: scores(x, gold) for model, x in probability.items()}).T

    print(f"\n{name}, {hits[gold[ratings.item] >= 0].mean():.3f} of ratings correct")
    print(found.assign(correct=pd.Series(share)).round(3).to_string())
    for model, x in probability.items():
        print(f"{model}\n{diagram(x, gold).round(3).to_string()}")
    by_rater = found.drop(index=["votes", "TAP"])
    # No worse than the majority but for chance, twice the binomial sd; on web pages, where the
    # documentation says that a matrix for each rater is too much, a tenth.
    margin = 2 * np.sqrt(0.9 * 0.1 / ratings.n_items)
    for model, right_items in by_rater["right"].items():
        is_freer = name == "crowd_web" and str(model).endswith("DawidSkene")
        assert right_items > float(found["right"]["votes"]) - (0.11 if is_freer else margin)
    if name == "vendors":  # the only set that comes from nearly such a model
        of_models = by_rater.drop(index=["recommended"])
        assert (of_models["stated"] - of_models["right"]).abs().max() < 0.03
    # The documentation warns of overconfidence; it must not get worse than it says.
    assert (by_rater["stated"] - by_rater["right"]).max() < 0.2
    assert by_rater["settled_right"].min() > 0.8
    # Honest statements cost little where raters err independently, and gain where they do not.
    published = type(rb.recommend(ratings).model).__name__
    log_score, right = (found[column].to_dict() for column in ("log_score", "right"))
    least = -0.1 if name in ("vendors", "crowd_web") else 0.05
    assert log_score[published] - log_score["recommended"] > least
    assert right["recommended"] > right[published] - 0.01


@pytest.mark.posteriors
@pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")
@pytest.mark.parametrize("categories", [2, 4])
def test_what_predicts_best_depends_on_how_raters_err(categories: int) -> None:
    models = {name: MODELS[name] for name in ("DawidSkene", "HierarchicalDawidSkene", "MACE")}
    rows = []
    for kind, seed in product(KINDS, range(4)):
        ratings, gold = known(crowd(kind, categories, seed))
        votes = np.asarray(ratings.counts / ratings.ratings_per_item[:, None])
        rows.append({"raters": kind, "model": "votes", **scores(votes, gold)})
        for name, model in models.items():
            fit = model.fit(ratings, seed=1, chains=2, draws=500, progress=False)
            found = scores(fit.category_probabilities().to_numpy(), gold)
            rows.append({"raters": kind, "model": name, **found})

    table = pd.DataFrame(rows).groupby(["raters", "model"], sort=False).mean()

    print(f"\n{categories} categories\n{table.round(3).to_string()}")
    log_score = table["log_score"].unstack("model")
    assert log_score.mean().idxmin() == "HierarchicalDawidSkene"
    pooled, own = log_score["HierarchicalDawidSkene"], log_score["MACE"]
    assert (own < pooled)[["guessing", "constant"]].all()
    assert (pooled < own - 0.1)[["swapping", "hard category"]].all()


def table_of(name: str, dataset: Load) -> pd.DataFrame:
    """Ratings with gold; the crowds are no data sets of the package and may be missing."""
    if name == "vendors":
        return vendors(0)
    path = rb.datasets.folder() / f"{name}.csv"
    if name.startswith("crowd") and not path.exists():
        pytest.skip(f"{path} is missing")
    return pd.read_csv(path) if name.startswith("crowd") else dataset(name)
