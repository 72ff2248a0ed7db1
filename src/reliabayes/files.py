"""Files that are written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Replace a file, but only if writing succeeds.

    Parameters
    ----------
    path : str or path
        The file to replace or create.

    Yields
    ------
    Path
        A temporary path in the same folder, to write to. When the context ends without an error,
        the file there replaces `path`; otherwise it is removed.
    """
    target = Path(path)
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        yield partial
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
