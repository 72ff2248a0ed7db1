"""The static page: what it asks of Python, and the folder that is served."""

from __future__ import annotations

import base64
import json
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

import reliabayes as rb
from reliabayes.app.in_browser import MOST_RATINGS, StaticPage, serve
from reliabayes.app.static_page import ASSETS, PACKAGE, write_page
from tests.conftest import ROOT
from tests.html_report.test_report import CHECKS, DRAWN, make_quick

LABELS = "item,rater,rating\n" + "\n".join(
    f"{item},{rater},{'ab'[(item + (item * rater % 7 == 3)) % 2]}"
    for item in range(40)
    for rater in range(4)
)


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> StaticPage:
    """The page as inside a browser."""
    monkeypatch.setattr(sys, "platform", "wasi")
    monkeypatch.setattr("reliabayes.sampling.plan.IN_BROWSER", True)
    return StaticPage()


@pytest.fixture
def scores() -> str:
    """The table of Shrout & Fleiss."""
    return rb.datasets.load("shrout_fleiss_1979").to_csv(index=False)


def names(found: dict[str, Any], question: str) -> list[str]:
    return [each["name"] for each in found["models"][question]["models"]]


@pytest.mark.slow
def test_a_pasted_table_is_answered_by_gaussian_icc(page: StaticPage, scores: str) -> None:
    found = page.paste(scores)
    html = page.fit("Reliability", "GaussianICC", 0.8)

    assert "Read 24 ratings of 6 items by 4 raters" in found["html"]
    assert names(found, "reliability")[0] == "GaussianICC"
    assert page.answers["Reliability"].fit.settings.sampler == "independence"
    assert "4 ratings an item give a reliability of 0.66" in html
    assert "reliability of 0.7" in page.show("Reliability", "", 0.7)
    assert "J2" in page.show("Reliability", "Raters", 0.8)
    assert "ICC(2,1) is 0.29" in page.agreement()


def test_models_that_need_stan_say_so(page: StaticPage, scores: str) -> None:
    found = page.paste(scores.replace("10", "9"))
    html = page.fit("Reliability", "OrdinalICC", 0.8)

    assert "OrdinalICC" in names(found, "reliability")
    assert "install reliabayes" in html


@pytest.mark.slow
def test_true_categories_are_estimated_by_em(page: StaticPage) -> None:
    found = page.paste(LABELS)
    html = page.estimate(names(found, "truth")[0])

    assert "without intervals" in html
    assert html.count("<table") == 3


@pytest.mark.slow
def test_simulations_say_to_which_agreement_ones_own_icc_corresponds(page: StaticPage) -> None:
    html = page.study({"items": 50, "distribution": "0.2, 0.3, 0.5"}, {"coefficient": 0.5})

    assert "45 simulated matrices" in html
    assert "ICC(1,1) of 0.50 corresponds to agreement on" in html


def test_faults_are_shown_with_the_lines_concerned(page: StaticPage) -> None:
    found = page.paste("item,rater,rating\n1,Ann,4\n1,Bob,5\n1,Bob,3\n2,Ann,2\n2,Bob,3\n")

    assert not found["usable"]
    assert "<code>1,Bob,5</code>" in found["html"]
    assert page.read({"replicates": "keep", "scale": "numeric"})["usable"]


@pytest.mark.slow
def test_a_ticked_box_repairs_the_table_and_keeps_what_was_chosen(page: StaticPage) -> None:
    rows = "1,Ann,4\n1,Bob,5\n2,Ann,2\n2,Bob,3\n"
    found = page.paste(f"item,rater,rating\n{rows}{rows}")
    assert not found["usable"]
    page.read({"scale": "ordered"})

    assert page.tick([True])["usable"]
    assert "checked" in page.tick([True])["html"]
    assert page.table is not None
    assert page.table.ratings.scale == "ordered"
    assert "duplicates" in page.report(0.8)["code"]
    assert not page.tick([False])["usable"]


def test_a_table_that_is_too_long_is_told_what_to_do(page: StaticPage) -> None:
    rows = (f"{i},{j},{(i * j) % 9}" for i in range(MOST_RATINGS // 10 + 1) for j in range(10))

    found = page.paste("item,rater,rating\n" + "\n".join(rows))

    assert not found["usable"]
    assert "at most 20,000 ratings" in found["html"]
    assert "reliabayes report ratings.csv" in found["html"]


@pytest.mark.slow
def test_the_report_has_the_code_that_repeats_it(
    page: StaticPage, scores: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_quick(monkeypatch, *DRAWN, *CHECKS)
    page.drop("ratings.csv", base64.b64encode(scores.encode()).decode())
    page.fit("Reliability", "GaussianICC", 0.8)

    found = page.report(0.8)

    assert "independence" in found["code"]
    assert base64.b64decode(found["page"]).startswith(b"<!DOCTYPE html>")


def test_requests_and_answers_are_files(page: StaticPage, tmp_path: Path) -> None:
    request, response = tmp_path / "request.json", tmp_path / "response.json"
    answers = []
    for name, given in (("begin", []), ("agreement", []), ("tap", [{"items": 50}])):
        request.write_text(json.dumps({"name": name, "arguments": given}))
        serve(page, request, response)
        answers.append(json.loads(response.read_text()))

    begun, too_early, simulated = answers
    assert "inside your browser" in begun["value"]["heading"]
    assert too_early == {
        "kind": "failure",
        "value": "Paste or drop a table on the first tab.",
    }
    assert simulated["kind"] == "result"


@pytest.mark.slow
def test_the_folder_holds_the_package_without_compiled_code(tmp_path: Path) -> None:
    distribution = tmp_path / "pyodide"
    distribution.mkdir()
    (distribution / "pyodide.mjs").write_text("")

    write_page(tmp_path / "page", pyodide=distribution)

    with zipfile.ZipFile(tmp_path / "page/site.zip") as site:
        packed = site.namelist()
    assert {"reliabayes/__init__.py", "xarray/__init__.py"} <= {*packed}
    for folder in ("html_report", "data", "reporting", "ratings"):
        files = (PACKAGE / folder).rglob("*.*")
        kept = {
            f"reliabayes/{path.relative_to(PACKAGE)}" for path in files if path.suffix != ".pyc"
        }
        assert kept <= {*packed}
    assert not [name for name in packed if "_stan" in name or name.startswith("reliabayes/cli")]
    served = {path.name for path in (tmp_path / "page").iterdir()}
    assert served == {"engine", "index.html", "page.css", "page.js", "site.zip", "worker.js"}
    engine = (tmp_path / "page/engine/engine.js").read_text()
    assert engine == (ASSETS / "pyodide.js").read_text()


@pytest.mark.slow
def test_an_incomplete_engine_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"it has no pyodide\.mjs"):
        write_page(tmp_path / "page", pyodide=tmp_path)
    with pytest.raises(ValueError, match="Pass one engine"):
        write_page(tmp_path / "page")


def test_the_page_asks_nothing_that_python_does_not_answer(page: StaticPage) -> None:
    script = (ASSETS / "page.js").read_text()
    asked = {name for name in page.questions if f'"{name}"' in script}

    assert asked == {*page.questions}
    assert "http" not in script.replace("https://doi.org", "")
    assert (ROOT / "src/reliabayes/app/static/index.html").read_text().count("default-src 'self'")
