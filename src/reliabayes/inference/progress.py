"""Progress of samplers, for whoever watches."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


def is_interactive() -> bool:
    """Whether somebody watches: in a terminal or a notebook."""
    return sys.stderr.isatty() or "ipykernel" in sys.modules


@contextmanager
def progress_bar(wanted: bool | None, chains: int) -> Iterator[Callable[[float], None]]:
    """A bar on standard error, and what is called with each part of a chain that is done.

    Parameters
    ----------
    wanted : bool or None
        Whether to show it; None does if somebody watches.
    chains : int
        Number of chains.
    """
    if not (is_interactive() if wanted is None else wanted):
        yield lambda part: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True)) as bar:
        task = bar.add_task("Gibbs sampling", total=chains)
        yield lambda part: bar.advance(task, part)
