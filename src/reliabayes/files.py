"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

NO_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}  # disk, quota or largest allowed file is full


def write_whole(path: str | os.PathLike[str], data: bytes | memoryview) -> None:
    """Replace a file by new content, or leave everything as it was.

    The content is written to a new file beside the target, under a name that nobody can foresee,
    and moved there when it is on the disk. Whoever reads the target, whenever the machine stops and
    however many processes write to it, finds the old content or the whole new one.

    Parameters
    ----------
    path : str or path
        The file to replace or create. A link is followed; the mode of an old file is kept.
    data : bytes
        The new content.

    Raises
    ------
    OSError
        It cannot be written. The message names the path, and on a full disk the missing space.
    """
    target = Path(os.path.realpath(path))
    try:
        mode = _mode_to_keep(target)
        partial = target.with_name(f".reliabayes-{secrets.token_hex(8)}.partial")
        try:
            # Exclusive creation never follows a link that somebody has put there.
            descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
            with open(descriptor, "wb", buffering=0) as file:
                if mode is not None:
                    os.fchmod(descriptor, mode)
                _write_all(file.fileno(), memoryview(data))
                os.fsync(descriptor)
            os.replace(partial, target)
        finally:
            partial.unlink(missing_ok=True)
        sync_folder(target.parent)
    except OSError as error:
        raise _named(error, path, target, len(data)) from error


@contextlib.contextmanager
def whole_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Fill a new folder completely, or leave nothing of it.

    Files are written to a folder beside the target, which takes its place when all are there.

    Parameters
    ----------
    path : str or path
        The folder, which is new or empty. A link is followed.

    Yields
    ------
    Path
        The folder to write to.

    Raises
    ------
    FileExistsError
        If there is something in it already.
    """
    target = Path(os.path.realpath(path))
    require_new_folder(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f".reliabayes-{secrets.token_hex(8)}.partial")
    draft.mkdir()
    try:
        yield draft
        os.replace(draft, target)
        sync_folder(target.parent)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def require_new_folder(path: str | os.PathLike[str]) -> None:
    """Refuse to write a folder where there is a file, or a folder with something in it.

    Parameters
    ----------
    path : str or path
        The folder.

    Raises
    ------
    FileExistsError
        If it is so.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        text = "it must be a new or empty folder; choose another, or remove it"
        raise FileExistsError(errno.EEXIST, text, os.fspath(path))


def _mode_to_keep(target: Path) -> int | None:
    """Permissions of the old file, if there is one; anything but a file is not replaced."""
    try:
        old = target.lstat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(old.st_mode):
        code = errno.EISDIR if stat.S_ISDIR(old.st_mode) else errno.EINVAL
        raise OSError(code, "not a file, and so not replaced")
    return stat.S_IMODE(old.st_mode)


def _write_all(descriptor: int, data: memoryview) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def sync_folder(folder: Path) -> None:
    """Make the new name last; some file systems cannot, and the file is there all the same."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _named(error: OSError, path: object, target: Path, size: int) -> OSError:
    """The error with the path that the user gave, and the space that is missing."""
    text = error.strerror or str(error)
    if error.errno in NO_SPACE:
        text += f": the file needs {size:,} bytes"
        with contextlib.suppress(OSError):
            text += f", and {shutil.disk_usage(target.parent).free:,} are free there"
    return OSError(error.errno, text, os.fspath(path))  # type: ignore[call-overload]
