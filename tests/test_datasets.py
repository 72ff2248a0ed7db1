"""Data sets come from the package or a cache, are checked by hash, and downloaded on request."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pandas as pd
import pytest

from reliabayes import Ratings, datasets
from reliabayes.datasets import Dataset

Load = Callable[[str], pd.DataFrame]

BUNDLED = ["shrout_fleiss_1979", "dawid_skene_1979"]
LARGER = sorted(set(datasets.names()) - set(BUNDLED))
TEXT = "item,rater,rating\n1,x,2\n"


class SilentHandler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Path of an absent cache folder, without a mirror."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("RELIABAYES_DATA", str(folder))
    monkeypatch.delenv("RELIABAYES_DATA_URL", raising=False)
    return folder


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Folder that a local mirror serves."""
    folder = tmp_path / "mirror"
    folder.mkdir()
    handler = partial(SilentHandler, directory=str(folder))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        url = f"http://127.0.0.1:{server.server_port}/"
        monkeypatch.setenv("RELIABAYES_DATA_URL", url)
        Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield folder
        server.shutdown()


@pytest.fixture
def tiny() -> Dataset:
    """Description of a data set whose file holds TEXT."""
    sha256 = hashlib.sha256(TEXT.encode()).hexdigest()
    return replace(datasets.about("wine"), name="tiny", sha256=sha256)


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_tables_need_no_cache(cache: Path, name: str) -> None:
    frame = datasets.load(name)

    assert len(frame) == datasets.about(name).rows
    assert not cache.exists()


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_tables_have_the_hash_of_the_catalogue(name: str) -> None:
    content = datasets.about(name).path().read_bytes()

    assert hashlib.sha256(content).hexdigest() == datasets.about(name).sha256


def test_shrout_and_fleiss_have_the_published_mean_squares() -> None:
    frame = datasets.load("shrout_fleiss_1979")

    between_targets = 4 * frame.groupby("item")["rating"].mean().var()
    between_judges = 6 * frame.groupby("rater")["rating"].mean().var()

    assert between_targets == pytest.approx(11.24, abs=0.005)
    assert between_judges == pytest.approx(32.49, abs=0.005)


def test_only_the_first_rater_of_dawid_and_skene_has_replicates() -> None:
    frame = datasets.load("dawid_skene_1979")

    assert frame.groupby("rater")["replicate"].max().to_list() == [3, 1, 1, 1, 1]


@pytest.mark.parametrize("name", LARGER)
def test_larger_tables_have_the_rows_and_columns_of_the_catalogue(dataset: Load, name: str) -> None:
    frame = dataset(name)

    about = datasets.about(name)
    assert len(frame) == about.rows
    assert list(frame) == list(about.columns)
    assert not frame.isna().any(axis=None)


def test_ids_that_are_not_whole_numbers_stay_text(dataset: Load) -> None:
    frame = dataset("wordsim353_set1")

    assert frame["item"][0] == "001 love sex"
    assert pd.api.types.is_string_dtype(frame["item"])


def test_tables_give_ratings_without_renaming_columns(dataset: Load) -> None:
    ratings = Ratings.from_frame(dataset("wordsim_two_pools"), pool="pool")

    assert (
        repr(ratings) == "Ratings(667 ratings of 29 items by 23 raters in 2 pools, numeric 0..10)"
    )


def test_an_unknown_name_is_reported_with_similar_ones() -> None:
    with pytest.raises(ValueError, match=r"found 'bluebird'. Did you mean 'bluebirds'\? The data"):
        datasets.load("bluebird")


def test_the_catalogue_has_a_row_per_data_set() -> None:
    table = datasets.catalogue()

    assert table.index.to_list() == datasets.names()
    assert table.loc["caries", "doi"] == "10.2307/2531499"


def test_an_absent_file_is_reported_with_its_name_hash_and_folder(cache: Path) -> None:
    sha256 = datasets.about("wine").sha256

    with pytest.raises(FileNotFoundError, match=rf"wine.csv in {cache}. .* sha256 {sha256} there"):
        datasets.load("wine")


def test_a_file_in_the_cache_needs_no_mirror(cache: Path, tiny: Dataset) -> None:
    cache.mkdir()
    (cache / "tiny.csv").write_text(TEXT)

    assert tiny.path() == cache / "tiny.csv"


def test_a_file_with_a_wrong_hash_is_refused_and_left_unchanged(
    cache: Path, mirror: Path, tiny: Dataset
) -> None:
    cache.mkdir()
    (cache / "tiny.csv").write_text("something else")
    (mirror / "tiny.csv").write_text(TEXT)

    with pytest.raises(ValueError, match=rf"must have sha256 {tiny.sha256}; found [0-9a-f]+ in"):
        tiny.path()

    assert (cache / "tiny.csv").read_text() == "something else"


def test_a_file_that_changes_after_it_was_checked_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "changed.csv"
    path.write_text(TEXT)
    monkeypatch.setattr(Dataset, "path", lambda self: path)

    with pytest.raises(ValueError, match=r"shrout_fleiss_1979: .* must have sha256"):
        datasets.load("shrout_fleiss_1979")


def test_an_absent_file_is_downloaded_from_the_mirror(
    cache: Path, mirror: Path, tiny: Dataset, capfd: pytest.CaptureFixture[str]
) -> None:
    (mirror / "tiny.csv").write_text(TEXT)

    path = tiny.path()

    assert path.read_text() == TEXT
    assert path.parent == cache
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("found", [{"tiny.csv": "something else"}, {}])
def test_a_mirror_without_the_right_file_is_reported(
    cache: Path, mirror: Path, tiny: Dataset, found: dict[str, str]
) -> None:
    for name, text in found.items():
        (mirror / name).write_text(text)

    with pytest.raises(
        OSError, match=r"tiny: the mirror must provide the file .* RELIABAYES_DATA_URL"
    ):
        tiny.path()

    assert list(cache.iterdir()) == []


def test_tests_without_their_data_are_skipped(
    cache: Path, dataset: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI", raising=False)

    with pytest.raises(pytest.skip.Exception, match=r"wine: .* found no wine.csv"):
        dataset("wine")


def test_tests_without_their_data_fail_in_ci(
    cache: Path, dataset: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")

    with pytest.raises(pytest.fail.Exception, match="CI must have the data: wine"):
        dataset("wine")
