"""The page of words has what people type into the search of the documentation."""

from __future__ import annotations

import pytest

from tests.conftest import ROOT

HEADINGS = [
    line.removeprefix("## ").casefold()
    for line in (ROOT / "docs" / "words.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("## ")
]


@pytest.mark.parametrize(
    "typed",
    [
        "Bland-Altman",
        "sample size",
        "weighted kappa",
        "missing data",
        "export to Excel",
        "APA",
        "power",
        "limits of agreement",
    ],
)
def test_what_people_type_is_in_a_heading(typed: str) -> None:
    assert any(typed.casefold() in heading for heading in HEADINGS)
