"""Ratings in parts have the results of the same ratings in memory, for any number of parts.

Every model that takes parts is here, except `GStudy`, whose designs are in tests/partitions.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb
from reliabayes.families.categories import parts
from reliabayes.models.priors import Beta
from tests.partitions.in_memory import in_parts

FEW: dict[str, Any] = {"seed": 1, "chains": 2, "warmup": 10, "draws": 10, "progress": False}
only_as_proof = functools.partial(pytest.param, marks=pytest.mark.proof)
OF_SCORES = [
    pytest.param(rb.GaussianICC(), id="icc"),
    pytest.param(rb.GaussianXCC(residual="per_pool"), id="xcc, residual per pool"),
    only_as_proof(rb.GaussianXCC(), id="xcc"),
]
OF_LABELS = [
    pytest.param(rb.DawidSkene(prior_misleading=Beta(2.0, 8.0)), id="dawid-skene, misleading"),
    pytest.param(rb.MACE(prevalence="uniform"), id="mace, uniform"),
    pytest.param(rb.TAP(accuracy="by_category"), id="tap, by category"),
    pytest.param(rb.RaterTAP(), id="rater-tap"),
    only_as_proof(rb.DawidSkene(), id="dawid-skene"),
    only_as_proof(rb.MACE(), id="mace"),
    only_as_proof(rb.TAP(), id="tap"),
]
of_labels = pytest.mark.parametrize("model", OF_LABELS)
of_scores = pytest.mark.parametrize("model", OF_SCORES)
in_numbers = pytest.mark.parametrize("number", [1, 7, pytest.param(20, marks=pytest.mark.proof)])
pytestmark = pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")


@functools.cache
def labels() -> rb.Ratings:
    """90 items in three categories, each with 2 to 6 ratings by some of seven raters."""
    rng = np.random.default_rng(11)
    rows = []
    for item, truth in enumerate(rng.choice(3, 90, p=[0.5, 0.3, 0.2])):
        gold = "abc"[truth] if item % 10 == 0 else None
        for rater in rng.choice(7, rng.integers(2, 7), replace=False):
            is_right = rng.random() < 0.5 + 0.06 * rater
            rating = "abc"[truth if is_right else rng.integers(3)]
            rows.append((f"i{item:03}", f"r{rater}", rating, gold))
    frame = pd.DataFrame(rows, columns=["item", "rater", "rating", "gold"])
    frame["pool"] = np.where(frame["rater"] < "r3", "staff", "crowd")
    return rb.Ratings.from_frame(frame, gold="gold", pool="pool")


@functools.cache
def scores() -> rb.Ratings:
    """30 items, each with some of the scores of eight raters in two pools."""
    rng = np.random.default_rng(1)
    item, rater = rng.standard_normal(30), rng.standard_normal(8)
    score = 50 + 10 * item[:, None] + 5 * rater + 7 * rng.standard_normal((30, 8))
    grades = np.where(rng.random((30, 8)) < 0.7, np.rint(score), np.nan)  # whole: sums are exact
    table = rb.Ratings.from_wide(grades).to_frame()
    return rb.Ratings.from_frame(table.assign(pool=table["rater"] % 2), pool="pool")


def ratings_for(model: Any) -> rb.Ratings:
    return labels() if model.has_true_categories else scores()


@functools.cache
def fitted(model: Any, number: int | None = None) -> rb.Fit:
    """Fit of ratings in so many parts, or in memory, which tests share."""
    ratings: Any = ratings_for(model)
    fit: rb.Fit = model.fit(in_parts(ratings, number) if number else ratings, **FEW)
    return fit


@pytest.fixture
def few_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the distinct items be too many for memory."""
    monkeypatch.setattr(parts, "MOST_COUNTS", 0)


@pytest.mark.slow
@in_numbers
@pytest.mark.parametrize("model", [*OF_SCORES, *OF_LABELS])
def test_draws_and_tables_of_raters_are_those_in_memory(model: Any, number: int) -> None:
    found, expected = fitted(model, number), fitted(model)

    assert found.posterior.identical(expected.posterior)
    assert found.sample_stats.identical(expected.sample_stats)
    assert found.quantities.identical(expected.quantities)
    assert found.settings == expected.settings
    assert found.summary().equals(expected.summary())
    assert found.summary().attrs["caution"] == expected.summary().attrs["caution"]
    pd.testing.assert_frame_equal(found.raters(), expected.raters())
    ratings = ratings_for(model)
    assert model.priors(in_parts(ratings, number)) == model.priors(ratings)


