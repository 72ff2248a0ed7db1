"""Three jobs from a table to an answer: one command each, with a known truth behind the ratings."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from reliabayes.cli.app import app
from tests.html_report.test_report import CHECKS, DRAWN, Page, make_quick

pytestmark = pytest.mark.slow


def first_screen(table: pd.DataFrame, folder: Path, *options: str) -> tuple[str, Page]:
    """What `reliabayes report` prints and what the first screen of its page says."""
    table.to_csv(folder / "table.csv", index=False)
    words = ["report", str(folder / "table.csv"), "--seed", "1", "--draws", "250"]
    words += ["--out", str(folder / "r.html")]
    result = CliRunner().invoke(app, [*words, *options])
    assert result.exit_code == 0, result.stderr
    page = Page(folder / "r.html")
    start, end = page.source.index('id="headline"'), page.source.index('id="detail"')
    text = re.sub(r"<[^>]+>", " ", page.source[start:end].replace("&#39;", "'"))
    return " ".join(text.partition(">")[2].split()), page


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """No plots, few bootstrap samples."""
    make_quick(monkeypatch, *DRAWN, *CHECKS)


def labelled_by_vendors(rng: np.random.Generator) -> pd.DataFrame:
    """Labels of 5,000 items in four categories, one from each vendor; 200 have a known answer."""
    truth = rng.choice(4, 5000, p=[0.4, 0.3, 0.2, 0.1])
    parts = []
    for vendor, accuracy in {"A": 0.9, "B": 0.88, "C": 0.6}.items():
        wrong = (truth + rng.integers(1, 4, 5000)) % 4
        parts.append(
            pd.DataFrame(
                {
                    "item": np.arange(5000),
                    "rater": [f"{vendor}{j}" for j in rng.integers(1, 9, 5000)],
                    "rating": np.where(rng.random(5000) < accuracy, truth, wrong),
                    "vendor": f"vendor {vendor}",
                    "gold": np.where(np.arange(5000) < 200, truth, np.nan),
                    "truth": truth,
                }
            )
        )
    named = pd.Series(["ads", "sport", "news", "other"])
    table = pd.concat(parts)
    for column in ("rating", "gold", "truth"):
        table[column] = table[column].map(named)
    return table


def test_which_vendor_to_drop_which_labels_to_trust_and_how_many_are_enough(
    tmp_path: Path,
) -> None:
    table = labelled_by_vendors(np.random.default_rng(1))
    written = table.drop(columns="truth")

    words, page = first_screen(written, tmp_path, "--pool", "vendor", "--gold", "gold")

    verdict = re.search(
        r"Drop or retrain vendor C: (\d+)% of its labels are right, "
        r"against (\d+)% of vendor A's and (\d+)% of vendor B's",
        words,
    )
    assert verdict is not None, words
    assert [int(share) for share in verdict.groups()] == pytest.approx([60, 90, 88], abs=2)
    trust = re.search(
        r"Trust ([\d,]+) of 4,800 labels without a known answer \(at least 95%", words
    )
    assert trust is not None, words
    items = page.table("Items (DawidSkene)").set_index("item")
    truth = table.drop_duplicates("item").set_index(table["item"].unique().astype(str))["truth"]
    unknown = items[items.index.astype(int) >= 200]
    trusted = unknown[unknown["probability"] >= 0.95]
    assert len(trusted) == pytest.approx(int(trust[1].replace(",", "")), abs=5)
    assert (trusted["category"] == truth[trusted.index]).mean() > 0.97
    # Four labels by such vendors are right in about 95% of cases: by simulation, below.
    needed = re.search(r"labels an item for 95% accuracy, if errors are independent (\d+) ", words)
    assert needed is not None, words
    assert int(needed[1]) in labels_needed(np.random.default_rng(2))
    assert "of labels right, of 200 with known answers" in words
    assert "raters" not in words.partition("Estimated")[0]  # all poor ones are of vendor C


def test_a_pool_that_sees_something_else_is_not_to_be_dropped(tmp_path: Path) -> None:
    table = labelled_by_vendors(np.random.default_rng(1)).query("item < 800")

    words, _ = first_screen(
        table.drop(columns=["truth", "gold"]),
        tmp_path,
        "--pool",
        "vendor",
        "--models",
        "dawid-skene",
    )

    assert "Pool vendor C agrees least with the consensus of all pools: in" in words
    assert "Drop" not in words


def labels_needed(rng: np.random.Generator) -> list[int]:
    """Numbers of labels with an accuracy near 95%, where accuracies of vendors are known."""
    accuracy, prevalence = np.array([0.9, 0.88, 0.6]), np.array([0.4, 0.3, 0.2, 0.1])
    truth = rng.choice(4, 20_000, p=prevalence)
    score = np.tile(np.log(prevalence), (20_000, 1))
    found = []
    for number in range(1, 12):
        right = accuracy[rng.integers(0, 3, 20_000)]
        label = np.where(
            rng.random(20_000) < right, truth, (truth + rng.integers(1, 4, 20_000)) % 4
        )
        score[np.arange(20_000), label] += np.log(right / ((1 - right) / 3))
        if abs((score.argmax(axis=1) == truth).mean() - 0.95) < 0.02:
            found.append(number)
    return found


def test_whether_grades_are_reliable_who_is_severe_and_how_many_graders(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    severity = np.array([-0.2, -0.1, 0, 0, 0.2, 0.8])  # of latent grades with an sd of 1
    latent = rng.normal(size=80)[:, None] - severity + rng.normal(0, 0.5, (80, 6))
    grades = 1 + np.searchsorted([-1.3, -0.4, 0.4, 1.3], latent)
    table = pd.DataFrame(grades, columns=[f"teacher {j}" for j in "abcdef"])
    table = table.melt(ignore_index=False, var_name="rater", value_name="rating")

    words, _ = first_screen(table.rename_axis("item").reset_index(), tmp_path)

    others = grades[:, :5].mean()
    below = grades.mean() - grades[:, 5].mean()  # 0.5 or so, known exactly for these essays
    assert others > grades[:, 5].mean()
    assert words.startswith("Yes: 6 ratings an item give a reliability of 0.9")
    severe = re.search(r"teacher f is the most severe rater, (\d\.\d) below the average", words)
    assert severe is not None
    assert float(severe[1]) == pytest.approx(below, abs=0.1)
    needed = re.search(r"; (\d) would do for 0.80", words)
    assert needed is not None, words
    # Spearman-Brown: 0.8 takes 4 (1 - r) / r grades that correlate r between teachers.
    single = np.corrcoef(grades.T)[np.triu_indices(6, 1)].mean()
    assert int(needed[1]) == pytest.approx(0.8 / 0.2 * (1 - single) / single, abs=1.5)


def test_whether_two_pools_see_the_same_thing_and_how_often_each_marks_it(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    root = np.linalg.cholesky([[1, 0.6], [0.6, 1]])
    scores = 1.6 * rng.normal(size=(300, 2)) @ root.T - [1.2, 2.2]
    marked = rng.random((300, 2, 3)) < 1 / (1 + np.exp(-scores))[:, :, None]
    item, pool, rater = np.indices(marked.shape).reshape(3, -1)
    table = pd.DataFrame(
        {
            "item": item,
            "rater": [f"r{p}{r}" for p, r in zip(pool, rater, strict=True)],
            "rating": marked.ravel().astype(int),
            "pool": np.array(["control", "target"])[pool],
        }
    )

    words, _ = first_screen(table, tmp_path, "--pool", "pool")

    assert words.startswith("Only in part do control and target see the same thing: ")
    given = re.search(r"given by control in (\d+)% of ratings and target in (\d+)%", words)
    assert given is not None
    for found, share in zip(map(int, given.groups()), marked.mean(axis=(0, 2)), strict=True):
        assert found == pytest.approx(100 * share, abs=5)
