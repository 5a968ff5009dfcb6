"""What every request passes: whose page sent it, how large it is, and what the browser may do with the answer.

A page of another site can make a browser send requests here. Two things keep it out: `Host` must be a name of this
server (a foreign name that is made to resolve here is refused), and an `Origin`, which browsers add to whatever may
change something, must be this server itself.
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Iterable
from urllib.parse import SplitResult, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST_BODY = 2 * 2**20 + 2**16
"""Bytes; transcripts are the largest uploads."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}


class TooLargeError(Exception):
    """A body longer than LARGEST_BODY."""


class Guard:
    """ASGI middleware around the app.

    Args:
        app: what it guards.
        hosts: names by which the server may be called, without port.
        any_address: any address in numbers is one too, for a server that listens on all of them.
    """

    def __init__(self, app: ASGIApp, hosts: Iterable[str], *, any_address: bool = False) -> None:
        self._app = app
        self._hosts = {host.lower() for host in hosts}
        self._any_address = any_address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        problem = self._problem(headers)
        if problem is None and int(headers.get("content-length", "0") or 0) > LARGEST_BODY:
            await _refuse(scope, send, 413, "The upload is too large.")
            return
        if problem is not None:
            await _refuse(scope, send, 403, problem)
            return
        if scope["type"] == "websocket":
            await self._app(scope, receive, send)
            return
        try:
            await self._app(scope, _counted(receive), _with_headers(send, scope["path"]))
        except TooLargeError:
            await _refuse(scope, send, 413, "The upload is too large.")

    def _problem(self, headers: Headers) -> str | None:
        host = headers.get("host", "")
        if not self._is_own(host):
            return "This server is not known by that name; start it with --allow-host NAME."
        origin = headers.get("origin")
        if origin is not None and _split(origin).netloc.lower() != host.lower():
            return "Pages of other sites cannot use this server."
        if headers.get("sec-fetch-site", "none") in ("cross-site", "same-site") and (
            origin is None and headers.get("sec-fetch-mode") != "navigate"
        ):
            return "Pages of other sites cannot use this server."
        return None

    def _is_own(self, host: str) -> bool:
        name = _split(f"//{host}").hostname or ""
        if name in self._hosts:
            return True
        if not self._any_address:
            return False
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True


def _split(address: str) -> SplitResult:
    """The parts of an address; all empty where it is none, as with half of a bracket."""
    try:
        return urlsplit(address)
    except ValueError:
        return SplitResult("", "", "", "", "")


def _counted(receive: Receive) -> Receive:
    """The body as it comes, up to its largest size, whatever its headers said."""
    total = 0

    async def counted() -> Message:
        nonlocal total
        message = await receive()
        total += len(message.get("body", b""))
        if total > LARGEST_BODY:
            raise TooLargeError
        return message

    return counted


def _with_headers(send: Send, path: str) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers[name] = value
            headers["cache-control"] = "no-store" if path.startswith("/api/") else "no-cache"
        await send(message)

    return sending


async def _refuse(scope: Scope, send: Send, status: int, text: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 4403, "reason": text})
        return
    body = json.dumps({"code": "forbidden" if status == 403 else "too_large", "message": text}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
