"""The code in the documentation runs, prints what the pages show, and covers the public API.

The strict build of MkDocs checks links, navigation and formulas.
"""

from __future__ import annotations

import contextlib
import functools
import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb
from docs.generate import gallery, models
from docs.generate.docstrings import markdown
from docs.generate.examples import example, plot
from docs.generate.execution import MODES, printed_and_drawn, version
from docs.generate.names import identifier
from tests.conftest import ROOT

DOCS = ROOT / "docs"
BLOCK = re.compile(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)
NUMBER = re.compile(r"-?\d+(?:,\d{3})*(?:\.\d+)?")
CALL = re.compile(r"`((?:rb\.|ag\.|fit\.)[^`]+)`")


# Handwritten pages.


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [
        "choosing",
        "errors",
        "install",
        "paper",
        "readers",
        "reliability",
        *(
            pytest.param(page, marks=pytest.mark.docs)
            for page in (
                "errata",
                "facets",
                "index",
                "judges",
                "large",
                "quickstart",
                "stan",
                "words",
            )
        ),
    ],
)
def test_code_of_a_page_runs_and_prints_what_is_shown(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = BLOCK.findall(written(page))

    printed = run([code for code, _ in blocks])

    shown = [(text, found) for (_, text), found in zip(blocks, printed, strict=True) if text]
    assert blocks
    for text, found in shown:
        assert words(found) == words(text)
        # draws differ between versions of NumPy because of rounding
        assert numbers(found) == pytest.approx(numbers(text), rel=0.05, abs=0.05)


def test_each_figure_on_the_performance_page_is_in_the_benchmarks() -> None:
    measured = NUMBER.findall((ROOT / "benchmarks" / "README.md").read_text())
    body = written("performance").partition("\n## ")[2]

    claimed = NUMBER.findall(re.sub(r"`[^`]*`|AC1", "", body))

    assert claimed
    assert set(claimed) <= {*measured, "21"}


@pytest.mark.parametrize("model", rb.MODELS, ids=lambda model: model.__name__)
def test_each_quantity_of_a_model_is_explained(model: type[rb.RatingModel]) -> None:
    explained = re.findall(r"^### (\w+)$", written("quantities"), re.MULTILINE)

    assert set(model.reports) <= set(explained)


@pytest.mark.docs
@pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")
@pytest.mark.parametrize("page", ["from_r", "from_python"])
def test_each_call_in_the_tables_of_equivalents_works(page: str) -> None:
    rows = [line.split(" | ") for line in written(page).splitlines() if line.startswith("| ")]
    calls = {call for row in rows for call in CALL.findall(row[1])}

    failing = {call: reasons for call in calls if (reasons := why_failing(call))}

    assert len(calls) > 15
    assert failing == {}


# Generated pages.


@pytest.fixture
def _examples_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "printed_and_drawn", lambda *_: ("what it prints\n", {}))


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        ("icc_k", "reliabayes.results.quantities.icc", "reliabayes.results.quantities.icc_k"),
        ("items", "reliabayes.ratings.ratings.Ratings.counts", None),  # not plots.items
        ("plots.items", "reliabayes.results.fit.Fit", "reliabayes.plots.items"),
        ("reliabayes.compare", "reliabayes.plots.model_comparison.compare", "reliabayes.compare"),
        ("rb.plots.compare", "reliabayes.results.comparison.compare", "reliabayes.plots.compare"),
        ("loo", "reliabayes.results.fit.Fit.check", "reliabayes.Fit.loo"),
        ("Fit.loo", "reliabayes.results.comparison.compare", "reliabayes.Fit.loo"),
    ],
)
def test_a_name_in_a_docstring_links_to_the_public_name_in_its_scope(
    text: str, path: str, expected: str | None
) -> None:
    assert identifier(text, path) == expected


@pytest.mark.parametrize("model", rb.MODELS, ids=lambda model: model.__name__)
@pytest.mark.usefixtures("_examples_not_run")
def test_the_page_of_a_model_has_an_example_and_its_programs(model: type[rb.RatingModel]) -> None:
    page = next(models.page(name) for name in models.models() if name.value is model)

    assert f"rb.{model.__name__}().fit(ratings, seed=1)" in page
    assert "```text\nwhat it prints\n```" in page
    assert "target += " in page


@pytest.mark.usefixtures("_examples_not_run")
def test_a_plain_program_comes_before_that_of_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "STAN", tmp_path)
    (tmp_path / "reference").mkdir()
    (tmp_path / "reference" / "tap.stan").write_text("// plain")
    (tmp_path / "tap.stan").write_text("// packaged")

    name = next(name for name in models.models() if name.value is rb.TAP)

    page = models.page(name)

    assert 0 < page.index("// plain") < page.index("// packaged")


