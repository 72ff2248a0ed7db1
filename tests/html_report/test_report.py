"""The report states what the draws say, is self-contained, and no name can break it."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from typer.testing import CliRunner

import reliabayes as rb
from reliabayes import datasets
from reliabayes.cli.app import app
from reliabayes.html_report import pictures
from reliabayes.html_report.answers import answer
from reliabayes.html_report.blocks import Picture, Text
from reliabayes.html_report.fits import Options, report_fits
from reliabayes.html_report.sections.data import data
from reliabayes.wording import rater_names
from tests.models.known_answers import crowd, known
from tests.models.test_models import fitted
from tests.plots.test_plots import around, made_of, of_categories, of_numbers, of_pools, rated

JUDGES = str(datasets.about("shrout_fleiss_1979").path())
SCRIPT = "<script>alert(1)</script>"
IMAGE = "</script><img src=x onerror=alert(1)>"
SECTIONS = "reliabayes.html_report.sections"
DRAWN = ("data", "quantities", "raters_and_items")  # sections of results, with most of the plots
CHECKS = ("comparison", "predictive_checks", "diagnostics")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")]


class Page(HTMLParser):
    """A page as a browser sees it: elements with their attributes, texts by element, data."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.source = path.read_text(encoding="utf-8")
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.open: list[str] = []
        self.feed(self.source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "img", "rect"):
            self.open.append(tag)
            self.texts.setdefault(tag, []).append("")

    def handle_endtag(self, tag: str) -> None:
        if tag != "rect":
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        for tag in self.open:
            self.texts[tag][-1] += data

    def values(self, attribute: str) -> list[str]:
        return [attrs[attribute] or "" for _, attrs in self.elements if attribute in attrs]

    def table(self, caption: str) -> pd.DataFrame:
        """All rows of a table, from the data of the script."""
        data = [text for text in self.texts["script"] if text.startswith('{"columns"')]
        place = self.texts["caption"].index(caption)
        columns = json.loads(data[place])["columns"]
        return pd.DataFrame({column["name"]: column["values"] for column in columns})


def with_statistics(fit: rb.Fit) -> rb.Fit:
    """A fit that did not come from Stan, with the statistics of a sampler without problems."""
    shape = fit.settings.chains, fit.settings.draws
    energy = np.random.default_rng(1).normal(size=shape)
    figures = {"energy": energy, "diverging": np.zeros(shape), "tree_depth": np.ones(shape)}
    named = {name: (("chain", "draw"), values) for name, values in figures.items()}
    return replace(fit, sample_stats=xr.Dataset(named))


@cache
def numbers() -> rb.Fit:
    return with_statistics(of_numbers(rated(20, 5, 4, "J{}")))


@cache
def pools() -> rb.Fit:
    return with_statistics(of_pools())


@cache
def categories() -> rb.Fit:
    return with_statistics(of_categories())


@cache
def three_pools(items_apart: bool = False) -> rb.Fit:
    """Pools a, b, c, of which a and b agree most; with ``items_apart``, c has items of its own."""
    frame = rated(30, 9, 6, "r{}")
    frame["pool"] = frame["rater"].map(lambda rater: "abc"[int(rater[1:]) % 3])
    if items_apart:
        frame["item"] += 100 * (frame["pool"] == "c")
    rho = np.array([[1, 0.9, 0.3], [0.9, 1, 0.4], [0.3, 0.4, 1]])
    noise = np.random.default_rng(1).normal(0, 0.02, (400, 1, 1)) * (1 - np.eye(3))
    return with_statistics(
        made_of(
            rb.GaussianXCC(),
            rb.Ratings.from_frame(frame, pool="pool"),
            sd_item=around(1.0, 3),
            sd_rater=around(0.5, 3),
            sd_residual=around(0.8, 1),
            factor_item=np.linalg.cholesky(rho + noise),
            mean=around(5.0, 3),
        )
    )


