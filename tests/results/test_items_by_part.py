"""Tables of items of a fit to ratings in parts, in files: those of the same ratings in memory."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb
from reliabayes.models.bases import gaussian_parts, items_in_parts
from reliabayes.models.priors import Beta
from reliabayes.partitions import processes
from tests.partitions.in_memory import in_parts

SAMPLING: dict[str, Any] = {"seed": 1, "chains": 2, "draws": 200, "progress": False}
MODELS_OF_CATEGORIES = [
    rb.DawidSkene(),
    rb.DawidSkene(prior_misleading=Beta(2.0, 8.0)),
    rb.MACE(),
    rb.TAP(),
    rb.RaterTAP(),
]
pytestmark = pytest.mark.filterwarnings("ignore::reliabayes.errors.ConvergenceWarning")


@pytest.fixture(scope="module")
def labels() -> rb.Ratings:
    """90 items in three categories, each with 2 to 5 ratings by some of seven raters."""
    rng = np.random.default_rng(11)
    rows = []
    for item, truth in enumerate(rng.choice(3, 90, p=[0.5, 0.3, 0.2])):
        gold = "abc"[truth] if item % 10 == 0 else None
        for rater in rng.choice(7, rng.integers(2, 6), replace=False):
            is_right = rng.random() < 0.5 + 0.06 * rater
            rows.append(
                (f"i{item:03}", f"r{rater}", "abc"[truth if is_right else rng.integers(3)], gold)
            )
    frame = pd.DataFrame(rows, columns=["item", "rater", "rating", "gold"])
    return rb.Ratings.from_frame(frame, gold="gold")


@pytest.fixture(scope="module")
def scores() -> rb.Ratings:
    """70 items, each with some of the scores of eight raters in three pools."""
    rng = np.random.default_rng(1)
    item, rater = rng.standard_normal(70), rng.standard_normal(8)
    score = 50 + 10 * item[:, None] + 5 * rater + 7 * rng.standard_normal((70, 8))
    grades = np.where(rng.random((70, 8)) < 0.7, np.rint(score), np.nan)  # whole: sums are exact
    table = rb.Ratings.from_wide(grades).to_frame()
    return rb.Ratings.from_frame(table.assign(pool=table["rater"] % 3), pool="pool")


@pytest.fixture(scope="module")
def in_memory(labels: rb.Ratings, scores: rb.Ratings) -> Callable[[Any], rb.Fit]:
    """Look up the fit of a model to ratings in memory, which tests share."""

    @functools.cache
    def fitted(model: Any) -> rb.Fit:
        fit: rb.Fit = model.fit(labels if model.has_true_categories else scores, **SAMPLING)
        return fit

    return fitted


def read(folder: Path) -> pd.DataFrame:
    return pd.concat([pd.read_parquet(file) for file in sorted(folder.iterdir())])


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 7])
@pytest.mark.parametrize("model", MODELS_OF_CATEGORIES, ids=repr)
def test_labels_are_those_in_memory(
    labels: rb.Ratings,
    in_memory: Callable[[Any], rb.Fit],
    model: Any,
    number: int,
    tmp_path: Path,
) -> None:
    fit = model.fit(in_parts(labels, number), **SAMPLING)

    fit.write_items(tmp_path / "items")

    expected = in_memory(model).items()
    names = [f"part-{part:05}.parquet" for part in range(number)]
    assert sorted(file.name for file in (tmp_path / "items").iterdir()) == names
    written = read(tmp_path / "items").set_index("item")
    pd.testing.assert_frame_equal(written, expected, check_dtype=False, rtol=1e-9, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    "model", [rb.GaussianICC(), rb.GaussianXCC(), rb.GaussianXCC(residual="per_pool")], ids=repr
)
def test_effects_are_drawn_as_in_memory(
    scores: rb.Ratings, in_memory: Callable[[Any], rb.Fit], model: Any
) -> None:
    whole, parts = in_memory(model), model.fit(in_parts(scores, 1), **SAMPLING)
    rng = np.random.default_rng(SAMPLING["seed"])

    table = model.items_by_part(parts._draws(), 0.8, rng)

    expected = whole.items(0.8).drop(columns="ratings")
    found = table(scores, rng)
    pd.testing.assert_frame_equal(found, expected, rtol=1e-9)


@pytest.mark.slow
def test_labels_of_items_that_do_not_fit_in_memory_are_those_of_the_same_draws(
    labels: rb.Ratings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(items_in_parts, "MOST_COUNTS", 0)
    fit = rb.DawidSkene().fit(in_parts(labels, 4), **SAMPLING)

    fit.write_items(tmp_path / "items")

    problem: Any = fit.problem
    assert problem.parts is not None
    expected = replace(fit, ratings=labels).items()
    written = read(tmp_path / "items").set_index("item")
    pd.testing.assert_frame_equal(written, expected, check_dtype=False, rtol=1e-9, atol=1e-9)


def test_effects_given_sampled_levels_are_drawn_as_in_memory(
    scores: rb.Ratings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gaussian_parts, "are_cheap_sums", lambda *_: False)
    fit = rb.GaussianICC().fit(in_parts(scores, 1), sampler="gibbs", **SAMPLING)
    rng = np.random.default_rng(SAMPLING["seed"])

    table = fit.model.items_by_part(fit._draws(), 0.9, rng)

    assert table is not None
    expected = replace(fit, ratings=scores).items().drop(columns="ratings")
    shift = table(scores, rng)["mean"] - expected["mean"]
    assert (np.abs(shift) < 4.5 * np.sqrt(2 / 400) * expected["sd"]).all()


@pytest.mark.slow
@pytest.mark.parametrize("model", [rb.GaussianICC(), rb.GaussianXCC()], ids=repr)
def test_effects_are_those_in_memory_but_for_chance(
    scores: rb.Ratings, in_memory: Callable[[Any], rb.Fit], model: Any, tmp_path: Path
) -> None:
    fit = model.fit(in_parts(scores, 5), **SAMPLING)

    fit.write_items(tmp_path / "items", prob=0.8)

    keys = ["item", "pool"][: 1 + isinstance(model, rb.GaussianXCC)]
    found = read(tmp_path / "items").set_index(keys)
    expected = in_memory(model).items(0.8)
    assert list(found) == list(expected) == [
        *("ratings", "mean", "sd", "median", "lower_80", "upper_80")
    ]  # fmt: skip
    assert found.index.tolist() == expected.index.tolist()
    assert found["ratings"].tolist() == expected["ratings"].tolist()
    # Both are means of the same 400 draws of their expectation, with noise of their own.
    error = np.sqrt(2 / 400) * expected["sd"]
    assert (np.abs(found["mean"] - expected["mean"]) < 4.5 * error).all()
    assert (np.abs(np.log(found["sd"] / expected["sd"])) < 4.5 * np.sqrt(2 / 800)).all()


@pytest.mark.slow
def test_the_same_seed_writes_the_same_bytes(scores: rb.Ratings, tmp_path: Path) -> None:
    dataset = in_parts(scores, 3)
    for name in ("one", "other"):
        rb.GaussianICC().fit(dataset, **SAMPLING).write_items(tmp_path / name)

    one, other = (
        [file.read_bytes() for file in sorted((tmp_path / name).iterdir())]
        for name in ("one", "other")
    )
    assert one == other


@pytest.mark.slow
@pytest.mark.parametrize("model", [rb.DawidSkene(), rb.GaussianXCC()], ids=repr)
def test_processes_write_the_same_bytes(
    labels: rb.Ratings, scores: rb.Ratings, model: Any, tmp_path: Path
) -> None:
    dataset = in_parts(labels if model.has_true_categories else scores, 3)
    fit = model.fit(dataset, **SAMPLING)
    fit.write_items(tmp_path / "here")

    replace(fit, ratings=dataset.on(processes(2))).write_items(tmp_path / "elsewhere")

    one, other = (
        [file.read_bytes() for file in sorted((tmp_path / name).iterdir())]
        for name in ("here", "elsewhere")
    )
    assert one == other


def test_items_of_ratings_in_memory_are_written_to_one_file(
    scores: rb.Ratings, tmp_path: Path
) -> None:
    fit = rb.GaussianICC().fit(scores, **SAMPLING)

    fit.write_items(tmp_path / "items", prob=0.5, draws=100)

    written = pd.read_parquet(tmp_path / "items" / "part-00000.parquet").set_index("item")
    pd.testing.assert_frame_equal(written, fit.items(0.5, 100), check_dtype=False)


def test_errors_of_tables_name_the_method_of_the_object(
    labels: rb.Ratings, scores: rb.Ratings
) -> None:
    fit = rb.TAP().fit(in_parts(labels, 3), **SAMPLING)
    estimate = rb.TAP().em(in_parts(labels, 3))
    numbers = rb.GaussianICC().fit(in_parts(scores, 3), **SAMPLING)

    tables: list[tuple[str, Callable[[], Any]]] = [
        *(("fit", table) for table in (fit.items, fit.category_probabilities, numbers.items)),
        *(("estimate", table) for table in (estimate.items, estimate.category_probabilities)),
    ]
    for name, table in tables:
        with pytest.raises(rb.RatingsError, match=rf" {name}\.write_items\(folder\)"):
            table()


def test_models_that_take_parts_have_tables_of_their_items() -> None:
    base: Any = rb.models.RatingModel

    have = {kind for kind in rb.MODELS if kind.items_by_part is not base.items_by_part}
    assert have == {kind for kind in rb.MODELS if kind.takes_parts}


def test_a_folder_with_something_in_it_is_not_written_to(
    labels: rb.Ratings, tmp_path: Path
) -> None:
    (tmp_path / "part-00007.parquet").write_text("of another fit")
    fit = rb.TAP().fit(in_parts(labels, 3), **SAMPLING)

    with pytest.raises(FileExistsError, match="new or empty folder"):
        fit.write_items(tmp_path)

    assert [file.name for file in tmp_path.iterdir()] == ["part-00007.parquet"]


def test_a_run_that_is_stopped_leaves_no_folder(
    labels: rb.Ratings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = in_parts(labels, 3)
    fit = rb.TAP().fit(dataset, **SAMPLING)
    read_part = type(dataset.parts[0]).read

    def stopped(part: Any) -> rb.Ratings:
        if part.first:
            raise KeyboardInterrupt
        return read_part(part)

    monkeypatch.setattr(type(dataset.parts[0]), "read", stopped)
    with pytest.raises(KeyboardInterrupt):
        fit.write_items(tmp_path / "items")

    assert [*tmp_path.iterdir()] == []
