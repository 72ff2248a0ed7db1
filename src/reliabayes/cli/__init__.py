"""The command line: results go to standard output, all other messages to standard error."""

from __future__ import annotations

import signal
import sys

__all__ = ["main"]


def main() -> None:
    """Run the program. A signal that asks it to end has the same effect as an interrupt."""
    try:
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) == signal.SIG_DFL:  # nohup ignores SIGHUP
                signal.signal(number, signal.default_int_handler)
        from reliabayes.cli.app import app  # slow, and interrupts are quiet from here on

        app(prog_name="reliabayes")
    except KeyboardInterrupt:
        print("reliabayes: interrupted.", file=sys.stderr)
        sys.exit(128 + signal.SIGINT)
