"""Who may use the page: by the name and the token in its address, and for which requests."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

from reliabayes.app.where_it_runs import LOOPBACK

ALL_ADDRESSES = ("0.0.0.0", "::", "")
FOREIGN = (
    "This page answers only to its own names. `reliabayes app --name NAME` adds one, such as that "
    "of a proxy."
)
NO_TOKEN = "Open the address that `reliabayes app` printed; it ends with the token of this page."
NO_SUCH_PAGE = "There is no such page."
# What the page asks for while it is used; marimo has some eighty other routes, for editors.
ROUTES: Mapping[str, str] = {
    "GET": r"/|/health|/assets/.*|/@file/.*|/public-files-sw\.js|/[\w-]+\.(ico|png|json)",
    "POST": r"/api/kernel/set_ui_element_value",
    "WEBSOCKET": r"/ws",
}


@dataclass(frozen=True)
class Refusal:
    """An answer in place of the page.

    Attributes
    ----------
    status : int
        Status of HTTP.
    text : str
        Why, or an empty text for a redirection.
    headers : tuple of pairs of bytes
        Headers.
    """

    status: int
    text: str
    headers: tuple[tuple[bytes, bytes], ...] = ()


@dataclass(frozen=True)
class Admission:
    """Names by which the page may be called, and the token that others need.

    Attributes
    ----------
    hosts : frozenset of str
        Names and addresses of this computer, without ports.
    token : str, default ""
        What the address must contain, once; empty if only this computer can reach the page.
    """

    hosts: frozenset[str] = frozenset(LOOPBACK)
    token: str = ""

    @classmethod
    def at(cls, host: str, names: Iterable[str] = ()) -> Admission:
        """Admission to a page at an address.

        Parameters
        ----------
        host : str
            Address to listen on.
        names : iterable of str
            Further names by which others call the page, such as that of a proxy.

        Returns
        -------
        Admission
            Without a token if the address is one of this computer alone and has no other names.
        """
        others = frozenset(name.lower() for name in names)
        if host in LOOPBACK and not others:
            return cls()
        own = _own_names() if host in ALL_ADDRESSES else set()
        hosts = {*LOOPBACK, host.lower(), *own, *others}
        return cls(frozenset(hosts), secrets.token_urlsafe(16))

    def refusal(self, scope: Mapping[str, Any]) -> Refusal | None:
        """Why a request gets no answer, if it gets none.

        Parameters
        ----------
        scope : mapping
            Scope of ASGI.

        Returns
        -------
        Refusal or None
        """
        headers = dict(scope["headers"])
        host = headers.get(b"host", b"").decode("latin-1")
        origin = headers.get(b"origin", b"").decode("latin-1")
        if (origin and urlsplit(origin).netloc != host) or _name(host) not in self.hosts:
            return Refusal(403, FOREIGN)
        if self.token and not self._has_cookie(headers.get(b"cookie", b"")):
            return self._without_cookie(scope)
        method = "WEBSOCKET" if scope["type"] == "websocket" else scope.get("method", "GET")
        allowed = ROUTES.get("GET" if method == "HEAD" else method)
        if allowed is None or not re.fullmatch(allowed, scope["path"] or "/"):
            return Refusal(404, NO_SUCH_PAGE)
        return None

    def _without_cookie(self, scope: Mapping[str, Any]) -> Refusal:
        """A redirection that sets the cookie if the address has the token."""
        query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
        given = query.get("token", [""])[0]
        if not hmac.compare_digest(given.encode(), self.token.encode()):
            return Refusal(401, NO_TOKEN)
        cookie = f"{self._cookie_name}={self.token}; Path=/; HttpOnly; SameSite=Lax"
        return Refusal(303, "", ((b"location", b"/"), (b"set-cookie", cookie.encode())))

    def _has_cookie(self, cookies: bytes) -> bool:
        pairs = [each.strip().partition(b"=") for each in cookies.split(b";")]
        name = self._cookie_name.encode()
        return any(
            key == name and hmac.compare_digest(value, self.token.encode())
            for key, _, value in pairs
        )

    @property
    def _cookie_name(self) -> str:
        """Name that differs between pages on several ports, which share their cookies."""
        return f"reliabayes-{hashlib.sha256(self.token.encode()).hexdigest()[:8]}"


def _name(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _own_names() -> set[str]:
    """Names and addresses of this computer, for a page that listens on all of them."""
    import psutil  # no browser has it

    name = socket.gethostname().lower()
    addresses = {
        each.address.partition("%")[0].lower()
        for interface in psutil.net_if_addrs().values()
        for each in interface
        if each.family in (socket.AF_INET, socket.AF_INET6)
    }
    return {name, f"{name}.local", *addresses}
