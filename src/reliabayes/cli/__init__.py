"""The command line: results go to standard output, all other messages to standard error."""

from __future__ import annotations

import gc
import io
import os
import signal
import sys

from reliabayes.cli.ending import Ending, Interrupt
from reliabayes.cli.importing import importing

__all__ = ["main"]


def main() -> None:
    """Run the program. A signal that asks it to end has the same effect as an interrupt."""
    ending = Ending()
    try:
        try:
            ending.await_signals()
            _open_streams()
            with importing():  # slow, and interrupts are quiet from here on
                from reliabayes.cli.app import app

            app(prog_name="reliabayes")
        finally:
            ending.leave()
            gc.freeze()  # what is left needs no search when the interpreter ends
    except (Interrupt, KeyboardInterrupt):
        ending.leave()
        print("reliabayes: interrupted.", file=sys.stderr)
        sys.exit(128 + signal.SIGINT)


def _open_streams() -> None:
    """Let printing never end the program, where nobody reads it or signs have no code.

    A descriptor that is closed would go to the first file that is opened, and messages into it.
    """
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(descriptor)
    for name, mode in {"stdin": "r", "stdout": "w", "stderr": "w"}.items():
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
