"""Parse request parameters into a typed value, or an error that names the parameter and the reason.

An unknown parameter is an error, too: ignoring a misspelled filter would give a wrong answer.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Annotated, Final, TypeVar

import msgspec
from msgspec import Meta, Struct
from starlette.requests import Request

from recollect.errors import UsageError
from recollect.render.terminal import restore_text
from recollect.session.calendar import parse_range

S = TypeVar("S", bound=Struct)

MAX_ID: Final = 800
"""Characters of an id: a file name has 249 bytes without its suffix, each possibly percent-encoded.
"""
ID_PATTERN: Final = r"^[^\x00-\x1f\x7f-\x9f]+$"
Id = Annotated[
    str,
    Meta(
        pattern=ID_PATTERN,
        max_length=MAX_ID,
        description="An id; it is looked up, never a path.",
    ),
]

_PLACE: Final = re.compile(r" - at `\$\.([^`\[.]+)[^`]*`$")
_UNKNOWN: Final = re.compile(r"^Object contains unknown field `([^`]*)`")
_MISSING: Final = re.compile(r"^Object missing required field `([^`]*)`")


class BadParameter(UsageError):
    """A parameter has an invalid value."""

    def __init__(self, parameter: str, reason: str) -> None:
        super().__init__(reason)
        self.parameter = parameter


@contextmanager
def blame(parameter: str) -> Iterator[None]:
    """Add the name of the parameter to errors."""
    try:
        yield
    except BadParameter:
        raise
    except UsageError as error:
        raise BadParameter(parameter, str(error)) from error


def read_range(since: str, until: str, now: datetime) -> tuple[datetime | None, datetime | None]:
    """Return the times between which sessions are wanted; days are those of the server."""
    with blame("since"):
        parse_range(since, None, now)
    with blame("until"):
        return parse_range(since, until, now)


def read_form(request: Request, wanted: type[S]) -> S:
    """Return the parameters of a page request, where a filter may be as a page shows it."""
    query = ((name, restore_text(value)) for name, value in request.query_params.multi_items())
    return _read(request, query, wanted)


def read_parameters(request: Request, wanted: type[S]) -> S:
    """Return the parameters from path and query as one value of type `wanted`."""
    return _read(request, request.query_params.multi_items(), wanted)


def _read(request: Request, query: Iterable[tuple[str, str]], wanted: type[S]) -> S:
    values = dict(request.path_params)
    for name, value in query:
        if name in values:
            raise BadParameter(name, "It is given twice.")
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
        raise BadParameter("", "The body is not JSON.") from error


def _explain(message: str) -> BadParameter:
    if unknown := _UNKNOWN.match(message):
        return BadParameter(unknown[1], "There is no such parameter.")
    if missing := _MISSING.match(message):
        return BadParameter(missing[1], "It is missing.")
    place = _PLACE.search(message)
    reason = _PLACE.sub("", message)
    return BadParameter(place[1] if place else "", f"{reason}.")
