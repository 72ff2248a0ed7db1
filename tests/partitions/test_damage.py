"""Parts and their manifest are read as they were written, or refused with what is wrong."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb
from reliabayes.partitions.manifest import NAME


@pytest.fixture
def folder(tmp_path: Path, frame: pd.DataFrame) -> Path:
    """500 ratings in two parts."""
    columns: dict[str, Any] = {"item": "ad", "rater": "who", "rating": "score", "pool": "team"}
    rb.partition(frame, tmp_path / "parts", **columns, partitions=2)
    return tmp_path / "parts"


@pytest.fixture
def old(folder: Path) -> Path:
    """The same as older versions wrote them, without checksums."""
    change_manifest(folder, lambda content: content)
    return folder


def change_manifest(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the manifest, and leave it without checksums, as older versions wrote it."""
    content = json.loads((folder / NAME).read_bytes())
    content.pop("sha256", None)
    for part in content["parts"]:
        part.pop("sha256", None)
    change(content)
    (folder / NAME).write_text(json.dumps(content | {"format": 1}))


def read_all(folder: Path) -> list[Any]:
    dataset = rb.scan_ratings(folder)
    return [[part.read(), list(part.item_ids())] for part in dataset.parts]


@pytest.mark.slow
@pytest.mark.parametrize("flips", [60, pytest.param(1000, marks=pytest.mark.proof)])
def test_no_flipped_bit_is_read(flips: int, folder: Path) -> None:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    rng = np.random.default_rng(1)
    assert len(files) == 5

    for flip in range(flips):
        path = files[flip % len(files)]
        whole = path.read_bytes()
        data, bit = bytearray(whole), int(rng.integers(8 * len(whole)))
        data[bit // 8] ^= 1 << bit % 8
        write_at(path, bytes(data), flip)
        with pytest.raises(rb.RatingsError, match=r"damaged|must describe parts"):
            read_all(folder)
        write_at(path, whole, flips + flip)

    assert len(read_all(folder)) == 2


def write_at(path: Path, data: bytes, second: int) -> None:
    """Write a file that differs in its time from what it was, however fast tests are."""
    path.write_bytes(data)
    os.utime(path, (second, second))


def test_parts_without_checksums_are_read(old: Path, frame: pd.DataFrame) -> None:
    assert len(rb.scan_ratings(old).to_ratings()) == len(frame)


def test_the_manifest_is_json(folder: Path) -> None:
    assert len(json.loads((folder / NAME).read_bytes())["sha256"]) == 64


def test_a_manifest_that_lost_its_checksum_is_refused(folder: Path) -> None:
    content = json.loads((folder / NAME).read_bytes())
    (folder / NAME).write_text(json.dumps(content))

    with pytest.raises(rb.RatingsError, match=r"damaged or changed .* \(no checksum\)"):
        rb.scan_ratings(folder)


def test_a_missing_part_is_called_missing(folder: Path) -> None:
    (folder / "part-00001" / "ratings.parquet").unlink()

    with pytest.raises(
        rb.RatingsError,
        match=r"part-00001/ratings\.parquet: all parts must be there; found that it is missing",
    ):
        read_all(folder)


def test_a_part_of_another_folder_is_refused(folder: Path) -> None:
    first, second = folder / "part-00000" / "items.parquet", folder / "part-00001" / "items.parquet"
    first.write_bytes(second.read_bytes())

    with pytest.raises(rb.RatingsError, match=r"part-00000/items\.parquet: .* checksum differs"):
        read_all(folder)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("raters", []),
        ("raters", ["a", "a"]),
        ("raters", {"a": 1}),
        ("rater_pool", [7] * 20),
        ("rater_pool", [-1] * 20),
        ("rater_pool", [0]),
        ("pools", []),
        ("scale", "ordinal"),
        ("scale_is_guess", 1),
        ("categories", "12345"),
        ("values", ["1"]),
        ("limits", [1]),
        ("limits", [1, float("nan")]),
        ("has_gold", None),
        ("facets", ["day"]),
        ("n_missing", -1),
        ("n_missing", 1.5),
        ("parts", [{"n_ratings": 3}]),
        ("parts", [{"n_ratings": 3, "n_items": 0}]),
        ("parts", [{"n_ratings": "3", "n_items": 1}]),
        ("arguments", {}),
        ("another", 1),
    ],
)
def test_entries_of_a_manifest_must_be_what_they_are(old: Path, name: str, value: Any) -> None:
    change_manifest(old, lambda content: content.update({name: value}))

    with pytest.raises(rb.RatingsError, match=rf"must describe parts of ratings; found .*{name}"):
        rb.scan_ratings(old)


@pytest.mark.parametrize("name", ["raters", "parts", "n_missing"])
def test_no_entry_of_a_manifest_may_be_missing(old: Path, name: str) -> None:
    change_manifest(old, lambda content: content.pop(name))

    with pytest.raises(rb.RatingsError, match=rf"entries are missing or unknown: {name}"):
        rb.scan_ratings(old)
