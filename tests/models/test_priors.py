"""Priors of models of categories: checked at construction, defaults, and arrays of numbers."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import dirichlet

import reliabayes as rb
from reliabayes.models.saved_classes import saved_classes
from reliabayes.results import storage
from tests.models.test_annotation import log_density

ROWS = np.array([[5.0, 1.0], [2.0, 6.0]])
STRICT = np.stack([ROWS, 10 * ROWS, ROWS.T])  # of three raters


@pytest.fixture
def ratings() -> rb.Ratings:
    frame = pd.DataFrame(
        {"item": [0, 0, 0, 1, 1, 2, 2], "rater": ["a", "b", "c", "a", "b", "b", "c"]}
    )
    return rb.Ratings.from_frame(frame.assign(rating=list("yynynny")))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda x: rb.DawidSkene(prior_confusion=x), "DiagonalDirichlet or Dirichlet, "),
        (lambda x: rb.DawidSkene(prior_prevalence=x), "prior_prevalence must be a prior"),
        (lambda x: rb.HierarchicalDawidSkene(prior_spread=x), "HalfNormal or HalfStudentT"),
        (lambda x: rb.MACE(prior_theta=x), "prior_theta must be a prior of the kind Beta"),
        (lambda x: rb.RaterTAP(prior_a=x), "prior_a must be a prior of the kind Beta"),
        (lambda x: rb.TAP(prior_p=x), "prior_p must be a prior of the kind Dirichlet"),
        (lambda x: rb.RaterGroupthink(prior_a=x), "prior_a must be a prior of the kind Beta"),
        (lambda x: rb.LatentTAP(prior_mean_p=x), "prior_mean_p must be a prior"),
    ],
)
@pytest.mark.parametrize("given", [3, "flat", rb.Normal(0, 1)], ids=["number", "text", "other"])
def test_prior_of_another_kind_is_refused_at_construction(
    make: Any, words: str, given: Any
) -> None:
    with pytest.raises(TypeError, match=words):
        make(given)


def test_message_says_which_arrays_are_priors() -> None:
    with pytest.raises(TypeError, match=r"or an array of concentrations, of shape \(cat"):
        rb.DawidSkene(prior_confusion="flat")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="or a list of one concentration for each category"):
        rb.DawidSkene(prior_prevalence="flat")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^prior_theta must be a prior of the kind Beta, not 'fl"):
        rb.MACE(prior_theta="flat")  # type: ignore[arg-type]


def test_array_of_concentrations_is_a_dirichlet_prior() -> None:
    numbers: Any = np.array([1.0, 2.0])

    model = rb.MACE(prior_prevalence=numbers, prior_xi=numbers)

    assert model == rb.MACE(prior_prevalence=rb.Dirichlet((1, 2)), prior_xi=rb.Dirichlet((1, 2)))


@pytest.mark.parametrize("rows", [ROWS, STRICT], ids=["all raters", "by rater"])
def test_array_of_rows_is_the_prior_of_confusion_matrices(rows: Any, ratings: rb.Ratings) -> None:
    model = rb.DawidSkene(prior_confusion=rows)
    rng = np.random.default_rng(1)
    points = [dict(model.draw_parameters(ratings, rng, categories="ny")) for _ in range(2)]

    found = [log_density(model, ratings, point) for point in points]

    def expected(point: Any) -> float:
        by_rater = np.broadcast_to(rows, (3, 2, 2))
        pairs = zip(point["confusion"].reshape(6, 2), by_rater.reshape(6, 2), strict=True)
        return model.log_likelihood(point, model.problem(ratings)) + sum(
            float(dirichlet(alpha).logpdf(row)) for row, alpha in pairs
        )

    assert np.diff(found) == pytest.approx(np.diff([expected(x) for x in points]), abs=1e-9)


def test_prior_for_one_rater_moves_that_rater_alone(ratings: rb.Ratings) -> None:
    plain: Any = np.stack([ROWS] * 3)
    firm: Any = np.stack([ROWS, 1e6 * ROWS, ROWS])

    one, other = (
        rb.DawidSkene(prior_confusion=rows).em(ratings, priors=True).quantities["confusion"]
        for rows in (plain, firm)
    )

    means = ROWS / ROWS.sum(axis=1, keepdims=True)
    assert other.sel(rater="b").values == pytest.approx(means, abs=1e-4)
    assert np.abs(one.sel(rater="b").values - means).max() > 0.01


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (np.ones((2, 3)), r"\(categories, categories\) or"),
        (np.ones(3), r"\(categories, categories\) or .* not \(3,\)"),
        ([1.0, 2.0], r"rb.Dirichlet\(\[\.\.\.\]\)"),
        (np.array([[1.0, 0.0], [1.0, 1.0]]), "must be finite and above 0"),
    ],
)
def test_faulty_array_is_refused_at_construction(rows: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        rb.DawidSkene(prior_confusion=rows)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (np.ones((3, 3)), "rows of 3 concentrations for 2 categories"),
        (np.ones((2, 2, 2)), "matrices for 2 raters, and the ratings have 3"),
    ],
)
def test_array_for_other_ratings_is_refused(rows: Any, words: str, ratings: rb.Ratings) -> None:
    with pytest.raises(ValueError, match=words):
        rb.DawidSkene(prior_confusion=rows).em(ratings)


def test_models_with_arrays_are_equal_and_load_again() -> None:
    rows: Any = STRICT
    model = rb.DawidSkene(prior_confusion=rows)

    packed = json.loads(json.dumps(storage.pack_fields(model)))
    loaded = storage.unpack_fields(packed, saved_classes())

    assert loaded == model
    assert hash(loaded) == hash(model)


@pytest.mark.parametrize(("n_categories", "weight"), [(2, 4), (4, 4), (5, 14 / 3), (20, 66.5 / 3)])
def test_default_weight_counts_each_error_as_a_third_of_a_rating_at_least(
    n_categories: int, weight: float
) -> None:
    rows = rb.DiagonalDirichlet().rows(n_categories)

    assert rows.sum(axis=1) == pytest.approx(weight)
    assert np.diag(rows) / rows.sum(axis=1) == pytest.approx(0.7)
    assert rows.min() >= 0.35 - 1e-12
