"""Raters on whom most labels rest: whether they make the same errors is said before the labels."""

from __future__ import annotations

import pandas as pd
import pytest

import reliabayes as rb
from reliabayes.html_report.answers import answer
from reliabayes.results.leading_raters import leading_raters
from tests.judge_panels import panel


def fitted(shared: bool, **options: int) -> rb.Fit:
    ratings = panel(1, shared=shared, **options).ratings()
    return rb.recommend(ratings).model.fit(ratings, seed=1, draws=250, progress=False)


@pytest.fixture(scope="module")
def with_shared_errors() -> rb.Fit:
    return fitted(shared=True)


@pytest.fixture(scope="module")
def with_own_errors() -> rb.Fit:
    return fitted(shared=False)


@pytest.mark.slow
def test_labels_that_rest_on_judges_who_err_together_are_not_called_trusted(
    with_shared_errors: rb.Fit,
) -> None:
    said = answer(with_shared_errors)

    assert said.headline == (
        "Do not trust these labels yet: judge 1 and judge 2 make the same errors"
    )
    assert "Trust " not in said.verdict
    assert said.limits[0].startswith(
        "judge 1 and judge 2 make the same errors: on 100 items that two of them and others rated, "
    )


def test_the_doubt_stands_beside_all_results(with_shared_errors: rb.Fit) -> None:
    fit, doubt = with_shared_errors, "votes cannot say who is right"

    for table in (fit.summary(), fit.items(), fit.raters()):
        assert doubt in table.attrs["caution"]
    assert doubt in " ".join(str(fit).split())


@pytest.mark.slow
def test_labels_that_rest_on_independent_judges_are_stated_on_that_condition(
    with_own_errors: rb.Fit,
) -> None:
    said = answer(with_own_errors)

    assert said.headline.startswith("Most labels rest on judge 1 and judge 2: if they err indep")
    assert said.limits[0].startswith("400 of 500 items were rated only by judge 1 and judge 2, ")


def test_a_model_that_a_user_names_counts_runs_as_votes_and_says_so() -> None:
    ratings = panel(1).ratings(scale="nominal")

    estimate = rb.DawidSkene().em(ratings)

    assert len(estimate.ratings) == len(ratings)
    caution = estimate.summary().attrs["caution"]
    assert caution.startswith("judge 1 and judge 2 make the same errors: on 100 items ")
    assert "2,000 of 3,300 ratings repeat a rater's rating of an item, and Dawid" in caution
    assert 'DawidSkene(repeats="one_vote") a rater has one vote on an item.' in caution


# Who the raters are on whom labels rest.


def rated(items_of: dict[str, range], pools: dict[str, str] | None = None) -> rb.Ratings:
    rows = [(i, r, (i + len(r)) % 2) for r, items in items_of.items() for i in items]
    frame = pd.DataFrame(rows, columns=["item", "rater", "rating"])
    if pools is None:
        return rb.Ratings.from_frame(frame, scale="nominal")
    frame["pool"] = frame["rater"].map(pools)
    return rb.Ratings.from_frame(frame, pool="pool", scale="nominal")


ALL, PART = range(100), range(40)
MODELS = {"a": ALL, "bb": ALL, "ccc": ALL}
POOLS = dict.fromkeys(MODELS, "llm") | dict.fromkeys(["x", "yy", "zzz"], "human")


@pytest.mark.parametrize(
    ("ratings", "name"),
    [
        (rated({"a": ALL, "bb": ALL, "x": PART}), "a and bb"),
        (rated({"a": ALL, "bb": range(92), "x": PART, "yy": PART}), "a and bb"),
        (
            rated(MODELS | {"x": ALL, "yy": range(50), "zzz": range(40, 90)}, POOLS),
            "the raters of llm",
        ),
    ],
)
def test_leading_raters_rate_nearly_all_items(ratings: rb.Ratings, name: str) -> None:
    found = leading_raters(ratings)

    assert found is not None
    assert found.name == name


@pytest.mark.parametrize(
    "ratings",
    [
        rated({"a": ALL, "bb": ALL, "x": ALL}),
        rated({"a": ALL, "x": PART}),
        rated({"a": ALL, "bb": ALL, "x": range(60)}),
        rated({"a": ALL, "bb": ALL} | {"x" * n: range(n % 3, 100, 3) for n in range(3, 20)}),
        rated(MODELS | {"x": ALL, "yy": ALL}, POOLS),
        rb.Ratings.from_counts(pd.DataFrame({"yes": [3, 1], "no": [1, 2]})),
    ],
    ids=["all rate all", "one", "others rate much", "outvoted", "pools that rate all", "counts"],
)
def test_labels_do_not_rest_on_few_raters(ratings: rb.Ratings) -> None:
    assert leading_raters(ratings) is None


def test_point_estimates_state_the_doubt(with_shared_errors: rb.Fit) -> None:
    estimate = rb.DawidSkene().em(with_shared_errors.ratings, priors=True)

    assert "votes cannot say who is right" in estimate.summary().attrs["caution"]
