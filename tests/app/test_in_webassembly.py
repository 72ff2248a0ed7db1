"""The package and the static page in WebAssembly, as headless Chromium runs it, without a network.

`make webassembly` fetches what they need. RELIABAYES_PYODIDE names a folder with a distribution of
Pyodide and its wheels, if there is one; then all tests run in it too.
"""

from __future__ import annotations

import functools
import http.server
import json
import math
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import reliabayes as rb
from reliabayes.app.in_browser import MOST_RATINGS
from reliabayes.app.static_page import write_page
from tests.chromium import launched, violations
from tests.conftest import ROOT
from tests.monte_carlo import standard_errors
from tests.test_without_stan import FIT, NEEDS_STAN, WORK, check_same_work, write_labels

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.webassembly

PACKAGES = ROOT / "build/engines/node_modules"
PYODIDE = os.environ.get("RELIABAYES_PYODIDE")
ENGINES = {"wasi": {"wasi": PACKAGES / "@bjorn3/browser_wasi_shim"}}
if PYODIDE:
    ENGINES["pyodide"] = {"pyodide": Path(PYODIDE)}
MOST_SECONDS = 300  # beside other work a page computes for minutes
RUN = """async ([code, files]) => {
    const { start } = await import("/engine/engine.js");
    const python = await start(() => {});
    for (const [name, text] of Object.entries(files)) python.write(name, text);
    python.run(code);
    return python.read("output.txt");
}"""
# What Ctrl-V does, which types thousands of lines one by one where scripts do it.
PASTE = """(text) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", text);
    const options = { clipboardData, bubbles: true, cancelable: true };
    document.querySelector("#pasted").dispatchEvent(new ClipboardEvent("paste", options));
}"""
# What the code prints, as a file.
PRINTED = """
from contextlib import redirect_stdout
with open("/output.txt", "w") as output, redirect_stdout(output):
    exec({code!r}, {{}})
"""

Opened = Callable[..., "Page"]


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Address of a file server of a folder, the one that Python has."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium."""
    with launched() as found:
        yield found


