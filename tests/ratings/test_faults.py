"""The message of each fault of a table: its place, its rule, what was found and how to fix it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from reliabayes import agreement
from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings import Ratings

FRAME: Any = pd.DataFrame(
    {
        "item": ["a", "a", "b", "b", "c", "c"],
        "rater": ["x", "y", "x", "y", "x", "y"],
        "rating": [1, 2, 3, 4, 5, 5],
        "pool": ["red", "blue"] * 3,
        "gold": [1, 1, 3, 3, 5, 5],
    }
)


def faults_of(frame: Any, **options: Any) -> str:
    with pytest.raises(RatingsError) as caught:
        Ratings.from_frame(frame, **options)
    return str(caught.value)


@pytest.mark.parametrize("column", ["item", "rater", "rating", "pool"])
def test_missing_values(column: str) -> None:
    frame = FRAME.assign(**{column: FRAME[column].where(FRAME.index != 4)})

    assert f"{column}: no value may be missing; found 1 missing (row 4). " in faults_of(
        frame, pool="pool"
    )


def test_rows_beyond_the_fifth_are_counted() -> None:
    frame = pd.concat([FRAME] * 2, ignore_index=True).assign(rating=[np.inf] * 10 + [1, 2])

    message = faults_of(frame, replicates="keep")

    assert message == (
        "rating: values must be finite; found 10 infinite (rows 0, 1, 2, 3, 4, ...: "
        "inf, inf, inf, inf, inf, ...). Fix or drop these rows."
    )


@pytest.mark.parametrize("column", ["item", "rater", "rating"])
def test_mixed_types(column: str) -> None:
    frame = FRAME.assign(**{column: [1, 1, "b", 2, 2, 2]})

    message = faults_of(frame, replicates="keep")

    assert f"{column}: all values must have the same type" in message
    assert "(row 2: 'b'). Convert the column" in message


@pytest.mark.parametrize("column", ["item", "rater"])
def test_ids_that_differ_only_in_whitespace(column: str) -> None:
    frame = FRAME.assign(**{column: ["a", "b", " a", "c", "a ", "d"]})

    message = faults_of(frame, replicates="keep")

    assert f"{column}: values must not differ only in spaces, or in how characters such" in message
    assert "(rows 2, 4: ' a', 'a '). Pass twins=\"join\" to join them, or rename" in message


@pytest.mark.parametrize("column", ["item", "rater", "rating"])
def test_values_that_differ_only_in_how_unicode_composes_them(column: str) -> None:
    composed, decomposed = "caf\u00e9", "cafe\u0301"
    frame = FRAME.assign(**{column: [composed, "b", decomposed, "c", "d", "e"]})

    message = faults_of(frame, replicates="keep")

    assert f"{column}: values must not differ only in spaces" in message
    assert "in how characters such as é are composed; found 1 that repeat 'caf\u00e9'" in message
    assert "(row 2: " in message
    assert 'Pass twins="join" to join them' in message


TWINS = ["yes", "Yes ", "YES", "no", "yes", "no"]


def test_categories_that_differ_only_in_capitals_are_named() -> None:
    message = faults_of(FRAME.assign(rating=TWINS))

    assert message == (
        "rating: values must not differ only in spaces or capitals, or in how characters such as é "
        "are composed; found 2 that repeat 'yes' in another way (rows 1, 2: 'Yes ', 'YES'). Pass "
        'twins="join" to join them, list all in categories=[...] if capitals matter, or rename '
        "them."
    )


def test_categories_that_differ_in_capitals_may_be_declared() -> None:
    frame = FRAME.assign(rating=["a", "A", "a", "A", "A", "a"])

    assert Ratings.from_frame(frame, categories=["a", "A"]).categories.tolist() == ["a", "A"]


@pytest.mark.parametrize(
    ("categories", "expected"), [(None, ["no", "yes"]), (["NO", "YES"], ["NO", "YES"])]
)
def test_twins_are_joined_under_the_declared_or_the_most_frequent_form(
    categories: list[str] | None, expected: list[str]
) -> None:
    ratings = Ratings.from_frame(FRAME.assign(rating=TWINS), categories=categories, twins="join")

    assert ratings.categories.tolist() == expected
    assert np.bincount(ratings.category).tolist() == [2, 4]
    (note,) = ratings.notes
    assert note.startswith("Column rating: took ")
    assert f"'Yes ' as {expected[1]!r}" in note


def test_ids_are_joined_unless_they_differ_in_capitals() -> None:
    frame = FRAME.assign(rater=["x", "X", "x ", "X", "x", "X"])

    assert Ratings.from_frame(frame, twins="join").raters.tolist() == ["X", "x"]


def test_twins_in_a_wide_table_are_joined() -> None:
    wide = pd.DataFrame({"x": ["yes", "no", "Yes"], "y": ["YES", "no", "yes"]})

    assert Ratings.from_wide(wide, twins="join").categories.tolist() == ["no", "yes"]


def test_ids_that_differ_in_case_are_two_ids() -> None:
    frame = FRAME.assign(rater=["x", "X"] * 3)

    assert Ratings.from_frame(frame).n_raters == 2


def test_numbers_stored_as_text() -> None:
    message = faults_of(FRAME.assign(rating=["1", " 2 ", "n/a", "4", "5", "5"]))

    assert message == (
        "rating: ratings must be either numbers or labels; found numbers stored as text, and 1 not "
        "numeric (row 2: 'n/a'). "
        'Pass scale="numeric" to read them as numbers (fix the others first), or '
        'scale="nominal" to keep them as labels.'
    )


def test_a_text_that_only_reads_as_a_number_is_the_one_that_is_shown() -> None:
    message = faults_of(FRAME.assign(rating=["1", "2", "00", "4", "5", "5"]))

    assert message == (
        "rating: ratings must be either numbers or labels; found numbers stored as text, and 1 not "
        "written as a plain number (row 2: '00'). "
        'Pass scale="numeric" to read them as numbers, or scale="nominal" to keep them as labels.'
    )


def test_missing_ratings_of_a_long_table_are_told_apart_from_those_not_made() -> None:
    frame = FRAME.assign(rating=FRAME["rating"].where(FRAME.index != 4))

    assert faults_of(frame) == (
        "rating: no value may be missing; found 1 missing (row 4). If these ratings were not made, "
        'as empty cells of a wide table, pass missing="drop", or drop their rows: '
        "frame.dropna(subset=['rating'])."
    )


def test_faults_beside_ratings_left_out_are_in_the_rows_of_the_table() -> None:
    frame = FRAME.assign(rating=[np.nan, 2, 3, np.inf, 5, 5])

    message = faults_of(frame, missing="drop")

    assert message == "rating: values must be finite; found 1 infinite (row 3: inf). " + (
        "Fix or drop these rows."
    )


def test_only_ratings_may_be_left_out() -> None:
    frame = FRAME.assign(rater=FRAME["rater"].where(FRAME.index != 4))

    assert "rater: no value may be missing" in faults_of(frame, missing="drop")
    assert "missing: it must be one of 'error', 'drop'" in faults_of(FRAME, missing="omit")


def test_text_that_is_not_numeric_on_a_numeric_scale() -> None:
    message = faults_of(FRAME.assign(rating=["1", "2", "n/a", "4", "5", "5"]), scale="numeric")

    assert "rating: values must be numbers on a numeric scale; found 1 not numeric" in message
    assert "(row 2: 'n/a'). Fix or drop" in message


def test_gold_that_is_not_numeric_on_a_numeric_scale() -> None:
    message = faults_of(FRAME.assign(gold=["1", "1", "three", None, "5", "5"]), gold="gold")

    assert "gold: values must be numbers on a numeric scale; found 1 not numeric" in message


def test_ratings_outside_the_categories() -> None:
    message = faults_of(FRAME, categories=[1, 2, 3])

    assert "among the categories 1, 2, 3; found 3 outside (rows 3, 4, 5: 4, 5, 5). Add" in message


@pytest.mark.parametrize("categories", [[1], [1, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, None]])
def test_categories_that_are_too_few_repeated_or_missing(categories: list[Any]) -> None:
    message = faults_of(FRAME, categories=categories)

    assert "categories: there must be at least two distinct values, none missing" in message


def test_text_on_an_ordered_scale_without_a_declared_order() -> None:
    message = faults_of(FRAME.assign(rating=["low", "high"] * 3), scale="ordered")

    assert "found 'high', 'low' without one. Pass categories=[...], lowest first" in message


def test_gold_outside_the_categories_that_occur() -> None:
    frame = FRAME.assign(rating=list("nynyny"), gold=["n", "n", "y", "y", "maybe", "maybe"])

    message = faults_of(frame, gold="gold")

    assert "gold: gold must be among the categories 'n', 'y'; found 2 outside (rows 4, 5" in message


def test_gold_outside_the_range_of_the_categories() -> None:
    message = faults_of(FRAME.assign(gold=[1, 1, 2.5, 2.5, 9, 9]), gold="gold", categories=range(6))

    assert "gold: gold must lie in the range of the categories, 0..5; found 2 outside" in message


def test_conflicting_gold() -> None:
    message = faults_of(FRAME.assign(gold=[1, 2, 3, None, 5, 5]), gold="gold")

    assert (
        "one gold value; found 1 in conflict with an earlier row of the same item, 'a'" in message
    )
    assert "(row 1: 2). Keep the right value" in message


def test_raters_in_two_pools() -> None:
    message = faults_of(
        FRAME.assign(pool=["red", "blue", "red", "red", "red", "blue"]), pool="pool"
    )

    assert "pool: a rater must belong to one pool" in message
    assert "of the same rater, 'y' (row 3: 'red'). Correct the pool" in message


def test_replicates() -> None:
    message = faults_of(FRAME.assign(rater=["x", "x", "x", "y", "x", "y"]))

    assert "item and rater: a rater must rate an item once; found 2 ratings that share" in message
    assert "(rows 0, 1: 'a' by 'x', 'a' by 'x'). Drop the repeats" in message
    assert 'replicates="keep"' in message


@pytest.mark.parametrize(("column", "words"), [("item", "two items"), ("rater", "two raters")])
def test_a_single_id(column: str, words: str) -> None:
    message = faults_of(FRAME.assign(**{column: 7}), replicates="keep")

    assert message == (
        f"{column}: there must be at least {words}; found only 7. Check that this column holds the "
        f"{column}s, or add the ratings of others."
    )


def test_equal_ratings() -> None:
    message = faults_of(FRAME.assign(rating=4))

    assert "rating: ratings must vary, because agreement is undefined if all are equal" in message
    assert "found 4 in all 6 rows. Check that this column holds the ratings" in message


def test_no_overlap() -> None:
    message = faults_of(FRAME.assign(item=range(6)))

    assert "item and rater: at least one item must be rated by two raters" in message
    assert "found 6 items with one rater each. Check that the two columns" in message


def test_no_ratings() -> None:
    assert faults_of(FRAME[:0]) == (
        "table: it must hold ratings; found none. Pass a table with ratings."
    )


def test_values_that_are_lists() -> None:
    message = faults_of(FRAME.assign(rating=[[{"a": 1}]] * 6))

    assert "rating: each value must be a single text, number, bool or category" in message


def test_one_message_lists_all_faults() -> None:
    frame = FRAME.assign(
        item=["a", None, "b", "b", "c", "c "],
        rating=[1, 2, np.inf, 4, 9, 5],
        pool=["red", "blue", "red", "red", "red", "blue"],
    )

    with pytest.raises(RatingsError) as caught:
        Ratings.from_frame(frame, categories=range(1, 6), pool="pool", gold="gold")

    assert [fault.place for fault in caught.value.faults] == [
        "item",
        "item",
        "rating",
        "rating",
        "pool",
    ]
    assert str(caught.value).startswith("the ratings have 5 faults:\n- item: no value may be")


def test_faults_can_be_read_by_programs() -> None:
    with pytest.raises(RatingsError) as caught:
        Ratings.from_frame(FRAME, categories=[1, 2, 3])

    (fault,) = caught.value.faults
    assert fault == Fault(
        place="rating",
        rule="ratings must be among the categories 1, 2, 3",
        found="3 outside",
        remedy="Add the values to categories=... or drop these rows.",
        rows=(3, 4, 5),
        values=("4", "5", "5"),
        n_rows=3,
    )


def test_columns_under_other_names_are_suggested() -> None:
    frame = FRAME.rename(columns={"item": "Items", "rater": "annotator", "rating": "score"})

    message = faults_of(frame[["Items", "annotator", "score"]])

    assert "found only 'Items', 'annotator', 'score'." in message
    assert "Did you mean item='Items', rater='annotator', rating='score'?" in message


def test_ids_in_the_index() -> None:
    assert "call .reset_index() first" in faults_of(FRAME.set_index(["item", "rater"]))


def test_wide_table_given_as_a_long_one() -> None:
    frame = pd.DataFrame({"item": [1, 2], "rater1": [9, 6], "rater2": [2, 1], "rater3": [5, 3]})

    message = faults_of(frame)

    assert "'rater1', 'rater2', 'rater3' hold numbers in about the same range" in message
    assert "use Ratings.from_wide" in message


def test_long_table_given_as_a_wide_one() -> None:
    with pytest.raises(RatingsError, match=r"each row holds one rating, use Ratings.from_frame"):
        Ratings.from_wide(FRAME)


def test_one_column_in_two_roles() -> None:
    message = faults_of(FRAME, rater="item")

    assert "item and rater: each role must have a column of its own; found 'item' named" in message


def test_repeated_column_names() -> None:
    message = faults_of(FRAME.rename(columns={"gold": "rating"}))

    assert message == (
        "columns: their names must be unique; found 'rating' more than once. "
        "Rename or drop the others."
    )


@pytest.mark.parametrize(
    ("frame", "remedy"),
    [
        ([1, 2, 3], "found a list. Build a table with one rating per row"),
        (np.eye(3), "Pass an items x raters array to Ratings.from_wide"),
    ],
)
def test_objects_that_are_not_tables(frame: Any, remedy: str) -> None:
    assert remedy in faults_of(frame)


def test_lazy_frames() -> None:
    polars = pytest.importorskip("polars")

    message = faults_of(polars.LazyFrame({"item": [1], "rater": [1], "rating": [1]}))

    assert "found a lazy frame. Call .collect() on it first." in message


def test_unknown_options() -> None:
    message = faults_of(FRAME, scale="interval", replicates="drop")

    assert (
        "scale: it must be one of None, 'nominal', 'ordered', 'numeric'; found 'interv" in message
    )
    assert "replicates: it must be one of 'error', 'keep'; found 'drop'" in message


def test_wide_table_that_repeats_an_item() -> None:
    frame = pd.DataFrame({"x": [1, 2, 3], "y": [1, 2, 4]}, index=["a", "b", "a"])

    with pytest.raises(
        RatingsError, match=r"item: each row must be a different item.*\(rows 0, 2: 'a', 'a'"
    ):
        Ratings.from_wide(frame)


def test_faults_of_a_wide_table_have_its_rows() -> None:
    cells = np.array([[1, np.nan], [2, 3], [4, np.inf]])

    with pytest.raises(RatingsError, match=r"found 1 infinite \(row 2: inf\)"):
        Ratings.from_wide(cells)


def test_wide_table_without_ratings() -> None:
    with pytest.raises(RatingsError, match="found 2 rows and 0 such columns"):
        Ratings.from_wide(np.full((2, 2), np.nan))


@pytest.mark.parametrize("shape", [(4,), (2, 2, 2)])
def test_arrays_without_two_dimensions(shape: tuple[int, ...]) -> None:
    with pytest.raises(RatingsError, match="array: it must have two dimensions"):
        Ratings.from_wide(np.ones(shape))


def test_wide_frames_without_an_index_must_name_their_items() -> None:
    pyarrow = pytest.importorskip("pyarrow")

    with pytest.raises(RatingsError, match="item: it must name the column of item ids"):
        Ratings.from_wide(pyarrow.table({"x": [1, 2], "y": [2, 3]}))


def test_pools_that_do_not_match_the_raters() -> None:
    with pytest.raises(RatingsError, match=r"no pool for 1 and a pool for 2, who rated nothing"):
        Ratings.from_wide(np.array([[1, 2], [3, 4]]), pool={0: "red", 2: "blue"})


def test_cells_that_are_not_counts() -> None:
    counts = pd.DataFrame({"yes": [1, -1, 2], "no": [2.5, 1, np.nan]})

    with pytest.raises(RatingsError) as caught:
        Ratings.from_counts(counts)

    assert [fault.rows for fault in caught.value.faults] == [(1,), (0, 2)]
    assert "yes: counts must be whole numbers, 0 or more" in str(caught.value)
    assert "with 0 for none; if the cells are ratings, use Ratings.from_wide" in str(caught.value)


def test_counts_of_a_category_without_a_column() -> None:
    with pytest.raises(RatingsError, match="categories: each category must be a column of counts"):
        Ratings.from_counts(pd.DataFrame({"yes": [1, 2], "no": [1, 0]}), categories=["yes", "not"])


TABLE = np.array([[20, 10], [5, 15]])


@pytest.mark.parametrize(
    "table", [TABLE, pd.DataFrame(TABLE, index=["no", "yes"], columns=["no", "yes"])]
)
def test_contingency_table_given_as_counts(table: Any) -> None:
    with pytest.raises(RatingsError) as caught:
        Ratings.from_counts(table)

    message = str(caught.value)
    assert "rows must be items; found rows and columns of the same names" in message
    assert "use Ratings.from_table with this table." in message


def test_contingency_table_of_raters_one_of_whom_used_fewer_categories() -> None:
    table = pd.crosstab(pd.Series([*"abcabc"], name="one"), pd.Series([*"abaabb"], name="other"))

    with pytest.raises(RatingsError, match=r"found rows and columns of the same names") as caught:
        Ratings.from_counts(table)

    assert "Ratings.from_table with this table and categories=[...]" in str(caught.value)
    assert Ratings.from_table(table, categories=["a", "b", "c"]).n_items == 6
    assert Ratings.from_counts(table, categories=["a", "b"]).n_items == 3


def test_items_that_are_numbered_like_categories_are_items() -> None:
    counts = pd.DataFrame([[3, 0], [1, 2], [0, 3]], index=[1, 2, 3], columns=[1, 2])

    assert list(Ratings.from_counts(counts).items) == [1, 2, 3]


def test_contingency_table_read_as_its_message_says() -> None:
    ratings = Ratings.from_table(TABLE)

    # Cohen (1960): observed 35/50, expected (30 * 25 + 20 * 25) / 50^2
    assert float(agreement.cohen_kappa(ratings)) == pytest.approx((0.7 - 0.5) / 0.5)


@pytest.mark.parametrize(
    "options", [{"categories": ["no", "yes"]}, {"categories": [0, 1]}], ids=["words", "numbers"]
)
def test_square_counts_are_read_if_their_categories_are_named(options: Any) -> None:
    assert Ratings.from_counts(TABLE, **options).counts.tolist() == TABLE.tolist()


@pytest.mark.parametrize("name", ["id", "Item_ID", "subject", "Unnamed: 0"])
def test_ids_of_items_left_in_a_wide_table(name: str) -> None:
    frame = pd.DataFrame({name: [7, 8, 9], "anna": [1, 2, 3], "ben": [1, 2, 2]})

    with pytest.raises(RatingsError) as caught:
        Ratings.from_wide(frame)

    assert f"columns: each column must be a rater; found {name!r}, which" in str(caught.value)
    assert f"Pass item={name!r}" in str(caught.value)


def test_row_numbers_left_in_a_wide_array() -> None:
    array = np.column_stack([np.arange(1, 13), np.tile([1, 2, 3], 4), np.tile([1, 2, 2], 4)])

    with pytest.raises(RatingsError, match=r"found 0, which numbers the rows. .*Drop it"):
        Ratings.from_wide(array)


WORDS, NUMBERS = np.resize(["yes", "no", "maybe"], (12, 2)), np.resize([3, 1, 4, 2, 5], (12, 2))
TITLES, ISBNS = [f"title {i}" for i in range(12)], np.arange(912, 900, -1)


@pytest.mark.parametrize("cells", [WORDS, NUMBERS], ids=["words", "numbers"])
@pytest.mark.parametrize("ids", [TITLES, ISBNS], ids=["texts", "integers"])
def test_ids_of_any_name_left_in_a_wide_table(ids: Any, cells: Any) -> None:
    frame = pd.DataFrame({"book": ids, "anna": cells[:, 0], "ben": cells[:, 1]})

    with pytest.raises(RatingsError) as caught:
        Ratings.from_wide(frame)

    assert "found 'book', which has a value of its own in each row, unlike the others" in str(
        caught.value
    )
    assert "Pass item='book' if it holds the items" in str(caught.value)


@pytest.mark.parametrize(
    "first",
    [
        [10 * i for i in range(12)],  # among those of the others
        [1.5 + 100 * i for i in range(12)],  # no whole numbers
        [*range(100, 111), 110],  # not all different
    ],
)
def test_raters_who_are_not_like_ids_are_read(first: list[float]) -> None:
    frame = pd.DataFrame({"anna": first, "ben": [50, 60] * 6, "cleo": [60, 60, 50] * 4})

    assert list(Ratings.from_wide(frame).raters) == ["anna", "ben", "cleo"]


def test_a_rater_whose_ratings_are_like_ids_is_read_if_items_are_named() -> None:
    frame = pd.DataFrame({"anna": ISBNS, "ben": NUMBERS[:, 0], "book": TITLES})

    assert list(Ratings.from_wide(frame, item="book").raters) == ["anna", "ben"]


def test_an_absent_column_does_not_hide_the_faults_of_the_others() -> None:
    frame = FRAME.drop(columns="rater").assign(
        item=["a", "a ", "b", "b", None, "c"], rating=[1, 2, np.inf, 4, 5, 5]
    )

    message = faults_of(frame, pool="pool")

    assert "the ratings have 4 faults" in message
    assert "columns: the table must have the columns that were named (rater='rater')" in message
    assert "item: no value may be missing; found 1 missing (row 4)" in message
    assert "item: values must not differ only in spaces" in message
    assert "rating: values must be finite; found 1 infinite (row 2: inf)" in message


def test_a_column_that_cannot_be_read_does_not_hide_the_faults_of_the_others() -> None:
    frame = FRAME.assign(item=[["a"], "a", "b", "b", "c", "c"], rating=[1, 2, np.nan, 4, 5, 5])

    message = faults_of(frame)

    assert "item: each value must be a single text" in message
    assert "rating: no value may be missing; found 1 missing (row 2)" in message


ANSWERS = ["yes", "Yes", "Y", "N", "no", "yes"]


@pytest.mark.parametrize("dtype", [object, "category"])
def test_several_spellings_of_yes_or_no_are_named(dtype: Any) -> None:
    frame = FRAME.assign(rating=pd.Series(ANSWERS, dtype=dtype))

    message = faults_of(frame)

    assert message == (
        "rating: yes and no must each be written in one way; found 3 that repeat 'N', 'yes' in "
        "another way (rows 1, 2, 4: 'Yes', 'Y', 'no'). Pass "
        'twins="join" to join them, list all in categories=[...] if they differ in meaning, or '
        "rename them."
    )


def test_spellings_of_yes_and_no_are_joined_and_a_note_says_so() -> None:
    ratings = Ratings.from_frame(FRAME.assign(rating=ANSWERS), twins="join")

    assert ratings.categories.tolist() == ["N", "yes"]
    assert ratings.notes == ("Column rating: took 'Y' as 'yes', 'Yes' as 'yes', 'no' as 'N'.",)


@pytest.mark.parametrize(
    "rating",
    [
        ["yes", "N", "yes", "N", "N", "yes"],  # one spelling each
        ["0", "1", "2", "no", "many", "several"],  # 0 and 1 among other numbers
    ],
)
def test_one_spelling_each_and_numbers_are_left_alone(rating: list[str]) -> None:
    ratings = Ratings.from_frame(FRAME.assign(rating=rating), twins="join")

    assert set(ratings.categories) == set(rating)
    assert ratings.notes == ()


@pytest.mark.parametrize("twins", ["error", "join"])
def test_spellings_that_are_all_declared_stay_apart(twins: Any) -> None:
    frame, categories = FRAME.assign(rating=ANSWERS), ["yes", "Yes", "Y", "N", "no"]

    ratings = Ratings.from_frame(frame, categories=categories, twins=twins)

    assert ratings.categories.tolist() == categories
    assert ratings.to_frame()["rating"].tolist() == frame["rating"].tolist()


def test_gold_takes_the_spelling_of_the_ratings() -> None:
    frame = FRAME.assign(rating=["yes", "no", "yes", "no", "no", "yes"], gold=["Y"] * 4 + ["N"] * 2)

    ratings = Ratings.from_frame(frame, gold="gold", twins="join")

    assert set(ratings.to_frame()["gold"]) == {"yes", "no"}


PERCENTAGES = ["45%", "37 %", "5,5%", "50%", "0%", "50"]


@pytest.mark.parametrize("dtype", [object, "category"])
def test_percentages_are_no_categories(dtype: Any) -> None:
    frame = FRAME.assign(rating=pd.Series(PERCENTAGES, dtype=dtype))

    message = faults_of(frame)

    assert message == (
        "rating: ratings must be either numbers or labels; found 5 numbers with a percent sign "
        "(rows 0, 1, 2, 3, 4: '45%', '37 %', '5,5%', '50%', '0%'). Remove the percent sign from "
        'all of them, or pass scale="nominal" to keep them as labels.'
    )


def test_percentages_on_a_numeric_scale_are_to_lose_their_sign() -> None:
    message = faults_of(FRAME.assign(rating=PERCENTAGES), scale="numeric")

    assert "values must be numbers on a numeric scale; found 5 not numeric" in message
    assert "Remove the percent sign from all of them" in message


def test_spellings_other_than_two_that_are_declared_are_refused() -> None:
    frame = FRAME.assign(rating=ANSWERS)

    with pytest.raises(RatingsError, match=r"ratings must be among the categories .*: 'yes'"):
        Ratings.from_frame(frame, categories=["Yes", "Y", "N", "no"], twins="join")


@pytest.mark.parametrize("options", [{"scale": "nominal"}, {"categories": PERCENTAGES}])
def test_percentages_are_labels_on_request(options: Any) -> None:
    ratings = Ratings.from_frame(FRAME.assign(rating=PERCENTAGES), **options)

    assert set(ratings.categories) == set(PERCENTAGES)
