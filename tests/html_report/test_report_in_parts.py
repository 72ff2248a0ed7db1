"""The report of ratings in parts: what can be said of them, and what is left out."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import reliabayes as rb
from tests.html_report.test_answers_in_parts import SAMPLING, grades, labels
from tests.partitions.in_memory import in_parts

FACT = r"<dt>(?!parts|range).*?</dd>"  # parts in memory know of no range
pytestmark = pytest.mark.filterwarnings("ignore::reliabayes.errors.ConvergenceWarning")


def sections(page: Path) -> dict[str, str]:
    """Sections of the page by their id, without pictures and scripts."""
    text = re.sub(r"<script.*?</script>|<img.*?>", "", page.read_text(), flags=re.S)
    return dict(re.findall(r'<section id="(\w+)"(.*?)</section>', text, flags=re.S))


@pytest.mark.parametrize("model", [rb.GaussianICC(), rb.GaussianXCC()], ids=["icc", "xcc"])
def test_sections_are_those_in_memory_but_for_items(model: Any, tmp_path: Path) -> None:
    ratings = grades()
    for name, each in (("whole", ratings), ("parts", in_parts(ratings, 3))):
        model.fit(each, **SAMPLING).report(tmp_path / f"{name}.html")

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
    ratings = in_parts(labels(gold=True), 3)
    fits = {
        "DawidSkene": rb.DawidSkene().fit(ratings, **SAMPLING),
        "MACE": rb.MACE().fit(ratings, **SAMPLING),
    }

    rb.report(ratings, fits, tmp_path / "report.html")

    found = sections(tmp_path / "report.html")
    assert re.search("Trust .* labels without a known answer", found["answer"])
    assert "Pools, the least accurate first" in found["raters"]
    assert "not compared with the known answers" in found["raters"]
    assert "Models are not compared" in found["comparison"]


def test_a_page_of_points_without_raters_is_whole(tmp_path: Path) -> None:
    fit = rb.TAP().fit(in_parts(labels(gold=False), 3), **SAMPLING)

    fit.report(tmp_path / "report.html")

    assert {"answer", "quantities", "diagnostics", "data", "method"} <= set(
        sections(tmp_path / "report.html")
    )
