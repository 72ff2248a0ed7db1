"""Folders for a while, which are removed even if the process that made them was killed."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path

PREFIX = "reliabayes-"
BOOT = Path("/proc/sys/kernel/random/boot_id")  # names this machine since it was started


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A new folder, which is removed in the end.

    Folders that were left by processes that have been killed are removed as well: those of this
    user that hold a lock file of this machine, since it was started, which nobody has locked. The
    system releases a lock when its process ends, however that ends.

    Yields
    ------
    Path
        The folder.

    Raises
    ------
    OSError
        It cannot be made.
    """
    parent = Path(tempfile.gettempdir())
    _remove_abandoned(parent)
    folder = parent / f"{PREFIX}{secrets.token_hex(8)}"
    try:
        folder.mkdir(mode=0o700)
        with ExitStack() as until_end:
            with suppress(OSError):  # some file systems have no locks; the folder is of use still
                until_end.callback(os.close, _locked(folder))
            yield folder
    finally:
        try:
            shutil.rmtree(folder, ignore_errors=True)
        finally:  # the handler of a signal may have cut the first short
            shutil.rmtree(folder, ignore_errors=True)


def _locked(folder: Path) -> int:
    """Descriptor of the locked lock file of a folder; the file has its name once it is locked."""
    import fcntl  # no browser has it

    made = folder / "lock"
    descriptor = os.open(made, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        made.rename(folder / _lock_name())
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


@cache
def _lock_name() -> str:
    """Name of lock files, by which machines that share a folder leave those of others alone."""
    return f"lock-{BOOT.read_text().strip()}"


def _remove_abandoned(parent: Path) -> None:
    with suppress(OSError):
        for folder in parent.glob(f"{PREFIX}*"):
            with suppress(OSError):
                _remove_if_abandoned(folder)


def _remove_if_abandoned(folder: Path) -> None:
    import fcntl

    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        return
    descriptor = os.open(folder / _lock_name(), os.O_RDONLY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(descriptor)
