"""Requests and responses: typed parameters, errors that name the invalid parameter and the reason,
JSON responses, one documented shape for errors, and the handler of last resort.

An unknown parameter is an error too: ignoring a misspelled filter would give a wrong result.

Our own errors say what to do and are shown as they are. Other exceptions may contain transcript
text, so only their names are sent; the rest is in the log, which is off by default.
"""

import json
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Annotated, Final, NamedTuple, TypeVar
from urllib.parse import quote

import msgspec
from msgspec import structs
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recollect import errors
from recollect.documents.session_documents import ErrorDetail, ErrorDocument
from recollect.render.terminal import restore_text
from recollect.search.query_parser import QueryError
from recollect.session.times import parse_range

S = TypeVar("S", bound=msgspec.Struct)

MAX_ID: Final = 800
"""Maximum length of an id: a file name has 249 bytes without its suffix, each may be
percent-encoded.
"""
ID_PATTERN: Final = r"^[^\x00-\x1f\x7f-\x9f]+$"
Id = Annotated[
    str,
    msgspec.Meta(
        pattern=ID_PATTERN,
        max_length=MAX_ID,
        description="An id; it is looked up, never a path.",
    ),
]

_PLACE: Final = re.compile(r" - at `\$\.([^`\[.]+)[^`]*`$")
_UNKNOWN: Final = re.compile(r"^Object contains unknown field `([^`]*)`")
_MISSING: Final = re.compile(r"^Object missing required field `([^`]*)`")


class BadParameter(errors.UsageError):
    """A parameter has an invalid value."""

    def __init__(self, parameter: str, reason: str) -> None:
        super().__init__(reason)
        self.parameter = parameter


@contextmanager
def parameter_errors(parameter: str) -> Iterator[None]:
    """Add the name of the parameter to errors."""
    try:
        yield
    except BadParameter:
        raise
    except errors.UsageError as error:
        raise BadParameter(parameter, str(error)) from error


def read_range(since: str, until: str, now: datetime) -> tuple[datetime | None, datetime | None]:
    """Return the requested time range; days are those of the server's time zone."""
    with parameter_errors("since"):
        parse_range(since, None, now)
    with parameter_errors("until"):
        return parse_range(since, until, now)


def read_form(request: Request, wanted: type[S]) -> S:
    """Return the parameters of a page request, in which filters may be formatted as on the page."""
    query = ((name, restore_text(value)) for name, value in request.query_params.multi_items())
    return _read(request, query, wanted)


def read_parameters(request: Request, wanted: type[S]) -> S:
    """Return the parameters from path and query as one value of type `wanted`."""
    return _read(request, request.query_params.multi_items(), wanted)


def _read(request: Request, query: Iterable[tuple[str, str]], wanted: type[S]) -> S:
    values = dict(request.path_params)
    for name, value in query:
        if name in values:
            raise BadParameter(name, "It was given twice.")
        values[name] = value
    return convert(values, wanted)


def convert(values: Mapping[str, str], wanted: type[S]) -> S:
    """Convert strings to a value of type `wanted`; raises BadParameter."""
    try:
        return msgspec.convert(values, wanted, strict=False)
    except msgspec.ValidationError as error:
        raise _explain(str(error)) from error


def decode_body(data: bytes, wanted: type[S]) -> S:
    """Return a JSON body as a value of type `wanted`; raises BadParameter."""
    try:
        return msgspec.json.decode(data, type=wanted)
    except msgspec.ValidationError as error:
        raise _explain(str(error)) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadParameter("", "The body is not valid JSON.") from error


def _explain(message: str) -> BadParameter:
    if unknown := _UNKNOWN.match(message):
        return BadParameter(unknown[1], "There is no such parameter.")
    if missing := _MISSING.match(message):
        return BadParameter(missing[1], "It is missing.")
    place = _PLACE.search(message)
    reason = _PLACE.sub("", message)
    return BadParameter(place[1] if place else "", f"{reason}.")


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


def refuse(scope: Scope, status: int, code: str, message: str) -> Response:
    """Return the error response of a middleware: plain text for a browser, JSON for a program."""
    accepted = Headers(scope=scope).get("accept", "")
    if "text/html" in accepted:
        return PlainTextResponse(f"{message}\n", status)
    return json_error(status, code, message)


class Download(NamedTuple):
    """A file to download."""

    data: bytes
    media_type: str
    name: str


def file_response(file: Download) -> Response:
    """Return a file to download, which the browser must not display as one of our pages."""
    name = quote(file.name, safe="")
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{name}"}
    return Response(file.data, media_type=file.media_type, headers=headers)


class Refused(errors.RecollectError):
    """A valid request that is refused."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


logger = logging.getLogger("recollect.web")

API: Final = "/api/"
FORM: Final = "application/x-www-form-urlencoded"
_STATUSES: Final = (
    (errors.UsageError, 422, "bad_parameter"),
    (errors.NothingFound, 404, "not_found"),
    (errors.UnreadableInput, 404, "unreadable"),
    (errors.IndexFailure, 503, "index_failure"),
    (errors.ArchiveFailure, 503, "archive_failure"),
    (errors.ClientFailure, 502, "client_failure"),
)
METHOD_NOT_ALLOWED: Final = 405
_HTTP_CODES: Final = {404: "not_found", 405: "method_not_allowed"}
_HTTP_MESSAGES: Final = {
    404: "Not found. /api lists all endpoints.",
    405: "This is read-only: use GET.",
}
_POST_ONLY: Final = "This only works with POST."


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
        if status == METHOD_NOT_ALLOWED and "GET" not in (error.headers or {}).get("Allow", "GET"):
            message = _POST_ONLY
        return status, ErrorDetail(code=_HTTP_CODES.get(status, "refused"), message=message)
    for kind, status, code in _STATUSES:
        if isinstance(error, kind):
            return status, ErrorDetail(code=code, message=str(error))
    return 500, ErrorDetail(
        code="internal_error",
        message=f"Internal error ({type(error).__name__}). This is a bug in Recollect.",
    )


def is_for_program(request: Request) -> bool:
    """Return whether the client wants JSON rather than a page, as links and forms do."""
    is_form = request.headers.get("content-type", "").startswith(FORM)
    is_reading = request.method in {"GET", "HEAD"}
    return request.url.path.startswith(API) or not (is_reading or is_form)


def is_from_page(request: Request) -> bool:
    """Return whether one of our pages sent a request; its origin has already been checked."""
    return "origin" in request.headers and "authorization" not in request.headers


def api_error_response(error: Exception, translate: Callable[[str], str] = str) -> Response:
    """Return the error response for a program, or for the script of a page in its language."""
    status, detail = describe_failure(error)
    detail = structs.replace(detail, message=translate(detail.message))
    response = error_response(status, detail)
    if isinstance(error, HTTPException) and error.headers:
        response.headers.update(error.headers)
    return response


class CatchAll:
    """Responds to unexpected exceptions with 500."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; respond to an unexpected exception with 500."""
        has_begun = False

        async def watch(message: Message) -> None:
            nonlocal has_begun
            has_begun = has_begun or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, watch)
        except Exception as error:
            logger.error("%s at %s", type(error).__name__, scope.get("path"))  # noqa: TRY400
            logger.debug("traceback", exc_info=error)
            if has_begun or scope["type"] != "http":
                raise
            await error_response(*describe_failure(error))(scope, receive, send)