def test_the_gallery_shows_each_plot() -> None:
    assert set(gallery.CALLS) == set(rb.plots.__all__)


def test_a_docstring_becomes_markdown() -> None:
    docstring = """Sum of x, in [0, 1].

    .. math:: a +
       b

    See `rb.compare`, not ``this`` or `that`, for :math:`x`.

    References
    ----------
    A (1979), Title.
    https://doi.org/10.1/2
    B (1980).

    Examples
    --------
    >>> 1
    1
    """

    found = markdown(docstring, "reliabayes.models.tap.TAP")

    assert found.splitlines() == [
        "Sum of x, in [0, 1].",
        "",
        "$$ a + b $$",
        "",
        "See [`rb.compare`][reliabayes.compare], not `this` or `that`, for $x$.",
        "",
        "References",
        "----------",
        "- A (1979), Title.",
        "<https://doi.org/10.1/2>",
        "- B (1980).",
        "",
        "Examples",
        "--------",
        ">>> 1",
        "1",
    ]


@pytest.mark.docs
@pytest.mark.parametrize("model", rb.MODELS, ids=lambda model: model.__name__)
def test_the_example_of_a_model_runs_without_warnings(model: type[rb.RatingModel]) -> None:
    printed, images = printed_and_drawn(example(model), plot(model), version())

    assert "quantity" in printed
    assert set(images) == set(MODES)


# Helpers.


def written(page: str) -> str:
    return (DOCS / f"{page}.md").read_text()


def run(codes: list[str]) -> list[str]:
    """Run the code blocks in order and return the output of each."""
    made: dict[str, Any] = {}
    printed = []
    for code in codes:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(code, made)
        printed.append(out.getvalue())
    return printed


def words(text: str) -> list[str]:
    return NUMBER.sub("0", text).split()


def numbers(text: str) -> list[float]:
    return [float(number.replace(",", "")) for number in NUMBER.findall(text)]


def why_failing(call: str) -> list[str]:
    """Errors of a call for a Gaussian and a categorical fit; empty if either call works."""
    reasons = []
    for fit in fits():
        try:
            eval(call, {**known_names(), "fit": fit})
        except Exception as error:
            reasons.append(f"{type(error).__name__}: {error}")
        else:
            return []
    return reasons


@functools.cache
def known_names() -> dict[str, Any]:
    """Variables that the calls in the tables of equivalents may use."""
    rng = np.random.default_rng(1)
    truth = rng.integers(1, 3, 40)
    table = pd.DataFrame({"one": truth, "other": np.where(rng.random(40) < 0.8, truth, 3 - truth)})
    ratings = rb.Ratings.from_wide(table, pool={"one": "crowd", "other": "expert"})
    return {
        "rb": rb,
        "ag": rb.agreement,
        "rng": rng,
        "ratings": ratings,
        "study": rb.simulate.reliability_study(matrices=2, seed=1, progress=False),
        "scores": on_two_days(rng),
        "known": rb.Ratings.from_wide(table.assign(truth=truth), gold="truth", scale="nominal"),
        "skills": pd.Series({"one": 1.0, "other": 0.5}),
        "sets": rb.Ratings.from_wide(table.astype(str) + ";a", separator=";"),
        "one": ratings,
        "other": ratings,
        "table": table,
        "counts": pd.crosstab(table["one"], table["other"]),
        "x": table.to_numpy(),
        "v": [1, 2],
        "weights": "linear",
        "metric": "nominal",
        "fits": {"DS": rb.DawidSkene().fit(ratings, seed=1), "TAP": rb.TAP().fit(ratings, seed=1)},
    }


def on_two_days(rng: np.random.Generator) -> rb.Ratings:
    cells = pd.MultiIndex.from_product([range(10), range(3), range(2)])
    frame = cells.to_frame(index=False, name=["item", "rater", "day"])
    return rb.Ratings.from_frame(frame.assign(rating=rng.normal(size=60)), facets=["day"])


@functools.cache
def fits() -> tuple[rb.Fit, rb.Fit]:
    """A Gaussian fit with two pools, and a categorical fit."""
    design = rb.simulate.crossed(30, 3, pools=2)
    design["pool"] = design["pool"].map({1: "crowd", 2: "expert"})
    truth = {"mean": 5, "sd_item": 1, "sd_rater": 0.5, "sd_residual": 1}
    pools = rb.GaussianXCC().simulate(design, np.random.default_rng(1), parameters=truth)
    return rb.GaussianXCC().fit(pools, seed=1), known_names()["fits"]["DS"]