def quantiles(draws: Any, form: str) -> str:
    """Median and interval as the answer writes them."""
    lower, median, upper = np.quantile(draws, [0.05, 0.5, 0.95])
    return f"{median:{form}} (90% interval {lower:{form}} to {upper:{form}})"


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., Page]:
    """The page of one fit, or of several."""

    def make(fits: Any, **options: Any) -> Page:
        first = fits if isinstance(fits, rb.Fit) else next(iter(fits.values()))
        rb.report(first.ratings, fits, tmp_path / "report.html", **options)
        return Page(tmp_path / "report.html")

    return make


def not_drawn(draw: Callable[[], Any], as_bitmap: bool = False) -> Picture:
    return Picture("data:,", "finding", "note", 1, 1)


def make_quick(monkeypatch: pytest.MonkeyPatch, *not_drawn_in: str) -> None:
    """Simulate little, and draw no plots in some sections."""
    monkeypatch.setattr("reliabayes.results.fit.SIMULATIONS", 4)
    if {*DRAWN} <= {*not_drawn_in}:
        monkeypatch.setattr("reliabayes.html_report.page.picture", not_drawn)
    for section in not_drawn_in:
        monkeypatch.setattr(f"{SECTIONS}.{section}.picture", not_drawn)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """No plots and no coefficients, and few simulations."""
    make_quick(monkeypatch, *DRAWN, *CHECKS)
    monkeypatch.setattr(f"{SECTIONS}.data.coefficients", lambda ratings, prob: ("", []))


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Page:
    """The page of a fit of numbers, with most of its plots."""
    path = tmp_path_factory.mktemp("page") / "report.html"
    with pytest.MonkeyPatch.context() as monkeypatch:
        make_quick(monkeypatch, *CHECKS)
        numbers().report(path)
    return Page(path)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("model", rb.MODELS, ids=lambda model: model.name())
def test_the_page_of_every_model_starts_with_its_answer(
    model: type[rb.RatingModel], made: Callable[..., Page]
) -> None:
    fit = fitted(model())

    page = made(fit)

    found = answer(fit)
    assert found.headline in " ".join(page.texts["h1"] + page.texts["p"])
    assert page.texts["title"][0] == found.headline
    assert 6 <= len(page.texts["h2"]) <= 8
    assert len(found.figures) <= 4


@pytest.mark.parametrize(
    ("reliability", "verdict"),
    [(0.5, "Yes: "), (0.75, "Probably: "), (0.9, "Not yet: "), (0.97, "Not yet: ")],
)
def test_verdict_on_reliability_is_as_sure_as_the_draws(reliability: float, verdict: str) -> None:
    fit = numbers()
    icc = fit.quantities["icc"].values.ravel()
    reached = 4 * icc / (1 + 3 * icc)
    sure = (reached >= reliability).mean()
    fewest, median, most = fit.raters_needed(reliability).quantile(
        [0.05, 0.5, 0.95], method="higher"
    )

    found = answer(fit, reliability=reliability)

    least = {"Yes: ": 0.95, "Probably: ": 0.5, "Not yet: ": 0}[verdict]
    assert sure >= least
    have = f"{verdict}4 ratings an item give a reliability of {np.median(reached):.2f}; "
    ending = (
        f"{median:.0f} would do for" if sure >= 0.5 else f"{reliability:.2f} takes {median:.0f}"
    )
    if median == 4:
        assert found.headline == have.rstrip("; ")
    else:
        assert found.headline.startswith(have + ending)
    assert found.figures[1].interval == f"{fewest:.0f} to {most:.0f}"
    assert found.figures[2].span == pytest.approx(tuple(np.quantile(icc, [0.05, 0.5, 0.95])))
    assert f"whose mean has a reliability of {quantiles(reached, '.2f')}" in found.sentences[2]


@pytest.mark.parametrize(
    ("shifts", "words"),
    [
        ([0, 0, 0, 2], "Rater 3 is the most lenient rater, 1.5 above the average"),
        ([-2, 0, 0, 0], "Rater 0 is the most severe rater, 1.5 below the average"),
        (
            [-2, 0, 0, 2],
            "Rater 0 is the most severe rater, 2.0 below the average; rater 3 the most lenient, "
            "2.0 above it",
        ),
        ([0, 0, 0, 0], "No rater is clearly more severe or more lenient than the average"),
    ],
)
def test_raters_who_rate_higher_or_lower_are_named(shifts: list[int], words: str) -> None:
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(60, 1)) + rng.normal(0, 0.2, (60, 4))
    scores -= scores.mean(axis=0) - scores.mean() - shifts
    fit = rb.GaussianICC().fit(rb.Ratings.from_wide(scores), seed=1, progress=False)

    assert answer(fit).claims[-1].text == words


