"""`POST /api/sessions/{id}/mark`: star a session, or set your note on it.

The only change that the web app makes, and it is made to a file of our own.
"""

from collections.abc import Awaitable, Callable
from typing import Annotated, Final

import msgspec
from msgspec import Meta, Struct
from starlette.requests import Request
from starlette.responses import Response

from recollect.web.api.session_endpoints import SessionParameters
from recollect.web.endpoints import Workers
from recollect.web.parameters import convert
from recollect.web.responses import json_error, json_response
from recollect.web.services import Services
from recollect.workspace.session_marks import MAX_NOTE

MARK_PATH: Final = "/api/sessions/{id}/mark"


class MarkRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to change; what is left out stays as it is."""

    starred: bool | None = None
    note: Annotated[str, Meta(max_length=MAX_NOTE)] | None = None


def make_mark_handler(workers: Workers) -> Callable[[Request], Awaitable[Response]]:
    """Return the handler, which answers with the mark as it is now."""

    async def handle(request: Request) -> Response:
        wanted = convert(request.path_params, SessionParameters)
        try:
            sent = msgspec.json.decode(await request.body(), type=MarkRequest)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return json_error(422, "bad_body", 'Send JSON such as {"starred": true, "note": "…"}.')

        def work(services: Services) -> Response:
            changed = services.workspace.mark(wanted.id, starred=sent.starred, note=sent.note)
            return json_response(MarkRequest(starred=changed.starred, note=changed.note))

        return await workers.run(work)

    return handle
