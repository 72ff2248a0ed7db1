"""Faults to inject in tests: disks that are full."""

from __future__ import annotations

import ctypes
import os
import pickle
import resource
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

Result = TypeVar("Result")

NEW_MOUNTS, NEW_USER, PRIVATE = (
    0x00020000,
    0x10000000,
    1 << 18 | 1 << 14,
)  # of linux/sched.h, mount.h


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Let no file of this process and of those it starts grow beyond so many bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def fork() -> int:
    """Fork, of which Python warns where there are threads, as those of linear algebra."""
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        return os.fork()


def on_small_disk(size: int, run: Callable[[Path], Result]) -> Result:
    """Result of a function of a folder that is a disk of so many bytes.

    It runs in a forked process, which alone sees the disk: a tmpfs in a name space of its own,
    which needs no rights. Where the system refuses even that, files are limited instead.
    """
    with tempfile.TemporaryDirectory() as folder:
        reader, writer = os.pipe()
        child = fork()
        if child == 0:
            try:
                _write_outcome(writer, lambda: _on_disk(Path(folder), size, run))
            finally:
                os._exit(0)
        os.close(writer)
        with open(reader, "rb") as pipe:
            result, error = pickle.loads(pipe.read())
        os.waitpid(child, 0)
    assert not error, error
    return result  # type: ignore[no-any-return]


def _write_outcome(pipe: int, run: Callable[[], object]) -> None:
    try:
        outcome = pickle.dumps((run(), ""))
    except BaseException:
        outcome = pickle.dumps((None, traceback.format_exc()))
    with open(pipe, "wb") as opened:
        opened.write(outcome)


def _on_disk(folder: Path, size: int, run: Callable[[Path], Result]) -> Result:
    try:
        _mount(folder, size)
    except (AttributeError, OSError):
        with files_of_at_most(size):
            return run(folder)
    return run(folder)


def _mount(folder: Path, size: int) -> None:
    """Mount a small disk, for this process and those that it starts."""
    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.getuid(), os.getgid()
    _check(libc.unshare(NEW_MOUNTS | (NEW_USER if user else 0)))
    if user:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"0 {user} 1")
        Path("/proc/self/gid_map").write_text(f"0 {group} 1")
    _check(libc.mount(b"none", b"/", None, PRIVATE, None))
    _check(libc.mount(b"tmpfs", bytes(folder), b"tmpfs", 0, f"size={size}".encode()))


def _check(status: int) -> None:
    if status:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