@pytest.fixture(scope="module", params=ENGINES)
def address(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """Where the page is served, with each engine."""
    folder = tmp_path_factory.mktemp("page")
    write_page(folder, **ENGINES[request.param])
    with served(folder) as where:
        yield where
    shutil.rmtree(folder)


@pytest.fixture
def opened(browser: Browser, address: str) -> Iterator[Opened]:
    """The page, ready; at the end of the test it had no errors, and asked no other server."""
    messages: list[str] = []
    contexts = []

    def open_(**options: Any) -> Page:
        contexts.append(browser.new_context(**options))
        page = contexts[-1].new_page()
        page.set_default_timeout(1000 * MOST_SECONDS)
        page.on("console", lambda message: messages.append(message.text))
        page.on("pageerror", lambda error: messages.append(str(error)))
        page.on("request", lambda request: messages.append(request.url[:60]))
        page.goto(f"{address}index.html")
        is_idle(page)
        return page

    yield open_
    for context in contexts:
        context.close()
    known = (address, "data:", "blob:")
    assert [text for text in messages if not text.startswith(known)] == []


def is_idle(page: Page) -> None:
    """Wait until the page has nothing to do."""
    from playwright.sync_api import expect

    expect(page.locator("#status")).to_have_text("", timeout=1000 * MOST_SECONDS)


def click(page: Page, *selectors: str) -> None:
    for selector in selectors:
        page.click(selector)
        is_idle(page)


def paste(page: Page, table: str) -> None:
    if len(table) < 1000:
        page.fill("#pasted", table)
    else:
        page.evaluate(PASTE, table)
    click(page, "#read")


def crowd(items: int, raters: int, per_item: int) -> str:
    rng = np.random.default_rng(1)
    item, rater = rng.standard_normal(items), rng.standard_normal(raters)
    rows = [
        f"{i},{j},{item[i] + rater[j] + rng.standard_normal():.3f}"
        for i in range(items)
        for j in rng.choice(raters, per_item, replace=False)
    ]
    return "\n".join(["item,rater,rating", *rows])


def test_three_clicks_give_the_posterior_of_stan(opened: Opened) -> None:
    page = opened()
    click(page, "#example", "#tab-reliability", "#fit")

    verdict = page.locator("#reliability .found").inner_text()
    page.select_option("#part", "All quantities")
    is_idle(page)
    rows = page.locator("#reliability .found tbody tr").all()
    cells = [row.locator("th, td").all_inner_texts() for row in rows]
    medians = {name: float(median) for name, median, *_ in cells}

    ratings = rb.Ratings.from_frame(rb.datasets.load("shrout_fleiss_1979"))
    stan = rb.GaussianICC().fit(ratings, seed=1, draws=4000)
    errors, expected = standard_errors(stan, "median"), stan.summary()["median"]
    assert verdict.startswith("Not yet: 4 ratings an item give a reliability of 0.6")
    assert medians.keys() >= {*rb.GaussianICC.reports}
    for name in rb.GaussianICC.reports:
        # Four times as many draws here; and the page rounds to two decimals or fewer.
        error = math.hypot(errors[name], 2 * errors[name])
        assert abs(medians[name] - expected[name]) < 4 * error + 0.05, name


def test_the_sampler_finds_what_it_finds_on_a_computer(opened: Opened) -> None:
    sampler, means, items = json.loads(run(opened(), FIT))

    ratings = rb.Ratings.from_frame(rb.datasets.load("shrout_fleiss_1979"))
    here = rb.GaussianICC().fit(ratings, seed=1, sampler="independence")
    assert (sampler, items) == ("independence", 6)
    # Rounding differs, and with it now and then a proposal that is hardly accepted.
    errors = standard_errors(here, "mean")
    for name, mean in here.summary()["mean"].items():
        assert abs(means[name] - mean) < errors[str(name)]


def test_coefficients_em_and_simulation_are_those_of_a_computer(
    opened: Opened, tmp_path: Path
) -> None:
    file = write_labels(tmp_path / "labels.csv")
    there = run(opened(), WORK.format(labels="/labels.csv"), {"labels.csv": file.read_text()})

    check_same_work(json.loads(there), file)


def test_what_needs_stan_says_so(opened: Opened) -> None:
    messages = run(opened(), NEEDS_STAN).splitlines()

    assert len(messages) == 4
    assert all("Install reliabayes on a computer" in message for message in messages)


def run(page: Page, code: str, files: dict[str, str] | None = None) -> str:
    """What code prints in the Python of the page."""
    return str(page.evaluate(RUN, [PRINTED.format(code=code), files or {}]))


def test_ten_thousand_ratings_are_fitted(opened: Opened) -> None:
    page = opened()
    paste(page, crowd(2500, 50, 4))
    click(page, "#tab-reliability", "#fit")

    assert "Estimated with GaussianICC from 10,000 ratings" in page.inner_text(
        "#reliability .found"
    )


def test_more_ratings_are_told_what_to_do(opened: Opened) -> None:
    page = opened()
    paste(page, crowd(MOST_RATINGS // 4 + 1, 50, 4))

    assert f"at most {MOST_RATINGS:,} ratings" in page.inner_text("#ratings .found")
    click(page, "#tab-agreement", "#agree")
    assert page.inner_text("#agreement .found") == "Paste or drop a table on the first tab."


def test_a_computation_is_cancelled_and_the_table_kept(opened: Opened) -> None:
    page = opened()
    paste(page, crowd(4000, 50, 5))
    page.click("#tab-reliability")
    page.click("#fit")
    page.click("#cancel")
    is_idle(page)

    assert page.inner_text("#reliability .found") == ""
    click(page, "#tab-agreement", "#agree")
    assert "ICC" in page.inner_text("#agreement .found")


def test_other_tabs_answer(opened: Opened, tmp_path: Path) -> None:
    page = opened()
    file = write_labels(tmp_path / "labels.csv")
    page.set_input_files("#file", file)
    page.locator("#ratings .found table").wait_for()
    is_idle(page)
    click(page, "#tab-truth", "#estimate", "#tab-simulate", "#matrix", "#study", "#tap")

    assert "without intervals" in page.inner_text("#truth .found")
    assert page.locator("#matrix-found img").count() == 1
    assert "True parameters of the simulation" in page.inner_text("#tap-found")


def test_the_report_is_downloaded(opened: Opened) -> None:
    page = opened()
    click(page, "#example", "#tab-reliability", "#fit", "#tab-report", "#write")
    with page.expect_download() as download:
        page.click("#download")

    assert "sampler='independence'" in page.inner_text("#report .found")
    assert "GaussianICC" in Path(download.value.path()).read_text()


def test_names_are_no_code(opened: Opened) -> None:
    page = opened()
    bad = "<img src=x onerror=alert(1)>"
    paste(page, f"{bad},rater,rating\n{bad},a,1.5\n{bad},b,2.5\nx,a,3.5\nx,b,4\ny,a,0.5\ny,b,1\n")

    assert page.locator("#ratings .found img").count() == 0
    assert bad in page.inner_text("#ratings .found")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_accessible_and_fits_a_phone(scheme: str, opened: Opened) -> None:
    page = opened(color_scheme=scheme, viewport={"width": 390, "height": 844})
    click(page, "#example")
    for tab in ("ratings", "reliability", "agreement", "simulate", "report"):
        page.click(f"#tab-{tab}")
        if tab == "reliability":
            click(page, "#fit")
        assert violations(page) == [], tab
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, tab


def test_tabs_are_opened_by_arrow_keys(opened: Opened) -> None:
    page = opened()
    page.focus("#tab-ratings")
    page.keyboard.press("ArrowRight")

    assert page.get_attribute("#tab-reliability", "aria-selected") == "true"
    assert page.is_visible("#reliability")
    assert not page.is_visible("#ratings")


# Pyodide as npm has it: the core, without wheels.


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("core")
    write_page(folder, pyodide=PACKAGES / "pyodide")
    with served(folder) as where:
        yield where


def test_the_package_imports_in_pyodide(core: str, browser: Browser) -> None:
    page = browser.new_page()
    page.goto(f"{core}page.css")

    found = page.evaluate("""async () => {
        const { loadPyodide } = await import("/engine/pyodide.mjs");
        const pyodide = await loadPyodide();
        const site = await (await fetch("/site.zip")).arrayBuffer();
        pyodide.unpackArchive(site, "zip", { extractDir: "/site" });
        return pyodide.runPython(`
            import sys
            sys.path.insert(0, "/site")
            import reliabayes
            from reliabayes.inference.host import IN_BROWSER
            f"{reliabayes.SamplingError.__name__} {IN_BROWSER} {sys.platform}"
        `);
    }""")

    assert found == "SamplingError True emscripten"
    page.close()


def test_a_wheel_that_is_missing_is_named(core: str, browser: Browser) -> None:
    page = browser.new_page()
    page.goto(f"{core}index.html")
    page.get_by_text("This page cannot compute here").wait_for(timeout=60_000)

    assert "numpy" in page.inner_text("#status")
    page.close()
