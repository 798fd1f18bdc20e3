"""Show one masked secret to the person who asks for it.

A page has tags in the place of secrets. A click on one sends its kind and number here. Only our own
pages may ask: a program that has the key gets no secrets from the server.
"""

import msgspec
from anyio import to_thread
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from recollect.web.responses import json_error, json_response
from recollect.web.services import Services


class SecretTag(Struct, frozen=True, forbid_unknown_fields=True):
    """The tag of a secret: `[redacted:aws-key#1]`."""

    kind: str
    number: int


class RevealedSecret(Struct, frozen=True):
    """What a tag stands for."""

    value: str


class Reveal:
    """Answers `POST /s/{id}/reveal`."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def show(self, request: Request) -> Response:
        """Return the secret behind a tag of a session."""
        if "origin" not in request.headers or "authorization" in request.headers:
            return json_error(403, "not_a_page", "Secrets are shown on pages, not to programs.")
        try:
            tag = msgspec.json.decode(await request.body(), type=SecretTag)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            message = 'Send JSON such as {"kind": "aws-key", "number": 1}.'
            return json_error(422, "bad_body", message)
        session_id = request.path_params["id"]
        project = request.query_params.get("project")
        return await to_thread.run_sync(self._find, session_id, project, tag)

    def _find(self, session_id: str, project: str | None, tag: SecretTag) -> Response:
        found = self._services.workspace.locate(session_id, project)
        value = self._services.mask.find_session(found.transcript.file).reveal(tag.kind, tag.number)
        if value is None:
            return json_error(404, "no_such_secret", "The session has no secret with this tag.")
        response = json_response(RevealedSecret(value))
        response.headers["cache-control"] = "no-store"
        return response
