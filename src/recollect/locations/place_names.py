"""The names of places: a session, and a record or a turn in it.

A place is written `SESSION#RECORD`, `SESSION:TURN` or as a URL of the web app, and is accepted
wherever a session is named. RECORD is a uuid; a line without one is `line-OFFSET`. Titles may
contain `#` and `:` too, so a name can have two readings, the likelier first. Nothing here knows
which sessions exist.
"""

import re
from typing import Final, NamedTuple
from urllib.parse import SplitResult, parse_qs, quote, unquote, urlsplit

from recollect.errors import UsageError
from recollect.locations.references import LATEST, counts_back

TURN_PREFIX: Final = "turn-"
"""Prefix of the anchor of a turn."""

LINE_PREFIX: Final = "line-"
"""Prefix of the name of a record without a uuid; the offset of its line follows."""

BESIDE_PREFIX: Final = "beside-"
"""Prefix of the anchor of a message's texts outside the conversation; its uuid follows."""

LISTS: Final = "lists"
"""The name of the todo lists and tasks beside a session."""

_RECORD: Final = re.compile("[0-9A-Za-z_.%-]{1,600}")
_TURN: Final = re.compile("-?[1-9][0-9]{0,8}")
_ID: Final = re.compile("(?:agent-)?[0-9a-f-]{4,40}")
_PATH: Final = re.compile("/s/(?P<session>[^/]+)(?:/raw/(?P<raw>[^/]+)|/[a-z]+)?/?")
_SCHEMES: Final = ("http", "https")


class PlaceName(NamedTuple):
    """The name of a session, and where in it: at a record, at a turn, or nowhere in particular."""

    session: str
    record: str | None = None
    turn: int | None = None
    """Counted from 1; negative numbers count from the end."""
    offset: int | None = None
    """The offset of the record, for URLs that have it: several records may share a uuid."""

    @property
    def anchor(self) -> str | None:
        """Return the fragment of the place in a URL."""
        if self.record:
            return _quote(self.record)
        return f"{TURN_PREFIX}{self.turn}" if self.turn else None


def read_place(name: str) -> tuple[PlaceName, ...]:
    """Return what `name` may mean, the likeliest first; raises UsageError for an invalid URL."""
    address = _read_address(name)
    if address is not None:
        return (address,)
    whole, place = PlaceName(name), _split_record(name) or _split_turn(name)
    if place is None:
        return (whole,)
    is_certain = place.session == LATEST or counts_back(place.session)
    return (place, whole) if is_certain or _ID.fullmatch(place.session) else (whole, place)


def read_place_within(text: str) -> PlaceName:
    """Return a record or a turn of a session that is named elsewhere: `UUID`, `12`, or a place."""
    for reading in read_place(text):
        if reading.anchor:
            return reading
    bare = text.removeprefix("#").removeprefix(":")
    if _TURN.fullmatch(bare):
        return PlaceName("", turn=int(bare))
    return PlaceName("", record=_check_record(bare))


def name_place(session_id: str, record: str | None = None, turn: int | None = None) -> str:
    """Return the name of a place, as `read_place` reads it."""
    if record:
        return f"{session_id}#{_quote(record)}"
    return f"{session_id}:{turn}" if turn else session_id


def make_path(session_id: str, anchor: str | None = None) -> str:
    """Return the path of a session, or of a place in it, in the web app."""
    return f"/s/{quote(session_id, safe='')}" + (f"#{anchor}" if anchor else "")


def _read_address(name: str) -> PlaceName | None:
    if "://" not in name:
        return None
    try:
        address = urlsplit(name)
    except ValueError:
        return None
    path = _PATH.fullmatch(address.path)
    if address.scheme not in _SCHEMES or path is None:
        return None
    session = unquote(path["session"])
    anchor = path["raw"] or address.fragment or _quote(_get(address, "at") or "")
    if anchor and anchor.startswith(TURN_PREFIX) and _TURN.fullmatch(anchor[len(TURN_PREFIX) :]):
        return PlaceName(session, turn=int(anchor.removeprefix(TURN_PREFIX)))
    offset = _get(address, "offset") or ""
    is_number = offset.isdecimal() and offset.isascii() and len(offset) < 16  # noqa: PLR2004
    return PlaceName(
        session,
        record=_check_record(anchor) if anchor else None,
        offset=int(offset) if is_number else None,
    )


def _quote(record: str) -> str:
    """Return a record's name without anything that has a meaning elsewhere; a uuid stays."""
    return quote(record, safe="")


def _get(address: SplitResult, parameter: str) -> str | None:
    return next(iter(parse_qs(address.query).get(parameter, ())), None)


def _check_record(record: str) -> str:
    if not _RECORD.fullmatch(record):
        raise UsageError(
            f"{record!r} is not a record id or a turn. Write SESSION#UUID or SESSION:3."
        )
    return unquote(record)


def _split_record(name: str) -> PlaceName | None:
    session, _, record = name.rpartition("#")
    is_place = session and _RECORD.fullmatch(record)
    return PlaceName(session, unquote(record)) if is_place else None


def _split_turn(name: str) -> PlaceName | None:
    session, _, turn = name.rpartition(":")
    return PlaceName(session, turn=int(turn)) if session and _TURN.fullmatch(turn) else None
