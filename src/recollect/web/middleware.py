"""The headers of a request as a wall may see them: raw, repeated or missing, and never trusted.

The secrets of one run of the server, and how they are compared.

A one-time token leads from the terminal into the browser; it dies when it is exchanged for the
cookie. The access key is for programs of the same person. All of them end with the process.

Lets nobody in without a key, to no path at all but those few that sign-in itself needs.

The gate stands before the router, so a route that is added tomorrow is closed today, and nobody
without a key learns which paths exist.

Headers that every answer carries, whatever it is and however it came about.

Nothing may be loaded from elsewhere, no script or style may stand in a page, and no text may become
script: whatever gets past the escaping of a transcript finds nothing that would run it.

Refuses requests that were addressed to another name: a page that rebinds its own to us.

The Host is compared as a string with the few that are ours. It is never parsed, so there is no
form of it that could raise, and none that could be read in two ways.

Caps what a request may send: nothing here takes more than a few hundred bytes.

Counted as it arrives, because a stated length may be missing or a lie.

Refuses what another site's page asks for, even where the browser would send our cookie.

Another port of this machine is the same site to a browser, so that SameSite alone would not do. A
page elsewhere may lead here by a link and nothing else; changing something takes our own origin,
or the key in a header, which no other page can know.
"""

import hmac
import secrets
import threading
from collections.abc import Callable, Iterable
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recollect.web.responses import json_error


def list_values(scope: Scope, name: str) -> list[str]:
    """Every value of a header; bytes stand for themselves, so that any header can be compared."""
    wanted = name.encode("latin-1")
    headers: Iterable[tuple[bytes, bytes]] = scope["headers"]
    return [value.decode("latin-1") for key, value in headers if key == wanted]


def find_value(scope: Scope, name: str) -> str | None:
    """The one value of a header; None when there is none, or more than one."""
    values = list_values(scope, name)
    return values[0] if len(values) == 1 else None


def is_reading(scope: Scope) -> bool:
    """Whether the request asks for something without changing anything."""
    return scope["method"] in {"GET", "HEAD"}


_BYTES: Final = 32


class Keys:
    """Makes and checks the secrets."""

    def __init__(self, port: int) -> None:
        self.access = secrets.token_urlsafe(_BYTES)
        """What a program shows as `Authorization: Bearer …`."""
        self.cookie_name = f"recollect-{port}"
        """Cookies do not know ports; two servers of one person must not undo each other's."""
        self._cookie = secrets.token_urlsafe(_BYTES)
        self._launches: set[str] = set()
        self._lock = threading.Lock()

    def make_launch(self) -> str:
        """A new one-time token."""
        token = secrets.token_urlsafe(_BYTES)
        with self._lock:
            self._launches.add(token)
        return token

    def exchange(self, token: str) -> str | None:
        """The cookie's value for a one-time token, which is used up by that; None for any other."""
        with self._lock:
            found = next((each for each in self._launches if _is_same(each, token)), None)
            if found is None:
                return None
            self._launches.discard(found)
        return self._cookie

    def opens_with_cookie(self, value: str) -> bool:
        """Whether this is the cookie's value."""
        return _is_same(self._cookie, value)

    def opens_with_access(self, value: str) -> bool:
        """Whether this is the access key."""
        return _is_same(self.access, value)


def _is_same(secret: str, given: str) -> bool:
    """Compared in constant time; whatever was given is compared as bytes."""
    return hmac.compare_digest(secret.encode(), given.encode("utf-8", "surrogatepass"))


IsPublic = Callable[[str, str], bool]
"""Whether a method and path are open to everybody."""

_SCHEME = "bearer "


class Gate:
    """Lets requests through that carry a key; answers the others with `closed`."""

    def __init__(self, app: ASGIApp, keys: Keys, is_public: IsPublic, closed: ASGIApp) -> None:
        self._app = app
        self._keys = keys
        self._is_public = is_public
        self._closed = closed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer 401."""
        is_open = (
            scope["type"] != "http"
            or self._is_public(scope["method"], scope["path"])
            or self._has_key(scope)
        )
        await (self._app if is_open else self._closed)(scope, receive, send)

    def _has_key(self, scope: Scope) -> bool:
        header = find_value(scope, "authorization") or ""
        if header[: len(_SCHEME)].lower() == _SCHEME:
            return self._keys.opens_with_access(header[len(_SCHEME) :].strip())
        return any(map(self._keys.opens_with_cookie, self._list_cookies(scope)))

    def _list_cookies(self, scope: Scope) -> list[str]:
        found = []
        for header in list_values(scope, "cookie"):
            for part in header.split(";"):
                name, _, value = part.partition("=")
                if name.strip() == self._keys.cookie_name:
                    found.append(value.strip())
        return found


def make_cookie(keys: Keys, value: str) -> str:
    """The header that sets the cookie: invisible to scripts, and useless to other sites."""
    return f"{keys.cookie_name}={value}; Path=/; HttpOnly; SameSite=Strict"


CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types recollect"
)
"""`recollect` is the one policy by which our script may turn our server's HTML into elements."""

