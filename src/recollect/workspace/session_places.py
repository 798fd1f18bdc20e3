"""Find things in an opened session by their ids: subagents, records, lines, tool calls.

Ids are only compared with those in the session; any other raises NothingFound, and no part of a
request becomes part of a path.
"""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct

from recollect.documents.turn_documents import NoticeKind, NoticeStep, Step, ToolStep, TurnView
from recollect.errors import NothingFound
from recollect.locations import place_names
from recollect.locations.references import MIN_PREFIX_LENGTH
from recollect.quantities import format_count
from recollect.reader.transcript_reader import read_transcript
from recollect.records import attachments, blocks, conversation_records, envelope, state
from recollect.records.system_records import CompactBoundary, Progress
from recollect.render.views import timeline, turn_views, whole_calls
from recollect.session import prompts, queue, record_texts, subagents
from recollect.session.session import Session

if TYPE_CHECKING:
    from recollect.workspace.session_catalog import FoundSession

_TURN: Final = re.compile(f"{place_names.TURN_PREFIX}(-?[1-9][0-9]{{0,8}})")
_MAX_TO_SUMMARY: Final = 3
"""Maximum number of turns from the boundary of a compaction to its summary."""

_QUEUED: Final = re.compile(f"{queue.QUEUED_PREFIX}([0-9]{{1,15}})")
_LINE: Final = re.compile(f"{place_names.LINE_PREFIX}([0-9]{{1,15}})")
_MAX_DIGITS: Final = 15
"""Maximum length of an offset: more than any file has bytes."""


def iter_subagents(session: Session) -> Iterator[subagents.Subagent]:
    """Yield the subagents of a session and their own subagents, each once."""
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


def find_span(session: Session, uuid: str) -> envelope.Span:
    """Return the span of a record in the session or one of its subagents."""
    uuid = uuid.removeprefix(place_names.BESIDE_PREFIX)
    if line := _LINE.fullmatch(uuid):
        lines: tuple[envelope.Record, ...] = (
            *session.states,
            *session.irregular,
            *session.nameless,
        )
        for each in lines:
            if each.span is not None and each.span.offset == int(line[1]):
                return each.span
    for owner in (session, *(child.session for child in iter_subagents(session))):
        record = owner.find_record(uuid)
        if record is not None and record.span is not None:
            return record.span
    raise NothingFound(f"The session has no record {uuid!r}.")


def find_line(found: "FoundSession", line: str) -> tuple[envelope.Span, str | None]:
    """Return the span and uuid of the record at `file:offset`, where lists have `file` as an id.

    Only files of the session are read.
    """
    name, _, digits = line.rpartition(":")
    if digits.isdecimal() and len(digits) <= _MAX_DIGITS:
        for each in (found.transcript, *found.relatives):
            if each.name == name:
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


def locate(
    session: Session, place: place_names.PlaceName, words: Sequence[str] = ()
) -> RecordLocation | None:
    """Return where a place is shown; None if it is the session as a whole.

    If several steps show the record, returns the one with most of `words`.
    """
    if place.turn is not None:
        return _find_turn(session, place.turn)
    return find_location(session, place.record, place.offset, words) if place.record else None


def _find_turn(session: Session, number: int) -> RecordLocation:
    count = len(session.turns)
    index = number - 1 if number > 0 else count + number
    if not 0 <= index < count:
        raise NothingFound(f"No turn {number}: this session has {format_count(count, 'turn')}.")
    return RecordLocation(index, f"{place_names.TURN_PREFIX}{index + 1}")


def find_location(
    session: Session, uuid: str, offset: int | None = None, words: Sequence[str] = ()
) -> RecordLocation:
    """Return where a record is shown; of several with one uuid, the one at `offset`."""
    if turn := _TURN.fullmatch(uuid):
        return _find_turn(session, int(turn[1]))
    if uuid == place_names.LISTS:
        # They are shown after the last turn.
        return RecordLocation(max(len(session.turns) - 1, 0), place_names.LISTS)
    if line := _LINE.fullmatch(uuid):
        return _find_state(session, int(line[1]))
    for name in (uuid, *_complete(session, uuid)):
        found = _find_own(session, name, offset, words) or _find_inside(session, name, words)
        if found is not None:
            return found
    if queued := _QUEUED.fullmatch(uuid):
        return _find_queued(session, int(queued[1]), words)
    raise NothingFound(f"The session has no record {uuid!r}.")


def _find_state(session: Session, offset: int) -> RecordLocation:
    """Return where the record at `offset` is shown; a repeated state is shown only once."""
    said = next((each for each in session.states if _offset_of(each) == offset), None)
    texts = record_texts.list_texts(said) if said else None
    turn, shown = 0, None
    for index, entries in enumerate(timeline.build_timeline(session).entries):
        for entry in entries:
            what = entry.what
            at = _offset_of(what)
            turn = index if at is not None and at <= offset else turn
            is_same = (
                isinstance(what, state.State)
                and type(what) is type(said)
                and record_texts.list_texts(what) == texts
            )
            if at == offset or (is_same and (shown is None or (at or 0) <= offset)):
                shown = RecordLocation(index, f"{place_names.LINE_PREFIX}{at}")
    return shown or RecordLocation(turn, f"{place_names.TURN_PREFIX}{turn + 1}")


def _offset_of(what: object) -> int | None:
    span = what.span if isinstance(what, envelope.Record) else None
    return span.offset if span else None


