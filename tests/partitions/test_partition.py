"""Tables in parts on disk hold the same ratings as in memory, whatever the source and the parts."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Callable
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import reliabayes as rb
from reliabayes.partitions import runs, sources

COLUMNS: dict[str, Any] = {"item": "ad", "rater": "who", "rating": "score", "pool": "team"}


def as_csv(frame: pd.DataFrame, folder: Path) -> str:
    frame.to_csv(folder / "ratings.csv", index=False)
    return str(folder / "ratings.csv")


def as_packed_tsv(frame: pd.DataFrame, folder: Path) -> Path:
    path = folder / "ratings.tsv.gz"
    with gzip.open(path, "wt") as opened:
        frame.to_csv(opened, index=False, sep="\t")
    return path


def as_semicolons(frame: pd.DataFrame, folder: Path) -> Path:
    frame.to_csv(folder / "ratings.txt", index=False, sep=";")
    return folder / "ratings.txt"


def as_parquet(frame: pd.DataFrame, folder: Path) -> Path:
    frame.to_parquet(folder / "ratings.parquet", row_group_size=70)
    return folder / "ratings.parquet"


def as_one_block(frame: pd.DataFrame, folder: Path) -> Path:
    frame.to_parquet(folder / "ratings.parquet")
    return folder / "ratings.parquet"


def as_pattern(frame: pd.DataFrame, folder: Path) -> str:
    for number in range(3):
        frame.iloc[number * 200 : (number + 1) * 200].to_parquet(folder / f"{number}.parquet")
    return str(folder / "*.parquet")


def as_folder(frame: pd.DataFrame, folder: Path) -> Path:
    as_pattern(frame, folder)
    return folder


def as_pandas(frame: pd.DataFrame, folder: Path) -> pd.DataFrame:
    return frame


def as_polars(frame: pd.DataFrame, folder: Path) -> pl.DataFrame:
    return pl.from_pandas(frame)


def as_lazy_frame(frame: pd.DataFrame, folder: Path) -> pl.LazyFrame:
    return pl.scan_parquet(as_parquet(frame, folder))


def as_duckdb(frame: pd.DataFrame, folder: Path) -> Any:
    duckdb = pytest.importorskip("duckdb")
    return duckdb.read_parquet(str(as_parquet(frame, folder)))


def as_dask(frame: pd.DataFrame, folder: Path) -> Any:
    dask = pytest.importorskip("dask.dataframe")
    return dask.from_pandas(frame, npartitions=3)


SOURCES: tuple[Callable[[pd.DataFrame, Path], Any], ...] = (
    as_csv,
    as_packed_tsv,
    as_semicolons,
    as_parquet,
    as_pattern,
    as_folder,
    as_pandas,
    as_polars,
    as_lazy_frame,
    as_duckdb,
    as_dask,
)


@pytest.mark.parametrize("source", SOURCES)
def test_any_source_has_the_ratings_of_the_table_in_memory(
    source: Callable[[pd.DataFrame, Path], Any], frame: pd.DataFrame, tmp_path: Path
) -> None:
    (tmp_path / "in").mkdir()

    dataset = rb.partition(
        source(frame, tmp_path / "in"), tmp_path / "out", **COLUMNS, partitions=4
    )

    assert dataset.to_ratings() == rb.Ratings.from_frame(frame, **COLUMNS)
    assert [path.name for path in (tmp_path / "out").iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize("source", [as_csv, as_pattern, as_duckdb])
def test_parts_are_the_same_bytes_whatever_the_source(
    source: Callable[[pd.DataFrame, Path], Any],
    frame: pd.DataFrame,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rb.partition(frame, tmp_path / "usual", **COLUMNS, partitions=4)
    (tmp_path / "in").mkdir()
    monkeypatch.setattr(runs, "CHUNK", 50)

    rb.partition(source(frame, tmp_path / "in"), tmp_path / "other", **COLUMNS, partitions=4)

    assert files_of(tmp_path / "other") == files_of(tmp_path / "usual")


@pytest.mark.slow
def test_large_blocks_are_read_in_pieces(
    frame: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rb.partition(frame, tmp_path / "usual", **COLUMNS, partitions=4)
    monkeypatch.setattr(sources, "LARGEST_BLOCK", 100)
    monkeypatch.setattr(sources, "BLOCK", 50)
    monkeypatch.setattr(runs, "CHUNK", 50)

    rb.partition(as_one_block(frame, tmp_path), tmp_path / "other", **COLUMNS, partitions=4)

    assert files_of(tmp_path / "other") == files_of(tmp_path / "usual")


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 3, 64])
def test_items_have_one_order_for_any_number_of_parts(
    frame: pd.DataFrame, tmp_path: Path, number: int
) -> None:
    whole = rb.partition(frame, tmp_path / "one", **COLUMNS, partitions=1)

    dataset = rb.partition(frame, tmp_path / "many", **COLUMNS, partitions=number)

    ids = [part.item_ids().tolist() for part in dataset.parts]
    assert [*chain.from_iterable(ids)] == whole.parts[0].item_ids().tolist()
    assert [part.read().items.tolist() for part in dataset.parts] == consecutive(map(len, ids))
    assert dataset.to_ratings() == whole.to_ratings()


@pytest.mark.slow
def test_each_part_has_all_raters_and_categories(frame: pd.DataFrame, tmp_path: Path) -> None:
    dataset = rb.partition(frame, tmp_path / "parts", **COLUMNS, partitions=64)

    parts = [part.read() for part in dataset.parts]

    assert {part.n_raters for part in parts} == {20}
    assert {tuple(part.categories) for part in parts} == {(1, 2, 3, 4, 5)}
    assert all(part.raters.equals(dataset.raters) for part in parts)
    assert [len(part) for part in parts] == [part.n_ratings for part in dataset.parts]
    assert len(dataset) == 500


@pytest.mark.parametrize(
    ("scores", "options"),
    [
        (np.array(["no", "yes", "maybe"]), {}),
        (
            np.array(["no", "yes", "maybe"]),
            {"scale": "ordered", "categories": ["no", "maybe", "yes"]},
        ),
        (np.array([0.1, 0.2, 1e-3]), {}),
        (np.array([1, 2, 5]), {"scale": "nominal"}),
        (np.array([1, 2, 5]), {"scale": "ordered", "categories": [1, 2, 3, 4, 5]}),
        (np.array([1, 2, 5]), {"categories": [1, 2, 3, 4, 5]}),
        (np.array([True, False]), {}),
        (np.arange(300) / 7, {}),
    ],
)
@pytest.mark.parametrize("source", [as_pandas, as_parquet])
def test_ratings_of_any_scale_stay_what_they_are(
    source: Callable[[pd.DataFrame, Path], Any],
    scores: Any,
    options: dict[str, Any],
    frame: pd.DataFrame,
    tmp_path: Path,
) -> None:
    frame["score"] = scores[np.arange(500) % len(scores)]

    dataset = rb.partition(source(frame, tmp_path), tmp_path / "parts", **COLUMNS, **options)

    expected = rb.Ratings.from_frame(frame, **COLUMNS, **options)
    assert dataset.to_ratings() == expected
    assert dataset.scale_is_guess == expected.scale_is_guess


@pytest.mark.parametrize("is_ordered", [True, False])
def test_categorical_columns_declare_their_categories(
    is_ordered: bool, frame: pd.DataFrame, tmp_path: Path
) -> None:
    texts = frame["score"].map({1: "low", 2: "low", 3: "mid", 4: "high", 5: "high"})
    levels = ["low", "mid", "high", "top"]
    frame["score"] = pd.Categorical(texts, categories=levels, ordered=is_ordered)

    dataset = rb.partition(frame, tmp_path / "parts", **COLUMNS)

    assert dataset.to_ratings() == rb.Ratings.from_frame(frame, **COLUMNS)


def test_numbers_of_a_continuous_scale_keep_seven_digits(
    frame: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "MOST_VALUES", 100)
    monkeypatch.setattr("reliabayes.partitions.rating_values.MOST_VALUES", 100)
    monkeypatch.setattr(runs, "CHUNK", 150)
    frame["score"] = np.random.default_rng(1).normal(50, 10, 500)
    frame.loc[:149, "score"] = 50.0  # few values in the first chunk

    dataset = rb.partition(as_parquet(frame, tmp_path), tmp_path / "parts", **COLUMNS, partitions=3)

    expected = rb.Ratings.from_frame(frame, **COLUMNS)
    assert dataset.categories is None
    assert dataset.limits == (frame["score"].min(), frame["score"].max())
    np.testing.assert_allclose(dataset.to_ratings().values, expected.values, rtol=2.0**-24)


def test_gold_facets_and_replicates_are_kept(frame: pd.DataFrame, tmp_path: Path) -> None:
    again = pd.concat([frame.assign(day="mon"), frame.assign(day="tue"), frame.assign(day="tue")])
    again["truth"] = (again["ad"] % 5 + 1).where(again["ad"] % 2 == 0)
    options: dict[str, Any] = COLUMNS | {
        "facets": {"occasion": "day"},
        "gold": "truth",
        "replicates": "keep",
    }

    dataset = rb.partition(again, tmp_path / "parts", **options, partitions=3)

    assert dataset.to_ratings() == rb.Ratings.from_frame(again, **options)
    assert repr(dataset) == (
        "RatingsDataset(1500 ratings of 100 items by 20 raters in 2 pools, facet occasion (2), "
        "numeric 1..5, in 3 parts)"
    )


def test_gold_may_be_labels(frame: pd.DataFrame, tmp_path: Path) -> None:
    frame["score"] = frame["score"].map({1: "a", 2: "b", 3: "c", 4: "a", 5: "b"})
    frame["truth"] = pd.Series("b", frame.index).where(frame["ad"] < 50)
    csv = as_csv(frame, tmp_path)

    dataset = rb.partition(csv, tmp_path / "parts", **COLUMNS, gold="truth", partitions=3)

    assert dataset.to_ratings() == rb.read_ratings(csv, **COLUMNS, gold="truth")


@pytest.mark.parametrize(
    "item", [lambda n: f"{n:03}", lambda n: n - 50, lambda n: f"item {n}" if n else "7", str]
)
def test_ids_in_text_files_are_read_as_in_memory(
    item: Callable[[int], Any], frame: pd.DataFrame, tmp_path: Path
) -> None:
    frame["ad"] = frame["ad"].map(item)
    csv = as_csv(frame, tmp_path)

    dataset = rb.partition(csv, tmp_path / "parts", **COLUMNS, partitions=3)

    assert dataset.to_ratings() == rb.read_ratings(csv, **COLUMNS)


def test_decimal_commas_are_read_as_in_memory(frame: pd.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    frame.assign(score=frame["score"] / 2).to_csv(path, sep=";", decimal=",", index=False)

    dataset = rb.partition(path, tmp_path / "parts", **COLUMNS, partitions=3)

    assert dataset.to_ratings() == rb.read_ratings(path, **COLUMNS)


def test_rows_without_a_rating_can_be_left_out(frame: pd.DataFrame, tmp_path: Path) -> None:
    frame.loc[frame["score"] == 3, "score"] = np.nan
    frame.loc[7, ["who", "score"]] = [None, np.nan]
    options = COLUMNS | {"missing": "drop"}

    dataset = rb.partition(frame, tmp_path / "parts", **options)

    expected = rb.Ratings.from_frame(frame, **options)
    assert dataset.to_ratings() == expected
    assert dataset.n_missing == expected.n_missing


@pytest.mark.parametrize("column", ["who", "ad"])
def test_rows_left_out_tell_the_type_of_a_column_as_in_memory(column: str, tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "ad": ["1", "1", "2", "2", "3"],
            "who": ["7", "11", "7", "11", "7"],
            "score": ["a", "b", "b", "a", ""],
        }
    )
    frame.loc[4, column] = str(2**63)
    csv = as_csv(frame, tmp_path)
    options = COLUMNS | {"pool": None, "missing": "drop"}

    dataset = rb.partition(csv, tmp_path / "parts", **options, partitions=2)

    expected = rb.read_ratings(csv, **options)
    assert dataset.to_ratings() == expected
    assert dataset.to_ratings().to_frame().to_dict() == expected.to_frame().to_dict()


def test_the_design_is_described_as_in_memory(frame: pd.DataFrame, tmp_path: Path) -> None:
    frame = pd.concat([frame, frame.assign(ad=frame["ad"] + 100, who="x" + frame["who"]).iloc[:90]])

    found = rb.partition(frame, tmp_path / "parts", **COLUMNS, partitions=7).describe()

    expected = rb.Ratings.from_frame(frame, **COLUMNS).describe()
    assert expected["connected parts"] == 2
    assert found.pop("parts") == 7
    assert found.to_dict() == expected.to_dict()


def test_items_whose_hashes_are_equal_are_told_apart(
    frame: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def poor(ids: Any) -> Any:
        return np.array([int(one) % 7 for one in ids.to_pylist()], np.uint64) << np.uint64(61)

    monkeypatch.setattr(runs, "item_hashes", poor)

    dataset = rb.partition(frame, tmp_path / "parts", **COLUMNS, partitions=3)

    assert dataset.to_ratings() == rb.Ratings.from_frame(frame, **COLUMNS)


@pytest.mark.slow
def test_a_rating_takes_at_most_ten_bytes(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    raters = np.argsort(rng.random((20_000, 50)))[:, :5].ravel()
    frame = pd.DataFrame({"item": np.arange(100_000) // 5, "rater": raters})

    rb.partition(frame.assign(rating=rng.random(100_000)), tmp_path / "parts", partitions=2)

    size = sum(path.stat().st_size for path in (tmp_path / "parts").rglob("ratings.parquet"))
    assert size <= 10 * 100_000


@pytest.mark.parametrize(
    ("name", "found", "remedy"),
    [
        ("ratings.parquet", "a file or a pattern", r"reliabayes\.partition\('ratings.parquet', "),
        ("*.parquet", "a file or a pattern", r"reliabayes\.partition\('\*.parquet', "),
        ("", "another folder", "reliabayes.partition"),
    ],
)
def test_only_folders_of_parts_are_scanned(
    name: str, found: str, remedy: str, frame: pd.DataFrame, tmp_path: Path
) -> None:
    as_one_block(frame, tmp_path)

    with pytest.raises(rb.RatingsError, match=f"found {found}.*{remedy}"):
        rb.scan_ratings(tmp_path / name)


def test_a_folder_that_is_not_there_is_not_scanned(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no such folder"):
        rb.scan_ratings(tmp_path / "parts")


def test_without_its_packages_the_extra_is_named(
    frame: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    csv = as_csv(frame, tmp_path)
    monkeypatch.setitem(sys.modules, "polars", None)

    with pytest.raises(ImportError, match=r"polars; run pip install 'reliabayes\[large\]'"):
        rb.partition(csv, tmp_path / "parts", **COLUMNS)


def files_of(folder: Path) -> dict[str, bytes]:
    """Content of all parts, and of the manifest except the source and the checksum of all."""
    found = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.parquet")}
    manifest = json.loads((folder / "manifest.json").read_bytes())
    manifest.pop("source"), manifest.pop("sha256")
    return found | {"manifest": json.dumps(manifest).encode()}


def consecutive(sizes: Any) -> list[list[int]]:
    ends = np.cumsum([0, *sizes])
    return [list(range(start, end)) for start, end in pairwise(ends)]


def test_gold_of_a_text_file_is_a_label_if_the_ratings_are(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text("item,rater,rating,gold\na,x,01,10\na,y,02,10\nb,x,10,10\nb,y,10,10\n")

    dataset = rb.partition(path, tmp_path / "parts", gold="gold", scale="nominal", partitions=1)
    gold = dataset.parts[0].read().gold

    assert gold is not None
    assert dataset.categories[gold].tolist() == ["10", "10"]
