"""One session as lists and pages show it: what its file tells, what it used, and how it stands.

Which sessions a list is about, in which order, page by page.

Works on what is in memory, so that ten thousand sessions take a few milliseconds.
"""

from collections.abc import Callable
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from recollect.documents.session_listing import SessionListing
from recollect.health.retention import find_expiry
from recollect.library.session_filters import find_beginning
from recollect.locations.references import work_directory
from recollect.session.calendar import parse_range
from recollect.session.times import milliseconds_between
from recollect.sync import Conditions, select
from recollect.usage.totals import to_dollars
from recollect.web.parameters import blame
from recollect.web.session_catalog import Snapshot


def make_row(known: Snapshot, listing: SessionListing) -> SessionListing:
    """Return a listing with what is only known now: usage, the running client, the expiry."""
    usage = None if listing.is_subagent else known.usage.get(listing.id)
    totals = usage.totals if usage else None
    return replace(
        listing,
        models=listing.models or (usage.models if usage else ()),
        duration_ms=milliseconds_between(listing.created, listing.last_active),
        replies=totals.messages if totals else None,
        tokens=totals.tokens if totals else None,
        cost_usd=to_dollars(totals.known_cost) if totals else None,
        client_priced=totals.client_priced if totals else None,
        live=known.live.get(listing.id),
        expires=_find_expiry(known, listing),
    )


def _find_expiry(known: Snapshot, listing: SessionListing) -> str | None:
    if listing.is_subagent:
        return None
    moment = find_expiry(listing.path, listing.modified, known.retentions)
    return None if moment is None else moment.isoformat(timespec="seconds")


class SessionOrder(StrEnum):
    """What comes first in a list."""

    ACTIVITY = "activity"
    CREATED = "created"
    SIZE = "size"
    COST = "cost"
    TOKENS = "tokens"


class SessionSelection(Struct, frozen=True, kw_only=True):
    """Which sessions are wanted; an empty text wants all."""

    project: str = ""
    """A work directory, or the name of a project's directory."""
    text: str = ""
    branch: str = ""
    model: str = ""
    since: datetime | None = None
    until: datetime | None = None
    """The first moment that is too late."""
    subagents: bool = False
    is_live: bool = False
    has_errors: bool = False
    order: SessionOrder = SessionOrder.ACTIVITY


def read_range(since: str, until: str, now: datetime) -> tuple[datetime | None, datetime | None]:
    """The moments between which sessions are wanted; days are those where the server runs."""
    with blame("since"):
        parse_range(since, None, now)
    with blame("until"):
        return parse_range(since, until, now)


def select_sessions(known: Snapshot, selection: SessionSelection) -> list[SessionListing]:
    """The sessions that are wanted, in order."""
    belongs = _belongs_to(selection.project)
    candidates = [
        each
        for each in known.sessions
        if (selection.subagents or not each.is_subagent)
        and (not selection.is_live or each.id in known.live)
        and belongs(each)
    ]
    found = select(candidates, _make_conditions(selection))
    key = _ORDERS.get(selection.order)
    return found if key is None else sorted(found, key=key(known), reverse=True)


def _make_conditions(wanted: SessionSelection) -> Conditions:
    return Conditions(
        text=wanted.text or None,
        branch=wanted.branch or None,
        model=wanted.model or None,
        since=wanted.since,
        until=wanted.until,
        has_errors=wanted.has_errors,
    )


def _belongs_to(project: str) -> Callable[[SessionListing], bool]:
    """By the name of the project's directory, or by the work directory as everywhere else."""
    if not project:
        return lambda _: True
    place = work_directory(project)

    # Comparing paths is slow, and thousands of sessions have a few dozen of them.
    @cache
    def is_there(name: str, cwd: str | None) -> bool:
        if name == project or (cwd and place.is_at(cwd)):
            return True
        return place.is_named(name) and (cwd is None or not place.collides_with(cwd))

    return lambda listing: is_there(listing.project, listing.cwd)


SortKey = Callable[[SessionListing], tuple[float, float]]


def _by_created(_: Snapshot) -> SortKey:
    return lambda each: (find_beginning(each.created, each.modified), each.activity)


def _by_size(_: Snapshot) -> SortKey:
    return lambda each: (each.size, each.activity)


def _by_cost(known: Snapshot) -> SortKey:
    def key(each: SessionListing) -> tuple[float, float]:
        usage = known.usage.get(each.id)
        return (usage.totals.cost if usage else -1, each.activity)

    return key


def _by_tokens(known: Snapshot) -> SortKey:
    def key(each: SessionListing) -> tuple[float, float]:
        usage = known.usage.get(each.id)
        return (usage.totals.tokens if usage else -1, each.activity)

    return key


_ORDERS: Final[dict[SessionOrder, Callable[[Snapshot], SortKey]]] = {
    SessionOrder.CREATED: _by_created,
    SessionOrder.SIZE: _by_size,
    SessionOrder.COST: _by_cost,
    SessionOrder.TOKENS: _by_tokens,
}