def _find_queued(session: Session, offset: int, words: Sequence[str]) -> RecordLocation:
    """Return where a queued prompt is shown that became a separate message."""
    queued = (each for each in session.states if isinstance(each, state.QueueOperation))
    entry = next((each for each in queued if _offset_of(each) == offset), None)
    text = prompts.read_unrecorded(entry.content, is_sent=True).words.strip() if entry else ""
    for message in session.messages:
        first = message.records[0]
        if text and first.uuid and (_offset_of(first) or 0) > offset and text in message.text:
            found = _find_own(session, first.uuid, None, words)
            if found is not None:
                return found
    return _find_state(session, offset)


def _complete(session: Session, start: str) -> Iterator[str]:
    """Yield the uuid that starts with this, if there is exactly one."""
    if len(start) >= MIN_PREFIX_LENGTH:
        sessions = (session, *(child.session for child in iter_subagents(session)))
        uuids = {uuid for each in sessions for uuid in each.tree.links if uuid.startswith(start)}
        if len(uuids) == 1:
            yield uuids.pop()


def _find_own(
    session: Session, uuid: str, offset: int | None, words: Sequence[str]
) -> RecordLocation | None:
    anchor = session.find_anchor(uuid, offset)
    names = [*_find_answered(session, anchor), anchor]
    index = timeline.find_turn_index(session, names[0])
    if index is None:
        return None
    if isinstance(session.find_record(anchor), CompactBoundary):
        compaction = _find_compaction(session, index)
        if compaction is not None:
            return compaction
    view = next(iter(turn_views.build_turn_views(session, start=index, stop=index + 1)), None)
    if view is None:
        return RecordLocation(index, f"{place_names.TURN_PREFIX}{index + 1}")
    wanted = {*names, f"{place_names.BESIDE_PREFIX}{anchor}"}
    if view.uuid == anchor:
        wanted |= _list_compactions(view)
    found = [(step.uuid, _read(step, session)) for step in view.steps if step.uuid in wanted]
    if view.uuid == anchor:
        found.insert(0, (anchor, _read_prompt(view)))
    best = max(found, key=lambda each: _count_words(each[1], words), default=None)
    return RecordLocation(index, (best and best[0]) or f"{place_names.TURN_PREFIX}{index + 1}")


def _list_compactions(view: TurnView) -> set[str]:
    """Return the notices of compactions in a turn: one shows the summary that opened the turn."""
    notices = [step for step in view.steps if isinstance(step, NoticeStep)]
    return {each.uuid for each in notices if each.uuid and each.kind is NoticeKind.COMPACTION}


def _find_compaction(session: Session, index: int) -> RecordLocation | None:
    """Return where the compaction of a boundary is shown: usually with the summary after it."""
    for view in turn_views.build_turn_views(session, start=index, stop=index + _MAX_TO_SUMMARY):
        for uuid in _list_compactions(view):
            return RecordLocation(view.number - 1, uuid)
    return None


def _read(step: Step, session: Session) -> str:
    return whole_calls.read_step(whole_calls.show_whole_call(step, session))


def _read_prompt(view: TurnView) -> str:
    contexts = (text for each in view.contexts for text in (each.path or "", each.text))
    return "\n".join((view.command or "", view.words, *contexts))


def _find_answered(session: Session, uuid: str) -> list[str]:
    """Return the records of the calls that show a record: results, or hooks of the call."""
    record = session.find_record(uuid)
    message = record.message if isinstance(record, conversation_records.User) else None
    ids = [
        block.tool_use_id
        for block in record_texts.list_blocks(message.content if message else None)
        if isinstance(block, blocks.ToolResult)
    ]
    if isinstance(record, attachments.Attachment | Progress):
        hooks = timeline.build_timeline(session).hooks
        ids += [call for call, runs in hooks.items() if any(run.uuid == uuid for run in runs)]
    calls = map(session.find_tool_call, ids)
    return [call.call_uuid for call in calls if call and call.call_uuid]


def _count_words(text: str, words: Sequence[str]) -> int:
    folded = text.casefold()
    return sum(word.casefold() in folded for word in words)


def _find_inside(session: Session, uuid: str, words: Sequence[str]) -> RecordLocation | None:
    for child in session.subagents:
        inner = (child.session, *(each.session for each in iter_subagents(child.session)))
        if any(each.find_record(uuid) for each in inner):
            inside = find_location(child.session, uuid, None, words)
            anchor = child.call.call_uuid or "" if child.call else ""
            # A subagent without a known call is not shown in any turn.
            index = timeline.find_turn_index(session, anchor) or 0
            return RecordLocation(index, anchor, child.agent_id, inside)
    return None


class FoundCall(NamedTuple):
    """A tool call as shown, and in full, with every field of its input and result."""

    step: ToolStep
    whole: ToolStep


def find_call(session: Session, call_id: str, directory: str | None = None) -> FoundCall:
    """Return a tool call of the session or of a subagent.

    Paths that are shown relative to `directory` are fields of the whole call.
    """
    sessions = (session, *(child.session for child in iter_subagents(session)))
    owner = next((each for each in sessions if each.find_tool_call(call_id)), session)
    call = owner.find_tool_call(call_id)
    index = timeline.find_turn_index(owner, call.call_uuid or "") if call else None
    if call is not None and index is not None:
        view = turn_views.build_turn_view(owner, owner.turns[index])
        for step in view.steps:
            if isinstance(step, ToolStep) and step.call_id == call_id:
                return FoundCall(step, whole_calls.complete_call(step, call, directory))
    raise NothingFound(f"The session has no tool call {call_id!r}.")
