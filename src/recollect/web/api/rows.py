"""One session as lists and pages show it: what its file tells, what it used, and how it stands."""

from datetime import UTC, datetime, timedelta

from msgspec import Struct

from recollect.session.live_process import LiveProcess
from recollect.session.times import milliseconds_between
from recollect.store.listings import Listing
from recollect.usage.totals import to_dollars
from recollect.web.shelf import Known


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
    cost_usd: float | None
    """At list prices, with its subagents; None when no price is known."""
    live: LiveProcess | None
    """The client that has it open right now."""
    expires: str | None
    """When Claude Code may delete it, by the settings."""


def make_row(known: Known, listing: Listing) -> SessionRow:
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
        cost_usd=to_dollars(totals.known_cost) if totals else None,
        live=known.live.get(listing.id),
        expires=_find_expiry(known, listing),
    )


def _find_expiry(known: Known, listing: Listing) -> str | None:
    if known.keeps_days is None or listing.is_subagent:
        return None
    try:
        written = datetime.fromtimestamp(listing.modified, UTC)
        return (written + timedelta(days=known.keeps_days)).isoformat()
    except (OverflowError, OSError, ValueError):
        # People write 99999999 to keep everything, and the calendar ends before that.
        return None