def test_a_reliability_that_only_rounds_to_the_target_is_just_below_it() -> None:
    fit = numbers()
    reached = np.median(fit.icc_k(4))

    found = answer(fit, reliability=round(reached, 2) + 0.0049).headline

    assert f"4 ratings an item give a reliability just below {reached:.2f}; this takes" in found


def test_ratings_of_an_item_by_the_same_rater_share_the_severity() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        [(i, j) for i in range(20) for j in range(3)] * 2, columns=["item", "rater"]
    )
    frame["rating"] = rng.normal(size=20)[frame["item"]] + 2.0 * frame["rater"]
    frame["rating"] += rng.normal(size=len(frame))
    ratings = rb.Ratings.from_frame(frame, replicates="keep")
    fit = rb.GaussianICC().fit(ratings, seed=1, chains=2, draws=250, progress=False)
    item, rater, residual = (
        fit.quantities[f"sd_{part}"].values ** 2 for part in ("item", "rater", "residual")
    )
    reached = np.median(item / (item + rater / 3 + residual / 6))

    found = answer(fit).headline

    assert f"6 ratings an item by 3 raters give a reliability of {reached:.2f}" in found


def test_raters_whose_ids_are_numbers_are_named_as_raters() -> None:
    assert rater_names([7]) == "rater 7"
    assert rater_names([7, "12"]) == "raters 7 and 12"
    assert rater_names(["7", "w1", "w2", "w3", "w4"]) == "7, w1, w2 and 2 others"


def test_binary_ratings_are_answered_on_the_scale_of_the_ratings() -> None:
    fit = fitted(rb.LogitICC(), chains=1)
    observed, latent = (fit.quantities[name] for name in ("icc_observed", "icc"))

    found = answer(fit)

    assert found.figures[2].value == f"{observed.median():.0%}"
    assert quantiles(latent, ".0%") in found.sentences[-1]


def test_two_pools_are_answered_by_correlation_and_consistency() -> None:
    fit = pools()
    true_scores, single = (fit.quantities[f"{kind}normalized_xcc"].values for kind in ("", "un"))
    icc = fit.quantities["icc"]
    surer = float((icc.sel(pool="expert") > icc.sel(pool="crowd")).mean())

    found = answer(fit)

    median = np.median(true_scores)
    assert found.headline.endswith(f": their true scores correlate {median:.2f}")
    assert found.headline.startswith("Largely, crowd and expert see the same thing")
    assert found.claims[1].text.startswith("Mean ratings: crowd ")
    assert found.sentences[0].endswith(
        f"; single ratings by crowd and expert correlate {quantiles(single, '.2f')}."
    )
    more, less = ("expert", "crowd") if surer >= 0.5 else ("crowd", "expert")
    assert icc.sel(pool=more).median() > icc.sel(pool=less).median()
    assert (
        f"With probability {max(surer, 1 - surer):.3f}, ratings are more consistent in {more}."
        in (found.sentences[1])
    )


def test_of_three_pools_the_pairs_that_agree_most_and_least_are_compared() -> None:
    found = answer(three_pools())

    assert found.headline.startswith("Of 3 pools, a and b agree most (their true scores")
    assert "and a and c least (0.3" in found.headline
    assert "Pools a and c agree least: their true scores correlate 0.3" in found.sentences[1]
    assert "With a probability above 0.999, a and b agree more" in found.sentences[1]


@pytest.mark.usefixtures("quick")
def test_all_pairs_of_three_pools_are_contrasted(made: Callable[..., Page]) -> None:
    fit = three_pools()
    expected = fit.contrast("normalized_xcc", ("a", "b"), ("b", "c")).summary()["pr_above_0"]

    table = made(fit).table("Differences between pools and between pairs of pools (GaussianXCC)")

    assert len(table) == 6
    row = table.set_index("difference").loc["normalized_xcc: a, b minus b, c"]
    assert row["Pr(> 0)"] == pytest.approx(expected.item(), abs=5e-4)


