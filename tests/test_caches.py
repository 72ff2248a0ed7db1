"""What another user can have written is not used from a cache."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from reliabayes import caches
from reliabayes.caches import private_folder, require_private, require_private_tree


def test_a_new_folder_is_only_the_users(tmp_path: Path) -> None:
    folder = private_folder(tmp_path / "new" / "objects")

    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("check", [private_folder, require_private, require_private_tree])
def test_what_all_can_write_is_refused(check: Callable[[Path], object], tmp_path: Path) -> None:
    folder = private_folder(tmp_path / "objects")
    folder.chmod(0o777)

    with pytest.raises(PermissionError, match=r"objects: .* can be written by other users"):
        check(folder)


def test_what_somebody_else_owns_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = private_folder(tmp_path / "objects")
    owner = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: owner + 1)

    with pytest.raises(PermissionError, match=rf"belongs to the user with id {owner}\. Remove it"):
        require_private(folder)


@pytest.mark.parametrize(("is_own", "allowed"), [(True, True), (False, False)])
def test_the_group_that_only_the_user_is_in_may_write(
    is_own: bool, allowed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caches, "_is_own_group", lambda number: is_own)
    (tmp_path / "object").touch()
    (tmp_path / "object").chmod(0o664)

    if allowed:
        require_private(tmp_path / "object")
        return
    with pytest.raises(PermissionError, match="can be written by other users"):
        require_private(tmp_path / "object")


def test_a_file_deep_in_a_folder_is_looked_at(tmp_path: Path) -> None:
    folder = private_folder(tmp_path / "sources")
    deep = private_folder(folder / "cpp") / "density.hpp"
    deep.touch()
    deep.chmod(0o666)

    with pytest.raises(PermissionError, match=r"density\.hpp"):
        require_private_tree(folder)


def test_a_link_to_what_all_can_write_is_refused(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "link").symlink_to(tmp_path / "open")

    with pytest.raises(PermissionError, match=r"link: .* can be written by other users"):
        require_private(tmp_path / "link")
