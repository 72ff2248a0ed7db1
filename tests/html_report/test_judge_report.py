"""The report of a study of judges: two answers first, and no name that can break it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import reliabayes as rb
from reliabayes.families.judges.conclusions import Better, Conclusions
from reliabayes.plots.judge_rates import judge_rates
from tests.html_report.test_report import IMAGE, Page

pytestmark = pytest.mark.slow

FIT = {"seed": 1, "chains": 2, "draws": 300, "progress": False}
N = 120  # answers of each system


def table(rates: dict[str, float], errors: dict[str, float]) -> pd.DataFrame:
    """Answers of systems that are good at given rates, and raters who err at given ones."""
    rng = np.random.default_rng(1)
    frames = []
    for system, rate in rates.items():
        good = rng.permutation(N) < rate * N
        for rater, error in errors.items():
            seen = slice(None) if "judge" in rater else slice(60)
            rating = np.where(good ^ (rng.random(N) < error), "pass", "fail")[seen]
            items = [f"{system}-{at}" for at in range(N)][seen]
            pool = "llm" if "judge" in rater else "human"
            own = {"system": system, "rater": rater, "pool": pool, "rating": rating}
            frames.append(pd.DataFrame({"item": items, **own}))
    return pd.concat(frames)


@cache
def clear() -> rb.JudgeStudy:
    """One system is much better; one judge is as good as people, and one guesses."""
    errors = {"Ann": 0.05, "Bob": 0.05, "Cem": 0.05, "judge good": 0.03, IMAGE + "judge": 0.5}
    frame = table({"v3": 0.5, "v4": 0.9}, errors)
    ratings = rb.Ratings.from_frame(frame, pool="pool", group="system", scale="nominal")
    family = {"judge good": "one", IMAGE + "judge": "other"}
    return rb.JudgeStudy(ratings, human="human", family=family, fit=FIT)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Page:
    path = tmp_path_factory.mktemp("judges") / "report.html"
    requirements = ["rate[v4] > 0.6 with 0.9", "rate[v3] > 0.9 with 0.9"]
    clear().report(path, require=requirements)
    return Page(path)


def test_the_first_two_sentences_answer_both_questions(page: Page) -> None:
    (systems,) = page.texts["h1"]
    judges = page.texts["p"][1]

    assert systems.startswith("v4 is better than v3 with probability above 0.99: people rate ")
    assert "percentage points more of its answers as pass (90% interval +" in systems
    assert judges == (
        f"judge good may stand in for a person with probability above 0.99; {IMAGE}judge may not "
        "with probability above 0.99."
    )


def test_rates_stand_beside_those_by_people_alone(page: Page) -> None:
    found = page.table("Share of answers that a person would rate so").set_index("group")

    for system, rate in {"v3": 0.5, "v4": 0.9}.items():
        seen = rate * 0.95 + (1 - rate) * 0.05
        for name in ("share", "people only"):
            text = str(found.loc[system, name])
            lower, upper = text[text.index("(") + 1 : -1].split(" to ")
            assert float(lower) < seen < float(upper)
    assert (found["labels saved"] > 0).all()


def test_a_picture_shows_rates_with_judges_beside_those_by_people_alone() -> None:
    study = clear()
    assert study.people_only is not None
    found, alone = Better(study.results), Better(study.people_only.panel)

    axes = judge_rates(found, alone, Figure().subplots())

    rates = study.rates().xs("pass", level="category")
    for number, column in enumerate(("median", "people_only")):
        marks = [line for line in axes.lines if line.get_marker() == "os"[number]]
        shown = [float(np.asarray(line.get_xdata())[0]) for line in marks]
        assert shown == pytest.approx(rates.loc[["v4", "v3"], column].tolist())
    widths = rates["upper_90"] - rates["lower_90"]
    by_people = rates["people_only_upper_90"] - rates["people_only_lower_90"]
    shorter = 1 - (widths / by_people).median()
    title = axes.get_title(loc="left")
    assert " ".join(title.split()).startswith(f"Intervals with judges are {shorter:.0%} shorter")


@pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")  # of few draws
def test_three_systems_are_ranked_though_nobody_labelled_one(tmp_path: Path) -> None:
    errors = {"Ann": 0.05, "Bob": 0.05, "Cem": 0.05, "judge a": 0.1, "judge b": 0.1}
    frame = table({"v3": 0.2, "v4": 0.9, "v5": 0.55}, errors)
    frame = frame[(frame["pool"] == "llm") | (frame["system"] != "v4")]
    ratings = rb.Ratings.from_frame(frame, pool="pool", group="system", scale="nominal")

    study = rb.JudgeStudy(ratings, human="human", fit=FIT)
    study.report(tmp_path / "report.html")

    page = Page(tmp_path / "report.html")
    found = page.table("Share of answers that a person would rate so").set_index("group")
    assert found.loc["v4", "people only"] == "-"
    assert page.texts["figcaption"][0].startswith("Intervals with judges are ")
    assert page.table("Ranks")["group"].tolist() == ["v4", "v5", "v3"]


def test_sections_have_requirements_judges_people_and_what_can_be_answered(page: Page) -> None:
    assert page.table("Requirements")["verdict"].tolist() == ["supported", "contradicted"]
    assert set(page.table("Errors of judges")["family"]) == {"one", "other"}
    assert page.table("How often two people agree")["items"].tolist() == [120] * 3
    assert page.table("Differences of the share rated pass")["Pr(better)"].tolist() == [1.0]
    assert "can answer whether a system is better" in page.source
    assert "People agree pair by pair as the model has it" in page.source


def test_no_name_breaks_the_page(page: Page) -> None:
    assert IMAGE not in page.source
    assert {tag for tag, _ in page.elements} >= {"h1", "table"}
    assert "alert(1)" not in page.values("onerror")


def test_what_cannot_be_answered_is_said_in_place_of_the_answers(tmp_path: Path) -> None:
    frame = table({"v3": 0.5}, {"Ann": 0.05, "judge good": 0.05})
    ratings = rb.Ratings.from_frame(frame, pool="pool", group="system", scale="nominal")
    study = rb.JudgeStudy(ratings, fit=FIT)

    study.report(tmp_path / "report.html")

    page = Page(tmp_path / "report.html")
    assert page.texts["h1"] == [study.answerable()[0].removesuffix(".")]
    assert "which takes 3 people, and there is 1" in page.texts["p"][1]


def better(categories: list[Any], good: Any = None) -> Better:
    coords = {"category": pd.Index(categories)}
    results: Any = SimpleNamespace(problem=SimpleNamespace(coords=coords))
    return Better(results, good)


@pytest.mark.parametrize(
    ("categories", "good", "score"),
    [
        ([0, 1], None, [0, 1]),
        (["correct", "incorrect"], None, [1, 0]),
        (["correct", "incorrect"], "incorrect", [0, 1]),
        ([1, 2, 4], None, [1, 2, 4]),
        ([1, 2, 4], 4, [0, 0, 1]),
    ],
)
def test_better_is_more_of_the_good_category_or_a_higher_mean(
    categories: list[Any], good: Any, score: list[float]
) -> None:
    assert better(categories, good).score.tolist() == score


@pytest.mark.parametrize(
    ("categories", "good", "message"),
    [(["a", "b", "c"], None, "pass good=..."), ([0, 1], 2, "good must be one of 0, 1, not 2")],
)
def test_the_good_category_must_be_known(categories: list[Any], good: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        better(categories, good).score  # noqa: B018


@pytest.mark.parametrize(
    ("chances", "sentence"),
    [
        ([0.97], "a may stand in for a person with probability 0.97."),
        ([0.5], "It is undecided whether a may stand in for a person (probability 0.50)."),
        ([0.001], "a may not stand in for a person with probability above 0.99."),
        (
            [0.999, 0.6, 0.4, 0.02],
            "a may stand in for a person with probability above 0.99; it is undecided whether b "
            "and c may (probability 0.60 to 0.40); d may not with probability 0.98.",
        ),
    ],
)
def test_judges_are_told_apart_by_how_sure_it_is(chances: list[float], sentence: str) -> None:
    problem = SimpleNamespace(
        coords={"judge": pd.Index([*"abcd"[: len(chances)]], name="judge")},
        size={"judge": len(chances), "group": 1}.__getitem__,
        n_people=3,
        group=np.zeros(1, int),
        roles=SimpleNamespace(is_person=np.ones(1, bool)),
    )
    pr = dict(zip("abcd", chances, strict=False))
    results: Any = SimpleNamespace(
        problem=problem,
        identified=SimpleNamespace(people_rate="yes", truth="no"),
        posterior=SimpleNamespace(ratings_in_memory=None),
        replaceable=lambda judge, *_: {"pr_replaceable": pr[judge], "winning_rate": 0.5},
    )

    assert Conclusions(results).sentences[1] == sentence
