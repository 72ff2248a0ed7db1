"""The design that describes how ratings came about."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb
from reliabayes.facets import Effects, MeasurementDesign
from reliabayes.facets.suited_design import suited_design

CELLS = pd.DataFrame(
    list(product(range(6), range(4), range(3))), columns=["item", "rater", "day"]
)  # each rater rates each item on each day


def rated(cells: pd.DataFrame, *facets: str) -> rb.Ratings:
    numbers = np.random.default_rng(1).normal(size=len(cells))
    table = cells.assign(rating=numbers)
    return rb.Ratings.from_frame(table, facets=[*facets], replicates="keep")


def test_crossed_facets() -> None:
    found = suited_design(rated(CELLS, "day"))

    assert found is not None
    assert (found.text, found.drop) == ("item x rater x day", ())


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        ({"vendor": CELLS["rater"] // 2}, "item x (rater:vendor) x day"),
        ({"document": CELLS["item"] // 2}, "(item:document) x rater x day"),
        ({"week": CELLS["day"] // 2}, "item x rater x (day:week)"),
        (
            {"vendor": CELLS["rater"] // 2, "document": CELLS["item"] // 2},
            "(item:document) x (rater:vendor) x day",
        ),
        ({"team": CELLS["rater"] // 2, "firm": CELLS["rater"] // 2 % 2 * 0}, "item x (rater:team)"),
        ({"rater": 10 * CELLS["day"] + CELLS["rater"]}, "item x (rater:day)"),
        ({"day": 10 * CELLS["rater"] + CELLS["day"]}, "item x (day:rater)"),
        (
            {"rater": 4 * CELLS["day"] + CELLS["rater"], "form": CELLS["rater"] % 2},
            "item x (rater:(day x form))",
        ),
    ],
)
def test_nested_facets(columns: dict[str, Any], text: str) -> None:
    facets = [name for name in columns if name not in ("rater", "day")]

    found = suited_design(rated(CELLS.assign(**columns), "day", *facets))

    assert found is not None
    assert found.text.startswith(text)
    assert found.drop == ()


def test_items_and_raters_within_the_same_sites() -> None:
    cells = CELLS.assign(site=CELLS["item"] % 2)
    cells["rater"] += 10 * cells["site"]

    found = suited_design(rated(cells, "day", "site"))

    assert found is not None
    assert found.text == "((item x rater):site) x day"
    assert MeasurementDesign.parse(found.text).measured == {"item", "site"}


def test_nested_chains() -> None:
    cells = CELLS.assign(team=CELLS["rater"] // 2)
    cells["rater"] += 10 * cells["day"]
    cells["team"] += 10 * cells["day"]

    found = suited_design(rated(cells, "day", "team"))

    assert found is not None
    assert found.text == "item x (rater:team:day)"


def test_nestings_that_no_design_can_state_are_left_to_what_is_dropped() -> None:
    # Items are nested in documents and sites, raters in sites only.
    again = CELLS.assign(item=CELLS["item"] + 6)
    cells = pd.concat([CELLS, again]).assign(site=lambda x: x["item"] % 2)
    cells = cells.assign(rater=cells["rater"] + 10 * cells["site"], document=cells["item"] % 3)

    found = suited_design(rated(cells, "site", "document"))

    assert found is not None
    assert found.text == "(item:(site x document)) x rater"
    assert found.drop == ("site x rater", "site x document x rater")


@pytest.mark.parametrize(
    ("column", "values"),
    [("one", 1), ("batch", CELLS["item"] + 7), ("desk", CELLS["rater"] + 7), ("row", CELLS.index)],
)
def test_facets_without_an_effect_of_their_own_are_left_out(column: str, values: Any) -> None:
    found = suited_design(rated(CELLS.assign(**{column: values}), column, "day"))

    assert found is not None
    assert (found.text, found.drop) == ("item x rater x day", ())


def test_occasions_within_items_belong_to_the_error() -> None:
    # Items stay the object of measurement: they are not nested in anything.
    ratings = rated(CELLS.assign(day=10 * CELLS["item"] + CELLS["day"]), "day")

    found = suited_design(ratings)

    assert found is not None
    assert (found.text, found.drop) == ("item x rater x day", ("day",))
    effects = Effects.of(ratings, MeasurementDesign.parse(found.text), found.drop)
    assert effects.names == (
        "item",
        "rater",
        "item x rater",
        "item x day",
        "rater x day, item x rater x day, residual",
    )


def test_an_interaction_that_a_facet_of_pairs_repeats_is_left_out() -> None:
    ratings = rated(CELLS.assign(prompt=(CELLS["item"] + CELLS["rater"]) % 2), "prompt")

    found = suited_design(ratings)

    assert found is not None
    assert (found.text, found.drop) == ("item x rater x prompt", ("item x rater x prompt",))


def test_ratings_without_facets_are_of_items_and_raters() -> None:
    found = suited_design(rated(CELLS))

    assert found is not None
    assert found.text == "item x rater"


def test_raters_with_one_rating_each_are_left_to_the_residual() -> None:
    cells = CELLS.assign(rater=range(len(CELLS)))

    found = suited_design(rated(cells, "day"))

    assert found is not None
    assert found.text == "item x day"
    assert suited_design(rated(cells)) is None


def test_anonymous_raters_have_no_design() -> None:
    assert suited_design(rb.Ratings.from_counts(np.array([[3, 0], [1, 2]]))) is None


@pytest.mark.parametrize("seed", range(8))
def test_suited_designs_can_be_estimated(seed: int) -> None:
    rng = np.random.default_rng(seed)
    cells = CELLS.assign(
        prompt=rng.integers(0, 3, len(CELLS)), site=CELLS["item"] // rng.integers(2, 4)
    ).sample(50, random_state=seed)

    found = suited_design(rated(cells, "day", "prompt", "site"))

    assert found is not None
    ratings = rated(cells, "day", "prompt", "site")
    Effects.of(ratings, MeasurementDesign.parse(found.text), found.drop)  # refuses confounded ones
