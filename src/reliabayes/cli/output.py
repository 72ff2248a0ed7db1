"""What is printed where, and how: results to standard output, all else to standard error."""

from __future__ import annotations

import json
import math
import signal
import warnings
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import typer
from rich.console import Console
from rich.table import Table

from reliabayes import cli
from reliabayes.files import whole

FAILURE, BAD_INPUT, INTERRUPTED = 1, 2, 128 + signal.SIGINT
STDOUT = Path("-")
WIDE = 10_000  # columns: nobody's table is folded on its way into a pipe or a file


def new_table(*headers: str, numbers: Collection[str] = ()) -> Table:
    """Return an empty table; numbers stand to the right and are never folded."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for header in headers:
        is_number = header in numbers
        table.add_column(
            header, justify="right" if is_number else "left", no_wrap=is_number, overflow="fold"
        )
    return table


def print_table(table: Table) -> None:
    """Print a table, folded to the width of a terminal, but never in a pipe or a file."""
    if cli.out.is_terminal:
        cli.out.print(table)
        return
    unbounded = Console(width=WIDE, highlight=False, markup=False)
    with unbounded.capture() as captured:
        unbounded.print(table)
    cli.out.out("\n".join(line.rstrip() for line in captured.get().splitlines()))


def print_text(text: str) -> None:
    """Print words, folded to the width of a terminal."""
    cli.out.print(text, soft_wrap=not cli.out.is_terminal)


def write_report(report: Mapping[str, Any], path: Path) -> None:
    """Write a report as JSON to a file, which is whole or not there, or to standard output."""
    text = json.dumps(report, indent=2, allow_nan=False) + "\n"
    if path == STDOUT:
        cli.out.out(text, end="")
        return
    with whole(path) as partial:
        partial.write_text(text)


def plain(value: Any) -> Any:
    """Return a value as JSON can have it: there are no numbers that are not finite."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def stop(message: object, status: int) -> NoReturn:
    """Tell what is the matter, and end with an exit status."""
    tell(message)
    raise typer.Exit(status)


def tell(message: object) -> None:
    """Print to standard error."""
    cli.err.print(f"reliabayes: {message}", soft_wrap=not cli.err.is_terminal)


@contextmanager
def warnings_told() -> Iterator[None]:
    """Tell each warning in a line."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.filterwarnings("ignore", category=RuntimeWarning)
        warnings.showwarning = lambda message, *_: tell(f"warning: {message}")
        yield
