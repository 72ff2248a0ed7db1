"""Progress of long computations, for whoever watches a terminal or a notebook."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeAlias

Listener: TypeAlias = Callable[[str, float], None]  # takes a title, and how much is done, 0 to 1
BAR = "{desc}: {percentage:3.0f}% |{bar}| {elapsed}"  # chains that wait make a time left wrong

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def progress_told(listener: Listener) -> Iterator[None]:
    """Tell a function of the progress of fits, instead of a terminal or a notebook.

    Parameters
    ----------
    listener : callable
        Takes the name of what runs, and how much of it is done, from 0 to 1.
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def progress_bar(
    title: str,
    total: int,
    done: Callable[[], int],
    show: bool | None,
    unit: str = "iterations",
) -> Iterator[Callable[[], None]]:
    """Show how much is done, such as iterations of chains, in one line.

    Parameters
    ----------
    title : str
        Name beside the bar.
    total : int
        How much there is to do, such as iterations of all chains.
    done : callable
        How much of it is done; not called if nothing is shown.
    show : bool or None
        Whether to; by default in terminals and notebooks.
    unit : str, default "iterations"
        What is counted.

    Yields
    ------
    callable
        Brings the bar up to date.
    """
    if (listener := _listener.get()) and show is None:
        yield lambda: listener(title, done() / total)
        return
    is_notebook = _is_notebook()
    if not (sys.stderr.isatty() or is_notebook if show is None else show):
        yield lambda: None
        return
    with _line(title, total, done, unit) if is_notebook else _bar(title, total, done) as update:
        yield update


def _is_notebook() -> bool:
    """Whether a notebook runs this, which an imported package alone does not make one."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


@contextmanager
def _bar(title: str, total: int, done: Callable[[], int]) -> Iterator[Callable[[], None]]:
    """A bar on standard error, which goes when all is done."""
    from tqdm import tqdm  # type: ignore[import-untyped]

    options = {"file": sys.stderr, "leave": False, "bar_format": BAR}
    with tqdm(total=total, desc=title, **options) as bar:

        def update() -> None:
            bar.update(done() - bar.n)

        yield update
        update()
        bar.refresh()


@contextmanager
def _line(
    title: str, total: int, done: Callable[[], int], unit: str
) -> Iterator[Callable[[], None]]:
    """An output of a notebook, which changes in place, and at the end says how long it took."""
    from IPython.display import display

    began, shown = time.monotonic(), f"{title}: 0%"
    line: Any = display({"text/plain": shown}, raw=True, display_id=True)  # type: ignore[no-untyped-call]

    def write(text: str) -> None:
        nonlocal shown
        if text != shown and line is not None:
            line.update({"text/plain": text}, raw=True)
            shown = text

    yield lambda: write(f"{title}: {100 * done() // total}%")
    write(f"{title}: {total:,} {unit} in {time.monotonic() - began:.1f} s")
