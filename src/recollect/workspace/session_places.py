"""Find things in an opened session by their ids: subagents, records, lines, tool calls.

Ids are compared with what the session contains; any other is NothingFound, whatever it looks like,
and no part of a request becomes part of a path.
"""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from recollect.documents.turns import ToolStep
from recollect.errors import NothingFound
from recollect.locations.transcript_files import name_of
from recollect.reader.transcript_reader import read_transcript
from recollect.records.envelope import Span
from recollect.render.views.timeline import find_turn_index
from recollect.render.views.turn_views import build_turn_view
from recollect.render.views.whole_calls import complete_call
from recollect.session.session import Session, Subagent
from recollect.workspace.session_catalog import FoundSession

_MAX_DIGITS: Final = 15
"""Maximum length of an offset: more than any file has bytes."""


def iter_subagents(session: Session) -> Iterator[Subagent]:
    """Yield the subagents of a session and theirs, each once."""
    waiting, seen = [session], {id(session)}
    while waiting:
        for child in waiting.pop().subagents:
            if id(child.session) not in seen:
                seen.add(id(child.session))
                waiting.append(child.session)
                yield child


def find_agent(session: Session, agent_id: str) -> Session:
    """Return the session of a subagent; raises NothingFound if there is none."""
    for child in iter_subagents(session):
        if child.agent_id == agent_id:
            return child.session
    raise NothingFound(f"The session has no subagent {agent_id!r}.")


def find_span(session: Session, uuid: str) -> Span:
    """Return where a record is, of the session itself or of one of its subagents."""
    for each in (session, *(child.session for child in iter_subagents(session))):
        record = each.find_record(uuid)
        if record is not None and record.span is not None:
            return record.span
    raise NothingFound(f"The session has no record {uuid!r}.")


def find_line(found: FoundSession, line: str) -> tuple[Span, str | None]:
    """Return the span and uuid of the record at `file:offset`, where lists have `file` as an id.

    Only files of the session are read.
    """
    name, _, digits = line.rpartition(":")
    if digits.isdecimal() and len(digits) <= _MAX_DIGITS:
        for each in (found.transcript, *found.relatives):
            if name_of(each) == name:
                record = next(read_transcript(each.file, int(digits)), None)
                if record and record.span and record.span.offset == int(digits):
                    return record.span, getattr(record, "uuid", None)
    raise NothingFound(f"The session has no line {line!r}.")


class RecordLocation(Struct, frozen=True):
    """Where a record is shown among the turns of its session."""

    turn: int
    """The index of the turn."""
    anchor: str
    """The uuid that is shown: the original of a copy, the call of a subagent's record."""


def find_location(session: Session, uuid: str, offset: int | None = None) -> RecordLocation:
    """Return where a record is shown; of several with one uuid, the one at `offset`."""
    anchor = session.find_anchor(uuid, offset)
    index = find_turn_index(session, anchor)
    if index is not None:
        return RecordLocation(index, anchor)
    for child in session.subagents:
        inner = (child.session, *(each.session for each in iter_subagents(child.session)))
        if any(each.find_record(uuid) for each in inner):
            anchor = child.call.call_uuid or "" if child.call else ""
            # Without a known call no turn shows the subagent.
            return RecordLocation(find_turn_index(session, anchor) or 0, anchor)
    raise NothingFound(f"The session has no record {uuid!r}.")


def find_call(session: Session, call_id: str) -> ToolStep:
    """Return a tool call with its whole input and result, of the session or of a subagent."""
    sessions = (session, *(child.session for child in iter_subagents(session)))
    owner = next((each for each in sessions if each.find_tool_call(call_id)), session)
    call = owner.find_tool_call(call_id)
    index = find_turn_index(owner, call.call_uuid or "") if call else None
    if call is not None and index is not None:
        view = build_turn_view(owner, owner.turns[index])
        for step in view.steps:
            if isinstance(step, ToolStep) and step.call_id == call_id:
                return complete_call(step, call)
    raise NothingFound(f"The session has no tool call {call_id!r}.")
