"""Refuses requests that were addressed to another name: a page that rebinds its own to us.

The Host is compared as a string with the few that are ours. It is never parsed, so there is no
form of it that could raise, and none that could be read in two ways.
"""

from starlette.types import ASGIApp, Receive, Scope, Send

from recollect.web.answers import refuse
from recollect.web.security.requests import list_values


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
                answer = refuse(
                    421,
                    "wrong_host",
                    f"This server answers to {names} only. Through a tunnel, use the same port on "
                    "both ends.",
                )
                await answer(scope, receive, send)
                return
        await self._app(scope, receive, send)
