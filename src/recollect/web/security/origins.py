"""Refuses what another site's page asks for, even where the browser would send our cookie.

Another port of this machine is the same site to a browser, so that SameSite alone would not do. A
page elsewhere may lead here by a link and nothing else; changing something takes our own origin,
or the key in a header, which no other page can know.
"""

from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from recollect.web.answers import refuse
from recollect.web.security.requests import find_value, is_reading, list_values

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
            await refuse(403, "wrong_origin", message)(scope, receive, send)
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
