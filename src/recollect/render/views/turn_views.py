"""Turns of a session → views of them: the steps of each in the order of the file.

What is shown of a record is decided in `notices`, `replies` and `inputs`; what is not shown at
all, and why, stands in `hidden`. A view costs what its own turn holds: everything that needs a
look at the whole session is found once, in `places`.
"""

from collections.abc import Iterable, Iterator, Sequence

from recollect.documents.kinds import Context, InputKind
from recollect.documents.turns import Step, TurnView
from recollect.records.attachment_kinds import StructuredOutput
from recollect.records.attachments import Attachment
from recollect.records.conversation import Assistant
from recollect.records.envelope import Chain, Damaged, Oversized, Record, Torn, Unknown
from recollect.records.state import State
from recollect.records.system import CompactBoundary
from recollect.records.usage import Tokens
from recollect.render.views.message_steps import (
    Replies,
    make_text_step,
    name_notification,
    read_context,
    show_input,
    show_media,
    show_words,
)
from recollect.render.views.notices import (
    note_compaction,
    note_gap,
    note_irregular,
    note_record,
    note_report,
    note_switch,
)
from recollect.render.views.part_builders import show_prose
from recollect.render.views.record_notices import add_texts, note_state
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
    session: Session, *, start: int = 0, stop: int | None = None
) -> tuple[TurnView, ...]:
    """The views of the turns from index `start` to before `stop`, counted as slices count.

    A session without messages in which something happened has one turn all the same, so that it
    can be shown. A file that only states facts about a session has none.
    """
    turns = session.turns or ((_NO_TURN,) if _has_event(session) else ())
    return tuple(build_turn_view(session, turn) for turn in turns[start:stop])


def _has_event(session: Session) -> bool:
    entries = build_timeline(session).happenings[0]
    return any(not isinstance(entry.what, State) for entry in entries)


def build_turn_view(session: Session, turn: Turn) -> TurnView:
    """The view of `turn`, which is one of the session's."""
    places = build_timeline(session)
    happenings = places.happenings[turn.index]
    opener = find_opener(turn)
    prompt = turn.prompt
    replies = [said for said in turn.messages if said.role == "assistant" and not said.is_synthetic]
    return TurnView(
        number=turn.number,
        uuid=opener.records[0].uuid if opener else None,
        kind=turn.kind,
        is_by_person=turn.is_by_person,
        is_on_main_path=turn.is_on_main_path,
        segment=find_segment(turn, places),
        words=choose_words(prompt) if prompt else "",
        command=prompt.command.name if prompt and prompt.command else None,
        contexts=(*turn.contexts, *_iter_contexts(happenings)),
        media=show_media(opener.content) if opener else (),
        steps=tuple(_Steps(session, places, opener).show(happenings)),
        tokens=count_tokens(said.usage for said in replies if said.usage) if replies else Tokens(),
        model=next((said.model for said in reversed(replies) if said.model), None),
        start=turn.start,
        end=turn.end,
        active_ms=turn.active_ms,
        permission_mode=turn.permission_mode,
        uuids=tuple(uuid for happening in happenings if (uuid := _uuid_of(happening))),
    )


def find_opener(turn: Turn) -> Message | None:
    """The message that opened `turn`."""
    if turn.prompt is None:
        return None
    return next((said for said in turn.messages if said.prompt is turn.prompt), None)


def find_segment(turn: Turn, places: Timeline) -> int:
    """The index of the segment that `turn` begins in."""
    opener = find_opener(turn)
    uuids = (opener,) if opener else turn.messages
    for said in uuids:
        for uuid in said.uuids:
            return places.segment_of[uuid].index
    return 0


def choose_words(prompt: Prompt) -> str:
    """The words that a turn is headed with; a summary is none of them, it is a notice's part."""
    if prompt.kind is InputKind.COMPACTION_SUMMARY:
        return ""
    if prompt.kind is InputKind.TASK_NOTIFICATION:
        return name_notification(prompt.words)
    return prompt.words


def _iter_contexts(happenings: tuple[TimelineEntry, ...]) -> Iterator[Context]:
    for happening in happenings:
        if isinstance(happening.what, Attachment) and happening.message is None:
            context = read_context(happening.what)
            if context is not None:
                yield context


def _uuid_of(happening: TimelineEntry) -> str | None:
    return happening.what.uuid if isinstance(happening.what, Chain) else None


class _Steps:
    """Shows the happenings of one turn."""

    def __init__(self, session: Session, places: Timeline, opener: Message | None) -> None:
        self._session = session
        self._places = places
        self._opener = opener
        self._gaps = session.tree.gaps
        self._replies = Replies(session, places.subagents, places.orphans)

    def show(self, happenings: tuple[TimelineEntry, ...]) -> Iterator[Step]:
        """The steps of a turn, in order."""
        for happening in happenings:
            what = happening.what
            if not isinstance(what, Chain) or isinstance(what, Unknown):
                yield from self._show_happening(happening)
                continue
            if self._gaps and what.uuid in self._gaps:
                yield note_gap(what)
            steps = self._show_happening(happening)
            texts = list_texts(what)
            if texts and not self._repeats_call(what):
                steps = add_texts(what, tuple(steps), texts)
            yield from steps

    def _show_happening(self, happening: TimelineEntry) -> Iterable[Step]:
        what, message = happening.what, happening.message
        if message is not None:
            if isinstance(what, Assistant):
                return self._show_reply(what, message)
            return self._show_input(message)
        if isinstance(what, _IRREGULAR):
            return (note_irregular(what),)
        if isinstance(what, State):
            return (note_state(what),)
        return self._show_record(what) if isinstance(what, Record) else (note_report(what),)

    def _show_reply(self, line: Assistant, message: Message) -> Sequence[Step]:
        steps = self._replies.show(line, message)
        switch = self._places.switches.get(line.uuid or "")
        return steps if switch is None else (note_switch(switch, line.timestamp), *steps)

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
            # The turn itself has the uuid of the summary: a link must lead to one place only.
            uuid = segment.boundary_uuid if segment else None
        return note_compaction(uuid, segment, message.text, message.timestamp)

    def _show_notification(self, message: Message, prompt: Prompt) -> Iterator[Step]:
        """All of a notification whose one line heads the turn."""
        parts = show_words(prompt)
        if parts != show_prose(choose_words(prompt)):
            yield make_text_step(message, parts, is_opener=True)

    def _show_record(self, record: Record) -> Iterator[Step]:
        uuid = record.uuid if isinstance(record, Chain) else None
        reports = self._places.reports.get(uuid or "", ())
        if reports:
            yield from map(note_report, reports)
        elif isinstance(record, CompactBoundary):
            segment = self._places.segment_of.get(uuid or "")
            if segment is None or segment.summary is None:
                yield note_compaction(uuid, segment, "", record.timestamp)
        elif not self._repeats_call(record):
            noted = note_record(record)
            if noted is not None:
                yield noted

    def _repeats_call(self, record: Record) -> bool:
        """Whether the call that gave a structured answer is shown already."""
        match record:
            case Attachment(attachment=StructuredOutput(tool_use_id=str(call_id))):
                return self._session.find_tool_call(call_id) is not None
        return False
