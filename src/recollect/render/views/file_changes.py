"""What sessions changed in files, in the order of time, with what there is to draw of it.

Subagents count with the session that started them. A fork or a resumed session repeats what it was
made from, so that a call is counted once, however many transcripts hold it.
"""

from collections.abc import Iterable, Iterator

from msgspec import Struct, structs

from recollect.render.views.parts import Code, Diff
from recollect.render.views.tools import describe_call
from recollect.session.files import FileAction
from recollect.session.session import Session
from recollect.session.times import parse_time


class ChangeFacts(Struct, frozen=True, kw_only=True):
    """One call that changed one file."""

    path: str
    action: FileAction
    tool: str
    timestamp: str | None
    lines_added: int
    lines_removed: int
    session_id: str
    cwd: str | None
    """The work directory of the session."""
    agent_id: str | None = None
    """The subagent that made it."""
    call_id: str


class Change(ChangeFacts, frozen=True, kw_only=True):
    """A change, and what there is to draw of it if that is wanted."""

    parts: tuple[Diff | Code, ...] = ()


def list_changes(sessions: Iterable[Session], *, with_diff: bool) -> tuple[Change, ...]:
    """What `sessions` changed, in the order of time; what has no time keeps its place."""
    found: dict[str, Change] = {}
    for session in sessions:
        for change in _iter_changes(session, session, None, with_diff=with_diff):
            found.setdefault(change.call_id, change)
    return tuple(_sort(found.values()))


def _iter_changes(
    session: Session, owner: Session, agent_id: str | None, *, with_diff: bool
) -> Iterator[Change]:
    for event in session.files:
        call = session.find_tool_call(event.call_id)
        if not event.is_change or call is None:
            continue
        change = Change(
            path=event.path,
            action=event.action,
            tool=call.name,
            timestamp=event.timestamp,
            lines_added=event.lines_added,
            lines_removed=event.lines_removed,
            session_id=owner.id,
            cwd=owner.metadata.cwd,
            agent_id=agent_id,
            call_id=event.call_id,
        )
        parts = describe_call(call).input if with_diff else ()
        yield structs.replace(change, parts=tuple(p for p in parts if isinstance(p, Diff | Code)))
    for child in session.subagents:
        yield from _iter_changes(child.session, owner, child.agent_id, with_diff=with_diff)


def _sort(changes: Iterable[Change]) -> list[Change]:
    """By time; a change without one stands behind the one that it followed."""
    placed: list[tuple[float, Change]] = []
    latest = 0.0
    for change in changes:
        moment = parse_time(change.timestamp)
        latest = moment.timestamp() if moment else latest
        placed.append((latest, change))
    return [change for _, change in sorted(placed, key=lambda pair: pair[0])]
