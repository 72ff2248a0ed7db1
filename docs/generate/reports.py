"""Reports on published and simulated ratings: their first screens, and the code that made them."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from .execution import MEMORY, MODES, pictures, version

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or ""
# For a browser in a container that makes no requests of its own.
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
SCREEN: Any = {"width": 1000, "height": 740}
OPENING = """\
# Reports

`fit.report("report.html")` and `reliabayes report` write one page that opens with the answer. It
needs no network, and can be mailed. These six were made with the code that is shown; four are of
published ratings, in two tables, and two of simulated ones, whose truth is known.
"""


@dataclass(frozen=True)
class Report:
    """A report: its question, what it is about, and the code that writes ``path``."""

    title: str
    about: str
    code: str


REPORTS: Mapping[str, Report] = {
    "scores": Report(
        "How reliable are four judges?",
        "Six targets, each scored from 1 to 10 by the same four judges: the table of Shrout &"
        " Fleiss (1979).",
        """\
import reliabayes as rb

ratings = rb.Ratings.from_frame(rb.datasets.load("shrout_fleiss_1979"))
rb.GaussianICC().fit(ratings, seed=1).report("scores.html")
""",
    ),
    "categories": Report(
        "Which category is right?",
        "Five anaesthetists put 45 patients into four categories, and the first of them did so"
        " three times (Dawid & Skene 1979). Two models are compared.",
        """\
import reliabayes as rb

table = rb.datasets.load("dawid_skene_1979")
ratings = rb.Ratings.from_frame(table, scale="nominal", replicates="keep")
fits = {
    "DawidSkene": rb.DawidSkene().fit(ratings, seed=1),
    "MACE": rb.MACE().fit(ratings, seed=1),
}
rb.report(ratings, fits, "categories.html")
""",
    ),
    "grades": Report(
        "How many raters does a grade need?",
        "The same anaesthetists and patients: the four categories are grades of fitness for an"
        " anaesthetic, so that the reliability of the mean of several can be asked for.",
        """\
import reliabayes as rb

table = rb.datasets.load("dawid_skene_1979")
ratings = rb.Ratings.from_frame(table, scale="ordered", replicates="keep")
rb.OrdinalICC().fit(ratings, seed=1).report("grades.html")
""",
    ),
    "occasions": Report(
        "Is one rater consistent over time?",
        "The first of these anaesthetists read the records of the patients three times. Each"
        " occasion takes the place of a rater, so that the reliability is that of one person:"
        " intra-rater, or test-retest.",
        """\
import reliabayes as rb

table = rb.datasets.load("dawid_skene_1979").query("rater == 1")
table = table.assign(rater="occasion " + table["replicate"].astype(str))
ratings = rb.Ratings.from_frame(table, scale="ordered")
rb.OrdinalICC().fit(ratings, seed=1).report("occasions.html")
""",
    ),
    "vendors": Report(
        "Which labels can be trusted, and which vendor is poor?",
        "Simulated: three vendors with eight raters each label 600 pictures, each labelled once by"
        " every vendor. Raters of vendor C know the answer for 40% of the pictures, those of A for"
        " 90% and of B for 80%; experts have labelled 60 pictures.",
        """\
import numpy as np
import reliabayes as rb

rng = np.random.default_rng(1)
table = rb.simulate.incomplete(600, 8, 1, rng, pools=3)
table["vendor"] = table["pool"].map({1: "A", 2: "B", 3: "C"})
animals = np.array(["bird", "cat", "dog", "fish"])
truth, guess = animals[rng.integers(4, size=600)], animals[rng.integers(4, size=len(table))]
knows = rng.random(len(table)) < table["vendor"].map({"A": 0.9, "B": 0.8, "C": 0.4})
table["rating"] = np.where(knows, truth[table["item"] - 1], guess)
table["gold"] = np.where(table["item"] <= 60, truth[table["item"] - 1], None)
ratings = rb.Ratings.from_frame(table, pool="vendor", gold="gold", scale="nominal")
rb.MACE().fit(ratings, seed=1).report("vendors.html")
""",
    ),
    "judges": Report(
        "Do LLM judges see what people see?",
        "Simulated: 300 answers, each called helpful or not by four of ten people and by four of"
        " ten language models. The true scores of the two pools correlate 0.7.",
        """\
import numpy as np
import reliabayes as rb

rng = np.random.default_rng(1)
design = rb.simulate.incomplete(300, 10, 4, rng, pools=2)
design["pool"] = design["pool"].map({1: "people", 2: "LLM judges"})
truth = {
    "mean": [1, 0],  # in the order of the pools' names
    "sd_item": [2, 2],
    "sd_rater": [0.3, 0.6],
    "factor_item": np.linalg.cholesky([[1, 0.7], [0.7, 1]]),
}
answers = ["not helpful", "helpful"]
ratings = rb.LogitXCC().simulate(design, rng, categories=answers, parameters=truth)
rb.LogitXCC().fit(ratings, seed=1).report("judges.html")
""",
    ),
}


def pages() -> Iterator[tuple[str, str]]:
    """The page of the reports."""
    yield "reports.md", "\n".join([OPENING, *map(_section, REPORTS)])


def files() -> Iterator[tuple[str, bytes]]:
    """Paths and contents of the reports and of pictures of their first screens."""
    for name in REPORTS:
        page, screens = _written(name)
        yield f"reports/{name}.html", page
        for mode, image in screens.items():
            yield f"reports/{name}_{mode}.png", image


def _section(name: str) -> str:
    """Section on a report: a picture of its first screen, and the code that wrote it."""
    report = REPORTS[name]
    shown = pictures(f"reports/{name}", f"First screen of the report: {report.title}")
    framed = shown.replace("{ .picture }", "{ .picture .screen }")
    linked = "\n".join(f"[{image}](reports/{name}.html)" for image in framed.splitlines())
    return "\n\n".join(
        [
            f"## {report.title} {{ #{name} }}",
            f"{report.about} [Open the report](reports/{name}.html).",
            linked if _written(name)[1] else "",
            f"```python\n{report.code}```",
            "",
        ]
    )


@cache
def _written(name: str) -> tuple[bytes, dict[str, bytes]]:
    """A report, and pictures of its first screen by mode, where there is a browser."""
    found: tuple[bytes, dict[str, bytes]] = written(REPORTS[name].code, version(), bool(CHROMIUM))
    return found


@MEMORY.cache  # type: ignore[untyped-decorator]
def written(code: str, version: str, has_browser: bool) -> tuple[bytes, dict[str, bytes]]:
    """The report that code writes, and pictures of its first screen by mode."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        exec(code, {})
        (path,) = Path(folder).glob("*.html")
        return path.read_bytes(), first_screens(path) if has_browser else {}


def first_screens(path: Path) -> dict[str, bytes]:
    """Pictures of the first screen of a page, in light and dark mode."""
    from playwright.sync_api import sync_playwright

    screens = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        for mode in MODES:
            scheme: Any = mode
            page = browser.new_page(viewport=SCREEN, color_scheme=scheme, device_scale_factor=1.5)
            page.goto(path.as_uri())
            page.wait_for_timeout(300)  # until the script has drawn
            screens[mode] = page.screenshot()
        browser.close()
    return screens
