"""Ratings: construction from tables, coding, selection, and results in the user's ids."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reliabayes as rb
from reliabayes.choices import Scale
from reliabayes.errors import RatingsError
from reliabayes.ratings import Ratings

# Shrout and Fleiss (1979), Table 2.
SHROUT_FLEISS = pd.DataFrame(
    {
        "J1": [9, 6, 8, 7, 10, 6],
        "J2": [2, 1, 4, 1, 5, 2],
        "J3": [5, 3, 6, 2, 6, 4],
        "J4": [8, 2, 8, 6, 9, 7],
    },
    index=pd.Index([1, 2, 3, 4, 5, 6], name="target"),
)

# Ad d and its labelers v and w are not connected with the others.
ADS: Any = pd.DataFrame(
    {
        "ad": ["b", "a", "a", "b", "d", "c", "d"],
        "labeler": ["y", "x", "y", "x", "v", "x", "w"],
        "score": [3, 1, 2, 4, 5, 2, 1],
        "team": ["red", "blue", "red", "blue", "red", "blue", "blue"],
        "truth": [3.5, 1.0, 1.0, None, None, 2.0, None],
    }
)
ADS_COLUMNS: dict[str, Any] = {"item": "ad", "rater": "labeler", "rating": "score"}


@pytest.fixture
def ads() -> Ratings:
    """Incomplete ratings with pools and gold, in two connected components."""
    return Ratings.from_frame(ADS, pool="team", gold="truth", **ADS_COLUMNS)


@pytest.fixture(params=[("polars", "DataFrame"), ("pyarrow", "table")], ids=lambda param: param[0])
def convert(request: pytest.FixtureRequest) -> Callable[[pd.DataFrame], Any]:
    """Convert a pandas frame to a frame of another package."""
    package, maker = request.param
    make = getattr(pytest.importorskip(package), maker)
    return lambda frame: make(_columns(frame))


@st.composite
def long_tables(draw: st.DrawFn) -> pd.DataFrame:
    """Draw items x raters tables in which some cells after the first two rows may be empty."""
    n_items, n_raters = draw(st.integers(2, 6)), draw(st.integers(2, 5))
    cells = [(item, rater) for item in range(n_items) for rater in range(n_raters)]
    n_kept = draw(st.integers(n_raters + 2, max(n_raters + 2, len(cells))))
    frame = pd.DataFrame(cells[:n_kept], columns=["item", "rater"])
    values = st.lists(st.integers(1, 5), min_size=len(frame), max_size=len(frame))
    return frame.assign(rating=draw(values.filter(lambda ratings: len(set(ratings)) > 1)))


def test_codes_point_to_the_users_ids(ads: Any) -> None:
    ids = list(zip(ads.items[ads.item], ads.raters[ads.rater], ads.rating, strict=True))

    assert ids == [
        ("a", "x", 1.0),
        ("a", "y", 2.0),
        ("b", "x", 4.0),
        ("b", "y", 3.0),
        ("c", "x", 2.0),
        ("d", "v", 5.0),
        ("d", "w", 1.0),
    ]


def test_arrays_have_the_documented_types_and_are_read_only(ads: Any) -> None:
    arrays = [ads.item, ads.rater, ads.rating, ads.rater_pool, ads.gold, ads.counts, ads.category]

    assert [array.dtype.name for array in arrays] == [
        "int32",
        "int32",
        "float64",
        "int32",
        "float64",
        "int64",
        "int32",
    ]
    assert not any(array.flags.writeable for array in arrays)
    assert all(array.flags.c_contiguous for array in arrays)


def test_fields_cannot_be_replaced(ads: Any) -> None:
    with pytest.raises(AttributeError):
        ads.scale = "nominal"


def test_ids_keep_the_users_types() -> None:
    ratings = Ratings.from_wide(SHROUT_FLEISS)

    assert ratings.items.tolist() == [1, 2, 3, 4, 5, 6]
    assert ratings.raters.tolist() == ["J1", "J2", "J3", "J4"]


def test_each_rater_has_its_pool(ads: Any) -> None:
    pools = dict(zip(ads.raters, ads.pools[ads.rater_pool], strict=True))

    assert pools == {"v": "red", "w": "blue", "x": "blue", "y": "red"}


def test_gold_of_an_item_may_stand_in_any_of_its_rows(ads: Any) -> None:
    np.testing.assert_array_equal(ads.gold, [1.0, 3.5, 2.0, np.nan])


def test_gold_of_labels_is_a_category() -> None:
    frame = ADS.assign(score=list("nyynyny"), truth=["y", "n", "n", None, None, "y", None])

    ratings: Any = Ratings.from_frame(frame, gold="truth", **ADS_COLUMNS)

    assert ratings.categories.tolist() == ["n", "y"]
    assert ratings.gold.tolist() == [0, 1, 1, -1]
    assert ratings.gold_category.tolist() == [0, 1, 1, -1]


def test_numeric_gold_has_categories_if_all_its_values_are_categories() -> None:
    frame = ADS.assign(truth=[3, 1, 1, 3, None, 2, None])

    ratings: Any = Ratings.from_frame(frame, gold="truth", **ADS_COLUMNS)

    assert ratings.gold_category.tolist() == [0, 2, 1, -1]


def test_ids_may_have_any_type() -> None:
    frame = ADS.assign(ad=[(2, 1), (1, 1), (1, 1), (2, 1), (3, 1), (3, 2), (3, 1)])

    ratings = Ratings.from_frame(frame, **ADS_COLUMNS)

    assert ratings.items.tolist() == [(1, 1), (2, 1), (3, 1), (3, 2)]


def test_gold_between_categories_has_no_category(ads: Any) -> None:
    with pytest.raises(RatingsError, match=r"gold: gold must be among .* found 3.5. Pass categor"):
        _ = ads.gold_category


@pytest.mark.parametrize(
    ("values", "scale", "categories"),
    [
        ([1, 2, 3, 4, 5, 2, 1], "numeric", [1, 2, 3, 4, 5]),
        ([0.5, 2, 3, 4, 5, 2, 1], "numeric", [0.5, 1, 2, 3, 4, 5]),
        (list("cbacbac"), "nominal", ["a", "b", "c"]),
        ([True, False, True, True, False, False, True], "nominal", [False, True]),
        (pd.Categorical(list("cbacbac")), "nominal", ["a", "b", "c"]),
        (pd.Categorical(list("cbacbac"), list("dcba"), ordered=True), "ordered", list("dcba")),
        (pd.array([1, 2, 3, 4, 5, 2, 1], dtype="Int64"), "numeric", [1, 2, 3, 4, 5]),
        (pd.Series([1, 2, 3, 4, 5, 2, 1], dtype=object), "numeric", [1, 2, 3, 4, 5]),
    ],
)
def test_scale_is_inferred_from_the_type(values: Any, scale: str, categories: list[Any]) -> None:
    ratings = Ratings.from_frame(ADS.assign(score=values), **ADS_COLUMNS)

    assert ratings.scale == scale
    assert ratings.categories.tolist() == categories


def test_scale_can_be_chosen() -> None:
    ratings: Any = Ratings.from_frame(
        ADS, scale="ordered", categories=[5, 4, 3, 2, 1], **ADS_COLUMNS
    )

    assert ratings.scale == "ordered"
    assert ratings.categories[ratings.rating].tolist() == [1, 2, 4, 3, 2, 5, 1]


def test_numeric_scale_reads_text_when_asked() -> None:
    frame = ADS.assign(score=ADS["score"].astype(str))

    ratings = Ratings.from_frame(frame, scale="numeric", **ADS_COLUMNS)

    assert ratings == Ratings.from_frame(ADS, **ADS_COLUMNS)


def test_categories_may_stay_unrated() -> None:
    ratings = Ratings.from_frame(ADS, categories=range(1, 8), **ADS_COLUMNS)

    assert ratings.categories.tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert ratings.counts.sum(axis=0).tolist() == [2, 2, 1, 1, 1, 0, 0]


def test_labels_have_no_numeric_values() -> None:
    ratings = Ratings.from_frame(ADS.assign(score=list("cbacbac")), **ADS_COLUMNS)

    with pytest.raises(RatingsError, match=r"'a', 'b', 'c'. If .* pass scale=\"numeric\""):
        _ = ratings.values


def test_replicates_are_kept_when_asked() -> None:
    frame = pd.concat([ADS, ADS.assign(score=ADS["score"] + 1)])

    ratings = Ratings.from_frame(frame, replicates="keep", **ADS_COLUMNS)

    assert ratings.incidence.toarray().max() == 2
    assert ratings.describe()["replicates"] == 7


@pytest.mark.parametrize("options", [{}, {"scale": "nominal"}, {"rating": "team"}])
def test_all_kinds_of_data_frames_give_the_same_ratings(
    convert: Callable[[pd.DataFrame], Any], options: dict[str, Any]
) -> None:
    roles = {**ADS_COLUMNS, "gold": "truth", **options, "scale": options.get("scale")}
    frame = ADS.assign(truth=ADS[roles["rating"]]).drop_duplicates("ad")
    frame = pd.concat([frame, ADS.assign(truth=None)]).drop_duplicates(["ad", "labeler"])

    ratings = Ratings.from_frame(convert(frame), **roles)

    assert ratings == Ratings.from_frame(frame, **roles)


def test_missing_ids_are_found_in_all_kinds_of_data_frames(
    convert: Callable[[pd.DataFrame], Any],
) -> None:
    frame = convert(ADS.assign(ad=[None, *"aabdcd"], labeler=[7, None, 8, 8, 9, 7, 9]))

    with pytest.raises(RatingsError, match=r"ad: .*\(row 0\)[\s\S]*labeler: .*\(row 1\)"):
        Ratings.from_frame(frame, **ADS_COLUMNS)


def test_polars_enum_is_ordered() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(ADS.drop(columns="truth").to_dict("list"))
    levels = polars.Enum(["low", "mid", "high"])
    scores = polars.Series("score", ["low", "high", "low", "low", "high", "low", "low"], levels)

    ratings = Ratings.from_frame(frame.with_columns(scores), **ADS_COLUMNS)

    assert ratings.scale == "ordered"
    assert ratings.categories.tolist() == ["low", "mid", "high"]


def test_wide_and_long_tables_give_the_same_ratings() -> None:
    long = SHROUT_FLEISS.reset_index().melt("target", var_name="judge", value_name="score")

    ratings = Ratings.from_wide(SHROUT_FLEISS)

    assert ratings == Ratings.from_frame(long, item="target", rater="judge", rating="score")


def test_empty_ratings_of_a_long_table_are_left_out_on_request_as_cells_of_a_wide_one() -> None:
    wide = SHROUT_FLEISS.astype(float).mask(SHROUT_FLEISS == 6)
    long = wide.reset_index().melt("target", var_name="rater", value_name="rating")

    ratings = Ratings.from_frame(long, item="target", missing="drop")

    assert ratings == Ratings.from_wide(wide)
    assert ratings.n_missing == 5
    assert ratings.describe()["rows without a rating"] == 5
    assert "rows without a rating" not in Ratings.from_wide(wide).describe()


def test_ids_of_items_without_a_rating_are_left_out_with_them() -> None:
    frame = pd.DataFrame(
        {"item": [1, 1, 2, 2, 3], "rater": [7, 8, 7, 8, 9], "rating": [1, 2, 2, 1, 0]}
    )
    frame["rating"] = frame["rating"].where(frame["item"] < 3)

    ratings = Ratings.from_frame(frame, missing="drop")

    assert (ratings.items.tolist(), ratings.raters.tolist()) == ([1, 2], [7, 8])


def test_wide_tables_of_all_kinds_of_data_frames_can_name_their_items(
    convert: Callable[[pd.DataFrame], Any],
) -> None:
    frame = convert(SHROUT_FLEISS.reset_index())

    ratings = Ratings.from_wide(frame, item="target")

    assert ratings == Ratings.from_wide(SHROUT_FLEISS)


def test_empty_cells_of_a_wide_table_are_not_ratings() -> None:
    ratings = Ratings.from_wide(np.array([[1, np.nan, 2], [3, np.nan, np.nan], [np.nan] * 3]))

    assert ratings.items.tolist() == [0, 1]
    assert ratings.raters.tolist() == [0, 2]
    assert ratings.rating.tolist() == [1, 2, 3]


def test_wide_tables_take_pools_and_gold() -> None:
    pools = {"J1": "expert", "J2": "crowd", "J3": "crowd", "J4": "expert"}

    ratings: Any = Ratings.from_wide(SHROUT_FLEISS.assign(key=range(6)), pool=pools, gold="key")

    assert ratings.pools[ratings.rater_pool].tolist() == ["expert", "crowd", "crowd", "expert"]
    assert ratings.gold.tolist() == [0, 1, 2, 3, 4, 5]


def test_wide_tables_of_labels_keep_their_order() -> None:
    levels = pd.CategoricalDtype(["low", "mid", "high"], ordered=True)
    frame = pd.DataFrame({"x": ["low", "high"], "y": ["high", None]}).astype(levels)

    ratings = Ratings.from_wide(frame)

    assert ratings.scale == "ordered"
    assert ratings.rating.tolist() == [0, 2, 2]


def test_counts_come_back_from_counts() -> None:
    counts = np.array([[0, 0, 14], [0, 2, 6], [3, 5, 0]])

    ratings = Ratings.from_counts(counts, categories=["a", "b", "c"])

    np.testing.assert_array_equal(ratings.counts, counts)
    assert ratings.scale == "nominal"
    assert ratings.anonymous_raters


def test_counts_in_a_polars_frame_name_their_items() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"ad": ["p", "q"], "1": [1, 0], "2": [2, 3]})

    ratings = Ratings.from_counts(frame, item="ad", scale="numeric")

    assert ratings.values.tolist() == [1, 2, 2, 2, 2, 2]


@pytest.mark.parametrize("what", ["incidence", "ratings_per_rater", "n_components"])
def test_anonymous_raters_are_refused_where_they_must_be_known(what: str) -> None:
    ratings = Ratings.from_counts(np.array([[1, 2], [0, 3]]))

    with pytest.raises(RatingsError, match=f"{what}: it must be known who gave each rating"):
        getattr(ratings, what)


def test_design_of_incomplete_ratings(ads: Any) -> None:
    assert (ads.n_items, ads.n_raters, ads.n_ratings, len(ads)) == (4, 4, 7, 7)
    assert ads.ratings_per_item.tolist() == [2, 2, 1, 2]
    assert ads.ratings_per_rater.tolist() == [1, 1, 3, 2]
    assert ads.incidence.toarray().tolist() == [
        [0, 0, 1, 1],
        [0, 0, 1, 1],
        [0, 0, 1, 0],
        [1, 1, 0, 0],
    ]
    assert ads.n_components == 2
    assert not ads.is_complete


def test_ratings_of_every_item_by_every_rater_are_complete() -> None:
    assert Ratings.from_wide(SHROUT_FLEISS).is_complete


def test_description_has_every_size(ads: Any) -> None:
    description = ads.describe()

    assert description.to_dict() == {
        "items": 4,
        "raters": 4,
        "ratings": 7,
        "items with a known answer": 3,
        "ratings per item (min)": 1,
        "ratings per item (median)": 2.0,
        "ratings per item (max)": 2,
        "ratings per rater (min)": 1,
        "ratings per rater (median)": 1.5,
        "ratings per rater (max)": 3,
        "share of cells filled": 7 / 16,
        "replicates": 0,
        "connected parts": 2,
        "scale": "numeric",
        "scale guessed": "the 5 whole numbers are probably grades",
        "range": "1..5",
        "pools": "'blue', 'red'",
    }


def test_notebooks_show_a_table_with_escaped_names() -> None:
    shown = Ratings.from_wide(np.array([["<b>", "y"], ["y", "<b>"]]))._repr_html_()

    assert shown.startswith("<p>Ratings(4 ratings of 2 items by 2 raters, nominal in 2 categories)")
    assert "<th>ratings per item (median)</th>" in shown
    assert "<b>" not in shown
    assert "&lt;b&gt;" in shown


def test_repr_is_one_line(ads: Any) -> None:
    labels = Ratings.from_counts(np.array([[1, 2], [0, 3]]))

    assert repr(ads) == "Ratings(7 ratings of 4 items by 4 raters in 2 pools, numeric 1..5)"
    assert repr(labels) == (
        "Ratings(6 ratings of 2 items by anonymous raters, nominal in 2 categories)"
    )


def test_subset_keeps_what_is_named(ads: Any) -> None:
    part = ads.subset(items=["a", "b", "d"], raters=["x", "y"])

    assert part.items.tolist() == ["a", "b"]
    assert part.rating.tolist() == [1, 2, 4, 3]
    assert part.gold.tolist() == [1.0, 3.5]


def test_subset_by_pool_keeps_its_raters() -> None:
    ratings = Ratings.from_wide(SHROUT_FLEISS, pool={"J1": 1, "J2": 1, "J3": 2, "J4": 2})

    assert ratings.subset(pools=[2]) == Ratings.from_wide(
        SHROUT_FLEISS[["J3", "J4"]], pool={"J3": 2, "J4": 2}
    )


def test_subset_keeps_categories_without_ratings() -> None:
    ratings = Ratings.from_frame(ADS.assign(score=list("nyynamy")), **ADS_COLUMNS)

    part = ratings.subset(items=["a", "b"])

    assert part.categories.tolist() == ["a", "m", "n", "y"]


def test_subset_suggests_a_known_id_for_an_unknown_one() -> None:
    ratings = Ratings.from_wide(SHROUT_FLEISS.rename(columns={"J1": "judge one"}))

    with pytest.raises(
        RatingsError, match=r"raters: .* found no 'judge on'. Did you mean 'judge o"
    ):
        ratings.subset(raters=["judge on", "J2"])


def test_subset_is_checked_again(ads: Any) -> None:
    with pytest.raises(RatingsError, match="rater: there must be at least two raters"):
        ads.subset(raters=["x"])


def test_the_table_of_two_raters_counts_the_items_that_both_rated() -> None:
    wide = pd.DataFrame({"Ann": list("aabba"), "Bob": ["a", "b", "b", "b", None], "Cem": "c"})
    ratings = Ratings.from_wide(wide)

    found = ratings.table("Ann", "Bob")

    assert found.to_numpy().tolist() == [[1, 1, 0], [0, 2, 0], [0, 0, 0]]
    assert (found.index.tolist(), found.index.name) == (["a", "b", "c"], "Ann")
    assert (found.columns.tolist(), found.columns.name) == (["a", "b", "c"], "Bob")
    assert found.equals(ratings.table("Bob", "Ann").T)


def test_each_pair_of_repeated_ratings_counts_in_the_table_of_two_raters() -> None:
    rows = [
        (1, "Ann", 1),
        (1, "Ann", 2),
        (1, "Bob", 1),
        (1, "Bob", 1),
        (1, "Bob", 2),
        (2, "Bob", 2),
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "rating"])

    found = Ratings.from_frame(frame, replicates="keep").table("Ann", "Bob")

    assert found.to_numpy().tolist() == [[2, 1], [2, 1]]


def test_a_table_of_unknown_raters_is_refused(ads: Any) -> None:
    with pytest.raises(RatingsError, match=r"rater: all requested ids must exist; found no 'z'"):
        ads.table("x", "z")


def test_a_table_of_a_thousand_numbers_is_refused() -> None:
    scores = Ratings.from_wide(np.arange(1002).reshape(-1, 2))

    with pytest.raises(RatingsError, match="the table takes at most 1,000 categories"):
        scores.table(0, 1)


def test_equal_ratings_have_equal_hashes(ads: Any) -> None:
    again = Ratings.from_frame(ADS[::-1], pool="team", gold="truth", **ADS_COLUMNS)

    assert ads == again
    assert hash(ads) == hash(again)
    assert ads != Ratings.from_frame(ADS, **ADS_COLUMNS)


def test_ratings_can_be_pickled(ads: Any) -> None:
    assert pickle.loads(pickle.dumps(ads)) == ads


@pytest.mark.parametrize("score", [[1, 2, 3, 4, 5, 2, 1], list("nyynamy")])
def test_long_frame_gives_the_ratings_back(score: list[Any]) -> None:
    frame = ADS.assign(score=score, truth=None)
    ratings = Ratings.from_frame(frame, pool="team", **ADS_COLUMNS)

    assert Ratings.from_frame(ratings.to_frame(), pool="pool") == ratings


@given(table=long_tables(), seed=st.integers(0, 2**32 - 1))
def test_order_of_rows_does_not_matter(table: pd.DataFrame, seed: int) -> None:
    shuffled = table.sample(frac=1, random_state=seed)

    assert Ratings.from_frame(shuffled) == Ratings.from_frame(table)


@given(table=long_tables(), seed=st.integers(0, 2**32 - 1))
def test_order_of_replicates_does_not_matter(table: pd.DataFrame, seed: int) -> None:
    twice = pd.concat([table, table.assign(rating=6 - table["rating"])])

    one = Ratings.from_frame(twice, replicates="keep")
    other = Ratings.from_frame(twice.sample(frac=1, random_state=seed), replicates="keep")

    assert one == other


@given(table=long_tables())
def test_renaming_raters_changes_only_their_ids(table: pd.DataFrame) -> None:
    renamed = Ratings.from_frame(table.assign(rater=table["rater"].map("rater {}".format)))
    ratings = Ratings.from_frame(table)

    np.testing.assert_array_equal(renamed.rater, ratings.rater)
    np.testing.assert_array_equal(renamed.rating, ratings.rating)
    assert renamed.raters.tolist() == [f"rater {rater}" for rater in ratings.raters]


@given(table=long_tables())
def test_long_frame_round_trip(table: pd.DataFrame) -> None:
    ratings = Ratings.from_frame(table)

    assert Ratings.from_frame(ratings.to_frame()) == ratings


@given(table=long_tables())
def test_wide_table_of_a_long_one_gives_the_same_ratings(table: pd.DataFrame) -> None:
    wide = table.pivot(index="item", columns="rater", values="rating")

    assert Ratings.from_wide(wide) == Ratings.from_frame(table)


def test_a_hundred_thousand_ratings_are_coded_correctly() -> None:
    rng = np.random.default_rng(1)
    pairs = rng.choice(2_000 * 500, 100_000, replace=False)
    frame = pd.DataFrame({"item": pairs // 500, "rater": pairs % 500, "rating": pairs % 7})

    ratings = Ratings.from_frame(frame)

    assert len(ratings) == 100_000
    assert ratings.ratings_per_item.sum() == 100_000
    np.testing.assert_array_equal(
        ratings.items[ratings.item] * 500 + ratings.raters[ratings.rater], np.sort(pairs)
    )


def _columns(frame: pd.DataFrame) -> dict[str, list[Any]]:
    plain = frame.astype(object).replace({np.nan: None})
    return {str(name): column.tolist() for name, column in plain.items()}


BIG = 2**53


@pytest.mark.parametrize("kind", ["int64", "Int64", "object", "uint64"])
def test_integer_categories_beyond_the_precision_of_floats_stay_apart(kind: str) -> None:
    frame = pd.DataFrame(
        {"item": [1, 1, 2, 2], "rater": [1, 2] * 2, "rating": [BIG, BIG + 1, BIG, BIG]}
    ).astype({"rating": kind})

    ratings = Ratings.from_frame(frame, scale="nominal")

    assert ratings.categories.tolist() == [BIG, BIG + 1]


def test_integers_beyond_the_precision_of_floats_are_labels() -> None:
    ratings = Ratings.from_wide(np.array([[BIG, BIG + 1], [BIG, BIG]]))

    assert ratings.scale == "nominal"
    assert float(rb.agreement.percent_agreement(ratings)) == 0.5


@pytest.mark.filterwarnings("ignore:.* is undefined")
@pytest.mark.parametrize("scale", ["nominal", "ordered"])
def test_declared_categories_of_which_one_occurs_are_ratings(scale: Scale) -> None:
    ratings = Ratings.from_wide(np.ones((4, 3)), scale=scale, categories=[1, 2])

    table = ratings.agreement()

    assert table.loc["percent agreement", "value"] == 1
    assert table.filter(regex="AC|&", axis=0)["value"].tolist() == [1] * (1 + (scale == "nominal"))
