"""Pages show what code prints and draws, and can be searched where they are opened as files."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from docs.generate import notebooks, reports
from docs.generate.execution import absent_data
from tests.conftest import ROOT

IMAGE = b"\x89PNG"
# Words that people of other fields type; ours are rater, item, gold and pool.
TYPED = (
    "LLM judge",
    "test-retest",
    "Likert",
    "intra-rater",
    "SEM",
    "inter-annotator agreement",
    "gold standard",
    "spammer",
    "majority vote",
    "golden data",
    "labeler bias",
    "labeler ICC",
    "t-a-p",
    "negative kappa",
    "cross-replication reliability",
    "crosstab",
    "k-rater reliability",
    "justified true belief",
    "percent rater agreement",
)


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ({"output_type": "stream", "name": "stdout", "text": "a\n"}, "```text\na\n```"),
        ({"output_type": "stream", "name": "stderr", "text": "a\n"}, ""),
        ({"output_type": "execute_result", "data": {"text/plain": "1"}}, "```text\n1\n```"),
        (
            {"output_type": "display_data", "data": {"image/png": base64.b64encode(IMAGE)}},
            "![Plot](plot.png){ .picture }",
        ),
        (
            {
                "output_type": "execute_result",
                "data": {
                    "text/html": '<style scoped>\n</style>\n<table border="1" class="dataframe">'
                    "</table>\n\n<p>",
                    "text/plain": "",
                },
            },
            '<div class="output">\n<table></table>\n<p>\n</div>',
        ),
    ],
)
def test_an_output_becomes_markdown(result: dict[str, Any], expected: str) -> None:
    shown, image = notebooks.output(result, "plot.png")

    assert shown == expected
    assert image == (IMAGE if "png" in shown else b"")


def test_the_page_of_a_notebook_shows_outputs_and_no_assertions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = [
        {"id": "question", "cell_type": "markdown", "source": ["# How many?"]},
        {"id": "count", "cell_type": "code", "source": ["6 * 7"]},
        {"id": "check", "cell_type": "code", "source": ["assert 6 * 7 == 42"]},
    ]
    path = tmp_path / "01_many.ipynb"
    path.write_text(json.dumps({"cells": cells}))
    result = {"output_type": "execute_result", "data": {"text/plain": "42"}}
    monkeypatch.setattr(notebooks, "FOLDER", tmp_path)
    monkeypatch.setattr(notebooks, "notebook_outputs", lambda text, version: [[], [result], []])

    page = dict(notebooks.pages())["notebooks/01_many.md"]

    assert "```python\n6 * 7\n```\n\n```text\n42\n```" in page
    assert "assert" not in page


def test_the_page_of_a_notebook_names_data_that_are_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = 'load("bluebirds"), load("dawid_skene_1979")'
    cells = [
        {"id": "question", "cell_type": "markdown", "source": ["# How many?"]},
        {"id": "load", "cell_type": "code", "source": [code]},
    ]
    (tmp_path / "01_many.ipynb").write_text(json.dumps({"cells": cells}))
    monkeypatch.setattr(notebooks, "FOLDER", tmp_path)
    monkeypatch.setenv("RELIABAYES_DATA", str(tmp_path))
    monkeypatch.delenv("RELIABAYES_DATA_URL", raising=False)

    page = dict(notebooks.pages())["notebooks/01_many.md"]

    assert absent_data(code) == ["bluebirds"]
    assert "Its outputs are not shown, because bluebirds was not at hand." in page


def test_each_word_that_people_type_has_a_heading() -> None:
    lines = (ROOT / "docs" / "words.md").read_text().splitlines()
    headings = "\n".join(line for line in lines if line.startswith("## ")).lower()

    assert [word for word in TYPED if word.lower() not in headings] == []


def test_reports_are_of_ratings_that_come_with_the_package_or_are_simulated() -> None:
    texts = [report.code for report in reports.REPORTS.values()]

    loaded = {part.split('"')[1] for text in texts for part in text.split("datasets.load(")[1:]}
    assert loaded == {"shrout_fleiss_1979", "dawid_skene_1979"}
    assert all("load(" in text or "default_rng(" in text for text in texts)
    assert sum("load(" in text for text in texts) == 4


@pytest.mark.docs
@pytest.mark.skipif(not reports.CHROMIUM, reason="there is no chromium")
def test_pages_that_are_opened_as_files_can_be_searched(tmp_path: Path) -> None:
    from playwright.sync_api import sync_playwright

    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "index.md").write_text("# Start\n")
    (docs / "words.md").write_text("# Words\n\n## Spammer\n\nA rater who guesses.\n")
    (docs / "iframe-worker.js").write_text((ROOT / "docs" / "iframe-worker.js").read_text())
    theme = "theme: {name: material, font: false}\nplugins: [search, offline]\n"
    text = f"site_name: words\n{theme}extra: {{polyfills: [iframe-worker.js]}}\n"
    (tmp_path / "mkdocs.yml").write_text(text)
    subprocess.run([sys.executable, "-m", "mkdocs", "build", "-q"], cwd=tmp_path, check=True)

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=reports.CHROMIUM, args=reports.ARGUMENTS
        )
        page = browser.new_page()
        page.goto((tmp_path / "site" / "index.html").as_uri())
        page.click(".md-search__input")
        ready = "document.querySelector('.md-search-result__meta').textContent.includes('Type')"
        page.wait_for_function(ready)  # until then it says that the search is being initialised
        page.locator(".md-search__input").press_sequentially("spammer")  # it listens to keys
        found = page.wait_for_selector("a.md-search-result__link", state="attached")
        address = None if found is None else found.get_attribute("href")
        browser.close()
    assert address is not None
    assert "words.html" in address
