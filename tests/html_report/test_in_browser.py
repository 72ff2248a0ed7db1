"""The page in Chromium: no errors, no requests, accessible, and light with many items."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

import reliabayes as rb
from reliabayes.html_report import fits
from tests.chromium import violations
from tests.html_report.test_judge_report import clear
from tests.html_report.test_report import (
    IMAGE,
    SCRIPT,
    categories,
    numbers,
    pools,
    three_pools,
    with_statistics,
)
from tests.plots.test_plots import of_numbers, rated

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

ITEMS = "Items (DawidSkene)"


@pytest.fixture
def opened(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens a page; at the end of the test there were no errors, requests or alerts."""
    messages: list[str] = []
    contexts = []

    def open_(path: Path, **options: Any) -> Page:
        contexts.append(browser.new_context(**options))
        page = contexts[-1].new_page()
        page.on("console", lambda message: messages.append(message.text))
        page.on("pageerror", lambda error: messages.append(str(error)))
        page.on("dialog", lambda dialog: messages.append(dialog.message))
        page.on("request", lambda request: messages.append(request.url[:60]))
        page.goto(path.as_uri())
        return page

    yield open_
    for context in contexts:
        context.close()
    assert [
        text for text in messages if not text.startswith(("file:", "data:image/", "blob:"))
    ] == []
    assert len([text for text in messages if text.startswith("file:")]) == len(contexts)


