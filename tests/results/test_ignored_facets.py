"""Fits of models without facets say that they take repeated ratings as independent."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb
from reliabayes.cli.fit_results import print_diagnostics
from reliabayes.html_report.answers.dispatch import answer
from reliabayes.results.ignored_facets import ignored_facets

CELLS = pd.MultiIndex.from_product([range(12), range(3), range(2)]).to_frame(index=False)
TABLE = CELLS.set_axis(["item", "rater", "day"], axis=1)
NUMBERS = np.random.default_rng(1).normal(size=len(TABLE)) + TABLE["item"] % 3
INDEPENDENT = (
    "takes ratings of an item by the same rater as independent, though they are repeated under "
    "several levels of day: its intervals are too narrow if raters repeat themselves. "
)


def rated(rating: Any = NUMBERS, facets: tuple[str, ...] = ("day",), **options: Any) -> rb.Ratings:
    frame = TABLE.assign(rating=rating, form=TABLE["item"] % 2)
    return rb.Ratings.from_frame(frame, facets=[*facets], **options)


def test_models_without_facets_take_repeated_ratings_as_independent() -> None:
    named = 'GStudy with the design "item x rater x day" does not.'

    assert ignored_facets(rb.GaussianICC(), rated()) == f"GaussianICC {INDEPENDENT}{named}"


@pytest.mark.parametrize(
    ("categories", "scale", "family"),
    [
        (3, "ordered", "ordinal"),
        (2, "nominal", "logit"),
    ],
)
def test_remedy_for_categories_is_a_study_of_their_family(
    categories: int, scale: str, family: str
) -> None:
    found = ignored_facets(rb.OrdinalICC(), rated(TABLE["item"] % categories, scale=scale))

    assert found == (
        f'OrdinalICC {INDEPENDENT}GStudy with the design "item x rater x day" and '
        f'family="{family}" does not.'
    )


def test_models_of_true_categories_count_repeats_as_independent_votes_with_or_without_facets() -> (
    None
):
    rating = TABLE["item"] % 3

    with_facets = ignored_facets(rb.DawidSkene(), rated(rating, scale="nominal"))
    without = rated(rating, facets=(), scale="nominal", replicates="keep")

    assert with_facets.startswith("36 of 72 ratings repeat a rater's rating of an item, and Dawid")
    assert ignored_facets(rb.DawidSkene(), without) == with_facets


def test_only_facets_that_differ_within_an_item_and_a_rater_count() -> None:
    once = rb.Ratings.from_frame(
        TABLE.query("day == 0").assign(rating=NUMBERS, form=TABLE["item"] % 2), facets=["form"]
    )

    assert ignored_facets(rb.GaussianICC(), once) == ""
    assert "levels of day:" in ignored_facets(rb.GaussianICC(), rated(facets=("form", "day")))


def test_gstudy_and_ratings_without_facets_need_no_caution() -> None:
    repeats = rated(facets=(), replicates="keep")
    counts = rb.Ratings.from_counts(np.array([[3, 0], [1, 2]]))

    assert ignored_facets(rb.GStudy(design="item x rater x day"), rated()) == ""
    assert ignored_facets(rb.GaussianICC(), repeats) == ""
    assert ignored_facets(rb.TAP(), counts) == ""


@pytest.mark.slow
def test_fits_state_it_wherever_they_state_cautions(capsys: pytest.CaptureFixture[str]) -> None:
    fit = rb.GaussianICC().fit(rated(), seed=1, draws=200, progress=False)
    text = ignored_facets(fit.model, fit.ratings)

    print_diagnostics(fit, is_recommended=True)

    assert text in " ".join(capsys.readouterr().err.split())
    assert text in fit.summary().attrs["caution"]
    assert text in fit.raters().attrs["caution"]
    assert answer(fit).limits == (text.removesuffix("."),)
    assert " ".join(str(fit).split()).startswith(f"Caution: {text}")
    assert escape(text) in fit._repr_html_()


def test_point_estimates_state_it() -> None:
    ratings = rated(TABLE["item"] % 3, scale="nominal")

    estimate = rb.DawidSkene().em(ratings)

    assert "DawidSkene counts them as independent" in estimate.summary().attrs["caution"]


@pytest.mark.slow
def test_fits_without_facets_state_nothing() -> None:
    fit = rb.GaussianICC().fit(
        rated(facets=(), replicates="keep"), seed=1, draws=200, progress=False
    )

    assert fit.summary().attrs["caution"] == ""
    assert answer(fit).limits == ()
    assert "Caution" not in str(fit)
