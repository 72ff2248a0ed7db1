"""The app in Chromium, as a person uses it."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import psutil
import pytest

import reliabayes as rb
from reliabayes.app.admission import Admission
from tests.app.serving import served
from tests.app.tables import FAULTY, IMAGE, SCRIPT, SHROUT_FLEISS
from tests.chromium import launched, violations
from tests.html_report.test_judge_report import table

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

LOOKS = 30  # at a page until all its elements are there
LONG = 120_000  # milliseconds that nothing here takes
MESSY = Path(__file__).parents[1] / "data" / "messy"
HERE = str(Path(rb.__file__).parent)
# What marimo says of itself on the console.
OF_MARIMO = ("Project configuration overrides", "was preloaded using link preload", "Metric")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium."""
    with launched() as found:
        yield found


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Where the app is served."""
    with served() as found:
        yield found


@pytest.fixture
def opened(browser: Browser, address: str) -> Iterator[Callable[..., Page]]:
    """Opens the page; in the end there were no errors, requests elsewhere, alerts or folders."""
    with pages(browser, address) as open_:
        yield open_


@pytest.fixture(scope="module")
def answered(browser: Browser, address: str) -> Iterator[Page]:
    """One page for several tests, with the answer for the table of Shrout & Fleiss."""
    with pages(browser, address) as open_:
        yield fitted(open_())


@contextmanager
def pages(browser: Browser, address: str) -> Iterator[Callable[..., Page]]:
    messages: list[str] = []
    contexts = []

    def hear(message: Any) -> None:
        if message.type not in ("debug", "info") and not any(x in message.text for x in OF_MARIMO):
            messages.append(message.text)

    def check(frame: Any) -> None:
        if HERE in str(frame):
            messages.append("a folder was sent")

    def open_(**options: Any) -> Page:
        options = {"viewport": {"width": 1000, "height": 900}} | options
        contexts.append(browser.new_context(**options))
        page = contexts[-1].new_page()
        page.set_default_timeout(LONG)
        page.on("console", hear)
        page.on("pageerror", lambda error: messages.append(str(error)))
        page.on("dialog", lambda dialog: messages.append(dialog.message))
        page.on("request", lambda request: messages.append(request.url))
        page.on("websocket", lambda socket: socket.on("framereceived", check))
        page.goto(address)
        page.get_by_role("textbox").first.wait_for()
        return page

    yield open_
    for context in contexts:
        context.close()
    own = (address, "data:", f"blob:{address}")
    assert [text for text in messages if not text.startswith(own)] == []


def paste(page: Page, table: str) -> None:
    box = page.get_by_role("textbox").first
    box.click()
    box.fill(table)


def go_to(page: Page, tab: str) -> None:
    page.get_by_role("tab", name=tab).click()


def press(page: Page, button: str) -> None:
    page.get_by_role("button", name=button, exact=True).click()


def headline(page: Page) -> str:
    return page.locator("#headline").inner_text()


def fitted(page: Page) -> Page:
    """The page with the answer for the table of Shrout & Fleiss."""
    paste(page, SHROUT_FLEISS)
    go_to(page, "Reliability")
    press(page, "Fit")
    page.locator("#headline").wait_for()
    return page


def too_wide(page: Page) -> int:
    """Pixels by which the page is wider than its window."""
    wide = "Math.max(...[...document.querySelectorAll('#App, html')].map(WIDE))"
    return int(page.evaluate(wide.replace("WIDE", "e => e.scrollWidth - e.clientWidth")))


def test_three_clicks_lead_from_a_pasted_table_to_its_answer(answered: Page) -> None:
    published = rb.Ratings.from_frame(rb.datasets.load("shrout_fleiss_1979"))
    fit = rb.GaussianICC().fit(published, seed=1, progress=False)
    reached = float(fit.icc_k(4).median())
    assert headline(answered).startswith("Not yet: 4 ratings an item give a reliability of 0.6")
    # Both are medians of 4,000 draws, rounded; their Monte Carlo error is 0.005.
    shown = answered.locator(".value").first.inner_text()
    assert float(shown) == pytest.approx(reached, abs=0.03)
    answered.get_by_text("J2 is the most severe rater").wait_for()


def test_the_slider_asks_for_another_reliability(answered: Page) -> None:
    before = headline(answered)

    answered.get_by_role("slider").focus()
    answered.keyboard.press("ArrowRight")
    answered.get_by_text("ratings an item for a reliability of 0.85").wait_for()

    assert "0.80 takes" in before
    assert "0.85 takes" in headline(answered)


def test_the_report_is_downloaded_and_opens_with_the_same_answer(
    answered: Page, browser: Browser, tmp_path: Path
) -> None:
    answer = headline(answered)
    go_to(answered, "Report")
    press(answered, "Make the report")

    with answered.expect_download() as waiting:
        answered.get_by_role("link", name="Download report.html").click()
    waiting.value.save_as(tmp_path / "report.html")
    report = browser.new_page()
    report.goto((tmp_path / "report.html").as_uri())

    assert report.locator("h1").inner_text() == answer
    assert "rb.read_ratings(" in answered.locator("pre").inner_text()
    assert "rb.read_ratings(" in report.locator("#method pre").first.inner_text()
    report.close()


def test_a_hostile_paste_ends_with_a_message_and_harms_no_other_page(
    opened: Callable[..., Page], answered: Page
) -> None:
    hostile = opened()

    paste(hostile, "," * 5_000_000)
    go_to(hostile, "Groups")
    go_to(hostile, "Your ratings")
    hostile.get_by_role("alert").get_by_text("at most 2,000 columns").wait_for()
    go_to(answered, "Agreement")
    press(answered, "Compute")
    answered.locator("#finding").wait_for()


@pytest.mark.proof
def test_thousands_of_pasted_lines_are_read_at_once(opened: Callable[..., Page]) -> None:
    page = opened()
    rows = [f"{i},R{r},{(i + r) % 5}" for i in range(1000) for r in range(8)]
    pasted = """(area, text) => {
        const clipboardData = new DataTransfer();
        clipboardData.setData("text/plain", text);
        const options = { clipboardData, bubbles: true, composed: true, cancelable: true };
        area.dispatchEvent(new ClipboardEvent("paste", options));
    }"""

    page.get_by_role("textbox").first.click()
    page.get_by_role("textbox").first.evaluate(pasted, "\n".join(["item,rater,rating", *rows]))
    go_to(page, "Groups")
    go_to(page, "Your ratings")

    page.get_by_text("Read 8,000 ratings of 1,000 items by 8 raters").wait_for()


@pytest.mark.proof
def test_another_address_opens_with_its_token_only(browser: Browser) -> None:
    admission = Admission.at("127.0.0.1", ["ratings.example.com"])
    with served(admission) as address, browser.new_context() as context:
        page = context.new_page()

        refused = page.goto(address)
        page.goto(f"{address}/?token={admission.token}")
        page.get_by_role("textbox").first.wait_for()
        paste(page, SHROUT_FLEISS)
        page.locator("h1").click()
        page.get_by_text("Read 24 ratings").wait_for()

        assert refused is not None
        assert refused.status == 401
        assert "token" not in page.url


@pytest.mark.proof
def test_columns_are_guessed_and_can_be_changed(opened: Callable[..., Page]) -> None:
    rows = [f"{i},{who},{i % 3 + n},{i % 5}" for i in range(9) for n, who in enumerate("AB")]
    page = opened()
    paste(page, "\n".join(["item,who,score,second", *rows]))
    go_to(page, "Groups")
    go_to(page, "Your ratings")

    page.get_by_text("Read 18 ratings of 9 items by 2 raters").wait_for()
    guessed = page.get_by_label("Rating", exact=True).locator("option:checked").inner_text()
    page.get_by_label("Rating", exact=True).select_option("second")
    page.get_by_text("0..4").wait_for()

    assert guessed == "score"


def test_faults_are_above_the_table_beside_their_lines_and_go_when_they_are_mended(
    opened: Callable[..., Page],
) -> None:
    page = opened()
    paste(page, FAULTY)
    go_to(page, "Groups")
    go_to(page, "Your ratings")

    page.get_by_role("alert").wait_for()
    fault = page.get_by_role("alert").bounding_box()
    field = page.get_by_role("textbox").first.bounding_box()
    assert fault is not None
    assert field is not None
    assert fault["y"] + fault["height"] <= field["y"]
    page.get_by_role("alert").get_by_text("1,A,4").wait_for()
    assert page.get_by_role("alert").locator("li").count() == 1
    page.get_by_label("Repeated ratings").select_option("keep")
    page.get_by_text("Left out 1 row:").wait_for()


@pytest.mark.parametrize(
    ("name", "tab", "boxes", "most"),
    [
        ("totals_and_duplicates.csv", "Who is right", ["repeat another in all cells"], 4),
        ("two_row_header.xlsx", "Reliability", ["Read several columns as the ratings"], 5),
    ],
)
def test_a_messy_file_has_its_answer_after_few_clicks(
    name: str, tab: str, boxes: list[str], most: int, opened: Callable[..., Page]
) -> None:
    page, clicks = opened(), 1  # the first chooses the file
    page.locator("marimo-file input").set_input_files(MESSY / name)
    for box in boxes:
        page.get_by_role("checkbox", name=box).click()
        clicks += 1
    page.get_by_text("Read 3").wait_for()
    assert page.get_by_role("checkbox", name="Repair what loses no rating").is_checked()
    go_to(page, tab)
    press(page, "Fit")
    page.locator("#headline").wait_for()

    assert clicks + 2 <= most


def test_repairs_are_boxes_above_the_field_with_their_rows_and_no_python(
    opened: Callable[..., Page],
) -> None:
    page = opened()
    page.locator("marimo-file input").set_input_files(MESSY / "totals_and_duplicates.csv")
    box = page.get_by_role("checkbox", name="Leave out rows that repeat another")
    box.wait_for()

    place, field = box.bounding_box(), page.get_by_role("textbox").first.bounding_box()
    assert place is not None
    assert field is not None
    assert place["y"] < field["y"]
    assert not box.is_checked()
    page.get_by_text("Leaves out 1 row of totals or means.").wait_for()
    assert "=" not in page.locator("#App").inner_text().replace("\n", " ")
    page.get_by_role("checkbox", name="Repair what loses no rating").click()
    page.get_by_text("The table cannot be used yet.").wait_for()


@pytest.mark.proof
def test_cancelling_ends_the_chains(opened: Callable[..., Page]) -> None:
    page = opened()
    rng = np.random.default_rng(1)
    rows = [f"{i},R{r},{rng.integers(1, 6)}" for i in range(100) for r in range(10)]
    paste(page, "\n".join(["item,rater,rating", *rows]))
    go_to(page, "Reliability")
    page.get_by_label("Model").select_option("OrdinalICC")
    press(page, "Fit")
    chains = wait_for_chains()

    press(page, "Cancel")
    page.get_by_role("progressbar").wait_for(state="detached")

    until = time.monotonic() + LONG / 1000
    while any(each.is_running() for each in chains) and time.monotonic() < until:
        time.sleep(0.1)
    assert not any(each.is_running() for each in chains)
    assert page.locator("#headline").count() == 0


def wait_for_chains() -> list[psutil.Process]:
    until = time.monotonic() + LONG / 1000
    while time.monotonic() < until:
        found = []
        for each in psutil.Process().children(recursive=True):
            try:
                if "ordinal_icc" in " ".join(each.cmdline()):
                    found.append(each)
            except psutil.Error:
                continue
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError("no chain has started")


@pytest.mark.proof
def test_hostile_names_do_nothing(opened: Callable[..., Page]) -> None:
    page = opened()
    title = page.title()
    rows = [f"{who},{i},{i % 3}" for i in range(6) for who in (SCRIPT, f'"{IMAGE[:-1]}"', "C")]
    names = f'{SCRIPT.replace(",", "")},"<b>item</b>","$\\alpha$ **bold**"'
    paste(page, "\n".join([names, *[row.replace('=""', "=") for row in rows]]))
    go_to(page, "Agreement")
    go_to(page, "Your ratings")
    page.get_by_text("The column of the item is “<b>item</b>”.").wait_for()
    page.get_by_label("Read the table this way").check()
    go_to(page, "Agreement")
    press(page, "Compute")
    page.locator("#finding").wait_for()
    go_to(page, "Your ratings")
    page.get_by_text("The first rows").wait_for()

    assert page.title() == title
    assert page.locator("img[src=x]").count() == 0


def test_agreement_truth_and_simulations_have_their_answers(opened: Callable[..., Page]) -> None:
    page = opened()
    frame = rb.datasets.load("dawid_skene_1979").drop_duplicates(["item", "rater"])
    frame["rating"] = frame["rating"].map("grade {}".format)
    paste(page, frame.to_csv(index=False, sep="\t"))
    go_to(page, "Who is right")
    press(page, "Fit")
    page.locator("#headline").wait_for()
    assert "labels" in headline(page)
    page.get_by_label("Show").select_option("Items")
    page.get_by_text("Items (DawidSkene)").wait_for()
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Download items.csv").click()
    assert waiting.value.path().read_text(encoding="utf-8").startswith("item,")
    go_to(page, "Agreement")
    press(page, "Compute")
    page.locator("#finding", has_text="alpha (nominal) is").wait_for()
    go_to(page, "Groups")
    page.get_by_text("Choose the column “Pool”").wait_for()
    go_to(page, "Simulate")
    press(page, "Simulate and estimate")
    page.get_by_text("True parameters of the simulation").wait_for()


def test_two_files_of_judges_and_people_have_two_sentences(
    opened: Callable[..., Page], tmp_path: Path
) -> None:
    frame = table(
        {"v3": 0.5, "v4": 0.9}, {**dict.fromkeys(("Ann", "Bob", "Cem"), 0.05), "judge": 0}
    )
    is_person = frame["pool"] == "human"
    frame[~is_person].drop(columns="pool").to_csv(tmp_path / "judges.csv", index=False, sep=";")
    labels = frame[is_person].pivot(index="item", columns="rater", values="rating")
    labels.to_excel(tmp_path / "labels.xlsx")
    page = opened()
    go_to(page, "Judges")
    page.get_by_text("What judges said:").wait_for()
    areas = page.locator("marimo-file input")

    areas.nth(0).set_input_files(tmp_path / "judges.csv")
    areas.nth(1).set_input_files(tmp_path / "labels.xlsx")
    page.get_by_label("System").wait_for()
    press(page, "Answer both questions")
    page.locator("#headline").wait_for()

    assert headline(page).startswith("v4 is better than v3 with probability above 0.99: people ")
    assert "judge may stand in for a person with probability" in page.locator(".claim").inner_text()
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Download report.html").click()
    assert headline(page) in waiting.value.path().read_text(encoding="utf-8")


@pytest.mark.proof
def test_ones_own_coefficient_is_shown_among_simulated_ones(opened: Callable[..., Page]) -> None:
    page = opened()
    go_to(page, "Simulate")
    page.get_by_role("textbox", name="Your coefficient").fill("0.4")
    page.get_by_label("Response distribution").fill("0.1, 0.1, 0.8")
    press(page, "Simulate all agreements")
    page.get_by_text("ICC(1,1) of 0.40 corresponds to agreement on").wait_for()
    page.get_by_role("textbox", name="Ratings per item").fill("7")
    press(page, "Simulate all agreements")

    page.get_by_text("ratings_per_item must lie between 2 and 6; found 7").wait_for()


@pytest.mark.parametrize(
    ("scheme", "width"),
    [
        ("light", 1000),
        ("dark", 390),
        pytest.param("dark", 1000, marks=pytest.mark.proof),
        pytest.param("light", 390, marks=pytest.mark.proof),
    ],
)
def test_the_page_is_accessible_and_fits_a_phone(
    scheme: str, width: int, opened: Callable[..., Page]
) -> None:
    page = opened(color_scheme=scheme, viewport={"width": width, "height": 844})
    found: dict[str, Any] = {}

    def look(name: str) -> None:
        for _ in range(LOOKS):  # elements appear one after the other
            page.evaluate("completeElements()")  # which the page does five times a second
            found[name] = (violations(page), too_wide(page))
            if found[name] == ([], 0):
                return

    boxes = [tab.bounding_box() for tab in page.get_by_role("tab").all()]
    assert len(boxes) == 8
    assert all(box is not None and box["x"] + box["width"] <= width for box in boxes)
    look("Your ratings")
    fitted(page)
    look("Reliability")
    go_to(page, "Agreement")
    press(page, "Compute")
    page.locator("#finding").wait_for()
    look("Agreement")
    for tab in ("Who is right", "Judges", "Simulate", "Report", "Your ratings"):
        go_to(page, tab)
        look(tab)
    paste(page, FAULTY)
    go_to(page, "Groups")
    go_to(page, "Your ratings")
    page.get_by_role("alert").wait_for()
    look("faults")
    page.locator("marimo-file input").set_input_files(
        {"name": "table.csv", "mimeType": "text/csv", "buffer": SHROUT_FLEISS.encode()}
    )
    page.get_by_text("Click to clear file").wait_for()
    look("file")

    assert found == dict.fromkeys(found, ([], 0))


def test_an_interrupt_ends_the_app_also_while_a_page_is_open(browser: Browser) -> None:
    main = "from reliabayes.cli import main; main()"
    command = [sys.executable, "-c", main, "app", "--no-browser", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        said = process.stderr.readline()
        page = browser.new_page()
        page.goto(said.split(" at ")[1].split()[0])
        page.get_by_role("textbox").first.wait_for()
        children = psutil.Process(process.pid).children(recursive=True)

        process.send_signal(signal.SIGINT)
        code = process.wait(LONG / 1000)

    page.close()
    assert code == 130
    assert len(children) == 1
    psutil.wait_procs(children, LONG / 1000)
    assert not any(child.is_running() for child in children)


@pytest.mark.proof
def test_a_hundred_thousand_ratings_have_an_answer(
    opened: Callable[..., Page], tmp_path: Path
) -> None:
    rng = np.random.default_rng(1)
    item, rater = np.divmod(np.arange(100_000), 4)
    rater = (rater * 25 + rng.integers(0, 25, len(item))).astype(int)
    rating = (
        rng.normal(size=25_000)[item] + rng.normal(size=100)[rater] + rng.normal(size=len(item))
    )
    rows = [f"{i},R{r},{x:.2f}" for i, r, x in zip(item, rater, rating, strict=True)]
    path = tmp_path / "ratings.csv"
    path.write_text("\n".join(["item,rater,rating", *rows]))
    page = opened()

    page.locator("marimo-file input").set_input_files(path)
    page.get_by_text("Read 100,000 ratings of 25,000 items by 100 raters").wait_for()
    go_to(page, "Reliability")
    press(page, "Fit")
    page.locator("#headline").wait_for()

    # A third of the variance of a rating is due to each source: 4 ratings give 4/3 / (1 + 1/3).
    reached = float(page.locator(".value").first.inner_text())
    assert reached == pytest.approx(4 / 6, abs=0.03)
