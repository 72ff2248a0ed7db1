"""Groups and blocks of items: their columns, what describe counts, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from reliabayes.errors import RatingsError
from reliabayes.ratings import Ratings, read_ratings

ANSWERS = pd.DataFrame(
    [
        (f"{system}/{prompt}", who, "ab"[(len(who) + prompt) % 2], system, prompt)
        for system in ("v1", "v2")
        for prompt in (1, 2, 3)
        for who in ("x", "yy")
        if (system, prompt) != ("v2", 3)
    ],
    columns=["item", "rater", "rating", "system", "prompt"],
)


def test_items_have_groups_and_blocks() -> None:
    ratings = Ratings.from_frame(ANSWERS, group="system", block="prompt")

    assert ratings.item_group is not None
    assert ratings.groups[ratings.item_group].tolist() == ["v1", "v1", "v1", "v2", "v2"]
    assert ratings.item_block is not None
    assert ratings.blocks[ratings.item_block].tolist() == [1, 2, 3, 1, 2]
    described = ratings.describe()
    assert described[["groups", "blocks", "blocks in all groups"]].tolist() == [2, 3, 2]


def test_a_subset_keeps_the_groups_of_its_items() -> None:
    ratings = Ratings.from_frame(ANSWERS, group="system", block="prompt")

    part = ratings.subset(items=["v2/1", "v2/2"])

    assert (part.groups.tolist(), part.blocks.tolist()) == (["v2"], [1, 2])
    assert part == Ratings.from_frame(
        ANSWERS[ANSWERS["system"] == "v2"], group="system", block="prompt"
    )


def test_ratings_are_built_again_from_their_frame() -> None:
    ratings = Ratings.from_frame(ANSWERS, group="system", block="prompt")

    assert Ratings.from_frame(ratings.to_frame(), group="group", block="block") == ratings
    assert ratings != Ratings.from_frame(ANSWERS)


def test_groups_of_some_items_may_be_unknown() -> None:
    table = ANSWERS.assign(system=ANSWERS["system"].where(ANSWERS["prompt"] != 2))

    ratings = Ratings.from_frame(table, group="system")

    assert ratings.describe()["items without a group"] == 2
    assert ratings.to_frame()["group"].isna().sum() == 4


@pytest.mark.parametrize("role", ["group", "block"])
def test_an_item_in_two_groups_is_refused(role: str) -> None:
    table = ANSWERS.assign(system=range(len(ANSWERS)))

    with pytest.raises(RatingsError, match=f"system: an item must have one {role}; found 5 in"):
        Ratings.from_frame(table, **{role: "system"})  # type: ignore[arg-type]


def test_files_have_columns_of_groups_and_blocks(tmp_path: Path) -> None:
    ANSWERS.to_csv(tmp_path / "r.csv", index=False)

    ratings = read_ratings(tmp_path / "r.csv", group="system", block="prompt")

    assert ratings == Ratings.from_frame(ANSWERS, group="system", block="prompt")


def test_a_wide_table_has_no_groups(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("item,x,y,system\n1,a,b,v1\n2,a,a,v2\n")

    with pytest.raises(RatingsError, match="group: a wide table has"):
        read_ratings(tmp_path / "r.csv", shape="wide", group="system")
