"""The recommended model suits the scale and the design, takes the ratings, and has a reason."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb
from reliabayes.models.category_model import CategoryModel
from reliabayes.recommendation import MISLEADING, stated_well
from tests.judge_panels import panel
from tests.partitions.in_memory import in_parts


def rated(
    items: int, raters: int, categories: int, per_item: int, *, pools: int = 1, **options: Any
) -> rb.Ratings:
    """Ratings of each item by some of the raters at random."""
    rng = np.random.default_rng(1)
    rater = rng.permuted(np.tile(np.arange(raters), (items, 1)), axis=1)[:, :per_item].ravel()
    frame = pd.DataFrame({"item": np.repeat(np.arange(items), per_item), "rater": rater})
    frame["rating"] = rng.integers(0, categories, len(frame))
    frame.loc[: categories - 1, "rating"] = np.arange(categories)
    if pools > 1:
        frame["pool"] = frame["rater"] % pools
        options["pool"] = "pool"
    return rb.Ratings.from_frame(frame, **options)


def repeated(days: int = 2, items: int = 20, **options: Any) -> rb.Ratings:
    """Ratings of each item by each rater on several days, which are a facet unless it is said."""
    cells = pd.MultiIndex.from_product([range(items), range(4), range(days)])
    frame = cells.to_frame(index=False).set_axis(["item", "rater", "day"], axis=1)
    frame["rating"] = np.random.default_rng(1).normal(size=len(frame))
    frame["pool"], frame["vendor"] = frame["rater"] % 2, frame["rater"] // 2
    frame["visit"] = 10 * frame["item"] + frame["day"]
    return rb.Ratings.from_frame(frame, **{"facets": ["day"]} | options)


CASES: list[tuple[rb.Ratings, str]] = [
    (rated(20, 4, 50, 4), "gaussian-icc"),
    (rated(20, 4, 50, 4, pools=2), "gaussian-xcc"),
    (repeated(), "gstudy"),
    (repeated(pool="pool"), "gstudy"),
    (repeated(facets=[], replicates="keep"), "gstudy"),
    (repeated(facets=[], replicates="keep", pool="pool"), "gaussian-xcc"),
    (repeated(1), "gaussian-icc"),
    (rated(20, 4, 5, 4, scale="ordered"), "ordinal-icc"),
    (rated(20, 4, 5, 4), "ordinal-icc"),
    (rated(200, 40, 2, 5), "hierarchical-dawid-skene"),
    (rated(20, 6, 5, 6, pools=3, scale="ordered"), "ordinal-xcc"),
    (rated(20, 4, 2, 4, scale="ordered"), "logit-icc"),
    (rated(20, 6, 2, 6, pools=2, scale="ordered"), "logit-xcc"),
    (rated(20, 6, 2, 6, pools=2, scale="nominal"), "logit-xcc"),
    (rated(200, 5, 2, 5, scale="nominal"), "dawid-skene"),
    (rated(200, 10, 2, 5, scale="nominal"), "dawid-skene"),
    (rated(200, 40, 3, 5, scale="nominal"), "hierarchical-dawid-skene"),
    (rated(200, 40, 8, 5, scale="nominal"), "mace"),
    (rated(50, 2, 3, 2, scale="nominal"), "tap"),
    (rb.Ratings.from_counts(pd.DataFrame({"no": [3, 0, 2], "yes": [1, 4, 2]})), "tap"),
]


@pytest.mark.parametrize(
    ("ratings", "model"), CASES, ids=[f"{i} {x[1]}" for i, x in enumerate(CASES)]
)
def test_recommended_model_suits_scale_and_design(ratings: rb.Ratings, model: str) -> None:
    found = rb.recommend(ratings)

    assert found.model.name() == model
    assert found.reason[0].islower() or found.reason[0].isdigit()
    for each, when in ((found.model, ""), *found.alternatives):
        if "scale=" not in when:
            each.problem(ratings)  # refuses ratings that it cannot take


@pytest.mark.parametrize(
    ("ratings", "text"),
    [
        (
            rated(200, 10, 2, 5),
            "DawidSkene: 0 and 1 are probably categories; 10 raters with .*\n"
            r'  GaussianICC: if the numbers are amounts \(scale="numeric"\)$',
        ),
        (
            rated(20, 6, 2, 6, pools=2),
            "LogitXCC: 0 and 1 are probably categories; ratings in two categories by pools, .*\n"
            r'  GaussianXCC: if the numbers are amounts \(scale="numeric"\)$',
        ),
        (
            rated(30, 4, 5, 4),
            "OrdinalICC: the 5 whole numbers are probably grades; ratings in 5 ordered categories\n"
            "  GaussianICC: if the distances between the categories mean something",
        ),
        (
            rated(30, 6, 5, 4, pools=2),
            "OrdinalXCC: the 5 whole numbers are probably grades; ratings in 5 ordered categories "
            "by raters in 2 pools\n",
        ),
        (
            rated(13_000, 4, 5, 4),
            "GaussianICC: the 5 whole numbers are probably grades; 52,000 grades are taken as "
            r"numbers, because models of grades take minutes\n  OrdinalICC: if the numbers are gr",
        ),
        (
            rated(12_000, 4, 5, 4),
            "OrdinalICC: the 5 whole numbers are probably grades; ratings in 5 ordered categories",
        ),
        (
            rated(1500, 6, 5, 4, pools=2),
            "GaussianXCC: the 5 whole numbers are probably grades; 6,000 grades by raters in 2 "
            "pools are taken as numbers, because models of grades take minutes",
        ),
        (
            rated(30, 4, 10, 4),
            "GaussianICC: the ratings are numbers\n  OrdinalICC: if the numbers are grades",
        ),
        (rated(30, 4, 40, 4), "GaussianICC: the ratings are numbers$"),
        (
            repeated(facets=["day", "vendor"]),
            'GStudy: the ratings are numbers, and their design is "item x .rater:vendor. x day"\n'
            "  GaussianICC: if ratings of an item by a rater are to count as independent$",
        ),
        (
            repeated(facets=["visit"]),
            'GStudy: the ratings are numbers, and their design is "item x rater x visit" without '
            '"visit"\n',
        ),
        (
            repeated(facets=[], replicates="keep"),
            'GStudy: the ratings are numbers, and their design is "item x rater"\n',
        ),
        (
            repeated(pool="pool"),
            "GStudy: .*\n  GaussianXCC: if pools are to be compared, and ratings of an item by a "
            "rater are to count as independent$",
        ),
        (rated(30, 4, 2, 4, scale="numeric"), "GaussianICC: the ratings are numbers\n"),
    ],
)
def test_what_numbers_are_taken_for_is_said(ratings: rb.Ratings, text: str) -> None:
    assert re.match(text, str(rb.recommend(ratings)), re.DOTALL)


def test_numbers_that_are_codes_have_a_model_of_true_categories() -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(6, size=(100, 1))
    wrong = (truth + rng.integers(1, 6, (100, 4))) % 6
    ratings = rb.Ratings.from_wide(np.where(rng.random((100, 4)) < 0.8, truth, wrong))

    found = rb.recommend(ratings)

    assert found.model.name() == "dawid-skene"
    assert found.guess.startswith("the 6 whole numbers are probably codes of categories")
    assert found.reason == "4 raters, whose errors may differ"
    assert found.alternatives[-1][0].name() == "ordinal-icc"
    found.model.problem(ratings)  # takes numbers as categories


def test_other_things_than_ratings_are_refused() -> None:
    with pytest.raises(TypeError, match="ratings must be Ratings, not DataFrame"):
        rb.recommend(pd.DataFrame())  # type: ignore[arg-type]


def test_designs_fit_the_ratings() -> None:
    found = rb.recommend(repeated(facets=["visit"])).model

    assert found == rb.GStudy(design="item x rater x visit", drop=("visit",))


def test_few_replicates_need_no_model_of_their_own() -> None:
    once = repeated(1).to_frame()
    few = rb.Ratings.from_frame(pd.concat([once, once.head(2)]), replicates="keep")

    assert rb.recommend(few).model == rb.GaussianICC()


def graded(categories: int, **options: Any) -> rb.Ratings:
    """Whole numbers in the design of `repeated`."""
    frame = repeated(days=3).to_frame()
    frame["rating"] = np.random.default_rng(1).integers(1, categories + 1, len(frame))
    return rb.Ratings.from_frame(frame, **{"facets": ["day"]} | options)


DESIGN = "item x rater x day"


@pytest.mark.parametrize(
    ("ratings", "family", "others"),
    [
        (graded(5), "ordinal", [rb.OrdinalICC(repeats="one_vote"), rb.GStudy(design=DESIGN)]),
        (
            graded(5, scale="ordered"),
            "ordinal",
            [rb.OrdinalICC(repeats="one_vote"), rb.GStudy(design=DESIGN)],
        ),
        (
            graded(2, scale="ordered"),
            "logit",
            [
                rb.LogitICC(repeats="one_vote"),
                rb.DawidSkene(stated="honest", repeats="one_vote"),
            ],
        ),
    ],
)
def test_categories_with_facets_have_a_study_of_their_family(
    ratings: rb.Ratings, family: Any, others: list[rb.RatingModel]
) -> None:
    found = rb.recommend(ratings)

    assert found.model == rb.GStudy(design=DESIGN, family=family)
    assert found.reason.endswith(f'ordered categories, and their design is "{DESIGN}"')
    assert [model for model, _ in found.alternatives] == others
    found.model.problem(ratings)  # takes numbers as categories


def test_models_of_truth_name_a_study_of_two_categories_with_facets() -> None:
    found = rb.recommend(graded(2))

    assert rb.GStudy(design=DESIGN, family="logit") in [model for model, _ in found.alternatives]


def test_numbers_with_facets_may_be_grades() -> None:
    found = rb.recommend(graded(5, scale="numeric"))

    assert found.model == rb.GStudy(design=DESIGN)
    model, when = found.alternatives[-1]
    assert model == rb.GStudy(design=DESIGN, family="ordinal")
    assert when == 'if the numbers are grades (scale="ordered")'


def test_many_grades_with_facets_are_taken_as_numbers() -> None:
    frame = repeated(days=6, items=250).to_frame()
    frame["rating"] = np.random.default_rng(1).integers(1, 6, len(frame))

    found = rb.recommend(rb.Ratings.from_frame(frame, facets=["day"]))

    assert found.model == rb.GStudy(design=DESIGN)
    assert found.reason == (
        "6,000 grades are taken as numbers, because models of grades take minutes; their design "
        f'is "{DESIGN}"'
    )


@pytest.mark.parametrize(
    ("ratings", "model"),
    [
        (rated(2000, 4, 50, 4), "gaussian-icc"),
        (rated(2000, 4, 50, 4, pools=2), "gaussian-xcc"),
        (repeated(facets=[], replicates="keep", pool="pool"), "gaussian-xcc"),
        (rated(13_000, 4, 5, 4), "gaussian-icc"),
        (rated(200, 5, 2, 5), "dawid-skene"),
        (rated(200, 5, 2, 5, scale="nominal"), "dawid-skene"),
        (rated(200, 40, 8, 5, scale="nominal"), "mace"),
        (rated(50, 2, 3, 2, scale="nominal"), "tap"),
    ],
)
def test_a_model_that_suits_ratings_in_parts_is_that_in_memory(
    ratings: rb.Ratings, model: str
) -> None:
    parts = in_parts(ratings, 3)

    found, expected = rb.recommend(parts), rb.recommend(ratings)

    assert found.model.name() == model
    assert found.reason == expected.reason
    assert found.model == stated_well(type(expected.model)(), parts)
    assert all(each.takes_parts for each, _ in found.alternatives)


def test_of_ratings_in_parts_the_first_model_that_takes_them_is_recommended() -> None:
    ratings = rated(200, 40, 3, 5, scale="nominal")

    found = rb.recommend(in_parts(ratings, 3))

    assert str(found) == (
        "DawidSkene: if each rater is to count by itself; faster; HierarchicalDawidSkene, the "
        "first choice (40 raters with 25 ratings each, so that each learns from the others), needs "
        "all ratings in memory\n"
        "  MACE: if many raters guess, or always give the same answer"
    )


def test_where_none_takes_parts_all_that_do_are_named() -> None:
    dataset = in_parts(rated(20, 4, 5, 4, scale="ordered"), 2)

    with pytest.raises(rb.RatingsError, match=r"OrdinalICC does .* name TAP, RaterTAP, Da"):
        rb.recommend(dataset)


def test_runs_of_one_rater_never_count_as_independent_votes() -> None:
    found = rb.recommend(panel(1).ratings())

    models = [found.model, *(model for model, _ in found.alternatives)]
    assert found.model == rb.DawidSkene(prior_misleading=MISLEADING, repeats="one_vote")
    assert "several ratings of an item by one rater count as one vote" in found.reason
    assert all(isinstance(each, rb.GStudy) or each.repeats == "one_vote" for each in models)


def test_models_of_one_truth_come_last_where_one_pool_outvotes_another() -> None:
    found = rb.recommend(panel(1).ratings(pool="pool"))

    names = [type(model).__name__ for model, _ in found.alternatives]
    reasons = dict(zip(names, [when for _, when in found.alternatives], strict=True))
    assert found.model == rb.LogitXCC(repeats="one_vote")
    assert names[0] == "LogitICC"
    assert reasons["DawidSkene"] == (
        "if one answer is true for all pools, and the raters of judges err independently"
    )


def test_where_only_a_model_of_one_truth_suits_the_reason_says_who_outvotes_whom() -> None:
    table = panel(1).table.query("run == 1")
    third = table.assign(**{"pass": table["pass"] + (table["answer"] % 10 == 0)})
    ratings = rb.Ratings.from_frame(
        third, item="answer", rating="pass", pool="pool", scale="nominal"
    )

    found = rb.recommend(ratings)

    first, when = found.alternatives[0]
    assert (type(first), when) == (
        rb.OrdinalXCC,
        'to compare the pools, if the categories have an order (scale="ordered")',
    )
    assert found.reason.endswith(
        "the raters of judges outvote the others on most items, and errors that they share would "
        "pass for the truth: rb.agreement.kappa_x compares the pools without assuming a truth"
    )


def test_labels_are_stated_honestly_where_three_raters_are_known() -> None:
    unknown = rb.Ratings.from_counts(pd.DataFrame({"no": [3, 0, 2], "yes": [1, 4, 2]}))

    three, two, nobody = (
        rb.recommend(each).model
        for each in (
            rated(200, 3, 2, 3, scale="nominal"),
            rated(50, 2, 3, 2, scale="nominal"),
            unknown,
        )
    )

    assert three == rb.DawidSkene(stated="honest")
    assert two == nobody == rb.TAP(prior_misleading=MISLEADING)


@pytest.mark.parametrize("kind", rb.models.MODELS)
def test_each_model_can_be_named_and_only_those_of_labels_are_stated(kind: Any) -> None:
    ratings = rated(200, 3, 2, 3, scale="nominal")

    found = stated_well(kind(), ratings)

    expected: dict[str, Any] = {}
    if isinstance(found, CategoryModel):
        is_of_raters = "accuracy" in kind.reports
        expected = {"stated": "honest"} if is_of_raters else {"prior_misleading": MISLEADING}
    assert found == kind(**expected)
