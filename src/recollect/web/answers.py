"""Values → answers in JSON, and errors of one documented shape."""

import json
from typing import Final

import msgspec
from msgspec import UNSET, Struct, UnsetType
from starlette.responses import Response

JSON: Final = "application/json"

_encode = msgspec.json.Encoder().encode


class ErrorDetail(Struct, frozen=True, kw_only=True):
    """What is wrong with a request."""

    code: str
    """One word for programs."""
    message: str
    """For people: what is wrong, and what to do."""
    parameter: str | UnsetType = UNSET
    """The parameter that is at fault."""
    column: int | UnsetType = UNSET
    """Where in a search query, counted from 1."""


class ErrorDocument(Struct, frozen=True, kw_only=True):
    """The answer to a request that cannot be met."""

    error: ErrorDetail


def encode_json(value: object) -> bytes:
    """A value in JSON, also where it holds half of a surrogate pair, as names of files may."""
    try:
        return _encode(value)
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(value)).encode("ascii")


def answer_json(value: object, status: int = 200) -> Response:
    """An answer with a value."""
    return Response(encode_json(value), status_code=status, media_type=JSON)


def refuse(status: int, code: str, message: str) -> Response:
    """An answer that says why not."""
    return answer_error(status, ErrorDetail(code=code, message=message))


def answer_error(status: int, detail: ErrorDetail) -> Response:
    """An answer that says why not, in detail."""
    return answer_json(ErrorDocument(error=detail), status)
