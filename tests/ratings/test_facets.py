"""Facets: further columns that describe a rating, from the table to the user's ids and back."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reliabayes as rb
from reliabayes.ratings import Ratings, read_ratings
from reliabayes.ratings.facets import ByFacet

TESTS: Any = pd.DataFrame(
    [
        (patient, clinician, day, form, score)
        for patient, clinician, day, form, score in (
            ("p2", "c1", 10, "b", 4),
            ("p1", "c1", 10, "a", 1),
            ("p1", "c2", 10, "a", 2),
            ("p1", "c1", 9, "b", 3),
            ("p1", "c2", 9, "b", 5),
            ("p2", "c2", 9, "a", 2),
            ("p2", "c1", 9, "a", 1),
        )
    ],
    columns=["patient", "clinician", "day", "form", "score"],
)
COLUMNS: dict[str, Any] = {"item": "patient", "rater": "clinician", "rating": "score"}


@pytest.fixture
def tests() -> Any:
    """Seven ratings of two patients by two clinicians, on two days with two forms."""
    return Ratings.from_frame(TESTS, facets=["day", "form"], **COLUMNS)


@st.composite
def tables(draw: st.DrawFn) -> pd.DataFrame:
    """Draw rows of items, raters and two facets, some of them repeated."""
    rows = st.tuples(*[st.integers(0, 2)] * 4, st.integers(1, 3))
    head = [(0, 0, 0, 0, 1), (0, 1, 0, 0, 2), (1, 1, 0, 0, 2)]
    found = head + draw(st.lists(rows, max_size=30))
    frame = pd.DataFrame(found, columns=["item", "rater", "day", "form", "rating"])
    return frame.sample(frac=1, random_state=draw(st.integers(0, 1000)))


def refused(frame: Any = TESTS, **options: Any) -> str:
    with pytest.raises(rb.RatingsError) as caught:
        Ratings.from_frame(frame, **COLUMNS | options)
    return str(caught.value)


def test_codes_of_facets_point_to_the_users_ids(tests: Any) -> None:
    days, forms = tests.facets["day"], tests.facets["form"]
    codes = tests.facet

    assert days.tolist() == [9, 10]
    assert forms.tolist() == ["a", "b"]
    assert list(
        zip(
            tests.items[tests.item],
            tests.raters[tests.rater],
            days[codes["day"]],
            forms[codes["form"]],
            tests.rating,
            strict=True,
        )
    ) == [
        ("p1", "c1", 9, "b", 3),
        ("p1", "c1", 10, "a", 1),
        ("p1", "c2", 9, "b", 5),
        ("p1", "c2", 10, "a", 2),
        ("p2", "c1", 9, "a", 1),
        ("p2", "c1", 10, "b", 4),
        ("p2", "c2", 9, "a", 2),
    ]


def test_codes_of_facets_are_int32_and_cannot_be_changed(tests: Any) -> None:
    assert tests.facet["day"].dtype == np.int32
    with pytest.raises(ValueError, match="read-only"):
        tests.facet["day"][0] = 1
    with pytest.raises(TypeError, match="item assignment"):
        tests.facet["day"] = tests.rater
    with pytest.raises(TypeError, match="item assignment"):
        tests.facets["day"] = tests.raters


def test_facets_come_in_the_order_in_which_they_were_named() -> None:
    ratings = Ratings.from_frame(TESTS, facets=["form", "day"], **COLUMNS)

    first = zip(ratings.facet["form"][:2], ratings.facet["day"][:2], strict=True)

    assert list(ratings.facets) == list(ratings.facet) == ["form", "day"]
    assert list(first) == [(0, 1), (1, 0)]


def test_a_facet_can_have_another_name_than_its_column() -> None:
    frame = TESTS.rename(columns={"day": "item"})

    ratings = Ratings.from_frame(frame, facets={"occasion": "item"}, **COLUMNS)

    assert ratings.facets["occasion"].tolist() == [9, 10]


def test_ratings_without_facets_have_none() -> None:
    ratings = Ratings.from_wide(np.array([[1, 2], [4, 5]]))

    assert len(ratings.facets) == len(ratings.facet) == 0
    assert ratings.to_frame().columns.tolist() == ["item", "rater", "rating"]


@pytest.mark.parametrize("container", [tuple, np.array, pd.Index])
def test_facets_may_come_in_other_containers(tests: Any, container: Any) -> None:
    ratings = Ratings.from_frame(TESTS, facets=container(["day", "form"]), **COLUMNS)

    assert ratings == tests
    assert [type(name) for name in ratings.facets] == [str, str]


def test_none_means_no_facets() -> None:
    day = TESTS.query("day == 9")

    assert Ratings.from_frame(day, facets=None, **COLUMNS) == Ratings.from_frame(day, **COLUMNS)


def test_ratings_that_were_pickled_before_there_were_facets_have_none() -> None:
    old = Ratings.from_wide(np.array([[1, 2], [4, 5]]))
    vars(old).pop("facets")
    vars(old).pop("facet")

    assert len(pickle.loads(pickle.dumps(old)).facets) == 0


def test_positions_of_items_raters_and_facets(tests: Any) -> None:
    assert tests.positions("item") == (tests.item, tests.items)
    assert tests.positions("rater") == (tests.rater, tests.raters)
    assert tests.positions("day") == (tests.facet["day"], tests.facets["day"])


def test_positions_of_an_unknown_name_are_refused(tests: Any) -> None:
    with pytest.raises(rb.RatingsError) as caught:
        tests.positions("days")

    assert str(caught.value) == (
        "facets: it must be one of 'item', 'rater', 'day', 'form'; found 'days'. "
        "Did you mean 'day'?"
    )


def test_positions_of_anonymous_raters_are_refused() -> None:
    ratings = Ratings.from_counts(np.array([[3, 0], [1, 2]]))

    with pytest.raises(rb.RatingsError, match="it must be known who gave each rating"):
        ratings.positions("rater")


def test_repeats_under_other_levels_are_no_replicates() -> None:
    again = TESTS.assign(form=["b", "a", "a", "a", "b", "a", "a"])

    assert len(Ratings.from_frame(again, facets=["form", "day"], **COLUMNS)) == 7
    assert refused(again, facets=["form"]) == (
        "patient, clinician and form: a rater must rate an item once at the same levels of all "
        "facets; found 2 ratings that share them with another (rows 1, 3: 'p1' by 'c1' ('a'), "
        "'p1' by 'c1' ('a')). Drop the repeats, pass "
        'replicates="keep" if they are independent ratings, or facets=[...] with the columns in '
        "which they differ, such as the occasion."
    )


def test_replicates_within_all_facets_can_be_kept() -> None:
    twice = pd.concat([TESTS, TESTS.assign(score=TESTS["score"] + 1)])

    ratings = Ratings.from_frame(twice, facets=["day", "form"], replicates="keep", **COLUMNS)

    assert ratings.rating.tolist() == [3, 4, 1, 2, 5, 6, 2, 3, 1, 2, 4, 5, 2, 3]
    assert ratings.describe()["replicates"] == 7


@given(table=tables())
def test_order_of_rows_does_not_matter(table: pd.DataFrame) -> None:
    options: Any = {"facets": ["day", "form"], "replicates": "keep"}

    assert Ratings.from_frame(table, **options) == Ratings.from_frame(
        table.sort_values(["rating", "form", "item"]), **options
    )


@given(table=tables())
def test_long_frame_gives_ratings_with_facets_back(table: pd.DataFrame) -> None:
    options: Any = {"facets": ["day", "form"], "replicates": "keep"}
    ratings = Ratings.from_frame(table, **options)

    assert ratings.to_frame().columns.tolist() == ["item", "rater", "rating", "day", "form"]
    assert Ratings.from_frame(ratings.to_frame(), **options) == ratings


@given(table=tables())
def test_rows_are_sorted_by_item_rater_and_facets(table: pd.DataFrame) -> None:
    ratings = Ratings.from_frame(table, facets=["day", "form"], replicates="keep")

    rows = ratings.to_frame()[["item", "rater", "day", "form", "rating"]]

    assert rows.apply(tuple, axis=1).is_monotonic_increasing


def test_a_subset_keeps_the_levels_that_remain() -> None:
    later = TESTS.assign(patient=TESTS["patient"] + "b", day=TESTS["day"] + 1)
    ratings = Ratings.from_frame(pd.concat([TESTS, later]), facets=["day", "form"], **COLUMNS)

    found = ratings.subset(items=["p1b", "p2b"])

    assert ratings.facets["day"].tolist() == [9, 10, 11]
    assert found == Ratings.from_frame(later, facets=["day", "form"], **COLUMNS)
    assert found.facets["day"].tolist() == [10, 11]


def test_a_subset_can_be_of_some_levels() -> None:
    frame = pd.DataFrame(
        [(i, r, day, form) for i in "ab" for r in "xy" for day in (1, 2, 3) for form in "pq"],
        columns=["item", "rater", "day", "form"],
    ).assign(rating=lambda x: x.index % 5)
    ratings = Ratings.from_frame(frame, facets=["day", "form"])

    found = ratings.subset(facets={"day": [1, 3], "form": "p"}, items=["a", "b"])

    kept = frame.query("day != 2 and form == 'p'")
    assert found.to_frame()["rating"].tolist() == kept["rating"].tolist()
    assert found.facets["day"].tolist() == [1, 3]
    assert found.facets["form"].tolist() == ["p"]
    assert ratings.subset(facets={}) == ratings


@pytest.mark.parametrize(
    ("facets", "message"),
    [
        ({"days": [9]}, "facets: all requested facets must exist; found no 'days'. Did you mean"),
        (["day"], "facets: it must map facets to levels; found ['day']. Pass facets={'occasion': "),
        ({"rater": ["c1"]}, "found no 'rater'. The facets are 'day', 'form'."),
        ({"day": [9, 11]}, "day: all requested ids must exist; found no 11. The known ids are 9"),
    ],
)
def test_subsets_of_unknown_levels_are_refused(tests: Any, facets: Any, message: str) -> None:
    with pytest.raises(rb.RatingsError) as caught:
        tests.subset(facets=facets)

    assert message in str(caught.value)


def test_ratings_without_facets_have_no_levels_to_select() -> None:
    with pytest.raises(rb.RatingsError, match=r"found no 'day'\. There are none\."):
        Ratings.from_wide(np.array([[1, 2], [4, 5]])).subset(facets={"day": [1]})


def test_facets_are_part_of_equality(tests: Any) -> None:
    other = Ratings.from_frame(TESTS, facets={"day": "day", "sheet": "form"}, **COLUMNS)
    fewer = Ratings.from_frame(TESTS, facets=["day"], **COLUMNS)

    assert tests == Ratings.from_frame(TESTS, facets=["day", "form"], **COLUMNS)
    assert tests != other
    assert tests != fewer


def test_ratings_with_facets_can_be_pickled_and_copied(tests: Any) -> None:
    assert pickle.loads(pickle.dumps(tests)) == tests
    assert copy.deepcopy(tests) == tests


def test_mappings_of_facets_can_be_compared_and_hashed() -> None:
    one = ByFacet({"day": np.arange(3)})

    assert one == ByFacet({"day": np.arange(3)})
    assert hash(one) == hash(ByFacet({"day": np.arange(3)}))
    assert one != ByFacet({"day": np.arange(4)})
    assert one != {"day": 1}


def test_repr_names_facets(tests: Any) -> None:
    assert repr(tests) == (
        "Ratings(7 ratings of 2 items by 2 raters, facets day (2) and form (2), numeric 1..5)"
    )


@pytest.mark.parametrize(
    ("facets", "message"),
    [
        ("day", "facets: it must list columns; found 'day'. Pass facets=['day']."),
        (5, "facets: it must list columns; found 5. Pass facets=['occasion'], for example."),
        ({"day", "form"}, "facets: it must list columns in their order, and a set has none"),
        ([["day"]], "facets: it must list names of columns; found ['day']. Name one column each."),
        ([None], "facets: it must list names of columns; found None."),
        ({"day": None}, "facets: it must list names of columns; found None."),
        ([3], "facets: the name of a facet must be a text; found 3. Pass facets={'name': 3}."),
        ([""], "facets: the name of a facet must be a text; found ''."),
        (["day", "day"], "facets: each must have a name of its own; found 'day' more than once."),
        (
            ["item"],
            "facets: a facet must not be called item, rater, rating, pool, gold, group, block, "
            "replicate or residual; found 'item'. Pass facets={'another name': 'item'}.",
        ),
        ({"residual": "day"}, "found 'residual'. Pass facets={'another name': 'day'}."),
    ],
)
def test_facets_that_mean_nothing_are_refused(facets: Any, message: str, tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    TESTS.to_csv(path, index=False)

    assert message in refused(facets=facets)
    with pytest.raises(rb.RatingsError) as caught:
        read_ratings(path, facets=facets, **COLUMNS)
    assert message in str(caught.value)


def test_an_absent_facet_is_guessed() -> None:
    message = refused(facets=["days", "form"])

    assert message == (
        "columns: the table must have the columns that were named (facets=['days']); found only "
        "'patient', 'clinician', 'day', 'form', 'score'. Did you mean facets=['day', 'form']?"
    )


def test_an_absent_facet_of_another_name_is_guessed() -> None:
    message = refused(facets={"occasion": "days", "form": "form"})

    assert "(facets={'occasion': 'days'})" in message
    assert "Did you mean facets={'occasion': 'day', 'form': 'form'}?" in message


def test_a_column_of_facets_is_not_guessed_to_be_another() -> None:
    frame = TESTS.rename(columns={"patient": "subject", "clinician": "judge"})

    message = refused(frame, item="item", rater="rater", facets=["judge"])

    assert "Did you mean item='subject'? Say also which are the others: rater=..." in message


def test_a_column_cannot_be_facet_and_rater() -> None:
    assert refused(facets=["clinician"]) == (
        "rater and facets: each role must have a column of its own; found 'clinician' named for 2 "
        "roles. Name another column; the table has 'patient', 'clinician', 'day', 'form', 'score'."
    )


def test_missing_levels_are_refused_with_their_rows() -> None:
    frame = TESTS.assign(form=TESTS["form"].where(TESTS.index != 4))

    assert "form: no value may be missing; found 1 missing (row 4). " in refused(
        frame, facets=["form", "day"]
    )
    assert "form: no value may be missing; found 1 missing (row 4). " in refused(
        frame.assign(score=frame["score"].where(frame.index != 0)),
        facets=["form", "day"],
        missing="drop",
    )


def test_a_row_without_a_rating_and_a_level_is_dropped() -> None:
    frame = TESTS.astype({"score": float})
    frame.loc[4, ["form", "score"]] = None

    ratings = Ratings.from_frame(frame, facets=["form", "day"], missing="drop", **COLUMNS)

    assert (len(ratings), ratings.n_missing) == (6, 1)


def test_missing_levels_are_no_replicates() -> None:
    frame = TESTS.assign(form=None, day=TESTS["day"].astype(object))

    message = refused(frame, facets=["day", "form"])

    assert "once" not in message


def test_levels_of_several_types_are_refused() -> None:
    frame = TESTS.assign(form=["a", 1, "a", "b", "b", "a", "a"])

    message = refused(frame, facets=["day", "form"])

    assert "form: all values must have the same type" in message
    assert "(row 1: 1)" in message


def test_levels_that_differ_in_spaces_are_refused_or_joined() -> None:
    frame = TESTS.assign(form=["b", "a", "a ", "b", "b", "a", "a"])

    ratings = Ratings.from_frame(frame, facets=["form", "day"], twins="join", **COLUMNS)

    assert "form: values must not differ only in spaces" in refused(frame, facets=["form", "day"])
    assert ratings.facets["form"].tolist() == ["a", "b"]
    assert ratings.notes == ("Column form: took 'a ' as 'a'.",)


def test_faults_of_facets_are_found_if_other_columns_are_absent() -> None:
    frame = TESTS.assign(form=["b", "a", "a ", "b", "b", "a", "a"])

    message = refused(frame, facets=["form"], item="patients")

    assert "Did you mean item='patient'?" in message
    assert "form: values must not differ only in spaces" in message


def test_cells_beyond_64_bits_are_sorted_and_told_apart() -> None:
    size = 30_000
    ids = np.arange(size)
    names = [f"f{number}" for number in range(5)]
    frame = pd.DataFrame({name: ids[::-1] for name in names})
    frame = frame.assign(item=ids // 2, rater=ids % 2 + 2 * (ids % 3 == 0), rating=ids % 5)

    ratings = Ratings.from_frame(frame, facets=names)

    assert ratings == Ratings.from_frame(frame.sample(frac=1, random_state=1), facets=names)
    assert (np.diff(ratings.item) >= 0).all()


def test_facets_are_read_from_files(tests: Any, tmp_path: Path) -> None:
    path = tmp_path / "tests.csv"
    TESTS.to_csv(path, index=False)

    assert read_ratings(path, facets=["day", "form"], **COLUMNS) == tests


def test_faults_of_facets_have_the_lines_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "tests.csv"
    path.write_text("item,rater,rating,day\na,x,1,1\na,y,2,\nb,x,3,2\nb,y,2,2\n")

    with pytest.raises(rb.RatingsError, match=r"day: no value .* found 1 missing \(line 3\)"):
        read_ratings(path, facets=["day"])


def test_levels_without_number_stay_texts(tmp_path: Path) -> None:
    path = tmp_path / "tests.csv"
    path.write_text("item,rater,rating,day\na,x,1,1\na,y,2,eve\nb,x,3,2\nb,y,2,2\n")

    assert read_ratings(path, facets=["day"]).facets["day"].tolist() == ["1", "2", "eve"]


def test_an_absent_facet_is_guessed_from_the_header(tmp_path: Path) -> None:
    path = tmp_path / "tests.csv"
    TESTS.to_csv(path, index=False)

    with pytest.raises(rb.RatingsError, match=r"Did you mean facets=\['day', 'form'\]\?"):
        read_ratings(path, facets=["day", "from"], **COLUMNS)


def test_a_file_with_facets_is_long(tmp_path: Path) -> None:
    path = tmp_path / "tests.csv"
    path.write_text("id,ann,bob,day\na,1,2,1\nb,3,3,2\n")

    with pytest.raises(rb.RatingsError, match="the table must have the columns that were named"):
        read_ratings(path, facets=["day"])
    with pytest.raises(rb.RatingsError, match=r"facets: a wide table has .* none for this"):
        read_ratings(path, facets=["day"], shape="wide")


@pytest.mark.parametrize("package", ["polars", "pyarrow"])
def test_facets_of_other_frames_are_read(tests: Any, package: str) -> None:
    module = pytest.importorskip(package)
    make = module.DataFrame if package == "polars" else module.table
    frame = make({name: TESTS[name].tolist() for name in TESTS})

    assert Ratings.from_frame(frame, facets=["day", "form"], **COLUMNS) == tests


@pytest.mark.parametrize(
    ("facets", "words"),
    [
        (["day", "form"], "none is constant, nested or confounded"),
        (["one"], "one is constant"),
        (["vendor"], "rater is nested in vendor: each rater has one vendor"),
        (["document"], "item is nested in document: each item has one document"),
        (["batch"], "batch is one to one with item: their effects are confounded"),
        (["desk"], "desk is one to one with rater: their effects are confounded"),
        (["day", "week"], "day is nested in week: each day has one week"),
        (["day", "date"], "date is one to one with day: their effects are confounded"),
        (["visit"], "visit is nested in item: each visit has one item"),
        (["prompt"], "each pair of item and rater has one prompt"),
    ],
)
def test_description_says_how_facets_are_arranged(facets: list[str], words: str) -> None:
    rows = [
        (i, r, day, day // 2, i * 10 + day) for i in range(4) for r in range(4) for day in (1, 2, 3)
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "day", "week", "visit"])
    frame = frame.assign(
        form=frame.index % 2,
        date=frame["day"] + 100,
        one=1,
        vendor=frame["rater"] // 2,
        document=frame["item"] // 2,
        batch=frame["item"] + 7,
        desk=frame["rater"] + 7,
        prompt=(frame["item"] + frame["rater"]) % 2,
        rating=frame.index % 5,
    )

    told = Ratings.from_frame(frame, facets=facets, replicates="keep").describe()

    assert told["design of facets"] == words


def test_description_has_a_line_for_each_relation() -> None:
    frame = TESTS.assign(one="x", desk=TESTS["clinician"] + "d")

    told = Ratings.from_frame(frame, facets=["one", "desk", "day"], **COLUMNS).describe()

    assert told["facets"] == "one (1 level), desk (2 levels), day (2 levels)"
    assert told["design of facets"] == (
        "one is constant; desk is one to one with rater: their effects are confounded"
    )
