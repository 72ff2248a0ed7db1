"""Files as people have them: each is read as its clean twin, or refused with a remedy that works.

``files.json`` names for each file its clean twin, the arguments that its owner would pass, and what
the error must name if ``tidy=True`` does not suffice.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import reliabayes as rb
from tests.corruptions import GOOD, outcome

FOLDER = Path(__file__).parents[1] / "data" / "messy"
FILES: dict[str, dict[str, Any]] = json.loads((FOLDER / "files.json").read_text("utf-8"))


def twin(about: dict[str, Any]) -> rb.Ratings:
    """The clean twin, whose columns beyond the usual are facets."""
    names = pd.read_csv(FOLDER / about["clean"], nrows=0).columns
    facets = [*names.drop(["item", "rater", "rating"])]
    return rb.read_ratings(FOLDER / about["clean"], facets=facets, **about.get("options", {}))


@pytest.mark.parametrize("name", FILES)
def test_a_messy_file_is_read_as_its_clean_twin(name: str) -> None:
    if name.endswith(".xlsx"):
        pytest.importorskip("openpyxl")
    about = FILES[name]
    given = {"tidy": True, **about.get("read", {})}
    remedy = about.get("remedy", {})

    if remedy:
        with pytest.raises(rb.RatingsError) as refused:
            rb.read_ratings(FOLDER / name, **given)
        assert refused.value.arguments == remedy
        assert all(argument in str(refused.value) for argument in remedy)
    ratings = rb.read_ratings(FOLDER / name, **given | remedy)

    clean = twin(about)
    assert ratings.scale == clean.scale
    pd.testing.assert_frame_equal(ratings.to_frame(), clean.to_frame())
    assert ratings.notes or remedy


@pytest.mark.slow
def test_corrupted_tables_are_read_as_they_were_or_refused_with_a_remedy() -> None:
    pytest.importorskip("openpyxl")

    found = {case: outcome(63, case) for case in range(12)}

    assert {case: about for case, (kind, about) in found.items() if kind not in GOOD} == {}
