"""Views of turns: the steps of each in file order.

`message_steps` and `notices` decide what is shown of a record; `hidden` has what is not shown at
all, and why. The cost of a view depends only on its own turn: everything that needs the whole
session is computed once, in `timeline`.
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from recollect.documents.kinds import Context, InputKind
from recollect.documents.turns import BranchPlace, NoticeStep, Step, TurnView
from recollect.records.attachment_kinds import StructuredOutput
from recollect.records.attachments import Attachment
from recollect.records.conversation import Assistant
from recollect.records.envelope import Chain, Damaged, Oversized, Record, Torn, Unknown
from recollect.records.state import State
from recollect.records.system import CompactBoundary
from recollect.records.usage import Tokens
from recollect.render.views.message_steps import (
    CallSteps,
    Replies,
    make_text_step,
    name_notification,
    read_context,
    show_input,
    show_media,
    show_words,
)
from recollect.render.views.notices import (
    make_compaction_notice,
    make_gap_notice,
    make_irregular_notice,
    make_record_notice,
    make_report_notice,
    make_switch_notice,
)
from recollect.render.views.part_builders import show_prose
from recollect.render.views.record_notices import add_texts, make_state_notice, name_line
from recollect.render.views.timeline import Timeline, TimelineEntry, build_timeline
from recollect.session.messages import Message
from recollect.session.metadata import count_tokens
from recollect.session.prompts import Prompt
from recollect.session.record_texts import list_texts
from recollect.session.session import Session
from recollect.session.turns import Turn

_IRREGULAR = (Damaged, Torn, Oversized)

_NO_TURN = Turn(
    index=0,
    prompt_id=None,
    prompt=None,
    messages=(),
    is_on_main_path=True,
    permission_mode=None,
    start=None,
    end=None,
    active_ms=None,
)


def build_turn_views(
    session: Session, *, start: int = 0, stop: int | None = None, calls: CallSteps | None = None
) -> tuple[TurnView, ...]:
    """Return the views of turns from index `start` to before `stop`, like a slice.

    With the same `calls` as before, only steps of calls that have changed are made again.

    A session without messages in which something happened has one turn, so that it can be shown. A
    file with nothing but facts about a session has none.
    """
    turns = session.turns or ((_NO_TURN,) if _has_event(session) else ())
    return tuple(build_turn_view(session, turn, calls) for turn in turns[start:stop])


def _has_event(session: Session) -> bool:
    entries = build_timeline(session).entries[0]
    return any(not isinstance(entry.what, State) for entry in entries)


def build_turn_view(session: Session, turn: Turn, calls: CallSteps | None = None) -> TurnView:
    """Return the view of `turn`, which is one of the session's."""
    timeline = build_timeline(session)
    entries = timeline.entries[turn.index]
    opener = find_opener(turn)
    prompt = turn.prompt
    uuid = opener.records[0].uuid if opener else None
    replies = [said for said in turn.messages if said.role == "assistant" and not said.is_synthetic]
    return TurnView(
        number=turn.number,
        uuid=uuid,
        kind=turn.kind,
        is_by_person=turn.is_by_person,
        is_on_main_path=turn.is_on_main_path,
        segment=find_segment(turn, timeline),
        words=choose_words(prompt) if prompt else "",
        command=prompt.command.name if prompt and prompt.command else None,
        contexts=(*turn.contexts, *_iter_contexts(entries)),
        media=show_media(opener.content) if opener else (),
        steps=tuple(_Steps(session, timeline, opener, calls).show(entries)),
        tokens=count_tokens(said.usage for said in replies if said.usage) if replies else Tokens(),
        model=next((said.model for said in reversed(replies) if said.model), None),
        start=turn.start,
        end=turn.end,
        active_ms=turn.active_ms,
        permission_mode=turn.permission_mode,
        context_tokens=_measure_context(replies),
        uuids=tuple(name for entry in entries if (name := _uuid_of(entry))),
        branch=_find_branch(session, uuid),
    )


def _find_branch(session: Session, uuid: str | None) -> BranchPlace | None:
    """Return which branch a prompt begins."""
    options = next((each.options for each in session.branches if uuid in each.options), None)
    return BranchPlace(options.index(uuid) + 1, options) if options and uuid else None


def _measure_context(replies: Sequence[Message]) -> int:
    """Return what the model read for the last reply that says so."""
    for said in reversed(replies):
        if said.usage:
            read = count_tokens([said.usage])
            if known := read.total - read.output:
                return known
    return 0


def find_opener(turn: Turn) -> Message | None:
    """Return the message that opened `turn`."""
    if turn.prompt is None:
        return None
    return next((said for said in turn.messages if said.prompt is turn.prompt), None)


def find_segment(turn: Turn, timeline: Timeline) -> int:
    """Return the index of the segment that `turn` starts in."""
    opener = find_opener(turn)
    uuids = (opener,) if opener else turn.messages
    for said in uuids:
        for uuid in said.uuids:
            return timeline.segment_of[uuid].index
    return 0


