"""Progress of samplers on standard error, for whoever watches."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

END = 2000  # bytes of a log that are looked at


@contextmanager
def progress_bar(
    title: str, total: int, done: Callable[[], int], show: bool | None
) -> Iterator[Callable[[], None]]:
    """Show how many iterations the chains have done.

    Parameters
    ----------
    title : str
        Name beside the bar.
    total : int
        Iterations of all chains.
    done : callable
        How many of them are done; not called if nothing is shown.
    show : bool or None
        Whether to; by default in terminals and notebooks.

    Yields
    ------
    callable
        Brings the bar up to date.
    """
    if not (_is_watched() if show is None else show):
        yield lambda: None
        return
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "IProgress")  # in notebooks without ipywidgets
        from tqdm.auto import tqdm  # type: ignore[import-untyped]
    with tqdm(total=total, desc=title, file=sys.stderr, leave=False) as bar:

        def update() -> None:
            bar.update(done() - bar.n)

        yield update
        update()
        bar.refresh()


def _is_watched() -> bool:
    """Whether standard error is a terminal or a notebook."""
    return sys.stderr.isatty() or "ipykernel" in sys.modules


def iterations(logs: Sequence[Path]) -> int:
    """How many iterations chains have done, by what Stan's programs say of their progress."""
    return sum(map(_iterations, logs))


def _iterations(log: Path) -> int:
    try:
        with open(log, "rb") as opened:
            opened.seek(0, 2)
            opened.seek(max(0, opened.tell() - END))
            found = re.findall(rb"Iteration:\s*(\d+) /", opened.read())
    except FileNotFoundError:  # it waits for its turn
        return 0
    return int(found[-1]) if found else 0
