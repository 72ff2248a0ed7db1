"""Serving the page: to its own address only, within limits, and saying nothing of this computer."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import MutableMapping
from typing import Any

import pytest

from reliabayes.app import server
from reliabayes.app.admission import Admission

HOST = (b"host", b"127.0.0.1:2718")


def answered(
    *headers: tuple[bytes, bytes],
    kind: str = "http",
    method: str = "GET",
    path: str = "/",
    query: bytes = b"",
    admission: Admission | None = None,
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

    scope: dict[str, Any] = {"type": kind, "method": method, "path": path, "headers": [*headers]}
    scope["query_string"] = query
    asyncio.run(server.Guarded(app, admission)(scope, receive, send))
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


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/api/home/workspace_files"),
        ("POST", "/api/kernel/read_code"),
        ("POST", "/api/export/html"),
        ("GET", "/api/version"),
        ("GET", "/api/status/connections"),
        ("GET", "/public/secret"),
        ("GET", "/auth/login"),
        ("POST", "/"),
        ("PUT", "/health"),
    ],
)
def test_what_the_page_does_not_need_is_not_there(method: str, path: str) -> None:
    assert answered(HOST, method=method, path=path)[0]["status"] == 404


@pytest.mark.parametrize("path", ["/terminal/ws", "/ws_sync", "/api/lsp"])
def test_connections_that_the_page_does_not_need_are_closed(path: str) -> None:
    assert answered(HOST, kind="websocket", path=path)[0]["type"] == "websocket.close"


@pytest.mark.parametrize(
    ("host", "status"),
    [(b"10.0.0.5:80", 303), (b"ratings.example.com", 303), (b"rebound.example.com", 403)],
)
def test_on_another_address_the_names_of_the_page_are_fixed(host: bytes, status: int) -> None:
    admission = Admission.at("10.0.0.5", ["ratings.example.com"])

    query = f"token={admission.token}".encode()
    assert answered((b"host", host), admission=admission, query=query)[0]["status"] == status


def test_on_another_address_the_token_is_asked_for_once() -> None:
    admission = Admission.at("10.0.0.5")
    host = (b"host", b"10.0.0.5:2718")

    without = answered(host, admission=admission)
    wrong = answered(host, admission=admission, query=b"token=guess")
    right = answered(host, admission=admission, query=f"token={admission.token}".encode())
    cookie = dict(right[0]["headers"])[b"set-cookie"]
    later = answered(host, (b"cookie", b"a=b; " + cookie.split(b";")[0]), admission=admission)
    socket_without = answered(host, admission=admission, kind="websocket", path="/ws")

    assert [each[0]["status"] for each in (without, wrong, right, later)] == [401, 401, 303, 200]
    assert b"HttpOnly" in cookie
    assert socket_without == [{"type": "websocket.close", "code": 1008}]


def test_on_all_addresses_the_names_of_this_computer_are_known() -> None:
    admission = Admission.at("0.0.0.0")

    assert {"127.0.0.1", "0.0.0.0", socket.gethostname().lower()} <= admission.hosts
    assert admission.token
    assert not Admission.at("127.0.0.1").token
    assert Admission.at("127.0.0.1", ["ratings.example.com"]).token


def test_no_more_pages_are_opened_than_there_are_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "MOST_SESSIONS", 2)
    monkeypatch.setattr(server, "_sessions", lambda _: {"s_a", "s_b"})

    another = answered(HOST)
    connected = answered(HOST, kind="websocket", path="/ws", query=b"session_id=s_c")
    known = answered(HOST, kind="websocket", path="/ws", query=b"session_id=s_a")

    assert another[0]["status"] == 503
    assert b"Close one" in another[1]["body"]
    assert connected == [{"type": "websocket.close", "code": 1008}]
    assert known[0]["type"] == "http.response.start"


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
