"""The command line: results to standard output, all else to standard error."""

from reliabayes.cli.consoles import err, out
from reliabayes.cli.program import app, main

__all__ = ["app", "err", "main", "out"]
