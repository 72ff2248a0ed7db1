"""The sources of variance that given ratings tell apart."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb
from reliabayes.facets import Effects, MeasurementDesign


def rated(frame: pd.DataFrame, facets: list[str] | None = None) -> rb.Ratings:
    numbers = np.random.default_rng(1).normal(size=len(frame))
    table = frame.assign(rating=numbers)
    return rb.Ratings.from_frame(table, facets=facets or [], replicates="keep")


def crossed(repeats: int = 1, **sizes: int) -> pd.DataFrame:
    cells = list(product(*(range(size) for size in sizes.values()), range(repeats)))
    return pd.DataFrame(cells, columns=[*sizes, "repeat"]).drop(columns="repeat")


def found(ratings: rb.Ratings, text: str, **options: Any) -> Effects:
    return Effects.of(ratings, MeasurementDesign.parse(text), **options)


def test_highest_interaction_is_the_residual_unless_ratings_repeat() -> None:
    design = "item x rater x day"
    once, twice = (rated(crossed(repeats, item=5, rater=3, day=2), ["day"]) for repeats in (1, 2))

    assert found(once, design).names[-2:] == ("rater x day", "item x rater x day, residual")
    assert found(once, design).sizes == (5, 3, 2, 15, 10, 6)
    assert found(twice, design).names[-2:] == ("item x rater x day", "residual")
    assert "replicate" in found(twice, design).sources[-1].facets


def test_levels_of_a_nested_facet_are_numbered_within_the_other() -> None:
    # Raters 0 and 1 of each day are different people.
    effects = found(rated(crossed(item=4, rater=2, day=3), ["day"]), "item x (rater:day)")

    by_name = dict(zip(effects.names[:-1], effects.sizes, strict=True))
    assert by_name == {"item": 4, "day": 3, "item x day": 12, "rater:day": 6}
    assert effects.names[-1] == "item x rater:day, residual"


def test_levels_of_an_interaction_are_those_of_its_facets_together() -> None:
    ratings = rated(crossed(item=4, rater=2, day=3), ["day"])

    effects = found(ratings, "item x rater x day")

    level = dict(zip(effects.names[:-1], effects.level, strict=True))["item x day"]
    pairs = set(zip(level, ratings.item, ratings.facet["day"], strict=True))
    assert len(pairs) == len({pair[1:] for pair in pairs}) == len({pair[0] for pair in pairs}) == 12


def test_dropped_sources_are_left_to_the_residual() -> None:
    ratings = rated(crossed(item=4, rater=2, day=3), ["day"])

    effects = found(ratings, "item x rater x day", drop=["item x day", "item x rater x day"])

    assert effects.names == ("item", "rater", "day", "item x rater", "rater x day", "residual")


def test_one_source_may_be_dropped_by_its_name_alone() -> None:
    ratings = rated(crossed(2, item=4, rater=3))

    assert found(ratings, "item x rater", drop="item x rater").names == (
        "item",
        "rater",
        "residual",
    )


def test_what_cannot_be_told_apart_is_refused_with_a_remedy() -> None:
    nested = crossed(item=4, rater=4).assign(day=lambda frame: frame["rater"] // 2)
    constant = crossed(item=4, rater=2, day=1)
    single = crossed(item=4, rater=2).assign(day=range(8))

    for frame, design, message in (
        (nested, "item x rater x day", r"Each rater has one day: write 'rater:day'"),
        (constant, "item x rater x day", r"day must have at least two levels"),
        (single, "item x day", r"day must be told from the residual"),
    ):
        with pytest.raises(rb.RatingsError, match=message):
            found(rated(frame, ["day"]), design)


def test_what_follows_from_a_fault_is_not_said() -> None:
    nested = crossed(item=4, rater=4, day=2).query("rater % 2 == day")
    constant = crossed(item=4, rater=2, day=1)

    for frame in (nested, constant):
        with pytest.raises(rb.RatingsError) as caught:
            found(rated(frame, ["day"]), "item x rater x day")
        assert len(caught.value.faults) == 1


def test_unknown_names_are_refused() -> None:
    ratings = rated(crossed(item=4, rater=2, day=3), ["day"])

    with pytest.raises(rb.RatingsError, match="'day'"):
        found(ratings, "item x rater x dax")
    with pytest.raises(ValueError, match=r"Did you mean 'item x day'\?"):
        found(ratings, "item x rater x day", drop=["item x dai"])
