"""Answers and the report of ratings in parts: those in memory, and what is left out."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb
from reliabayes.html_report.answers import answer
from reliabayes.html_report.answers import labels as answers_on_labels
from reliabayes.html_report.answers.labels import Labels
from reliabayes.html_report.answers.typical_item import TypicalItem
from reliabayes.partitions import RatingsDataset
from tests.partitions.in_memory import in_parts

SAMPLING: dict[str, Any] = {"seed": 1, "chains": 2, "warmup": 50, "draws": 50, "progress": False}
FACT = r"<dt>(?!parts|range).*?</dd>"  # parts in memory know of no range
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::reliabayes.errors.ConvergenceWarning"),
]


@functools.cache
def grades(*, repeats: bool = False) -> rb.Ratings:
    """Some of the whole-number grades of 60 items by eight raters in two pools."""
    rng = np.random.default_rng(1)
    item, rater = rng.standard_normal(60), rng.standard_normal(8)
    score = 50 + 10 * item[:, None] + 5 * rater + 7 * rng.standard_normal((60, 8))
    score[:20, :4] = score[40:, 4:] = np.nan
    score[20:40][rng.random((20, 8)) < 0.3] = np.nan
    table = rb.Ratings.from_wide(np.rint(score)).to_frame()
    if repeats:
        table = pd.concat([table, table[::3], table[::9]], ignore_index=True)
    table["pool"] = np.where(table["rater"] < 4, "staff", "crowd")
    return rb.Ratings.from_frame(table, pool="pool", scale="numeric", replicates="keep")


@functools.cache
def labels(*, gold: bool) -> rb.Ratings:
    """80 items in three categories, rated by some of seven raters in two pools."""
    rng = np.random.default_rng(2)
    rows = [
        (f"i{item:03}", f"r{rater}", "abc"[kind if rng.random() < 0.8 else rng.integers(3)], kind)
        for item, kind in enumerate(rng.integers(3, size=80))
        for rater in rng.choice(7, 4, replace=False)
    ]
    table = pd.DataFrame(rows, columns=["item", "rater", "rating", "gold"])
    table["gold"] = [
        "abc"[kind] if item < "i030" else None
        for item, kind in zip(table["item"], table["gold"], strict=True)
    ]
    table["pool"] = np.where(table["rater"] < "r4", "staff", "crowd")
    return rb.Ratings.from_frame(table, pool="pool", gold="gold" if gold else None)


@functools.cache
def parted(kind: Callable[..., rb.Ratings], **which: bool) -> RatingsDataset:
    return in_parts(kind(**which), 3)


@functools.cache
def fitted(model: Any, is_in_parts: bool, **which: bool) -> rb.Fit:
    """Fit of a model to ratings that suit it, in memory or in parts, which tests share."""
    kind = labels if model.has_true_categories else grades
    ratings: Any = parted(kind, **which) if is_in_parts else kind(**which)
    fit: rb.Fit = model.fit(ratings, **SAMPLING)
    return fit


def whole_and_parts(model: Any, **which: bool) -> tuple[rb.Fit, rb.Fit]:
    return fitted(model, False, **which), fitted(model, True, **which)


@pytest.mark.parametrize("repeats", [False, True])
def test_typical_items_are_medians_over_all_items(repeats: bool) -> None:
    ratings = grades(repeats=repeats)

    found = TypicalItem.of(in_parts(ratings, 7))

    table = ratings.to_frame().groupby("item")["rater"]
    squares = table.agg(lambda raters: (raters.value_counts() ** 2).sum())
    assert found == TypicalItem.of(ratings)
    assert found.ratings == round(table.size().median())
    assert found.raters == round(table.nunique().median())
    assert found.independent == pytest.approx((table.size() ** 2 / squares).median())
    assert (found.are_alike, found.has_repeats) == (False, repeats)


@pytest.mark.parametrize(
    ("model", "repeats"),
    [
        pytest.param(rb.GaussianXCC(), False, marks=pytest.mark.proof),
        (rb.GaussianICC(), True),
        pytest.param(rb.GaussianXCC(), True, marks=pytest.mark.proof),
        pytest.param(rb.GaussianICC(), False, marks=pytest.mark.proof),
    ],
    ids=repr,
)
def test_answers_of_numbers_are_those_in_memory(model: Any, repeats: bool) -> None:
    whole, parts = whole_and_parts(model, repeats=repeats)

    assert answer(parts) == answer(whole)


@pytest.mark.parametrize(
    ("model", "gold"),
    [
        (rb.DawidSkene(), True),
        pytest.param(rb.TAP(), False, marks=pytest.mark.proof),
        pytest.param(rb.DawidSkene(), False, marks=pytest.mark.proof),
        pytest.param(rb.TAP(), True, marks=pytest.mark.proof),
    ],
    ids=repr,
)
def test_answers_of_labels_are_those_that_the_model_states_in_memory(
    model: Any, gold: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers_on_labels, "can_be_stated", lambda *_: False)
    whole, parts = whole_and_parts(model, gold=gold)

    found, expected = answer(parts), answer(whole)

    assert Labels.of(parts) == replace(Labels.of(whole), honest=None)
    one, other = (
        [claim for claim in each.claims if not claim.text.startswith("Trust")]
        for each in (found, expected)
    )
    assert one == other
    names = [figure.name for figure in expected.figures if "known answers" not in figure.name]
    assert [figure.name for figure in found.figures] == names
    # Proportions of correct ratings: of the same draws, with true categories drawn anew.
    share, whole_share = (fit.correct_share() for fit in (parts, whole))
    sd = float(np.hypot(share.std(), whole_share.std()))
    size = share.size
    assert float(abs(share.mean() - whole_share.mean())) < 4.5 * sd / np.sqrt(size)
    assert float(share.std() / whole_share.std()) == pytest.approx(1, abs=4.5 * np.sqrt(1 / size))


def test_tables_of_pools_and_raters_are_those_in_memory() -> None:
    whole, parts = whole_and_parts(rb.DawidSkene(), gold=True)

    pd.testing.assert_frame_equal(parts.pools(), whole.pools())
    pd.testing.assert_frame_equal(parts.raters(), whole.raters())
    assert parts.summary().attrs["caution"] == whole.summary().attrs["caution"] != ""


def test_answers_of_facets_are_those_in_memory() -> None:
    rng = np.random.default_rng(5)
    cells = pd.MultiIndex.from_product([range(30), range(4), range(3)])
    table = cells.to_frame(index=False).set_axis(["item", "rater", "day"], axis=1)
    level = 10 * rng.standard_normal(30)[table["item"]] + 4 * rng.standard_normal(4)[table["rater"]]
    table["rating"] = np.rint(50 + level + 5 * rng.standard_normal(len(table)))
    table = table[table["day"] < 2 + (table["item"] < 20)]  # most items on three days
    ratings = rb.Ratings.from_frame(table, facets=["day"], scale="numeric")
    model = rb.GStudy(design="item x rater x day")
    whole, parts = (model.fit(each, **SAMPLING) for each in (ratings, in_parts(ratings, 3)))

    found, expected = answer(parts), answer(whole)

    assert model.priors(in_parts(ratings, 3)) == model.priors(ratings)
    assert [figure.name for figure in found.figures] == [each.name for each in expected.figures]
    assert "4 raters and 3 days" in found.headline


def sections(page: Path) -> dict[str, str]:
    """Sections of the page by their id, without pictures and scripts."""
    text = re.sub(r"<script.*?</script>|<img.*?>", "", page.read_text(), flags=re.S)
    return dict(re.findall(r'<section id="(\w+)"(.*?)</section>', text, flags=re.S))


@pytest.mark.proof
@pytest.mark.parametrize("model", [rb.GaussianXCC(), rb.GaussianICC()], ids=repr)
def test_sections_are_those_in_memory_but_for_items(model: Any, tmp_path: Path) -> None:
    for name, fit in zip(("whole", "parts"), whole_and_parts(model, repeats=False), strict=True):
        fit.report(tmp_path / f"{name}.html")

    whole, parts = (sections(tmp_path / f"{name}.html") for name in ("whole", "parts"))

    for same in ("answer", "detail", "quantities", "diagnostics", "raters", "method"):
        assert parts[same] == whole[same]
    table = re.compile(r'<caption id="agreement-0">.*?</table>', re.S)
    assert table.findall(parts["data"]) == table.findall(whole["data"]) != []
    assert re.findall(FACT, whole["data"]) == re.findall(FACT, parts["data"])
    assert "Pictures of who rated what" in parts["data"]
    assert "fit.write_items(folder)" in parts["items"]
    assert "was not checked" in parts["checks"]


def test_models_of_labels_have_raters_and_pools(tmp_path: Path) -> None:
    fits = {
        "DawidSkene": fitted(rb.DawidSkene(), True, gold=True),
        "MACE": fitted(rb.MACE(), True, gold=True),
    }

    rb.report(parted(labels, gold=True), fits, tmp_path / "report.html")

    found = sections(tmp_path / "report.html")
    assert re.search("Trust .* labels without a known answer", found["answer"])
    assert "Pools, the least accurate first" in found["raters"]
    assert "not compared with the known answers" in found["raters"]
    assert "Models are not compared" in found["comparison"]


def test_a_page_of_points_without_raters_is_whole(tmp_path: Path) -> None:
    fitted(rb.TAP(), True, gold=False).report(tmp_path / "report.html")

    assert {"answer", "quantities", "diagnostics", "data", "method"} <= set(
        sections(tmp_path / "report.html")
    )