SECURITY_HEADERS: Final = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": (
        "accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), hid=(), "
        "magnetometer=(), microphone=(), midi=(), payment=(), serial=(), usb=()"
    ),
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}

CACHE_CONTROL: Final = "cache-control"
NO_STORE: Final = "no-store"


class SecurityHeaders:
    """Puts the headers on every answer; only a static file may say how long it is kept."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the app does, with the headers."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(SECURITY_HEADERS)
                headers.setdefault(CACHE_CONTROL, NO_STORE)
            await send(message)

        await self._app(scope, receive, send_with_headers)


class HostCheck:
    """Lets requests through whose one Host is one of ours."""

    def __init__(self, app: ASGIApp, hosts: frozenset[str]) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer 421."""
        if scope["type"] == "http":
            given = list_values(scope, "host")
            if len(given) != 1 or given[0] not in self._hosts:
                names = " or ".join(sorted(self._hosts))
                answer = json_error(
                    421,
                    "wrong_host",
                    f"This server answers to {names} only. Through a tunnel, use the same port on "
                    "both ends.",
                )
                await answer(scope, receive, send)
                return
        await self._app(scope, receive, send)


MAX_BYTES: Final = 16 * 1024
MAX_QUERY_BYTES: Final = 8 * 1024
"""Bytes of a query string; a search has a thousand characters at most."""


class BodyLimit:
    """Reads a body to its end before anyone else does, unless it is too long."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with its body, or answer 413 or 414."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if len(scope["query_string"]) > MAX_QUERY_BYTES:
            await json_error(414, "too_long", "The query is too long.")(scope, receive, send)
            return
        if not _has_body(scope):
            await self._app(scope, receive, send)
            return
        body = await _read(receive)
        if body is None:
            message = f"A request has {MAX_BYTES} bytes at most."
            await json_error(413, "too_large", message)(scope, receive, send)
            return
        await self._app(scope, _replay(body, receive), send)


def _has_body(scope: Scope) -> bool:
    lengths = list_values(scope, "content-length")
    return bool(list_values(scope, "transfer-encoding")) or any(each != "0" for each in lengths)


async def _read(receive: Receive) -> bytes | None:
    """The body; None if it is too long, or if the one who sent it left before its end."""
    body = b""
    while True:
        message = await receive()
        body += bytes(message.get("body", b""))
        if len(body) > MAX_BYTES or message["type"] == "http.disconnect":
            return None
        if not message.get("more_body", False):
            return body


def _replay(body: bytes, receive: Receive) -> Receive:
    is_sent = False

    async def receive_again() -> Message:
        nonlocal is_sent
        if is_sent:
            return await receive()
        is_sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again


_OWN_SITES: Final = frozenset({"same-origin", "none"})


class OriginCheck:
    """Lets requests through that come from our own pages, a link, or a program."""

    def __init__(self, app: ASGIApp, origins: frozenset[str]) -> None:
        self._app = app
        self._origins = origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer 403."""
        if scope["type"] == "http" and not self._is_welcome(scope):
            message = "Only pages of this server may ask for this."
            await json_error(403, "wrong_origin", message)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _is_welcome(self, scope: Scope) -> bool:
        sites = list_values(scope, "sec-fetch-site")
        origins = list_values(scope, "origin")
        if not all(site in _OWN_SITES for site in sites):
            return is_reading(scope) and not origins and _is_link(scope)
        if not all(origin in self._origins for origin in origins):
            return False
        # A browser always names an origin when it changes something; a program shows the key.
        return is_reading(scope) or bool(origins) or find_value(scope, "authorization") is not None


def _is_link(scope: Scope) -> bool:
    modes = (find_value(scope, "sec-fetch-mode"), find_value(scope, "sec-fetch-dest"))
    return modes == ("navigate", "document")
