"""Sessions as documents: lists of them, one with its turns, a range of its turns."""

from typing import Literal

from msgspec import Struct

from recollect.documents.session_listing import SessionListing
from recollect.documents.session_metadata import Metadata
from recollect.documents.turns import TurnView


class ListDocument(Struct, frozen=True, kw_only=True):
    """One page of sessions and the total number."""

    schema: Literal["recollect.list/2"] = "recollect.list/2"
    total: int
    sessions: tuple[SessionListing, ...]


class ShowDocument(Struct, frozen=True, kw_only=True):
    """A session and its turns."""

    schema: Literal["recollect.show/2"] = "recollect.show/2"
    session: Metadata
    turns: tuple[TurnView, ...]
    at: str | None = None
    """The uuid of what was asked for with `--at`, or `turn-3`; a subagent's is at its call."""


class ShowHead(Struct, frozen=True, kw_only=True):
    """A session on the first line of JSON Lines; each of the others is a turn."""

    schema: Literal["recollect.show/2"] = "recollect.show/2"
    session: Metadata
    at: str | None = None
    """As in `ShowDocument`."""


class TurnsDocument(Struct, frozen=True, kw_only=True):
    """Some turns of a session."""

    id: str
    start: int
    """How many turns come before the first one here; turns themselves are numbered from 1."""
    total: int | None
    is_partial: bool
    turns: tuple[TurnView, ...]
