"""A limit on the memory that a part of the work may take."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def limited_memory(size: int) -> Iterator[None]:
    """Limit the memory that this process may take in addition, where the system can do so.

    Parameters
    ----------
    size : int
        Bytes.

    Raises
    ------
    MemoryError
        More is needed in the context.
    """
    if not sys.platform.startswith("linux"):  # other systems accept such a limit and ignore it
        yield
        return
    import resource

    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    most = pages * resource.getpagesize() + size
    before, hard = resource.getrlimit(resource.RLIMIT_AS)
    is_free = before == resource.RLIM_INFINITY
    resource.setrlimit(resource.RLIMIT_AS, (most if is_free else min(most, before), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (before, hard))
