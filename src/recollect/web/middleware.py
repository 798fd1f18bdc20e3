"""Middleware: access keys, host and origin checks, body limits and security headers.

Request headers may be raw, repeated or missing, and are never trusted. A browser exchanges a
one-time token for a cookie; the access key is for other programs of the user. All of them expire
with the process. The gate is in front of the router, so new routes are protected by default, and
nobody without a key can find out which paths exist.

The headers of every response forbid loading anything from elsewhere and running inline scripts or
styles: transcript text that slips through the escaping cannot execute. The Host is compared as a
string with our own few, which stops DNS rebinding; it is never parsed, so it cannot raise or be
ambiguous. Bodies are counted as they arrive, because a Content-Length may be missing or wrong.

For a browser, another port on this machine is the same site, so SameSite alone is not enough: other
sites may only link here, and a change needs our own origin, or the key in a header, which no other
page has.
"""

import hmac
import secrets
import threading
from collections.abc import Callable, Iterable
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recollect.web.http_messages import refuse


def list_values(scope: Scope, name: str) -> list[str]:
    """Return every value of a header, decoded so that any bytes can be compared."""
    wanted = name.encode("latin-1")
    headers: Iterable[tuple[bytes, bytes]] = scope["headers"]
    return [value.decode("latin-1") for key, value in headers if key == wanted]


def find_value(scope: Scope, name: str) -> str | None:
    """Return the only value of a header; None if there is none, or more than one."""
    values = list_values(scope, name)
    return values[0] if len(values) == 1 else None


def is_reading(scope: Scope) -> bool:
    """Return whether the method is read-only."""
    return scope["method"] in {"GET", "HEAD"}


_BYTES: Final = 32


class Keys:
    """Creates and checks the secrets."""

    def __init__(self, port: int) -> None:
        self.access = secrets.token_urlsafe(_BYTES)
        """Sent by programs as `Authorization: Bearer …`."""
        self.cookie_name = f"recollect-{port}"
        """Has the port in it: cookies ignore ports, and another server has its own."""
        self._cookie = secrets.token_urlsafe(_BYTES)
        self._launches: set[str] = set()
        self._lock = threading.Lock()

    def make_launch(self) -> str:
        """Return a new one-time token."""
        token = secrets.token_urlsafe(_BYTES)
        with self._lock:
            self._launches.add(token)
        return token

    def exchange(self, token: str) -> str | None:
        """Exchange a one-time token for the cookie's value, using it up; None if invalid."""
        with self._lock:
            found = next((each for each in self._launches if _is_same(each, token)), None)
            if found is None:
                return None
            self._launches.discard(found)
        return self._cookie

    def is_cookie(self, value: str) -> bool:
        """Return whether this is the cookie's value."""
        return _is_same(self._cookie, value)

    def is_access_key(self, value: str) -> bool:
        """Return whether this is the access key."""
        return _is_same(self.access, value)


def _is_same(secret: str, given: str) -> bool:
    """Compare in constant time, as bytes."""
    return hmac.compare_digest(secret.encode(), given.encode("utf-8", "surrogatepass"))


IsPublic = Callable[[str, str], bool]
"""Whether a method and path need no key."""

_SCHEME = "bearer "


