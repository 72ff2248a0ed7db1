"""The command line: results go to standard output, all other messages to standard error."""

from reliabayes.cli.app import app, main

__all__ = ["app", "main"]
