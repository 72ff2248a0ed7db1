"""Serving the app: on this computer only unless told, with limits on what it takes."""

from __future__ import annotations

import errno
import os
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Collection, MutableMapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from reliabayes.app.admission import Admission, Refusal
from reliabayes.app.given import MOST_BYTES
from reliabayes.app.where_it_runs import note_host

NOTEBOOK = Path(__file__).parent / "notebook.py"
MOST_SENT = 2 * MOST_BYTES  # bytes of a request; files are sent as text that is a third longer
USUAL_PORT = 2718
FORGET = 20  # seconds after which the session of a page that was closed ends
MOST_SESSIONS = 20  # pages that are open at the same time, each with a process of its own
FULL = f"At most {MOST_SESSIONS} pages can be open. Close one, and try again in a minute."
TOO_LARGE = f"A table must have at most {MOST_BYTES // 10**6} MB."
HEADERS = {
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
    b"referrer-policy": b"no-referrer",
}

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class Guarded:
    """An ASGI app that refuses what others or too many ask for, and adds headers to its answers.

    Parameters
    ----------
    app : callable
        The app.
    admission : Admission, optional
        Who may use it; by default this computer alone.
    """

    def __init__(
        self,
        app: Callable[[Scope, Receive, Send], Awaitable[None]],
        admission: Admission | None = None,
    ) -> None:
        self._app = app
        self._admission = Admission() if admission is None else admission
        self._n_connections = 0  # of open pages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "lifespan":

            async def ending() -> MutableMapping[str, Any]:
                message = await receive()
                if message["type"] == "lifespan.shutdown":
                    await _end_sessions(self._app)
                return message

            await self._app(scope, ending, send)
            return
        if (refusal := self._admission.refusal(scope) or self._if_full(scope)) is not None:
            await _refuse(scope, send, refusal)
            return
        if scope["type"] == "websocket":
            self._n_connections += 1
            try:
                await self._app(scope, receive, send)
            finally:
                self._n_connections -= 1
            return
        length = dict(scope["headers"]).get(b"content-length", b"0")
        if not length.isdigit() or int(length) > MOST_SENT or _is_chunked(scope):
            await _refuse(scope, send, Refusal(413, TOO_LARGE))
            return

        await self._app(scope, receive, _Answering(send, is_page=scope["path"] in ("", "/")))

    def _if_full(self, scope: Scope) -> Refusal | None:
        """Refuse another page if there are enough, counting those that were closed just now."""
        if scope["type"] != "websocket" and scope["path"] not in ("", "/"):
            return None
        sessions = _sessions(self._app)
        known = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("session_id", [""])
        n_open = max(len(sessions), self._n_connections)
        return Refusal(503, FULL) if n_open >= MOST_SESSIONS and known[0] not in sessions else None


class _Answering:
    """Sends an answer with `HEADERS`, and the page without the folder in which the app is."""

    def __init__(self, send: Send, *, is_page: bool) -> None:
        self._send = send
        self._is_page = is_page
        self._start: MutableMapping[str, Any] | None = None  # of the page, which waits for its body
        self._body = b""

    async def __call__(self, message: MutableMapping[str, Any]) -> None:
        """Send a part of the answer."""
        if message["type"] == "http.response.start":
            headers = dict(message["headers"]) | HEADERS
            message = {**message, "headers": [*headers.items()]}
            if self._is_page:
                self._start = message
                return
        elif self._start is not None:
            self._body += message.get("body", b"")
            if message.get("more_body"):
                return
            body = without_folders(self._body)
            headers = dict(self._start["headers"]) | {b"content-length": str(len(body)).encode()}
            await self._send({**self._start, "headers": [*headers.items()]})
            message = {"type": "http.response.body", "body": body}
        await self._send(message)


def serve(
    host: str, port: int | None, ready: Callable[[str], None], names: Sequence[str] = ()
) -> None:
    """Serve the app until the process is asked to end.

    Parameters
    ----------
    host : str
        Address to listen on.
    port : int or None
        Port to listen on; None for the usual one, or one that is free.
    ready : callable
        Called with the address of the page when it can be opened.
    names : sequence of str
        Further names by which others call the page.

    Raises
    ------
    OSError
        The address cannot be used.
    """
    import uvicorn

    with _listening(host, port) as listener:
        note_host(names[0] if names else host)
        admission = Admission.at(host, names)
        config = uvicorn.Config(made(admission), log_level="error", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        shown = f"[{host}]" if ":" in host else host
        address = f"http://{shown}:{listener.getsockname()[1]}"
        address += f"/?token={admission.token}" if admission.token else ""
        threading.Thread(target=_tell, args=(server, ready, address), daemon=True).start()
        server.run([listener])


def made(admission: Admission | None = None) -> Guarded:
    """The app as an ASGI app.

    Parameters
    ----------
    admission : Admission, optional
        Who may use it; by default this computer alone.

    Returns
    -------
    Guarded
    """
    import marimo

    builder = marimo.create_asgi_app(quiet=True, include_code=False, session_ttl=FORGET)
    return Guarded(builder.with_app(path="", root=str(NOTEBOOK)).build(), admission)


def without_folders(page: bytes) -> bytes:
    """A page that does not say where on this computer the app is, which marimo notes on it.

    Parameters
    ----------
    page : bytes
        The page.

    Returns
    -------
    bytes
    """
    folders = {folder for path in (NOTEBOOK.parent, Path.cwd()) for folder in (path, *path.parents)}
    for folder in sorted(map(str, folders), key=len, reverse=True):
        if folder.count("/") > 1:
            page = page.replace(f"{folder}/".encode(), b"").replace(folder.encode(), b"")
    return page


def _listening(host: str, port: int | None) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, USUAL_PORT if port is None else port), family=family)
    except OSError as error:
        if port is None and error.errno == errno.EADDRINUSE:
            return socket.create_server((host, 0), family=family)
        known = error.errno is not None and error.errno > 0
        reason = os.strerror(error.errno) if known and error.errno else "no such address"
        raise OSError(f"{host}: cannot listen there: {reason}") from error


def _tell(server: Any, ready: Callable[[str], None], address: str) -> None:
    while not server.started:
        time.sleep(0.05)
    ready(address)


async def _end_sessions(app: Any) -> None:
    """End the sessions of pages that are still open, whose threads would outlive the server."""
    for route in app.routes:
        await route.app.state.session_manager.shutdown()


def _is_chunked(scope: Scope) -> bool:
    """Whether a request does not say how large it is."""
    return b"transfer-encoding" in dict(scope["headers"])


def _sessions(app: Any) -> Collection[str]:
    """Ids of the sessions of all pages."""
    managers = [route.app.state.session_manager for route in getattr(app, "routes", ())]
    return {str(session) for manager in managers for session in manager.sessions}


async def _refuse(scope: Scope, send: Send, refusal: Refusal) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
        return
    headers = [(b"content-type", b"text/plain; charset=utf-8"), *HEADERS.items(), *refusal.headers]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": refusal.text.encode()})
