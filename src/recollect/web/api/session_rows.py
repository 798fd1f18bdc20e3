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

from recollect.health.retention import find_expiry
from recollect.library.session_filters import find_beginning
from recollect.locations.references import work_directory
from recollect.session.calendar import parse_range
from recollect.session.live_process import LiveProcess
from recollect.session.times import milliseconds_between
from recollect.store.session_table import Listing
from recollect.sync.session_lists import Conditions, select
from recollect.usage.totals import to_dollars
from recollect.web.parameters import blame
from recollect.web.session_catalog import Snapshot


class SessionRow(Struct, frozen=True, kw_only=True):
    """A session in a list; None where nothing tells."""

    id: str
    project: str
    """Name of the project's directory below `projects/`."""
    cwd: str | None
    title: str | None
    first_prompt: str | None
    created: str | None
    last_active: str | None
    activity: float
    """When something last happened in it, in seconds since 1970."""
    modified: float
    duration_ms: float | None
    """From its first record to its last."""
    size: int
    path: str
    git_branch: str | None
    version: str | None
    tag: str | None
    is_subagent: bool
    parent_id: str | None
    forked_from: str | None
    continued_in: str | None
    message_count: int | None
    """Prompts and distinct replies; None for a large file that was not read as a whole."""
    turn_count: int | None
    error_count: int | None
    """Failed tool calls and API failures."""
    compaction_count: int | None
    compaction_summary: str | None
    """How the summary of the last compaction begins."""
    models: tuple[str, ...]
    replies: int | None
    """Replies of a model that count, with those of its subagents."""
    tokens: int | None
    """Its own, with those of its subagents."""
    copied_tokens: int | None
    """Those of replies that were copied from another session, where they count."""
    cost_usd: float | None
    """At list prices, with its subagents; None when no price is known."""
    client_cost_usd: float | None
    """What a client up to 1.0.2x noted on its replies (`costUSD`)."""
    client_priced: int | None
    """Replies without token counts: their part of the cost is what the client noted."""
    live: LiveProcess | None
    """The client that has it open right now."""
    expires: str | None
    """When Claude Code may delete it, by the settings."""


def make_row(known: Snapshot, listing: Listing) -> SessionRow:
    """What there is to show of a session."""
    usage = None if listing.is_subagent else known.usage.get(listing.id)
    totals = usage.totals if usage else None
    return SessionRow(
        id=listing.id,
        project=listing.project,
        cwd=listing.cwd,
        title=listing.title,
        first_prompt=listing.first_prompt,
        created=listing.created,
        last_active=listing.last_active,
        activity=listing.activity,
        modified=listing.modified,
        duration_ms=milliseconds_between(listing.created, listing.last_active),
        size=listing.size,
        path=listing.path,
        git_branch=listing.git_branch,
        version=listing.version,
        tag=listing.tag,
        is_subagent=listing.is_subagent,
        parent_id=listing.parent_id,
        forked_from=listing.forked_from,
        continued_in=listing.continued_in,
        message_count=listing.message_count,
        turn_count=listing.turn_count,
        error_count=listing.error_count,
        compaction_count=listing.compaction_count,
        compaction_summary=listing.compaction_summary,
        models=listing.models or (usage.models if usage else ()),
        replies=totals.messages if totals else None,
        tokens=totals.tokens if totals else None,
        copied_tokens=listing.copied_tokens,
        cost_usd=to_dollars(totals.known_cost) if totals else None,
        client_cost_usd=listing.client_cost_usd,
        client_priced=totals.client_priced if totals else None,
        live=known.live.get(listing.id),
        expires=_find_expiry(known, listing),
    )


def _find_expiry(known: Snapshot, listing: Listing) -> str | None:
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


def select_sessions(known: Snapshot, selection: SessionSelection) -> list[Listing]:
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


def _belongs_to(project: str) -> Callable[[Listing], bool]:
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


SortKey = Callable[[Listing], tuple[float, float]]


def _by_created(_: Snapshot) -> SortKey:
    return lambda each: (find_beginning(each.created, each.modified), each.activity)


def _by_size(_: Snapshot) -> SortKey:
    return lambda each: (each.size, each.activity)


def _by_cost(known: Snapshot) -> SortKey:
    def key(each: Listing) -> tuple[float, float]:
        usage = known.usage.get(each.id)
        return (usage.totals.cost if usage else -1, each.activity)

    return key


def _by_tokens(known: Snapshot) -> SortKey:
    def key(each: Listing) -> tuple[float, float]:
        usage = known.usage.get(each.id)
        return (usage.totals.tokens if usage else -1, each.activity)

    return key


_ORDERS: Final[dict[SessionOrder, Callable[[Snapshot], SortKey]]] = {
    SessionOrder.CREATED: _by_created,
    SessionOrder.SIZE: _by_size,
    SessionOrder.COST: _by_cost,
    SessionOrder.TOKENS: _by_tokens,
}
