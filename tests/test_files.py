"""Files appear whole or not at all."""

from __future__ import annotations

import os
import re
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from reliabayes.files import write_whole
from tests.faults import files_of_at_most, on_small_disk


def test_a_full_disk_is_named_and_keeps_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    target.write_bytes(b"old")

    with files_of_at_most(1000), pytest.raises(OSError, match=r"needs 5,000 bytes.*out\.json"):
        write_whole(target, b"x" * 5000)

    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_disk_that_is_really_full_is_named_and_keeps_the_old_file() -> None:
    def run(disk: Path) -> tuple[str, bytes, list[str]]:
        target = disk / "out.json"
        target.write_bytes(b"old")
        with pytest.raises(OSError, match="the file needs 500,000 bytes") as raised:
            write_whole(target, b"x" * 500_000)
        return str(raised.value), target.read_bytes(), os.listdir(disk)

    message, content, left = on_small_disk(100_000, run)

    assert re.search(r"bytes, and \d+,\d+ are free there: '/.*/out\.json'$", message)
    assert content == b"old"
    assert left == ["out.json"]


def test_the_mode_of_an_old_file_is_kept(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.touch(mode=0o640)

    write_whole(target, b"new")

    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert target.read_bytes() == b"new"


def test_a_new_file_has_the_mode_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()

    write_whole(tmp_path / "out", b"new")

    assert (tmp_path / "out").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_the_target_of_a_link_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("out")

    write_whole(tmp_path / "link", b"new")

    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "out").read_bytes() == b"new"


def test_only_files_are_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    with pytest.raises(OSError, match=r"not a file.*pipe"):
        write_whole(pipe, b"new")

    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_missing_folder_is_reported_with_the_path_that_was_asked_for(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"absent/out"):
        write_whole(tmp_path / "absent" / "out", b"new")


def test_writers_to_one_path_each_leave_a_whole_file(tmp_path: Path) -> None:
    contents = [bytes([letter]) * 100_000 for letter in b"abcdefgh"]

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda content: write_whole(tmp_path / "out", content), contents * 5))

    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out").read_bytes() in contents