def choose_words(prompt: Prompt) -> str:
    """Return the text at the top of a turn; a summary is part of a notice instead."""
    if prompt.kind is InputKind.COMPACTION_SUMMARY:
        return ""
    if prompt.kind is InputKind.TASK_NOTIFICATION:
        return name_notification(prompt.words)
    return prompt.words


def _iter_contexts(entries: tuple[TimelineEntry, ...]) -> Iterator[Context]:
    for entry in entries:
        if isinstance(entry.what, Attachment) and entry.message is None:
            context = read_context(entry.what)
            if context is not None:
                yield context


def _uuid_of(entry: TimelineEntry) -> str | None:
    return entry.what.uuid if isinstance(entry.what, Chain) else None


def _name_steps(steps: Iterable[Step], what: object) -> Iterable[Step]:
    """Give the notices of a record without a uuid the name of its line, so that links find them."""
    if not isinstance(what, Record) or (isinstance(what, Chain) and what.uuid):
        return steps
    name = name_line(what.span)
    return (
        replace(step, uuid=name) if isinstance(step, NoticeStep) and not step.uuid else step
        for step in steps
    )


class _Steps:
    """Makes the steps of one turn."""

    def __init__(
        self,
        session: Session,
        timeline: Timeline,
        opener: Message | None,
        calls: CallSteps | None = None,
    ) -> None:
        self._session = session
        self._places = timeline
        self._opener = opener
        self._gaps = session.tree.gaps
        self._replies = Replies(session, timeline.subagents, timeline.orphans, calls)

    def show(self, entries: tuple[TimelineEntry, ...]) -> Iterator[Step]:
        """Yield the steps of a turn, in order."""
        for entry in entries:
            what = entry.what
            if not isinstance(what, Chain) or isinstance(what, Unknown):
                yield from _name_steps(self._show_happening(entry), what)
                continue
            if self._gaps and what.uuid in self._gaps:
                yield make_gap_notice(what)
            steps = self._show_happening(entry)
            texts = list_texts(what)
            if texts and not self._repeats_call(what):
                steps = add_texts(what, tuple(steps), texts)
            yield from _name_steps(steps, what)

    def _show_happening(self, entry: TimelineEntry) -> Iterable[Step]:
        what, message = entry.what, entry.message
        if message is not None:
            if isinstance(what, Assistant):
                return self._show_reply(what, message)
            return self._show_input(message)
        if isinstance(what, _IRREGULAR):
            return (make_irregular_notice(what),)
        if isinstance(what, State):
            return (make_state_notice(what),)
        return self._show_record(what) if isinstance(what, Record) else (make_report_notice(what),)

    def _show_reply(self, line: Assistant, message: Message) -> Sequence[Step]:
        steps = self._replies.show(line, message)
        switch = self._places.switches.get(line.uuid or "")
        return steps if switch is None else (make_switch_notice(switch, line.timestamp), *steps)

    def _show_input(self, message: Message) -> Iterator[Step]:
        prompt = message.prompt
        if prompt is not None and prompt.kind is InputKind.COMPACTION_SUMMARY:
            yield self._note_compaction(message)
        elif message is not self._opener:
            yield from show_input(message, self._places.orphans)
        elif prompt is not None and prompt.kind is InputKind.TASK_NOTIFICATION:
            yield from self._show_notification(message, prompt)

    def _note_compaction(self, message: Message) -> Step:
        uuid = message.records[0].uuid
        segment = self._places.segment_of.get(uuid or "")
        if message is self._opener:
            # The turn itself has the uuid of the summary: a link must have one target.
            uuid = segment.boundary_uuid if segment else None
        return make_compaction_notice(uuid, segment, message.text, message.timestamp)

    def _show_notification(self, message: Message, prompt: Prompt) -> Iterator[Step]:
        """Yield all of a notification whose one line is at the top of the turn."""
        parts = show_words(prompt)
        if parts != show_prose(choose_words(prompt)):
            yield make_text_step(message, parts, is_opener=True)

    def _show_record(self, record: Record) -> Iterator[Step]:
        uuid = record.uuid if isinstance(record, Chain) else None
        reports = self._places.reports.get(uuid or "", ())
        if reports:
            yield from map(make_report_notice, reports)
        elif isinstance(record, CompactBoundary):
            segment = self._places.segment_of.get(uuid or "")
            if segment is None or segment.summary is None:
                yield make_compaction_notice(uuid, segment, "", record.timestamp)
        elif not self._repeats_call(record):
            noted = make_record_notice(record)
            if noted is not None:
                yield noted

    def _repeats_call(self, record: Record) -> bool:
        """Return whether the call with this structured reply is already shown."""
        match record:
            case Attachment(attachment=StructuredOutput(tool_use_id=str(call_id))):
                return self._session.find_tool_call(call_id) is not None
        return False