def test_pools_without_common_items_are_not_compared() -> None:
    found = answer(three_pools(items_apart=True))

    assert found.headline.startswith("Largely, a and b see the same thing")
    assert "agree least" not in " ".join(found.sentences)
    assert found.sentences[0].startswith(
        "No item was rated by both a and c or by both b and c: the ratings carry no information "
        "about their correlation"
    )


def test_correct_ratings_are_those_at_hand_that_equal_true_categories() -> None:
    frame = categories().ratings.to_frame()
    fewer = frame[(frame["rater"] != "0") | (frame["item"] < 8)]  # by the worst of all
    fit = replace(categories(), ratings=rb.Ratings.from_frame(fewer))
    accuracy = fit.correct_share("rater", 500, stated="honest").values.reshape(-1, 6)
    shares = fit.correct_share(draws=500, stated="honest")
    lower, median, upper = np.quantile(shares, [0.05, 0.5, 0.95])
    by_rater = pd.Series(np.median(accuracy, axis=0), fit.ratings.raters)
    trusted = int((fit.items(stated="honest")["probability"] >= 0.95).sum())

    found = answer(fit)

    labels = f"Trust {trusted} of 40 labels (at least 95% likely); have a person look at the other "
    assert f"{labels}{40 - trusted}." in found.verdict
    share = found.figures[0]
    assert (share.value, share.interval) == (f"{median:.0%}", f"{lower:.0%} to {upper:.0%}")
    words = " ".join(found.sentences)
    assert f"Rater {by_rater.idxmax()} is correct most often" in words
    assert f"rater {by_rater.idxmin()} least often" in words
    assert quantiles(fit.quantities["bits_per_rating"], ".3f") in found.sentences[-1]
    assert "bits" not in found.verdict
    assert answer(fit, details=False) == replace(found, sentences=())


def test_failed_check_stands_beside_the_claim_that_it_touches() -> None:
    found = answer(categories(), misfit=["the agreement of pairs of raters"])

    touched = [claim.text for claim in found.claims if claim.caution]
    assert [text[:5] for text in touched] == ["Trust"]
    assert found.limits[0].startswith(
        "The model does not reproduce the agreement of pairs of raters (see the predictive checks)"
    )


def test_models_that_may_reproduce_what_this_one_does_not_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_quick(monkeypatch, *DRAWN, *CHECKS)
    table = crowd("guessing", 4, 1)
    copies = table[table["rater"] < 10].assign(rater=lambda x: x["rater"] + 100)
    ratings, _ = known(pd.concat([table, copies]))
    quick: Any = {"chains": 1, "warmup": 100, "draws": 100, "progress": False}
    fit = rb.HierarchicalDawidSkene().fit(ratings, seed=1, **quick)

    fit.report(tmp_path / "report.html")

    text = " ".join(Page(tmp_path / "report.html").texts["p"])
    assert "HierarchicalDawidSkene does not reproduce the agreement of pairs of raters" in text
    assert "Others may: DawidSkene (if each rater is to count by itself; faster), MACE (if" in text
    assert "LogitICC" not in text


def test_raters_of_pools_are_judged_against_a_consensus_that_each_pool_shares() -> None:
    fit = categories()
    frame = fit.ratings.to_frame()
    pools = frame.assign(pool=np.where(frame["rater"] < "3", "crowd", "expert"))
    fit = replace(fit, ratings=rb.Ratings.from_frame(pools, pool="pool"))
    table = fit.pools(stated="honest")
    crowd, expert = (
        "{:.0%} (90% interval {:.0%} to {:.0%})".format(
            *table.loc[pool, ["accuracy", "lower_90", "upper_90"]]
        )
        for pool in ("crowd", "expert")
    )

    found = answer(fit)
    words = " ".join(found.sentences)

    assert found.figures[0].name == "of ratings equal the consensus of 2 pools"
    assert "The raters of 2 pools are judged against one consensus of all of them" in words
    assert f"Ratings that equal the consensus: {crowd} in crowd and {expert} in expert." in words


