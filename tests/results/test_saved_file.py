"""A saved fit is loaded as it was saved, or refused with what is wrong about it."""

from __future__ import annotations

import functools
import gzip
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import reliabayes as rb
from reliabayes import datasets
from reliabayes.inference.log_odds_centring import LogOddsCentring
from reliabayes.models.saved_classes import saved_classes
from reliabayes.partitions import in_memory
from reliabayes.results import storage

FORMAT_2 = Path(__file__).with_name("format_2.nc.gz")  # written before files had checksums


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("old") / "fit.nc"
    path.write_bytes(gzip.decompress(FORMAT_2.read_bytes()))
    return path


@pytest.fixture(scope="module")
def fit(old: Path) -> rb.Fit:
    return rb.Fit.load(old)


@pytest.fixture(scope="module")
def saved(fit: rb.Fit, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("new") / "fit.nc"
    fit.save(path)
    return path


def changed(saved: Path, folder: Path, change: Callable[[bytearray], None]) -> Path:
    data, path = bytearray(saved.read_bytes()), folder / "changed.nc"
    change(data)
    path.write_bytes(data)
    return path


@pytest.mark.slow
def test_a_file_of_an_older_version_is_loaded(fit: rb.Fit) -> None:
    table = datasets.load("dawid_skene_1979")

    assert isinstance(fit.model, rb.TAP)
    assert len(fit.ratings) == (table["item"] <= 6).sum()
    assert fit.posterior.sizes["draw"] == fit.settings.draws == 5


def test_a_record_of_another_form_is_refused_with_what_it_lacks() -> None:
    centring = LogOddsCentring(*([np.zeros(1)] * 6))
    packed = storage.pack_arrays(centring).drop_vars(["level_mean", "ability_scale"])

    with pytest.raises(ValueError, match="another version, without level_mean, ability_scale"):
        storage.unpack_arrays(packed, saved_classes())


@pytest.mark.slow
def test_a_fit_is_loaded_as_it_was_saved(fit: rb.Fit, saved: Path) -> None:
    again = rb.Fit.load(saved)

    assert again.model == fit.model
    assert again.ratings == fit.ratings
    assert again.settings == fit.settings
    xr.testing.assert_identical(again.posterior, fit.posterior)
    xr.testing.assert_identical(again.sample_stats, fit.sample_stats)


@pytest.fixture(scope="module")
def with_facets(saved: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, rb.Ratings]:
    """A saved fit whose ratings have facets, of which one has a name for no variable."""
    path = tmp_path_factory.mktemp("facets") / "fit.nc"
    with storage.load(saved, saved_classes()) as known:
        table = known.ratings.to_frame()
        rows = np.arange(len(table))
        table = table.assign(day=rows % 3, **{"form / sheet": np.array(["b", "a"])[rows % 2]})
        ratings = rb.Ratings.from_frame(
            table, facets=["form / sheet", "day"], replicates="keep", scale="nominal"
        )
        storage.save(path, known._replace(ratings=ratings))
    return path, ratings


@pytest.mark.slow
def test_facets_are_loaded_as_they_were_saved(with_facets: tuple[Path, rb.Ratings]) -> None:
    path, ratings = with_facets

    with storage.load(path, saved_classes()) as found:
        assert found.ratings == ratings
        assert list(found.ratings.facets) == ["form / sheet", "day"]


@pytest.mark.slow
def test_levels_that_a_file_does_not_name_are_refused(
    with_facets: tuple[Path, rb.Ratings],
) -> None:
    content = Content(with_facets[0])
    content.set_first("ratings", "facet_1", 3)

    with pytest.raises(ValueError, match=r"day of its ratings has positions outside 0\.\.2"):
        storage.unpack_fit(content.groups, content.attrs, saved_classes())


@pytest.mark.slow
def test_ratings_without_facets_are_stored_as_ever(fit: rb.Fit, old: Path) -> None:
    packed = storage.pack(in_memory(fit.ratings, "pack"))

    assert set(packed.variables) == set(read(old)[0]["ratings"].variables)
    assert not any("facet" in name for name in packed.attrs)


def test_no_flipped_bit_is_loaded(saved: Path, tmp_path: Path) -> None:
    size, rng = saved.stat().st_size, np.random.default_rng(1)

    for bit in rng.integers(8 * size, size=30):

        def flip(data: bytearray, bit: int = int(bit)) -> None:
            data[bit // 8] ^= 1 << bit % 8

        with pytest.raises(ValueError, match=r"changed\.nc' is not a readable fit .* damaged"):
            rb.Fit.load(changed(saved, tmp_path, flip))


@pytest.mark.parametrize("place", [-1, -65, -70, -82])
def test_a_flipped_bit_of_the_checksum_is_found(saved: Path, tmp_path: Path, place: int) -> None:
    def flip(data: bytearray) -> None:
        data[place] ^= 1

    with pytest.raises(ValueError, match=r"damaged or changed after it was saved"):
        rb.Fit.load(changed(saved, tmp_path, flip))


@pytest.mark.parametrize("kept", [0, 10, 1000, -1000, -83, -1])
def test_a_part_of_a_file_is_refused(saved: Path, tmp_path: Path, kept: int) -> None:
    def cut(data: bytearray) -> None:
        del data[kept:]

    with pytest.raises(ValueError, match=r"changed\.nc' is not a readable fit"):
        rb.Fit.load(changed(saved, tmp_path, cut))


@functools.cache
def read(file: Path) -> tuple[dict[str, xr.Dataset], dict[str, Any]]:
    return storage.read(file.read_bytes())


class Content:
    """Groups and attributes of a file, to be changed."""

    def __init__(self, file: Path) -> None:
        groups, attrs = read(file)
        self.groups = {name: group.copy(deep=True) for name, group in groups.items()}
        self.attrs = dict(attrs)

    def set_first(self, group: str, name: str, value: object) -> None:
        self.groups[group][name].values.flat[0] = value

    def replace(self, name: str, old: str, new: str) -> None:
        assert old in self.attrs[name]
        self.attrs[name] = self.attrs[name].replace(old, new)

    def drop(self, group: str, name: str) -> None:
        self.groups[group] = self.groups[group].drop_vars(name)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda x: x.set_first("ratings", "item", 99), "item of its ratings has positions outside"),
        (lambda x: x.set_first("ratings", "rater", -1), "rater .* has positions outside 0..4"),
        (lambda x: x.set_first("ratings", "rating", 7), "rating .* has positions outside 0..3"),
        (lambda x: x.replace("settings", '"draws": 5', '"draws": 6'), "settings tell of .* draws"),
        (lambda x: x.drop("posterior", "a"), "it has no draws of a"),
        (
            lambda x: x.replace("model", "reliabayes.models.tap:TAP", "json:loads"),
            "class 'loads' of the module 'json'",
        ),
    ],
)
def test_parts_that_do_not_belong_together_are_refused(
    old: Path, change: Callable[[Content], None], message: str
) -> None:
    content = Content(old)
    change(content)

    with pytest.raises(ValueError, match=message):
        storage.unpack_fit(content.groups, content.attrs, saved_classes())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda x: x.set_first("posterior", "a", np.nan), "draws of a are not all finite numbers"),
        (lambda x: x.drop("posterior", "confusion"), "quantities are not those of TAP: confusion"),
    ],
)
def test_old_files_without_a_checksum_are_looked_at_closely(
    old: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[Content], None],
    message: str,
) -> None:
    content = Content(old)
    change(content)
    monkeypatch.setattr(storage, "read", lambda _: (content.groups, content.attrs))

    with pytest.raises(ValueError, match=rf"fit\.nc' is not a readable fit.*{message}"):
        rb.Fit.load(old)


def test_only_files_are_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(ValueError, match=r"pipe' is not a readable fit: it is not a file"):
        rb.Fit.load(tmp_path / "pipe")


@pytest.mark.slow
def test_a_file_that_does_not_hold_the_fit_is_not_written(
    fit: rb.Fit, old: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = Content(old)
    content.set_first("posterior", "a", 0.5)
    monkeypatch.setattr(storage, "read", lambda _: (content.groups, content.attrs))

    with pytest.raises(ValueError, match="the format of files cannot hold what is in posterior"):
        fit.save(tmp_path / "fit.nc")

    assert list(tmp_path.iterdir()) == []
