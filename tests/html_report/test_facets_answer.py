"""The answer of a G study: how reliable means are, what limits them, and what would help."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import reliabayes as rb
from reliabayes.facets import MeasurementDesign
from reliabayes.html_report.answers.dispatch import answer
from reliabayes.html_report.answers.facets import _in_words, levels_now
from tests.html_report.test_report import CHECKS, DRAWN, make_quick

Load = Callable[[str], pd.DataFrame]

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")]


def test_levels_of_nested_facets_are_counted_within_the_others(dataset: Load) -> None:
    table = dataset("brennan_synthetic_4")
    columns: dict[str, Any] = {"item": "person", "rater": "r", "rating": "Response"}
    ratings = rb.Ratings.from_frame(table, **columns, facets=["t"])

    design = MeasurementDesign.parse("item x (rater:t)")

    assert levels_now(ratings, design) == {"rater": 4, "t": 3}


def test_verdict_names_the_levels_at_hand_the_largest_error_and_what_would_help() -> None:
    rng = np.random.default_rng(4)
    cells = pd.MultiIndex.from_product([range(60), range(3), range(2)]).to_frame(index=False)
    table = cells.set_axis(["item", "rater", "day"], axis=1)
    table["rating"] = (
        rng.normal(0, 1, 60)[table["item"]]
        + rng.normal(0, 1.2, (60, 2))[table["item"], table["day"]]
        + rng.normal(0, 0.5, len(table))
    )
    fit = rb.GStudy(design="item x rater x day").fit(
        rb.Ratings.from_frame(table, facets=["day"]), seed=1, progress=False
    )

    found = answer(fit, reliability=0.7)

    days = fit.d_study({"rater": 3, "day": range(2, 40)}).draws["phi"]
    medians = days.median(("chain", "draw")).values.ravel()
    enough = 2 + int(np.argmax(medians >= 0.7))
    assert found.claims[0].text.endswith(
        f": 3 raters and 2 days give a reliability of {medians[0]:.2f}; 0.70 takes {enough} days"
    )
    assert found.claims[1].text.startswith("The largest part of the error of a single rating, ")
    source = "item x day"
    share = float(fit.quantities["proportion"].sel(source=source).median())
    assert found.claims[1].text.endswith(
        f", {share:.0%} of its variance, comes from differences between items that change from day "
        "to day"
    )
    assert found.figures[2].name == "of the variance comes from item x day"
    assert found.figures[2].value == f"{share:.0%}"
    assert found.figures[3].name == "smallest change beyond error (95%), in units of the rating"
    assert f"the largest part of the error is item x day ({share:.0%})" in titled(fit)


def titled(fit: rb.Fit) -> str:
    """Title of the chart below the verdict."""
    ax = rb.plots.variance_shares(fit)
    plt.close(ax.figure)  # type: ignore[arg-type]
    return " ".join(ax.get_title(loc="left").split())


def test_first_screen_of_a_g_study_of_grades_is_on_the_scale_of_the_grades() -> None:
    rng = np.random.default_rng(5)
    cells = pd.MultiIndex.from_product([range(40), range(3), range(2)]).to_frame(index=False)
    table = cells.set_axis(["item", "rater", "day"], axis=1)
    score = rng.normal(0, 2.5, 40)[table["item"]] + rng.normal(0, 1, (3, 1))[table["rater"], 0]
    cuts = np.array([-2.0, -0.7, 0.7, 2.0])
    table["rating"] = (score[:, None] + rng.logistic(size=(len(table), 1)) > cuts).sum(axis=1)
    ratings = rb.Ratings.from_frame(table, facets=["day"], scale="ordered")
    model = rb.GStudy(design="item x rater x day", family="ordinal")
    fit = model.fit(ratings, seed=1, chains=2, warmup=100, draws=100, progress=False)

    found = answer(fit)

    figures = {figure.name: figure for figure in found.figures}
    single = figures["signal in a single rating"]
    assert single.value == f"{float(fit.quantities['phi_observed'].median()):.0%}"
    name = "average difference between two ratings of one item, in categories"
    pairs = table.pivot_table(index="item", columns=["rater", "day"], values="rating").to_numpy()
    different = [
        abs(pairs[:, 2 * a] - pairs[:, 2 * b + 1]).mean()
        for a in range(3)
        for b in range(3)
        if a != b
    ]
    assert float(figures[name].value) == pytest.approx(np.mean(different), abs=0.1)
    shown = found.verdict + "".join(figures)
    assert "change" not in shown
    assert "%" not in found.claims[1].text
    change = float(fit.quantities["mdc"].median())
    assert "On the latent scale, Phi is" in found.sentences[-1]
    assert f"is {change:.2f} (90% interval" in found.sentences[-1]
    assert found.sentences[-1].endswith("log odds.")


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("rater", "comes from differences between raters"),
        ("rater x day", "comes from differences between raters that change from day to day"),
        ("item x rater x day", "comes from the interaction item x rater x day"),
        ("item x rater:day", "comes from the interaction item x rater:day"),
        ("item x rater, residual", "is explained by no facet"),
    ],
)
def test_sources_of_error_are_told_in_words(source: str, words: str) -> None:
    assert _in_words(source) == words


def test_report_of_a_g_study_begins_with_its_verdict(
    dataset: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns: dict[str, Any] = {"item": "person", "rater": "i", "rating": "Response"}
    ratings = rb.Ratings.from_frame(dataset("brennan_synthetic_3"), **columns, facets=["o"])
    model = rb.GStudy(design="item x rater x o")
    fit = model.fit(ratings, seed=1, chains=2, draws=100, progress=False)
    make_quick(monkeypatch, *DRAWN, *CHECKS)

    fit.report(tmp_path / "report.html")

    page = (tmp_path / "report.html").read_text()

    assert answer(fit).headline in page
