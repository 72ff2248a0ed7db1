"""The report on one printed page: what it says, and that it is one page."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import reliabayes as rb
from reliabayes.html_report.fits import Options, report_fits
from reliabayes.html_report.one_page import one_page_of
from reliabayes.html_report.pictures import picture
from tests.html_report.test_report import (
    SCRIPT,
    Page,
    categories,
    numbers,
    pools,
    three_pools,
    with_statistics,
)
from tests.plots.test_plots import of_numbers, rated

if TYPE_CHECKING:
    from playwright.sync_api import Browser

A4 = (595, 842)  # points
READABLE = 150  # pixels, the height of a picture of 4 cm
LONG_NAME = "a rater who is called by a very long name of many words " * 3

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")]


def test_the_page_has_verdict_numbers_picture_and_the_sentence_for_the_paper(
    tmp_path: Path,
) -> None:
    fit = numbers()

    fit.report(tmp_path / "page.html", one_page=True, title="Five judges", date="1 May")

    page = Page(tmp_path / "page.html")
    text = page.texts["main"][0]
    said = rb.methods(fit)
    assert page.texts["h1"] == page.texts["title"]
    assert len(page.texts["dt"]) == 4
    assert [tag for tag, _ in page.elements].count("img") == 1
    assert said.sentence in text
    assert all(str(reference) in text for reference in said.references)
    assert "Five judges 1 May" in text
    assert "script" not in page.texts
    assert all(address.startswith("data:") for address in page.values("src"))


def test_names_cannot_break_the_one_page(tmp_path: Path) -> None:
    frame = rated(20, 3, 3, "J{}").replace({"rater": {"J0": SCRIPT}})

    with_statistics(of_numbers(frame)).report(tmp_path / "page.html", one_page=True, title=SCRIPT)

    assert SCRIPT not in (tmp_path / "page.html").read_text()


def test_a_whole_report_is_not_printed(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Pass one_page=True, or a path"):
        numbers().report(tmp_path / "page.pdf")


def test_a_pdf_without_chromium_is_refused_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)

    with pytest.raises(FileNotFoundError, match=r"Install one, or pass a path"):
        numbers().report(tmp_path / "page.PDF", one_page=True)

    assert list(tmp_path.iterdir()) == []


def test_a_browser_that_prints_nothing_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "chromium"
    broken.write_text("#!/bin/sh\necho no display >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda _: str(broken))

    with pytest.raises(OSError, match="printed nothing: no display"):
        numbers().report(tmp_path / "page.pdf", one_page=True)


def doubtful() -> rb.Fit:
    """A fit whose draws cannot be trusted, of raters with long names."""
    fit = with_statistics(of_numbers(rated(20, 5, 4, f"{LONG_NAME}{{}}")))
    stuck = fit.posterior.copy(deep=True)
    for name in stuck:
        stuck[name][0] *= 5
    return replace(fit, posterior=stuck)


@pytest.mark.browser
@pytest.mark.parametrize("fit", [numbers, pools, three_pools, categories, doubtful])
def test_one_page_is_one_page_of_a4_and_nothing_is_cut_off(
    fit: Callable[[], rb.Fit], browser: Browser, tmp_path: Path
) -> None:
    fit().report(tmp_path / "page.pdf", one_page=True)
    fit().report(tmp_path / "page.html", one_page=True)

    pdf = (tmp_path / "page.pdf").read_bytes()
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) == 1
    (box,) = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", pdf)
    assert [float(each) for each in box] == pytest.approx(A4, abs=1)
    is_whole, height = fitted(browser, tmp_path / "page.html")
    assert is_whole
    assert height > READABLE


@pytest.mark.browser
@pytest.mark.parametrize(("lines", "has_picture"), [(4, True), (5, True), (18, True), (27, False)])
def test_texts_of_any_length_fit(
    lines: int, has_picture: bool, browser: Browser, tmp_path: Path
) -> None:
    (fit,) = report_fits({"GaussianICC": numbers()}, Options(0.9, 0.8, 1000))
    assert fit.lead_plot is not None
    vars(fit)["problems"] = [
        "the chains disagree on a quantity of this model, and what depends on it is not known yet"
    ] * lines
    content = {"title": "", "date": "", "size": "80 ratings", "percent": "90", "lead": fit}

    html = one_page_of(fit, picture=picture(fit.lead_plot), **content)

    (tmp_path / "page.html").write_text(html)
    is_whole, height = fitted(browser, tmp_path / "page.html")
    assert is_whole
    assert (height > READABLE) == has_picture


def fitted(browser: Browser, path: Path) -> tuple[bool, float]:
    """Whether all texts are on the printed page, and the height of its picture in pixels."""
    page: Any = browser.new_page()
    page.goto(path.as_uri())
    page.emulate_media(media="print")
    bottom = 'document.querySelector("{}").getBoundingClientRect().bottom'
    is_whole = page.evaluate(f"{bottom.format('.paper')} <= {bottom.format('.sheet')}")
    height = page.evaluate('(document.querySelector("img") ?? {clientHeight: 0}).clientHeight')
    page.close()
    return is_whole, height