class KeyCheck:
    """Passes on requests with a key; responds to others with `unauthorized`."""

    def __init__(
        self, app: ASGIApp, keys: Keys, is_public: IsPublic, unauthorized: ASGIApp
    ) -> None:
        self._app = app
        self._keys = keys
        self._is_public = is_public
        self._unauthorized = unauthorized

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer 401."""
        is_open = (
            scope["type"] != "http"
            or self._is_public(scope["method"], scope["path"])
            or self._has_key(scope)
        )
        await (self._app if is_open else self._unauthorized)(scope, receive, send)

    def _has_key(self, scope: Scope) -> bool:
        header = find_value(scope, "authorization") or ""
        if header[: len(_SCHEME)].lower() == _SCHEME:
            return self._keys.is_access_key(header[len(_SCHEME) :].strip())
        return has_cookie(self._keys, scope)


def has_cookie(keys: Keys, scope: Scope) -> bool:
    """Return whether the request comes from a browser that is signed in."""
    return any(map(keys.is_cookie, _list_cookies(keys, scope)))


def _list_cookies(keys: Keys, scope: Scope) -> list[str]:
    found = []
    for header in list_values(scope, "cookie"):
        for part in header.split(";"):
            name, _, value = part.partition("=")
            if name.strip() == keys.cookie_name:
                found.append(value.strip())
    return found


def make_cookie(keys: Keys, value: str) -> str:
    """Return the Set-Cookie header: hidden from scripts, and not sent from other sites."""
    return f"{keys.cookie_name}={value}; Path=/; HttpOnly; SameSite=Strict"


CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types recollect"
)
"""`recollect` is the only Trusted Types policy; our scripts insert the server's HTML with it."""

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
    """Adds the headers to every response; only static files may be cached."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and add the headers."""
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
    """Passes requests with exactly one Host, which must be ours."""

    def __init__(self, app: ASGIApp, hosts: frozenset[str]) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer 421."""
        if scope["type"] == "http":
            given = list_values(scope, "host")
            if len(given) != 1 or given[0] not in self._hosts:
                names = " or ".join(sorted(self._hosts))
                answer = refuse(
                    scope,
                    421,
                    "wrong_host",
                    f"This server only answers to {names}. Through a tunnel, use the same port on "
                    "both ends.",
                )
                await answer(scope, receive, send)
                return
        await self._app(scope, receive, send)


MAX_BYTES: Final = 16 * 1024
MAX_QUERY_BYTES: Final = 8 * 1024
"""Maximum length of a query string; a search has at most a thousand characters."""


LimitOf = Callable[[Scope], int]
"""The maximum size of a request's body, in bytes."""


class BodyLimit:
    """Reads the body completely before passing a request on, unless it is too long."""

    def __init__(self, app: ASGIApp, limit_of: LimitOf = lambda _: MAX_BYTES) -> None:
        self._app = app
        self._limit_of = limit_of

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with its body, or answer 413 or 414."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if len(scope["query_string"]) > MAX_QUERY_BYTES:
            await refuse(scope, 414, "too_long", "The query is too long.")(scope, receive, send)
            return
        if not _has_body(scope):
            await self._app(scope, receive, send)
            return
        limit = self._limit_of(scope)
        body = await _read(receive, limit)
        if body is None:
            message = f"A request can have at most {limit} bytes."
            await refuse(scope, 413, "too_large", message)(scope, receive, send)
            return
        await self._app(scope, _replay(body, receive), send)


def _has_body(scope: Scope) -> bool:
    lengths = list_values(scope, "content-length")
    return bool(list_values(scope, "transfer-encoding")) or any(each != "0" for each in lengths)


async def _read(receive: Receive, limit: int) -> bytes | None:
    """Return the body; None if it is too long, or the client disconnected."""
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > limit or message["type"] == "http.disconnect":
            return None
        if not message.get("more_body", False):
            return bytes(body)


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
    """Passes requests from our own pages, from a link, or from a program."""

    def __init__(self, app: ASGIApp, origins: frozenset[str]) -> None:
        self._app = app
        self._origins = origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer 403."""
        if scope["type"] == "http" and not self._is_allowed(scope):
            message = "Only this server's own pages may request this."
            await refuse(scope, 403, "wrong_origin", message)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _is_allowed(self, scope: Scope) -> bool:
        sites = list_values(scope, "sec-fetch-site")
        origins = list_values(scope, "origin")
        if not all(site in _OWN_SITES for site in sites):
            return is_reading(scope) and not origins and _is_link(scope)
        if not all(origin in self._origins for origin in origins):
            return False
        # A browser sends an origin with every change; a program sends the key.
        return is_reading(scope) or bool(origins) or find_value(scope, "authorization") is not None


def _is_link(scope: Scope) -> bool:
    modes = (find_value(scope, "sec-fetch-mode"), find_value(scope, "sec-fetch-dest"))
    return modes == ("navigate", "document")
