"""The documentation is true: its code runs and prints what is shown, and no name is left out."""

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
from docs.generate import gallery, models, reference
from docs.generate.docstrings import markdown
from docs.generate.examples import example
from docs.generate.names import MODULES, link
from tests.conftest import ROOT

DOCS = ROOT / "docs"
BLOCK = re.compile(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)
NUMBER = re.compile(r"-?\d+(?:,\d{3})*(?:\.\d+)?")
CALL = re.compile(r"`((?:rb\.|ag\.|fit\.)[^`]+)`")
MODEL_PAGES = dict(models.pages())
REFERENCE_PAGES = dict(reference.pages())


# What is written by hand.


@pytest.mark.parametrize(
    "page",
    [
        "choosing",
        "errata",
        "errors",
        "index",
        pytest.param("quickstart", marks=pytest.mark.docs),
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
        # Draws differ between versions of NumPy, by rounding
        assert numbers(found) == pytest.approx(numbers(text), rel=0.05, abs=0.05)


def test_each_page_is_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text().partition("\nnav:\n")[2]

    written_pages = {path.name for path in DOCS.glob("*.md")}

    assert written_pages <= set(re.findall(r"[\w/]+\.md", navigation))
    assert {"models/", "notebooks/", "reference/"} <= set(re.findall(r"\w+/", navigation))


def test_each_figure_of_the_performance_page_was_measured() -> None:
    measured = NUMBER.findall((ROOT / "benchmarks" / "README.md").read_text())
    body = written("performance").partition("## Compared with other samplers")[2]

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
def test_each_equivalent_is_a_call_that_works(page: str) -> None:
    rows = [line.split(" | ") for line in written(page).splitlines() if line.startswith("| ")]
    calls = {call for row in rows for call in CALL.findall(row[1])}

    failing = {call: reasons for call in calls if (reasons := why_failing(call))}

    assert len(calls) > 15
    assert failing == {}


# What follows from the code.


@pytest.mark.parametrize("module", [m for name, m in MODULES.items() if name != "quantities"])
def test_each_exported_name_has_a_page(module: Any) -> None:
    pages = MODEL_PAGES | REFERENCE_PAGES

    titles = {text.partition("\n")[0] for text in pages.values()}

    assert {f"# {name}" for name in module.__all__} <= titles


def test_each_function_of_draws_has_a_page() -> None:
    assert "reference/quantities/icc_k.md" in REFERENCE_PAGES
    assert link("quantities.icc_k", "reference/index.md") == "quantities/icc_k.md"


def test_a_name_leads_to_its_own_page_and_not_to_a_namesake() -> None:
    assert link("items", "reference/reliabayes/Ratings.md") is None
    assert link("plots.items", "reference/index.md") == "plots/items.md"
    assert link("reliabayes.compare", "reference/plots/compare.md", "plots") == (
        "../reliabayes/compare.md"
    )
    assert link("Fit.loo", "models/index.md") == "../reference/reliabayes/Fit.md#loo"
    assert link("MACE.em", "models/mace.md") == "index.md#em"


@pytest.mark.parametrize("model", rb.MODELS, ids=lambda model: model.__name__)
def test_a_model_has_its_formula_defaults_and_program_on_a_page(
    model: type[rb.RatingModel],
) -> None:
    page = MODEL_PAGES[f"models/{model.name()}.md"]

    assert "$$ " in page
    assert "target += " in page
    assert f"rb.{model.__name__}().fit(ratings, seed=1)" in page
    assert all(f"| `{name}` | " in page for name in vars(model()))


def test_the_gallery_shows_each_picture() -> None:
    assert set(gallery.CALLS) == set(rb.plots.__all__)


def test_a_docstring_becomes_markdown() -> None:
    docstring = """Share of x, in [0, 1].

    .. math:: a +
       b

    See `rb.compare`, not ``this``.

    Parameters
    ----------
    one, other : Ratings
        Of two raters.
    seed : the same seed gives
        the same numbers

    References
    ----------
    A (1979). https://doi.org/10.1/2
    B (1980).
    """

    found = markdown(docstring, lambda name: "there.md" if name == "rb.compare" else None, 2)

    assert found.splitlines() == [
        "Share of x, in [0, 1].",
        "",
        "$$ a + b $$",
        "",
        "See [`rb.compare`](there.md), not `this`.",
        "",
        "## Parameters {: .section }",
        "",
        "`one`, `other`: Ratings",
        ":   Of two raters.",
        "",
        "`seed`",
        ":   the same seed gives the same numbers",
        "",
        "## References {: .section }",
        "",
        "- A (1979). <https://doi.org/10.1/2>",
        "- B (1980).",
    ]


@pytest.mark.docs
def test_each_formula_is_shown_without_a_script() -> None:
    from docs.generate.formulas import mathml

    texts = [*MODEL_PAGES.values(), *REFERENCE_PAGES.values(), *map(written, ["quantities"])]
    formulas = {tex for text in texts for tex in re.findall(r"\$\$ (.+?) \$\$", text)}

    shown = [mathml(tex, True) for tex in formulas]

    assert len(shown) > 50
    assert not [text for text in shown if "\\" in text]


@pytest.mark.docs
@pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")
@pytest.mark.parametrize("model", rb.MODELS, ids=lambda model: model.__name__)
def test_the_example_of_a_model_runs(model: type[rb.RatingModel]) -> None:
    short = example(model).replace("seed=1", "seed=1, chains=2, warmup=50, draws=50")

    (printed,) = run([short])

    assert "quantity" in printed


# Helpers.


def written(page: str) -> str:
    return (DOCS / f"{page}.md").read_text()


def run(codes: list[str]) -> list[str]:
    """What each piece of code prints, run after one another."""
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
    """Why a call fails on a fit of numbers, and on one of categories; empty if either works."""
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
    """What the tables of equivalents take for given."""
    rng = np.random.default_rng(1)
    truth = rng.integers(1, 3, 40)
    table = pd.DataFrame({"one": truth, "other": np.where(rng.random(40) < 0.8, truth, 3 - truth)})
    ratings = rb.Ratings.from_wide(table, pool={"one": "crowd", "other": "expert"})
    return {
        "rb": rb,
        "ag": rb.agreement,
        "rng": rng,
        "ratings": ratings,
        "one": ratings,
        "other": ratings,
        "table": table,
        "x": table.to_numpy(),
        "v": [1, 2],
        "weights": "linear",
        "metric": "nominal",
        "fits": {"DS": rb.DawidSkene().fit(ratings, seed=1), "TAP": rb.TAP().fit(ratings, seed=1)},
    }


@functools.cache
def fits() -> tuple[rb.Fit, rb.Fit]:
    """A fit of numbers by two pools, and one of categories."""
    design = rb.simulate.crossed(30, 3, pools=2)
    design["pool"] = design["pool"].map({1: "crowd", 2: "expert"})
    truth = {"mean": 5, "sd_item": 1, "sd_rater": 0.5, "sd_residual": 1}
    pools = rb.GaussianXCC().simulate(design, np.random.default_rng(1), parameters=truth)
    return rb.GaussianXCC().fit(pools, seed=1), known_names()["fits"]["DS"]