def test_a_report_on_pools_of_labels_opens_with_a_chart_of_the_pools() -> None:
    fit = categories()
    frame = fit.ratings.to_frame()
    pools = frame.assign(pool=np.where(frame["rater"] < "3", "crowd", "expert"))
    fit = replace(fit, ratings=rb.Ratings.from_frame(pools, pool="pool"))
    (first,) = report_fits({"DawidSkene": fit}, Options(0.8, 0.9, 1000))
    assert first.lead_plot is not None

    shown = pictures.picture(first.lead_plot)

    lowest, highest = fit.pools().index
    assert shown.finding.startswith(f"Pool {lowest} (")
    assert f"has the lowest accuracy, pool {highest} (" in shown.finding
    assert shown.note.startswith("Medians and 80% intervals; circles are medians of raters")


@pytest.mark.usefixtures("quick")
def test_problems_come_before_the_answer(made: Callable[..., Page]) -> None:
    stuck = numbers().posterior.copy(deep=True)
    stuck["sd_item"][0] *= 5
    fit = replace(numbers(), posterior=stuck)

    page = made(fit)

    assert page.texts["h1"] == ["These numbers cannot be trusted yet"]
    problem = page.source.index("R-hat is up to")
    assert problem < page.source.index("Preliminary answer: Probably")


@pytest.mark.usefixtures("quick")
def test_names_cannot_break_the_page(made: Callable[..., Page]) -> None:
    frame = rated(20, 3, 3, "J{}").replace({"rater": {"J0": SCRIPT}})
    frame["item"] = frame["item"].map("{}".format).replace("7", IMAGE)
    fit = with_statistics(of_numbers(frame))

    page = made(fit, title=SCRIPT)

    assert SCRIPT not in page.source
    assert IMAGE not in page.source
    assert [attrs for tag, attrs in page.elements if tag == "script"][-1] == {}
    assert SCRIPT in set(page.table("Raters (GaussianICC)")["rater"])
    assert IMAGE in set(page.table("Items (GaussianICC)")["item"])
    assert "onerror" not in {name for _, attrs in page.elements for name in attrs}


def test_the_page_is_self_contained(drawn: Page) -> None:
    assert sum(address.startswith("data:image/svg+xml,") for address in drawn.values("src")) > 4
    assert all(address.startswith("data:") for address in drawn.values("src"))
    assert all(address.startswith("#") for address in drawn.values("href"))
    assert "url(" not in drawn.texts["style"][0]
    assert "@import" not in drawn.texts["style"][0]
    policy = next(content for content in drawn.values("content") if "default-src" in content)
    assert policy.startswith("default-src 'none'; img-src data:;")


def test_findings_of_plots_are_texts(drawn: Page) -> None:
    found = quantiles(numbers().quantities["icc"], ".0%").replace(" ", " signal ", 1)

    assert f"A single rating is {found}" in drawn.texts["strong"]
    assert any(
        text.startswith(f"A single rating is {found}. GaussianICC, 80")
        for text in drawn.values("alt")
    )


@pytest.mark.usefixtures("quick")
def test_ids_are_unique_and_links_lead_to_them(made: Callable[..., Page]) -> None:
    page = made({"DS": categories(), "again": categories()})

    ids = page.values("id")
    assert len(ids) == len(set(ids))
    assert {address.removeprefix("#") for address in page.values("href")} <= set(ids)
    assert set(page.values("aria-labelledby")) <= set(ids)


@pytest.mark.usefixtures("quick")
def test_tables_have_the_numbers_of_the_fit(made: Callable[..., Page]) -> None:
    fit = categories()
    expected = fit.items(stated="honest").sort_values("entropy", ascending=False, kind="stable")

    table = made(fit).table("Items (DawidSkene)")

    assert table["item"].tolist() == list(map(str, expected.index))
    assert table["probability"].tolist() == expected["probability"].round(3).tolist()


