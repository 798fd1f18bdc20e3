"""JSON responses, errors in one documented shape, and the handler of last resort.

Our own errors say what to do and are shown as they are. Any other may contain transcript text, so
only its name is sent; the rest is in the log, which is off by default.
"""

import json
import logging
from typing import Final, NamedTuple
from urllib.parse import quote

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recollect.documents.api_documents import ErrorDetail, ErrorDocument
from recollect.errors import (
    ClientFailure,
    IndexFailure,
    NothingFound,
    RecollectError,
    UnreadableInput,
    UsageError,
)
from recollect.search.query_parser import QueryError
from recollect.web.parameters import BadParameter

JSON: Final = "application/json"

_encode = msgspec.json.Encoder().encode


def encode_json(value: object) -> bytes:
    """Encode a value as JSON, even with lone surrogates, which file names may have."""
    try:
        return _encode(value)
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(value)).encode("ascii")


def json_response(value: object, status: int = 200) -> Response:
    """Return a response with a value."""
    return Response(encode_json(value), status_code=status, media_type=JSON)


def json_error(status: int, code: str, message: str) -> Response:
    """Return a response with an error."""
    return error_response(status, ErrorDetail(code=code, message=message))


def error_response(status: int, detail: ErrorDetail) -> Response:
    """Return a response with a detailed error."""
    return json_response(ErrorDocument(error=detail), status)


class Download(NamedTuple):
    """A file for the reader's disk."""

    data: bytes
    media_type: str
    name: str


def file_response(file: Download) -> Response:
    """Return a file to be saved, never to be shown: it is no page of ours."""
    name = quote(file.name, safe="")
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{name}"}
    return Response(file.data, media_type=file.media_type, headers=headers)


class Refused(RecollectError):
    """A request that is understood and not carried out."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


logger = logging.getLogger("recollect.web")

API: Final = "/api/"
_STATUSES: Final = (
    (UsageError, 422, "bad_parameter"),
    (NothingFound, 404, "not_found"),
    (UnreadableInput, 404, "unreadable"),
    (IndexFailure, 503, "index_failure"),
    (ClientFailure, 502, "client_failure"),
)
_HTTP_CODES: Final = {404: "not_found", 405: "method_not_allowed"}
_HTTP_MESSAGES: Final = {
    404: "There is nothing here. /api lists what there is.",
    405: "This is only for reading: use GET.",
}


def describe_failure(error: Exception) -> tuple[int, ErrorDetail]:
    """Return status and detail of an error."""
    if isinstance(error, QueryError):
        return 422, ErrorDetail(
            code="bad_query", message=error.message, parameter="q", column=error.column
        )
    if isinstance(error, BadParameter):
        return 422, ErrorDetail(code="bad_parameter", message=str(error), parameter=error.parameter)
    if isinstance(error, Refused):
        return error.status, ErrorDetail(code=error.code, message=str(error))
    if isinstance(error, HTTPException):
        status = error.status_code
        message = _HTTP_MESSAGES.get(status, error.detail)
        return status, ErrorDetail(code=_HTTP_CODES.get(status, "refused"), message=message)
    for kind, status, code in _STATUSES:
        if isinstance(error, kind):
            return status, ErrorDetail(code=code, message=str(error))
    return 500, ErrorDetail(
        code="internal_error",
        message=f"Internal error ({type(error).__name__}). This is a bug in Recollect.",
    )


def is_for_program(request: Request) -> bool:
    """Return whether the client wants JSON rather than a page."""
    return request.url.path.startswith(API) or request.method not in {"GET", "HEAD"}


async def api_error_response(_: Request, error: Exception) -> Response:
    """Return the error response for a program."""
    status, detail = describe_failure(error)
    response = error_response(status, detail)
    if isinstance(error, HTTPException) and error.headers:
        response.headers.update(error.headers)
    return response


class CatchAll:
    """Answers 500 to unforeseen errors."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or report a bug."""
        has_begun = False

        async def watch(message: Message) -> None:
            nonlocal has_begun
            has_begun = has_begun or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, watch)
        except Exception as error:
            logger.error("%s at %s", type(error).__name__, scope.get("path"))  # noqa: TRY400
            logger.debug("where it was raised", exc_info=error)
            if has_begun or scope["type"] != "http":
                raise
            await error_response(*describe_failure(error))(scope, receive, send)
