"""The page of the command line, from the help texts of its commands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin, get_type_hints

import typer

from reliabayes.cli.app import app

OPENING = """\
# Command line

Results go to standard output and everything else to standard error. The exit code is 0 after
success, 1 after a failure and 2 for invalid input. `reliabayes COMMAND --help` shows the same
information in a terminal.
"""


def page() -> str:
    """Page of all commands."""
    commands: dict[str, Any] = vars(typer.main.get_command(app))["commands"]
    return "\n".join([OPENING, *(_command(name, each) for name, each in commands.items())])


def _command(name: str, command: Any) -> str:
    arguments = [each for each in command.params if each.opts[0] == each.name]
    options = [each for each in command.params if each not in arguments and not each.hidden]
    usage = " ".join(["reliabayes", name, *(each.name.upper() for each in arguments)])
    hints = get_type_hints(command.callback)
    lines = [
        f"## {name} {{ #{name} }}\n",
        f"{command.help}\n",
        f"```sh\n{usage}{' [OPTIONS]' if options else ''}\n```\n",
    ]
    if options:
        lines += ["| option | meaning | default |", "|---|---|---|"]
        lines += [_row(option, hints[option.name]) for option in options]
    return "\n".join([*lines, ""])


def _row(option: Any, kind: Any) -> str:
    choices = ", ".join(f"`{choice}`" for choice in _choices(kind))
    takes = f" {option.metavar}" if option.metavar else ""
    default = "" if option.default in (None, "") else f"`{option.default}`"
    what = f"{option.help} One of {choices}." if choices else option.help
    return f"| `{option.opts[0]}{takes}` | {what} | {default} |"


def _choices(kind: Any) -> Iterator[str]:
    """Values that an option accepts, if they are a fixed list."""
    if get_origin(kind) is Literal:
        yield from get_args(kind)
    else:
        for part in get_args(kind):
            yield from _choices(part)
