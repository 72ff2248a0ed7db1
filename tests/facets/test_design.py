"""Designs in Brennan's notation, and the sources of variance that they imply."""

from __future__ import annotations

import pytest

from reliabayes.facets import MeasurementDesign


@pytest.mark.parametrize(
    ("text", "names"),
    # Brennan (2001), sections 3.1 and 3.2: designs p x i x h, p x (i:h), (i:p) x h, i:(p x h),
    # (i x h):p and i:h:p.
    [
        ("p x i x h", ["p", "i", "h", "p x i", "p x h", "i x h", "p x i x h"]),
        ("p x (i:h)", ["p", "h", "p x h", "i:h", "p x i:h"]),
        ("(i:p) x h", ["p", "h", "i:p", "p x h", "i:p x h"]),
        ("i:(p x h)", ["p", "h", "p x h", "i:(p x h)"]),
        ("(i x h):p", ["p", "i:p", "h:p", "i:p x h:p"]),
        ("i:h:p", ["p", "h:p", "i:h:p"]),
    ],
)
def test_design_implies_the_published_sources(text: str, names: list[str]) -> None:
    found = [source.name for source in MeasurementDesign.parse(text).sources()]

    assert sorted(found) == sorted(names)
    assert len(found[0].split(" ")) == 1


@pytest.mark.parametrize(
    "text",
    [
        "item x rater:occasion",
        "item\N{MULTIPLICATION SIGN}(rater : occasion)",
        "(item) x ((rater):occasion)",
    ],
)
def test_nesting_binds_more_tightly_and_spaces_are_free(text: str) -> None:
    found = MeasurementDesign.parse(text)

    assert found.facets == ("item", "rater", "occasion")
    assert dict(found.nested) == {
        "item": frozenset(),
        "rater": {"occasion"},
        "occasion": frozenset(),
    }


def test_names_may_have_spaces_and_the_letter_x() -> None:
    assert MeasurementDesign.parse("text x prompt version").facets == ("text", "prompt version")


def test_object_of_measurement_comes_with_what_it_is_nested_in() -> None:
    assert MeasurementDesign.parse("(item:document) x rater").measured == {"item", "document"}
    assert MeasurementDesign.parse("item x rater").measured == {"item"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "its end"),
        ("item x", "its end"),
        ("item x (rater", "its end"),
        ("item rater) x", "')'"),
        (":item", "':'"),
        ("item x (rater:occasion x item)", "'item' twice"),
    ],
)
def test_what_is_no_design_is_refused(text: str, found: str) -> None:
    with pytest.raises(ValueError, match=r"is no design|names each facet once") as caught:
        MeasurementDesign.parse(text)
    assert found in str(caught.value)