@in_numbers
@of_labels
def test_labels_of_items_are_those_in_memory(model: Any, number: int, tmp_path: Path) -> None:
    fitted(model, number).write_items(tmp_path / "items")

    files = sorted((tmp_path / "items").iterdir())
    written = pd.concat(map(pd.read_parquet, files)).set_index("item")
    assert [file.name for file in files] == [f"part-{part:05}.parquet" for part in range(number)]
    expected = fitted(model).items()
    pd.testing.assert_frame_equal(written, expected, check_dtype=False, rtol=1e-9, atol=1e-9)


@of_scores
def test_effects_of_items_are_drawn_as_in_memory(model: Any) -> None:
    rng = np.random.default_rng(FEW["seed"])

    table = model.items_by_part(fitted(model, 1)._draws(), 0.8, rng)

    expected = fitted(model).items(0.8).drop(columns="ratings")
    pd.testing.assert_frame_equal(table(scores(), rng), expected, rtol=1e-9)


@pytest.mark.slow
@pytest.mark.usefixtures("few_in_memory")
@of_labels
def test_draws_by_part_do_not_depend_on_the_number_of_parts(model: Any) -> None:
    one, seven = (model.fit(in_parts(labels(), number), **FEW) for number in (1, 7))

    assert one.settings.sampler == "gibbs"
    assert seven.posterior.identical(one.posterior)
    assert seven.sample_stats.identical(one.sample_stats)
    assert seven.summary().equals(one.summary())


@pytest.mark.usefixtures("few_in_memory")
@in_numbers
@pytest.mark.parametrize("priors", [False, True])
@of_labels
def test_estimate_by_part_is_that_in_memory(model: Any, priors: bool, number: int) -> None:
    found = model.em(in_parts(labels(), number), priors=priors)

    assert_same(found, model.em(labels(), priors=priors), 1e-9)


@pytest.mark.parametrize("model", [rb.TAP(), rb.DawidSkene()], ids=repr)
def test_distinct_items_that_fit_into_memory_are_merged(model: Any) -> None:
    problem = model.problem_of_parts(in_parts(labels(), 7))

    expected = model.problem(labels()).mixture
    assert problem.parts is None
    assert (problem.mixture.counts != expected.counts).nnz == 0
    assert problem.mixture.multiplicity.tolist() == expected.multiplicity.tolist()
    assert_same(model.em(in_parts(labels(), 7)), model.em(labels()), 1e-12)


@pytest.mark.usefixtures("few_in_memory")
def test_items_of_an_estimate_are_written_by_part(tmp_path: Path) -> None:
    found = rb.DawidSkene().em(in_parts(labels(), 3))

    found.write_items(tmp_path / "items")

    files = sorted((tmp_path / "items").iterdir())
    written = pd.concat(map(pd.read_parquet, files)).set_index("item")
    expected = rb.DawidSkene().em(labels()).items()
    assert [file.name for file in files] == [f"part-0000{number}.parquet" for number in range(3)]
    pd.testing.assert_frame_equal(written, expected, check_dtype=False, rtol=1e-7, atol=1e-9)


def test_items_of_an_estimate_in_memory_are_written_to_one_file(tmp_path: Path) -> None:
    found = rb.DawidSkene().em(labels())

    found.write_items(tmp_path)

    written = pd.read_parquet(tmp_path / "part-00000.parquet").set_index("item")
    pd.testing.assert_frame_equal(written, found.items(), check_dtype=False)


@pytest.mark.usefixtures("few_in_memory")
def test_random_starts_of_ratings_in_parts_are_refused() -> None:
    with pytest.raises(rb.RatingsError, match="starts from the votes"):
        rb.DawidSkene().em(in_parts(labels(), 3), restarts=2)


def test_estimates_of_models_that_need_all_ratings_refuse_parts() -> None:
    with pytest.raises(TypeError, match="needs all ratings in memory"):
        rb.HierarchicalDawidSkene().em(in_parts(labels(), 3))


def assert_same(found: rb.PointEstimate, expected: rb.PointEstimate, tolerance: float) -> None:
    assert (found.converged, expected.converged) == (True, True)
    assert found.log_likelihood == pytest.approx(expected.log_likelihood, rel=tolerance)
    for name, values in expected.quantities.items():
        np.testing.assert_allclose(
            found.quantities[name], values, rtol=tolerance, atol=tolerance, err_msg=str(name)
        )
    pd.testing.assert_frame_equal(found.raters(), expected.raters(), rtol=1e-7, atol=tolerance)
