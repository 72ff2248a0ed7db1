"""A process that computes for a session of the app: ``python -m reliabayes.app.worker NUMBER``.

It takes functions with their arguments from a connection, and sends back progress and results. It
ends when its standard input closes, which happens however its parent ends.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reliabayes.errors import RatingsError, SamplingError
from reliabayes.progress import progress_told

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

KNOWN = (RatingsError, SamplingError, ValueError)  # whose messages are for users


def serve(connection: Connection) -> None:
    """Compute what comes from a connection, until it closes.

    Parameters
    ----------
    connection : Connection
        Brings pairs of a function and its arguments; takes pairs of a kind and a value.
    """
    while True:
        try:
            function, arguments = connection.recv()
        except EOFError:
            return
        with progress_told(lambda title, done: connection.send(("progress", (title, done)))):
            connection.send(outcome(function, arguments))


def outcome(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[str, Any]:
    """Result of a function, or its error as a text for the page.

    Parameters
    ----------
    function : callable
        The function.
    arguments : tuple
        Its arguments.

    Returns
    -------
    kind : {"result", "failure"}
    value : Any
        The result or the text.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the answer itself says what is unreliable
        try:
            return "result", function(*arguments)
        except Exception as error:
            return "failure", failure_text(error)


def failure_text(error: Exception) -> str:
    """What a page says of an error: the words of the package, and no path of this computer.

    Parameters
    ----------
    error : Exception
        The error.

    Returns
    -------
    str
    """
    if isinstance(error, MemoryError):
        return "There is not enough memory."
    if isinstance(error, KNOWN):
        text = str(error)
        for folder in _folders():
            text = text.replace(f"{folder}{os.sep}", "")
        return text
    return f"This should not happen, please report it: {type(error).__name__}."


def _folders() -> Iterator[Path]:
    """Folders that messages do not name; inside a browser there are none."""
    finders: Sequence[Callable[[], Path]] = (lambda: Path(sys.prefix), Path.home, Path.cwd)
    for find in finders:
        with suppress(OSError, RuntimeError):
            yield find()


def main() -> None:
    """Serve the connection whose descriptor is the first argument."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    from multiprocessing.connection import Connection

    import reliabayes.app.judging
    import reliabayes.app.tables
    import reliabayes.app.tasks  # noqa: F401  # slow, and needed by the first task

    try:
        serve(Connection(int(sys.argv[1])))
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)


def _end_with_parent() -> None:
    """Wait until the parent closes standard input or ends, and end with all children."""
    import psutil  # no browser has it

    while os.read(0, 1):
        pass
    for child in psutil.Process().children(recursive=True):
        child.kill()
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main()
