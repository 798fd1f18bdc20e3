"""Find things in an opened session by their ids: subagents, records, lines, tool calls.

Ids are compared with what the session contains; any other is NothingFound, whatever it looks like,
and no part of a request becomes part of a path.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from recollect.documents.turns import Step, ToolStep
from recollect.errors import NothingFound
from recollect.locations.place_names import LINE_PREFIX, TURN_PREFIX, PlaceName
from recollect.locations.references import MIN_PREFIX_LENGTH
from recollect.locations.transcript_files import name_of
from recollect.quantities import format_count
from recollect.reader.transcript_reader import read_transcript
from recollect.records.blocks import ToolResult
from recollect.records.conversation import User
from recollect.records.envelope import Span
from recollect.records.state import State
from recollect.render.views.record_notices import name_line
from recollect.render.views.timeline import build_timeline, find_turn_index
from recollect.render.views.turn_views import build_turn_view, build_turn_views
from recollect.render.views.whole_calls import complete_call, read_step, show_whole_call
from recollect.session.content import list_blocks
from recollect.session.record_texts import list_texts
from recollect.session.session import Session, Subagent
from recollect.workspace.session_catalog import FoundSession

_TURN: Final = re.compile(f"{TURN_PREFIX}(-?[1-9][0-9]{{0,8}})")
_LINE: Final = re.compile(f"{LINE_PREFIX}([0-9]{{1,15}})")
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
    """The uuid of the step or prompt that shows it, or `turn-3` if no step does."""
    agent_id: str = ""
    """The subagent that has the record; the anchor is then the call that started it."""
    inside: "RecordLocation | None" = None
    """Where the record is shown among the turns of that subagent."""

    @property
    def innermost(self) -> "RecordLocation":
        """Where the record itself is shown, in the session or a subagent of a subagent."""
        return self.inside.innermost if self.inside else self


def locate(session: Session, place: PlaceName, words: Sequence[str] = ()) -> RecordLocation | None:
    """Return where a place is shown; None if it is the session as a whole.

    Of several steps that show one record, it is the one with most of `words`.
    """
    if place.turn is not None:
        return _find_turn(session, place.turn)
    return find_location(session, place.record, place.offset, words) if place.record else None


def _find_turn(session: Session, number: int) -> RecordLocation:
    count = len(session.turns)
    index = number - 1 if number > 0 else count + number
    if not 0 <= index < count:
        raise NothingFound(f"No turn {number}: this session has {format_count(count, 'turn')}.")
    return RecordLocation(index, f"{TURN_PREFIX}{index + 1}")


def find_location(
    session: Session, uuid: str, offset: int | None = None, words: Sequence[str] = ()
) -> RecordLocation:
    """Return where a record is shown; of several with one uuid, the one at `offset`."""
    if turn := _TURN.fullmatch(uuid):
        return _find_turn(session, int(turn[1]))
    if line := _LINE.fullmatch(uuid):
        return _find_state(session, int(line[1]))
    for name in (uuid, *_complete(session, uuid)):
        found = _find_own(session, name, offset, words) or _find_inside(session, name, words)
        if found is not None:
            return found
    raise NothingFound(f"The session has no record {uuid!r}.")


def _find_state(session: Session, offset: int) -> RecordLocation:
    """Return where the state record on the line at `offset` is shown: once for equal ones."""
    said: State | None = None
    for state in session.states:
        if state.span and state.span.offset == offset:
            said = state
    texts = list_texts(said) if said else None
    shown: RecordLocation | None = None
    for index, entries in enumerate(build_timeline(session).entries):
        for entry in entries:
            what = entry.what
            if isinstance(what, State) and type(what) is type(said) and list_texts(what) == texts:
                is_first = shown is None or (what.span and what.span.offset <= offset)
                shown = RecordLocation(index, name_line(what.span) or "") if is_first else shown
    if shown is None:
        raise NothingFound(f"The session does not show what is on the line at byte {offset}.")
    return shown


def _complete(session: Session, start: str) -> Iterator[str]:
    """Yield the one uuid that starts like this, if there is only one."""
    if len(start) >= MIN_PREFIX_LENGTH:
        sessions = (session, *(child.session for child in iter_subagents(session)))
        uuids = {uuid for each in sessions for uuid in each.tree.links if uuid.startswith(start)}
        if len(uuids) == 1:
            yield uuids.pop()


def _find_own(
    session: Session, uuid: str, offset: int | None, words: Sequence[str]
) -> RecordLocation | None:
    anchor = session.find_anchor(uuid, offset)
    calls = _find_answered(session, anchor)
    index = find_turn_index(session, calls[0] if calls else anchor)
    if index is None:
        return None
    view = next(iter(build_turn_views(session, start=index, stop=index + 1)), None)
    wanted = {anchor, *calls}
    steps = [step for step in view.steps if step.uuid in wanted] if view else []
    if len(steps) > 1 and words:
        steps.sort(key=lambda step: -_count_words(step, session, words))
    if steps and steps[0].uuid:
        return RecordLocation(index, steps[0].uuid)
    is_prompt = view is not None and view.uuid == anchor
    return RecordLocation(index, anchor if is_prompt else f"{TURN_PREFIX}{index + 1}")


def _find_answered(session: Session, uuid: str) -> list[str]:
    """Return the records of the calls whose results are in a record."""
    record = session.find_record(uuid)
    message = record.message if isinstance(record, User) else None
    results = [
        block
        for block in list_blocks(message.content if message else None)
        if isinstance(block, ToolResult)
    ]
    calls = (session.find_tool_call(each.tool_use_id) for each in results)
    return [call.call_uuid for call in calls if call and call.call_uuid]


def _count_words(step: Step, session: Session, words: Sequence[str]) -> int:
    text = read_step(show_whole_call(step, session)).casefold()
    return sum(word.casefold() in text for word in words)


def _find_inside(session: Session, uuid: str, words: Sequence[str]) -> RecordLocation | None:
    for child in session.subagents:
        inner = (child.session, *(each.session for each in iter_subagents(child.session)))
        if any(each.find_record(uuid) for each in inner):
            inside = find_location(child.session, uuid, None, words)
            anchor = child.call.call_uuid or "" if child.call else ""
            # Without a known call no turn shows the subagent.
            index = find_turn_index(session, anchor) or 0
            return RecordLocation(index, anchor, child.agent_id, inside)
    return None


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