@pytest.mark.usefixtures("quick")
def test_the_first_rows_are_shown_without_a_script(made: Callable[..., Page]) -> None:
    page = made(categories())

    start = page.source.index("Items (DawidSkene)")
    body = page.source[start : page.source.index("</tbody>", start)]
    assert body.count('<th scope="row">') == 20
    assert "Rows 1 to 20 of 40" in page.texts["p"]


@pytest.mark.usefixtures("quick")
def test_of_too_many_items_the_most_certain_are_left_out(
    made: Callable[..., Page], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reliabayes.html_report.page.BUDGET", 2000)
    fit = categories()
    ordered = fit.items(stated="honest").sort_values("entropy", ascending=False, kind="stable")

    page = made(fit)

    table = page.table("Items (DawidSkene)")
    assert 10 < len(table) < 40
    assert table["item"].tolist() == list(map(str, ordered.index[: len(table)]))
    note = f"Shows the {len(table)} most uncertain of 40 rows; the other {40 - len(table)},"
    assert any(text.startswith(note) for text in page.texts["p"])


@pytest.mark.usefixtures("quick")
def test_a_guessed_scale_is_told_by_its_reason() -> None:
    ratings = rb.Ratings.from_wide(np.array([[1, 0], [0, 0], [1, 1]]))

    facts = dict(data(ratings, {}, 0.9).blocks[0].rows)

    assert facts["scale"] == "0 and 1 are probably categories"
    assert "scale guessed" not in facts


def test_the_report_says_in_words_that_raters_agree_less_than_by_chance() -> None:
    ratings = rb.Ratings.from_wide(np.array([[0, 1], [1, 0], [1, 0]] * 20), scale="nominal")

    texts = [block.text for block in data(ratings, {}, 0.9).blocks if isinstance(block, Text)]

    assert any("; below 0, raters agree less than by chance: look for" in text for text in texts)


@pytest.mark.usefixtures("quick")
def test_the_method_says_which_reliabilities_to_report(made: Callable[..., Page]) -> None:
    fit = numbers()

    page = made(fit)

    facts = dict(zip(page.texts["dt"], page.texts["dd"], strict=True))
    assert facts["reliability to report"] == (
        f"{quantiles(fit.quantities['icc'], '.2f')} for a single rating (inter-rater reliability, "
        f"IRR) and {quantiles(fit.icc_k(4), '.2f')} for the mean of 4 ratings (k-rater "
        "reliability, kRR)"
    )


@pytest.mark.usefixtures("quick")
def test_items_whose_true_categories_are_all_known_have_no_section(
    made: Callable[..., Page],
) -> None:
    known = categories().ratings.to_frame().assign(gold="rude")
    ratings = rb.Ratings.from_frame(known, scale="nominal", gold="gold")

    page = made(replace(categories(), ratings=ratings))

    assert "Raters" in page.texts["h2"]
    assert "Items" not in page.texts["h2"]


@pytest.mark.usefixtures("quick")
def test_the_same_fits_give_the_same_page(tmp_path: Path) -> None:
    one, other = tmp_path / "one.html", tmp_path / "other.html"

    numbers().report(one)
    replace(numbers()).report(other)

    assert one.read_bytes() == other.read_bytes()


def test_pictures_are_reproducible() -> None:
    one, other = (pictures.picture(lambda: rb.plots.icc(numbers())) for _ in range(2))

    assert one == other


@pytest.mark.usefixtures("quick")
def test_of_several_models_the_best_comes_first(made: Callable[..., Page]) -> None:
    same = categories().posterior.assign(confusion=lambda x: 0 * x.confusion + 1 / 3)
    fits = {"made up": categories(), "guesses": replace(categories(), posterior=same)}

    page = made(fits)

    assert page.table("Models, best first")["model"].tolist() == ["guesses", "made up"]
    assert [name for name in page.texts["h3"] if name in fits][:2] == ["guesses", "made up"]
    assert any(
        text.startswith("Estimated with guesses from 200 ratings") for text in page.texts["p"]
    )


def test_intervals_of_coefficients_come_with_their_methods(drawn: Page) -> None:
    table = drawn.table("Coefficients that suit the scale and the design")

    assert {"model", "log"} <= set(table["method"])
    assert not any("bootstrap" in text for text in drawn.texts["p"])
    assert any("method how the interval was computed" in text for text in drawn.texts["p"])


@pytest.mark.usefixtures("quick")
def test_the_page_says_why_models_cannot_be_compared(made: Callable[..., Page]) -> None:
    scores = fitted(rb.GaussianICC(), chains=1)
    classes = rb.DawidSkene().fit(scores.ratings, chains=2, warmup=50, draws=25, seed=1)

    page = made({"scores": scores, "classes": classes})

    assert any(text.startswith("scores models numbers and ") for text in page.texts["p"])


def test_fits_of_other_ratings_are_rejected_and_nothing_is_written(tmp_path: Path) -> None:
    other = numbers().ratings.subset(items=range(10))

    with pytest.raises(rb.RatingsError, match="all fits must be of the ratings of the report"):
        rb.report(other, numbers(), tmp_path / "report.html")
    with pytest.raises(ValueError, match="at least one fit is needed"):
        rb.report(other, {}, tmp_path / "report.html")
    with pytest.raises(ValueError, match="reliability must lie strictly between 0 and 1"):
        numbers().report(tmp_path / "report.html", reliability=1.0)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("quick")
def test_the_page_states_how_it_was_made(made: Callable[..., Page]) -> None:
    fit = replace(numbers(), model=rb.GaussianICC(prior_sd_rater=rb.HalfNormal(0.5)))

    page = made(fit, source={"file": "ads.csv"}, date="1 May")

    facts = dict(zip(page.texts["dt"], page.texts["dd"], strict=True))
    assert facts["prior of sd_rater"] == "HalfNormal(scale=0.5)"
    assert facts["prior of sd_item"].startswith("HalfStudentT(df=3, scale=1.")
    assert (facts["seed"], facts["file"]) == ("1", "ads.csv")
    assert "rb.GaussianICC(prior_sd_rater=rb.HalfNormal(scale=0.5)).fit(" in page.texts["code"][0]
    assert " 1 May" in page.texts["span"]


@pytest.mark.usefixtures("quick")
def test_the_command_on_the_page_reproduces_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table = Path(JUDGES).read_text().replace("item,", "the ad,", 1)
    Path("r.csv").write_text(table)
    words = ["report", "r.csv", "--models", "gaussian-icc", "--item", "the ad", "--draws", "100"]
    words.append("--tidy")

    result = CliRunner().invoke(app, words)
    first = Page(Path("report.html"))
    command = first.texts["code"][0]
    again = CliRunner().invoke(app, shlex.split(command)[1:])

    assert (result.exit_code, result.stdout) == (0, "")
    assert "wrote report.html" in result.stderr
    assert re.fullmatch(
        r"reliabayes report r.csv --models gaussian-icc --item 'the ad' --tidy --draws 100 "
        r"--seed \d+",
        command,
    )
    assert again.exit_code == 0
    assert Path("report.html").read_text() == first.source
    assert str(tmp_path) not in first.source


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--models", ""], "name a model: gaussian-icc"),
        (["--models", "gaussian-icc", "--out", JUDGES], "--out must not overwrite the ratings"),
        (["--models", "gaussian-icc", "--out", "r.pdf"], "only --one-page prints one"),
        (["--models", "gaussian-icc", "--out", "/absent/r.html"], "cannot write /absent/r.html"),
        (["--models", "gaussian-icc", "--reliability", "1"], "must lie strictly between 0 and 1"),
    ],
)
def test_bad_input_is_rejected_before_sampling(
    arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("typer.rich_utils.MAX_WIDTH", 300)  # read once from the environment
    monkeypatch.setattr("reliabayes.inference.stan.sample", pytest.fail)

    result = CliRunner().invoke(app, ["report", JUDGES, *arguments])

    assert result.exit_code == 2
    assert message in result.stderr


@pytest.mark.usefixtures("quick")
def test_the_page_of_the_demo_states_what_it_printed(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["demo", "--report", str(tmp_path / "report.html")])

    title = Page(tmp_path / "report.html").texts["title"][0]
    assert f"\n{title}." in result.stdout
