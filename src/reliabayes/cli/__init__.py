"""The command line: results go to standard output, all other messages to standard error."""

from __future__ import annotations

import signal
import sys

from reliabayes.cli.ending import Ending, Interrupt

__all__ = ["main"]


def main() -> None:
    """Run the program. A signal that asks it to end has the same effect as an interrupt."""
    ending = Ending()
    try:
        try:
            ending.await_signals()
            from reliabayes.cli.app import app  # slow, and interrupts are quiet from here on

            app(prog_name="reliabayes")
        finally:
            ending.leave()
    except (Interrupt, KeyboardInterrupt):
        ending.leave()
        print("reliabayes: interrupted.", file=sys.stderr)
        sys.exit(128 + signal.SIGINT)