PAGES: dict[str, Callable[[], Any]] = {
    "numbers": numbers,
    "pools": pools,
    "three_pools": three_pools,
    "categories": categories,
    "judges": clear,
    "two_models": lambda: {"DS": categories(), "again": categories()},
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The page of one kind of model, by name, made once."""
    folder = tmp_path_factory.mktemp("pages")

    @cache
    def make(name: str) -> Path:
        given = PAGES[name]()
        if isinstance(given, rb.JudgeStudy):
            given.report(folder / f"{name}.html")
            return folder / f"{name}.html"
        first = given if isinstance(given, rb.Fit) else given["DS"]
        rb.report(first.ratings, given, folder / f"{name}.html")
        return folder / f"{name}.html"

    return make


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of 100,000 items with long ids, from few draws."""
    frame = rated(100_000, 30, 2, "rater {}")
    frame["item"] = "https://example.com/ads/" + frame["item"].astype(str)
    fit = with_statistics(of_numbers(frame))
    path = tmp_path_factory.mktemp("large") / "report.html"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(fits, "MIN_DRAWS", 4)
        patched.setattr(fits, "MAX_WORK", 1)
        fit.report(path)
    return path


def column(page: Page, caption: str, number: int = 0) -> list[str]:
    """Cells of a column of a table."""
    cells = f"table:has(caption:text-is('{caption}')) tbody tr > :nth-child({number + 1})"
    return page.locator(cells).all_inner_texts()


def in_table(page: Page, caption: str) -> Any:
    return page.locator(f".table:has(caption:text-is('{caption}'))")


def on_pages(*usual: str) -> pytest.MarkDecorator:
    """A test of usual pages, and nightly of the others."""
    others = [name for name in PAGES if name not in usual]
    rare = [pytest.param(name, marks=pytest.mark.proof) for name in others]
    return pytest.mark.parametrize("name", [*usual, *rare])


@pytest.mark.parametrize(
    ("name", "scheme"),
    [
        ("numbers", "light"),
        ("categories", "dark"),
        *(
            pytest.param(name, scheme, marks=pytest.mark.proof)
            for name, scheme in product(PAGES, ("light", "dark"))
            if (name, scheme) not in {("numbers", "light"), ("categories", "dark")}
        ),
    ],
)
def test_the_page_is_accessible(
    name: str, scheme: str, made: Callable[[str], Path], opened: Callable[..., Page]
) -> None:
    page = opened(made(name), color_scheme=scheme)

    assert violations(page) == []


@on_pages("numbers")
def test_the_page_fits_the_width_of_a_phone(
    name: str, made: Callable[[str], Path], opened: Callable[..., Page]
) -> None:
    page = opened(made(name), viewport={"width": 390, "height": 844})

    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert all(
        box["x"] >= 0 and box["x"] + box["width"] <= 390
        for picture in page.locator("figure img").all()
        if (box := picture.bounding_box())
    )


@pytest.mark.proof
def test_names_in_tables_are_not_broken_inside_words(
    tmp_path: Path, opened: Callable[..., Page]
) -> None:
    frame = rated(40, 4, 3, "annotator{}ofthevendor")
    with_statistics(of_numbers(frame)).report(tmp_path / "report.html")

    page = opened(tmp_path / "report.html", viewport={"width": 390, "height": 844})

    heights = page.evaluate(
        "[...document.querySelectorAll('tbody th')].filter(x => x.innerText.includes('annotator'))"
        ".map(x => x.offsetHeight / parseFloat(getComputedStyle(x).lineHeight))"
    )
    assert heights
    assert max(heights) < 2


@on_pages("categories")
def test_pictures_fill_the_column_of_the_page(
    name: str, made: Callable[[str], Path], opened: Callable[..., Page]
) -> None:
    page = opened(made(name), viewport={"width": 1280, "height": 900})

    widths = page.locator("figure img").evaluate_all("x => x.map(y => y.clientWidth)")
    assert {*widths} == {page.locator("#answer").evaluate("x => x.clientWidth")}


def test_headers_sort_by_mouse_and_keyboard(
    made: Callable[[str], Path], opened: Callable[..., Page]
) -> None:
    page = opened(made("categories"))
    probability = sorted(categories().items(stated="honest")["probability"])
    header = in_table(page, ITEMS).get_by_role("columnheader", name="probability")

    header.get_by_role("button").click()
    descending = [float(text) for text in column(page, ITEMS, 3)]
    header.get_by_role("button").focus()
    page.keyboard.press("Enter")
    ascending = [float(text) for text in column(page, ITEMS, 3)]

    assert descending == pytest.approx(probability[:-21:-1], abs=6e-4)
    assert ascending == pytest.approx(probability[:20], abs=6e-4)
    assert header.get_attribute("aria-sort") == "ascending"
    assert in_table(page, ITEMS).locator("[aria-sort]").count() == 1


@pytest.mark.proof
def test_numeric_names_sort_as_numbers(
    made: Callable[[str], Path], opened: Callable[..., Page]
) -> None:
    page = opened(made("categories"))

    in_table(page, ITEMS).get_by_role("button", name="item", exact=True).click()

    assert column(page, ITEMS) == list(map(str, range(20)))


def test_tables_are_filtered_by_name_and_by_number(
    made: Callable[[str], Path], opened: Callable[..., Page]
) -> None:
    page = opened(made("categories"))
    table = in_table(page, ITEMS)
    unsure = categories().items(stated="honest").query("probability < 0.7")

    table.get_by_label("Filter").fill("13")
    by_name = column(page, ITEMS)
    table.get_by_label("Filter").fill("probability < 0.7")
    by_number = column(page, ITEMS)
    table.get_by_label("Filter").fill("nobody")

    assert by_name == ["13"]
    assert set(by_number) == set(map(str, unsure.index))
    assert column(page, ITEMS) == []
    assert table.get_by_role("status").inner_text() == "None of the 40 rows match"


def test_tables_turn_their_pages(made: Callable[[str], Path], opened: Callable[..., Page]) -> None:
    page = opened(made("categories"))
    table = in_table(page, ITEMS)
    first = column(page, ITEMS)

    table.get_by_role("button", name="Next").click()
    second = column(page, ITEMS)
    is_last = table.get_by_role("button", name="Next").is_disabled()
    status = table.get_by_role("status").inner_text()
    table.get_by_role("button", name="Previous").click()

    assert sorted(first + second, key=int) == list(map(str, range(40)))
    assert (is_last, status) == (True, "Rows 21 to 40 of 40")
    assert column(page, ITEMS) == first


@pytest.mark.proof
def test_tables_are_saved_as_files_that_no_spreadsheet_computes(
    tmp_path: Path, opened: Callable[..., Page]
) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    table = pd.DataFrame({"item": [*"aabbcc"], "rater": ["=1+2", 'J"2'] * 3})
    ratings = rb.Ratings.from_frame(table.assign(rating=[1.0, 2.0, 3.0, 5.0, 2.0, 4.0]))
    fit = rb.GaussianICC().fit(ratings, seed=1, chains=2, progress=False)
    fit.report(tmp_path / "page.html")
    page = opened(tmp_path / "page.html")

    saved = {}
    for kind in ("CSV", "XLSX"):
        with page.expect_download() as waiting:
            page.get_by_role("button", name=f"Save as {kind}: Raters (GaussianICC)").click()
        saved[kind] = tmp_path / waiting.value.suggested_filename
        waiting.value.save_as(saved[kind])

    (sheet,) = openpyxl.load_workbook(saved["XLSX"]).worksheets
    header, *rows = sheet.iter_rows(values_only=True)
    read = pd.read_csv(saved["CSV"])
    assert [path.name for path in saved.values()] == ["raters.csv", "raters.xlsx"]
    assert list(header) == list(read)
    assert header[0] == "rater"
    assert sorted(row[0] for row in rows) == ["=1+2", 'J"2']
    assert all(cell.data_type != "f" for row in sheet.iter_rows() for cell in row)
    assert sorted(read["rater"]) == ["'=1+2", 'J"2']
    assert read["mean"].tolist() == [row[header.index("mean")] for row in rows]


def test_a_rater_named_as_a_script_is_harmless(tmp_path: Path, opened: Callable[..., Page]) -> None:
    frame = rated(30, 3, 3, "J{}").replace({"rater": {"J0": SCRIPT}})
    frame["item"] = frame["item"].map("{}".format).replace("7", IMAGE)
    with_statistics(of_numbers(frame)).report(tmp_path / "report.html")

    page = opened(tmp_path / "report.html")
    in_table(page, "Items (GaussianICC)").get_by_role("button", name="item", exact=True).click()
    in_table(page, "Items (GaussianICC)").get_by_label("Filter").fill("onerror")

    assert SCRIPT in column(page, "Raters (GaussianICC)")
    assert column(page, "Items (GaussianICC)") == [IMAGE]
    assert page.locator("img[src=x]").count() == 0


def test_the_button_switches_between_light_and_dark(
    made: Callable[[str], Path], opened: Callable[..., Page]
) -> None:
    page = opened(made("numbers"), color_scheme="light")

    light = scheme(page)
    page.get_by_role("button", name="Switch between light and dark").click()
    dark = scheme(page)
    page.emulate_media(media="print")
    printed = scheme(page)
    page.emulate_media(media="screen", color_scheme="dark")
    page.get_by_role("button", name="Switch between light and dark").click()

    assert light == printed == scheme(page) == LIGHT
    assert dark == DARK


@pytest.mark.proof
def test_a_dark_page_prints_light(made: Callable[[str], Path], opened: Callable[..., Page]) -> None:
    page = opened(made("numbers"), color_scheme="dark")

    dark = scheme(page)
    page.emulate_media(media="print")

    assert dark == DARK
    assert scheme(page) == LIGHT


LIGHT = ("rgb(255, 255, 255)", {"none"})
DARK = ("rgb(20, 24, 29)", {"invert(0.92) hue-rotate(180deg)"})


def scheme(page: Page) -> tuple[str, set[str]]:
    """Background colour, and what changes the colours of pictures."""
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    filters = page.locator("figure img").evaluate_all("x => x.map(y => getComputedStyle(y).filter)")
    return paper, set(filters)


@on_pages("numbers")
def test_tables_fit_the_width_of_printed_paper(
    name: str, made: Callable[[str], Path], opened: Callable[..., Page]
) -> None:
    page = opened(made(name), viewport={"width": 718, "height": 900})  # A4 with margins of 1 cm

    page.emulate_media(media="print")

    assert page.evaluate("document.documentElement.scrollWidth") <= 718


def test_printed_pages_have_more_rows_and_no_buttons(
    made: Callable[[str], Path], opened: Callable[..., Page]
) -> None:
    page = opened(made("categories"))
    page.evaluate("addEventListener('beforeprint', () => document.title = 'printed')")
    page.pdf()
    printed = page.title()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")

    assert printed == "printed"
    assert len(column(page, ITEMS)) == 40
    assert (
        page.locator("main button:visible, header:visible").count()
        == page.locator("th button").count()
    )
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert len(column(page, ITEMS)) == 20


def test_without_scripts_the_page_shows_the_first_rows_and_no_buttons(
    made: Callable[[str], Path], opened: Callable[..., Page]
) -> None:
    page = opened(made("categories"), java_script_enabled=False)

    assert len(column(page, ITEMS)) == 20
    assert page.locator("button:visible, input:visible").count() == 0


@pytest.mark.proof
def test_of_a_hundred_thousand_items_the_page_shows_a_few_at_a_time(
    large: Path, opened: Callable[..., Page]
) -> None:
    from playwright.sync_api import expect

    page = opened(large)
    items = "Items (GaussianICC)"
    shown = in_table(page, items).locator("tbody tr")
    at_once = shown.count()

    in_table(page, items).get_by_role("button", name="item", exact=True).click()
    first = column(page, items)
    in_table(page, items).get_by_label("Filter").fill("/99999")
    expect(shown).to_have_count(1, timeout=120_000)

    assert at_once == 20
    assert large.stat().st_size < 15e6
    assert first[:2] == ["https://example.com/ads/0", "https://example.com/ads/1"]
    assert column(page, items) == ["https://example.com/ads/99999"]
