"""Serving the page: to its own address only, within limits, and saying nothing of this computer."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import MutableMapping
from typing import Any

import pytest

from reliabayes.app import server, where_it_runs

HOST = (b"host", b"127.0.0.1:2718")


def answered(
    *headers: tuple[bytes, bytes], kind: str = "http", path: str = "/"
) -> list[MutableMapping[str, Any]]:
    """What a guarded app sends that writes its folder on each page."""
    sent: list[MutableMapping[str, Any]] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        page = f"<p>{server.NOTEBOOK}</p><p>{server.NOTEBOOK.parent}</p>".encode()
        headers = [(b"content-type", b"text/html"), (b"content-length", b"%d" % len(page))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": page[:10], "more_body": True})
        await send({"type": "http.response.body", "body": page[10:]})

    async def receive() -> MutableMapping[str, Any]:
        return {}

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    scope = {"type": kind, "path": path, "headers": [*headers]}
    asyncio.run(server.Guarded(app)(scope, receive, send))
    return sent


def test_the_page_has_headers_and_no_folder() -> None:
    start, body = answered(HOST)

    headers = dict(start["headers"])
    assert start["status"] == 200
    assert body["body"] == b"<p>notebook.py</p><p></p>"
    assert headers[b"content-length"] == b"%d" % len(body["body"])
    assert headers[b"x-frame-options"] == b"DENY"


def test_downloads_are_left_as_they_are() -> None:
    _, *parts = answered(HOST, path="/@file/1-report.html")

    assert str(server.NOTEBOOK).encode() in b"".join(part["body"] for part in parts)


@pytest.mark.parametrize(
    "headers",
    [
        [HOST, (b"content-length", b"100000001")],
        [HOST, (b"content-length", b"many")],
        [HOST, (b"transfer-encoding", b"chunked")],
    ],
)
def test_requests_that_are_too_large_are_refused(headers: list[tuple[bytes, bytes]]) -> None:
    start, body = answered(*headers)

    assert start["status"] == 413
    assert body["body"] == b"A table must have at most 50 MB."


@pytest.mark.parametrize(
    "headers",
    [
        [HOST, (b"origin", b"https://example.com")],
        [(b"host", b"rebound.example.com:2718")],
        [],
    ],
)
def test_pages_of_other_sites_get_nothing(headers: list[tuple[bytes, bytes]]) -> None:
    assert answered(*headers)[0]["status"] == 403
    assert answered(*headers, kind="websocket") == [{"type": "websocket.close", "code": 1008}]


def test_on_another_address_any_name_of_the_computer_will_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(where_it_runs, "_host", "0.0.0.0")

    assert answered((b"host", b"server.example.com"))[0]["status"] == 200


def test_a_port_in_use_is_another_one_unless_it_was_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setattr(server, "USUAL_PORT", port)

        with server._listening("127.0.0.1", None) as free:
            assert free.getsockname()[1] != port
        with pytest.raises(OSError, match=r"127\.0\.0\.1: cannot listen there"):
            server._listening("127.0.0.1", port)
