"""Printing: results to standard output, messages to standard error."""

from __future__ import annotations

import json
import math
import os
import signal
import unicodedata
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer
from rich.console import Console
from rich.table import Table

from reliabayes.files import write_whole

if TYPE_CHECKING:
    from reliabayes.reporting.methods import MethodsSentence

FAILURE, BAD_INPUT, INTERRUPTED = 1, 2, 128 + signal.SIGINT
STDOUT = Path("-")
LONGEST = 10_000  # characters of a message or a cell
UNLIMITED_WIDTH = 10_000  # columns; wider than any table that is written to a pipe or a file

stdout = Console(highlight=False, markup=False)
stderr = Console(highlight=False, markup=False, stderr=True)


class _Table(Table):
    """A table whose cells, which users may have written, do nothing to a terminal."""

    def add_row(self, *cells: Any, **options: Any) -> None:
        super().add_row(*map(visible, cells), **options)


def visible(text: object) -> str:
    """Return text that does nothing to a terminal, and is not endless.

    Parameters
    ----------
    text : object
        The text, which may quote what users wrote.

    Returns
    -------
    str
        The same, with control characters as escapes, and its middle left out if it is very long.
    """
    shown = "".join(
        c if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cf", "Cs") else ascii(c)[1:-1]
        for c in str(text)[: 2 * LONGEST]
    )
    return shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 100]} ... {shown[-90:]}"


def make_table(*headers: str, numeric: Collection[str] = ()) -> Table:
    """Return an empty table.

    Parameters
    ----------
    *headers : str
        Headers of the columns.
    numeric : collection of str, default ()
        Headers of the columns of numbers, which are aligned to the right and never wrapped.

    Returns
    -------
    Table
        A table without rows.
    """
    table = _Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for header in headers:
        is_numeric = header in numeric
        table.add_column(
            header, justify="right" if is_numeric else "left", no_wrap=is_numeric, overflow="fold"
        )
    return table


def fits_terminal(table: Table) -> bool:
    """Return whether a table is printed without breaking names.

    Parameters
    ----------
    table : Table
        The table.

    Returns
    -------
    bool
        True if it is no terminal that it is printed to.
    """
    unlimited = stdout.options.update(width=UNLIMITED_WIDTH)
    return (
        not stdout.is_terminal or stdout.measure(table, options=unlimited).maximum <= stdout.width
    )


def print_table(table: Table) -> None:
    """Print a table, wrapped to the width of a terminal, but never in a pipe or a file.

    Parameters
    ----------
    table : Table
        The table.
    """
    if stdout.is_terminal:
        stdout.print(table)
        return
    unlimited = Console(width=UNLIMITED_WIDTH, highlight=False, markup=False)
    with unlimited.capture() as captured:
        unlimited.print(table)
    stdout.out("\n".join(line.rstrip() for line in captured.get().splitlines()))


def print_text(text: str) -> None:
    """Print text, wrapped to the width of a terminal.

    Parameters
    ----------
    text : str
        The text.
    """
    stdout.print(text, soft_wrap=not stdout.is_terminal)


def print_methods(said: MethodsSentence) -> None:
    """Print what a paper says of a result, and its references.

    Parameters
    ----------
    said : MethodsSentence
        The sentence.
    """
    print_text(visible(f"\n{said.sentence}\n"))
    stdout.out(visible(said.bibtex()))


def json_methods(said: MethodsSentence) -> dict[str, str]:
    """Return the same for JSON."""
    return {"sentence": said.sentence, "bibtex": said.bibtex()}


def write_text(text: str, path: Path) -> None:
    """Write text to a file, or unchanged to standard output.

    Parameters
    ----------
    text : str
        The text.
    path : Path
        The file, which is replaced as a whole, or `STDOUT`.
    """
    if path == STDOUT:
        stdout.out(text, end="")
        return
    write_whole(path, text.encode("utf-8", errors="backslashreplace"))


def write_json(report: Mapping[str, Any], path: Path) -> None:
    """Write a report as JSON.

    Parameters
    ----------
    report : mapping
        The report.
    path : Path
        The file, which is replaced as a whole, or `STDOUT`.
    """
    write_text(json.dumps(report, indent=2, allow_nan=False) + "\n", path)


def print_and_write(show: Callable[[], None], outputs: Mapping[str, Callable[[], None]]) -> None:
    """Print results first, and then write every output that can be written.

    Parameters
    ----------
    show : callable
        Prints the results.
    outputs : mapping of str to callable
        What writes each output, by a name for messages such as ``--save out.nc``.

    Raises
    ------
    typer.Exit
        Something could not be written. A message for each says what and why.
    """
    failed, closed = False, None
    for name, write in {"the results": show, **outputs}.items():
        try:
            write()
            stdout.file.flush()
        except SystemExit as error:  # a closed pipe, of which rich has taken care
            closed = error
        except (OSError, ValueError, MemoryError) as error:
            failed = True
            print_message(f"could not write {name}: {str(error) or 'not enough memory'}")
            if name == "the results":
                _discard_standard_output()
    if failed:
        raise typer.Exit(FAILURE)
    if closed is not None:
        raise closed


def _discard_standard_output() -> None:
    """Let Python not try again, when it ends, to write what could not be written."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stdout.file.fileno())


def json_value(value: Any) -> Any:
    """Return a value for JSON, which has no infinite numbers and no NaN.

    Parameters
    ----------
    value : any
        The value.

    Returns
    -------
    any
        None if the value is a number that is not finite, else the value.
    """
    return None if isinstance(value, float) and not math.isfinite(value) else value


def exit_with(message: object, status: int) -> NoReturn:
    """Print a message and end the program.

    Parameters
    ----------
    message : object
        What went wrong.
    status : int
        The exit status.

    Raises
    ------
    typer.Exit
        Always.
    """
    print_message(message)
    raise typer.Exit(status)


def print_message(message: object) -> None:
    """Print a message to standard error.

    Parameters
    ----------
    message : object
        The message.
    """
    stderr.print(visible(f"reliabayes: {message}"), soft_wrap=not stderr.is_terminal)


@contextmanager
def while_computing(what: str) -> Iterator[None]:
    """Show in a terminal what is being computed, in a line that goes again.

    Parameters
    ----------
    what : str
        Such as ``the report``.
    """
    if not stderr.is_terminal:
        yield
        return
    stderr.print(f"reliabayes: computing {what} ...", end="\r")
    try:
        yield
    finally:
        stderr.file.write("\x1b[2K\r")
        stderr.file.flush()


@contextmanager
def warnings_as_messages() -> Iterator[None]:
    """Print each warning as a message of one line."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.filterwarnings("ignore", category=RuntimeWarning)
        warnings.showwarning = lambda message, *_: print_message(f"warning: {message}")
        yield
