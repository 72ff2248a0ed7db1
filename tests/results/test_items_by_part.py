"""Tables of items of a fit to ratings in parts, in files: those of the same ratings in memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb
from reliabayes.families.categories import parts
from reliabayes.families.normal import gaussian_parts
from reliabayes.results.model import TakesParts
from tests.models.test_in_parts import labels as labels_in_memory
from tests.models.test_in_parts import scores as scores_in_memory
from tests.partitions.in_memory import elsewhere, in_parts

SAMPLING: dict[str, Any] = {"seed": 1, "chains": 2, "warmup": 20, "draws": 20, "progress": False}
MANY = SAMPLING | {"warmup": 100, "draws": 200}
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::reliabayes.errors.ConvergenceWarning"),
]


@pytest.fixture(scope="module")
def labels() -> rb.Ratings:
    return labels_in_memory()


@pytest.fixture(scope="module")
def scores() -> rb.Ratings:
    return scores_in_memory()


def read(folder: Path) -> pd.DataFrame:
    return pd.concat([pd.read_parquet(file) for file in sorted(folder.iterdir())])


def test_labels_of_items_that_do_not_fit_in_memory_are_those_of_the_same_draws(
    labels: rb.Ratings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "MOST_COUNTS", 0)
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
    model = rb.GaussianICC()
    fit = model.fit(in_parts(scores, 1), sampler="gibbs", **MANY)
    rng = np.random.default_rng(SAMPLING["seed"])

    posterior: Any = fit._draws()
    table = model.items_by_part(posterior, 0.9, rng)

    expected = replace(fit, ratings=scores).items().drop(columns="ratings")
    shift = table(scores, rng)["mean"] - expected["mean"]
    assert (np.abs(shift) < 4.5 * np.sqrt(2 / 400) * expected["sd"]).all()


@pytest.mark.parametrize(
    "model",
    [
        rb.GaussianXCC(),
        pytest.param(rb.GaussianICC(), marks=pytest.mark.proof),
    ],
    ids=repr,
)
def test_effects_are_those_in_memory_but_for_chance(
    scores: rb.Ratings, model: Any, tmp_path: Path
) -> None:
    fit = model.fit(in_parts(scores, 5), **MANY)

    fit.write_items(tmp_path / "items", prob=0.8)

    keys = ["item", "pool"][: 1 + isinstance(model, rb.GaussianXCC)]
    found = read(tmp_path / "items").set_index(keys)
    expected = model.fit(scores, **MANY).items(0.8)
    assert list(found) == list(expected) == [
        *("ratings", "mean", "sd", "median", "lower_80", "upper_80")
    ]  # fmt: skip
    assert found.index.tolist() == expected.index.tolist()
    assert found["ratings"].tolist() == expected["ratings"].tolist()
    # Both are means of the same 400 draws of their expectation, with noise of their own.
    error = np.sqrt(2 / 400) * expected["sd"]
    assert (np.abs(found["mean"] - expected["mean"]) < 4.5 * error).all()
    assert (np.abs(np.log(found["sd"] / expected["sd"])) < 4.5 * np.sqrt(2 / 800)).all()


def test_the_same_seed_writes_the_same_bytes(scores: rb.Ratings, tmp_path: Path) -> None:
    dataset = in_parts(scores, 3)
    for name in ("one", "other"):
        rb.GaussianICC().fit(dataset, **SAMPLING).write_items(tmp_path / name)

    one, other = (
        [file.read_bytes() for file in sorted((tmp_path / name).iterdir())]
        for name in ("one", "other")
    )
    assert one == other


@pytest.mark.parametrize("model", [rb.DawidSkene(), rb.GaussianXCC()], ids=repr)
def test_processes_write_the_same_bytes(
    labels: rb.Ratings, scores: rb.Ratings, model: Any, tmp_path: Path
) -> None:
    dataset = in_parts(labels if model.has_true_categories else scores, 3)
    fit = model.fit(dataset, **SAMPLING)
    fit.write_items(tmp_path / "here")

    replace(fit, ratings=dataset.on(elsewhere)).write_items(tmp_path / "elsewhere")

    one, other = (
        [file.read_bytes() for file in sorted((tmp_path / name).iterdir())]
        for name in ("here", "elsewhere")
    )
    assert one == other


def test_items_of_ratings_in_memory_are_written_to_one_file(
    scores: rb.Ratings, tmp_path: Path
) -> None:
    fit = rb.GaussianICC().fit(scores, **SAMPLING)

    fit.write_items(tmp_path / "items", prob=0.5, draws=10)

    written = pd.read_parquet(tmp_path / "items" / "part-00000.parquet").set_index("item")
    pd.testing.assert_frame_equal(written, fit.items(0.5, 10), check_dtype=False)


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
    assert all(issubclass(kind, TakesParts) for kind in rb.MODELS if kind.takes_parts)


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
