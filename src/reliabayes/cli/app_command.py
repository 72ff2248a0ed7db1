"""The command that serves the interactive page: app."""

from __future__ import annotations

import webbrowser
from importlib.util import find_spec
from typing import Annotated

import typer

from reliabayes.cli.output import FAILURE, exit_with, print_message

NEEDED = ("marimo", "uvicorn")
MISSING = (
    "the app needs {}, which come with the extra app: run pip install 'reliabayes[app]', or "
    "pip install '.[app]' in a checkout."
)


def app(
    host: Annotated[
        str,
        typer.Option(
            help="Address to listen on; by default only this computer can open the page. At "
            "another, whoever has the printed address with its token can use the app."
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(
            min=0, max=65535, help="Port to listen on; by default 2718, or one that is free."
        ),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(
            help="A further name by which others open the page, such as that of a proxy; may be "
            "repeated."
        ),
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
) -> None:
    """Open a page on which a pasted table becomes an answer; Ctrl-C ends it."""
    if any(find_spec(name) is None for name in NEEDED):
        exit_with(MISSING.format(" and ".join(NEEDED)), FAILURE)
    from reliabayes.app.server import serve

    def ready(address: str) -> None:
        print_message(f"the app is at {address} until you press Ctrl-C.")
        if browser:
            webbrowser.open(address)

    serve(host, port, ready, name or ())
