"""Imports of the command line, between which nothing looks for garbage."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def importing() -> Iterator[None]:
    """Import modules, which stay until the program ends.

    To look for garbage among them again and again, and once more at the end, takes a fifth of the
    time of a small fit.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
