"""Lets nobody in without a key, to no path at all but those few that sign-in itself needs.

The gate stands before the router, so a route that is added tomorrow is closed today, and nobody
without a key learns which paths exist.
"""

from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send

from recollect.web.security.keys import Keys
from recollect.web.security.requests import find_value, list_values

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
