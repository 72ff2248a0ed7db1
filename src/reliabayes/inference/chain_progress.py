"""How far chains are, on standard error."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from reliabayes.inference.progress import is_interactive

END = 2000  # bytes of a log that are looked at


@contextmanager
def progress_bar(
    title: str, logs: Sequence[Path], total: int, show: bool | None
) -> Iterator[Callable[[], None]]:
    """Show how many iterations the chains have done.

    Parameters
    ----------
    title : str
        Name beside the bar.
    logs : sequence of Path
        What each chain says of its progress.
    total : int
        Iterations of all chains.
    show : bool or None
        Whether to; by default in terminals and notebooks.

    Yields
    ------
    callable
        Brings the bar up to date.
    """
    if not (is_interactive() if show is None else show):
        yield lambda: None
        return
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "IProgress")  # in notebooks without ipywidgets
        from tqdm.auto import tqdm  # type: ignore[import-untyped]
    with tqdm(total=total, desc=title, file=sys.stderr, leave=False) as bar:
        yield lambda: bar.update(sum(map(_iterations, logs)) - bar.n)


def _iterations(log: Path) -> int:
    """How many iterations a chain has done."""
    try:
        with open(log, "rb") as opened:
            opened.seek(0, 2)
            opened.seek(max(0, opened.tell() - END))
            found = re.findall(rb"Iteration:\s*(\d+) /", opened.read())
    except FileNotFoundError:  # it waits for its turn
        return 0
    return int(found[-1]) if found else 0
