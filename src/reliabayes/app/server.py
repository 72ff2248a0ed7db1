"""Serving the app: on this computer only unless told, with limits on what it takes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any

from reliabayes.app.given import MOST_BYTES
from reliabayes.app.where_it_runs import note_host

NOTEBOOK = Path(__file__).parent / "notebook.py"
MOST_SENT = 2 * MOST_BYTES  # bytes of a request; files are sent as text that is a third longer
FORGET = 20  # seconds after which the session of a page that was closed ends
HEADERS = {
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
    b"referrer-policy": b"no-referrer",
}

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class Guarded:
    """An ASGI app that refuses requests that are too large, and adds headers to its answers.

    Parameters
    ----------
    app : callable
        The app.
    """

    def __init__(self, app: Callable[[Scope, Receive, Send], Awaitable[None]]) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        length = dict(scope["headers"]).get(b"content-length", b"0")
        if not length.isdigit() or int(length) > MOST_SENT or _is_chunked(scope):
            await _refuse(send)
            return

        async def with_headers(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *HEADERS.items()]}
            await send(message)

        await self._app(scope, receive, with_headers)


def serve(host: str, port: int, ready: Callable[[], None]) -> None:
    """Serve the app until the process is asked to end.

    Parameters
    ----------
    host : str
        Address to listen on.
    port : int
        Port to listen on.
    ready : callable
        Called when the page can be opened.
    """
    import uvicorn

    note_host(host)
    server = uvicorn.Server(
        uvicorn.Config(made(), host=host, port=port, log_level="error", timeout_graceful_shutdown=1)
    )
    startup = server.startup

    async def started(*arguments: Any, **options: Any) -> None:
        await startup(*arguments, **options)
        if server.started:
            ready()

    server.startup = started  # type: ignore[method-assign]
    server.run()


def made() -> Guarded:
    """The app as an ASGI app.

    Returns
    -------
    Guarded
    """
    import marimo

    builder = marimo.create_asgi_app(quiet=True, include_code=False, session_ttl=FORGET)
    return Guarded(builder.with_app(path="", root=str(NOTEBOOK)).build())


def _is_chunked(scope: Scope) -> bool:
    """Whether a request does not say how large it is."""
    return b"transfer-encoding" in dict(scope["headers"])


async def _refuse(send: Send) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8")]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    text = f"A table must have at most {MOST_BYTES // 10**6} MB."
    await send({"type": "http.response.body", "body": text.encode()})
