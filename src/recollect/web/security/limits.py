"""Caps what a request may send: nothing here takes more than a few hundred bytes.

Counted as it arrives, because a stated length may be missing or a lie.
"""

from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recollect.web.answers import refuse
from recollect.web.security.requests import list_values

MOST_BYTES: Final = 16 * 1024
MOST_QUERY: Final = 8 * 1024
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
        if len(scope["query_string"]) > MOST_QUERY:
            await refuse(414, "too_long", "The query is too long.")(scope, receive, send)
            return
        if not _has_body(scope):
            await self._app(scope, receive, send)
            return
        body = await _read(receive)
        if body is None:
            message = f"A request has {MOST_BYTES} bytes at most."
            await refuse(413, "too_large", message)(scope, receive, send)
            return
        await self._app(scope, _replay(body, receive), send)


def _has_body(scope: Scope) -> bool:
    lengths = list_values(scope, "content-length")
    return bool(list_values(scope, "transfer-encoding")) or any(each != "0" for each in lengths)


async def _read(receive: Receive) -> bytes | None:
    body = b""
    while True:
        message = await receive()
        body += bytes(message.get("body", b""))
        if len(body) > MOST_BYTES:
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
