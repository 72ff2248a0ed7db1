"""Caches: files at paths that others can foresee are used only if no other user can write them.

``hatch_build.py`` runs this file by itself, so that it needs nothing but Python.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path


def private_folder(path: Path) -> Path:
    """Folder of a cache, which is made if it is not there.

    Parameters
    ----------
    path : Path
        The folder.

    Returns
    -------
    Path
        The same.

    Raises
    ------
    PermissionError
        It belongs to somebody else, or others can write to it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    path.mkdir(mode=0o700, exist_ok=True)
    require_private(path)
    return path


def require_private(path: Path) -> None:
    """Refuse a file or folder that somebody else can have written.

    Parameters
    ----------
    path : Path
        The file or folder.

    Raises
    ------
    PermissionError
        It belongs to somebody else, or others can write to it. The message says what to do.
    """
    for state in (path.lstat(), path.stat()):  # a link, and what it leads to
        if state.st_uid != os.getuid():
            raise PermissionError(_text(path, f"belongs to the user with id {state.st_uid}"))
        if not stat.S_ISLNK(state.st_mode) and _others_write(state):
            raise PermissionError(_text(path, "can be written by other users"))


def require_private_tree(folder: Path) -> None:
    """Refuse a folder if somebody else can have written anything in it.

    Parameters
    ----------
    folder : Path
        The folder.

    Raises
    ------
    PermissionError
        As of `require_private`.
    """
    require_private(folder)
    for path in folder.rglob("*"):
        require_private(path)


def _text(path: Path, found: str) -> str:
    return (
        f"{path}: a cache must belong to you, and only you may write to it; this {found}. "
        "Remove it, or set RELIABAYES_CACHE to a folder of your own."
    )


def _others_write(state: os.stat_result) -> bool:
    """Whether others may write; some systems let the group of each user, which is nobody else."""
    if state.st_mode & stat.S_IWOTH:
        return True
    return bool(state.st_mode & stat.S_IWGRP) and not _is_own_group(state.st_gid)


def _is_own_group(number: int) -> bool:
    import grp  # neither of them is in a browser
    import pwd

    try:
        user, group = pwd.getpwuid(os.getuid()).pw_name, grp.getgrgid(number)
    except KeyError:
        return False
    return group.gr_name == user and set(group.gr_mem) <= {user}
