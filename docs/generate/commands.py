"""The command line, as the program describes itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin, get_type_hints

import typer

from reliabayes.cli import app

OPENING = """\
# Command line

Results go to standard output, everything else to standard error. The exit code is 0, or 1 after a
failure, or 2 for bad input. `reliabayes COMMAND --help` shows in a terminal what stands here.
"""


def page() -> str:
    """Page of all commands."""
    commands: dict[str, Any] = vars(typer.main.get_command(app))["commands"]
    return "\n".join([OPENING, *(_command(name, each) for name, each in commands.items())])


def _command(name: str, command: Any) -> str:
    given = [each for each in command.params if each.opts[0] == each.name]
    options = [each for each in command.params if each not in given and not each.hidden]
    usage = " ".join(["reliabayes", name, *(each.name.upper() for each in given)])
    hints = get_type_hints(command.callback)
    lines = [
        f"## {name} {{ #{name} }}\n",
        f"{command.help}\n",
        f"```sh\n{usage}{' [OPTIONS]' if options else ''}\n```\n",
    ]
    if options:
        lines += ["| option | what for | default |", "|---|---|---|"]
        lines += [_row(option, hints[option.name]) for option in options]
    return "\n".join([*lines, ""])


def _row(option: Any, kind: Any) -> str:
    choices = ", ".join(f"`{choice}`" for choice in _choices(kind))
    takes = f" {option.metavar}" if option.metavar else ""
    default = "" if option.default in (None, "") else f"`{option.default}`"
    what = f"{option.help} One of {choices}." if choices else option.help
    return f"| `{option.opts[0]}{takes}` | {what} | {default} |"


def _choices(kind: Any) -> Iterator[str]:
    """Words that an option takes, if it takes only some."""
    if get_origin(kind) is Literal:
        yield from get_args(kind)
    else:
        for part in get_args(kind):
            yield from _choices(part)
