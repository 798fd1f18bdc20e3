"""Views of turns: the steps of each in file order; and turns with nothing left out, as used for
JSON, with whole tool calls and expanded subagents.

`message_steps` and `notices` decide what is shown of a record; `hidden` lists what is not shown at
all, and why. The cost of a view depends only on its own turn: everything that needs the whole
session is computed once, in `timeline`.
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from recollect.documents import turn_documents
from recollect.documents.kinds import Context, InputKind
from recollect.records import attachment_kinds, attachments, conversation_records, envelope, state
from recollect.records.system_records import CompactBoundary, MicrocompactBoundary
from recollect.records.token_usage import Tokens
from recollect.render.views import (
    message_steps,
    notices,
    part_builders,
    record_notices,
    task_reports,
    whole_calls,
)
from recollect.render.views.timeline import Timeline, TimelineEntry, build_timeline
from recollect.render.views.tools import describe_call
from recollect.session import hook_runs, messages, metadata, prompts, record_texts
from recollect.session.branches import Branch
from recollect.session.context_growth import ContextMeter, Metered, measure_context, measure_turn
from recollect.session.session import Session
from recollect.session.turns import Turn

_IRREGULAR = (envelope.Damaged, envelope.Torn, envelope.Oversized)

_NO_TURN = Turn(
    index=0,
    number=1,
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
    session: Session,
    *,
    start: int = 0,
    stop: int | None = None,
    calls: message_steps.CallSteps | None = None,
) -> tuple[turn_documents.TurnView, ...]:
    """Return the views of the turns from index `start` up to, not including, `stop`.

    If the same `calls` are passed again, only steps of changed calls are rebuilt. A session without
    messages gets one turn if anything happened in it, so that it can be shown; a file that only has
    facts about a session gets none.
    """
    turns = session.contents.turns or ((_NO_TURN,) if _has_event(session) else ())
    return tuple(build_turn_view(session, turn, calls) for turn in turns[start:stop])


def iter_turn_views(session: Session, turns: Iterable[int]) -> Iterator[turn_documents.TurnView]:
    """Yield the views of the turns with these indices, each built when it is needed."""
    for index in turns:
        yield from build_turn_views(session, start=index, stop=index + 1)


def _has_event(session: Session) -> bool:
    entries = build_timeline(session).entries[0]
    return any(not isinstance(entry.what, state.State) for entry in entries)


def build_turn_view(
    session: Session, turn: Turn, calls: message_steps.CallSteps | None = None
) -> turn_documents.TurnView:
    """Return the view of `turn`, which is one of the session's."""
    timeline = build_timeline(session)
    entries = timeline.entries[turn.index]
    opener = find_opener(turn)
    prompt = turn.prompt
    uuid = opener.records[0].uuid if opener else None
    replies = list_replies(turn)
    return turn_documents.TurnView(
        number=turn.number,
        uuid=uuid,
        kind=turn.kind,
        is_by_person=turn.is_by_person,
        is_on_main_path=turn.is_on_main_path,
        segment=find_segment(turn, timeline),
        words=choose_words(prompt) if prompt else "",
        command=prompt.command.name if prompt and prompt.command else None,
        contexts=(*turn.contexts, *_iter_contexts(entries, turn.contexts)),
        media=message_steps.show_media(opener.content) if opener else (),
        steps=tuple(_Steps(timeline, opener, calls).show(entries)),
        tokens=metadata.count_tokens(said.usage for said in replies if said.usage)
        if replies
        else Tokens(),
        model=next((said.model for said in reversed(replies) if said.model), None),
        start=turn.start,
        end=turn.end,
        active_ms=turn.active_ms,
        permission_mode=turn.permission_mode,
        context_tokens=measure_context(replies),
        context_growth=meter_turn(timeline, turn).growth,
        uuids=tuple(name for entry in entries if (name := _uuid_of(entry))),
        branch=_find_branch(timeline.contents.branches, uuid),
    )


def _find_branch(branches: Iterable[Branch], uuid: str | None) -> turn_documents.BranchPlace | None:
    """Return the branch that a prompt begins."""
    options = next((each.options for each in branches if uuid in each.options), None)
    return (
        turn_documents.BranchPlace(options.index(uuid) + 1, options) if options and uuid else None
    )


def keep_prompts(turn: turn_documents.TurnView) -> turn_documents.TurnView:
    """Return a turn without replies: its prompt, and anything the user wrote while it ran."""
    said = (step for step in turn.steps if isinstance(step, turn_documents.TextStep))
    kinds = (None, *prompts.USER_KINDS)
    own = (step for step in said if step.role == "user" and step.kind in kinds)
    return replace(turn, steps=tuple(own))


def list_replies(turn: Turn) -> list[messages.Message]:
    """Return the replies of a turn, without those that the client wrote in the model's name."""
    return [said for said in turn.messages if said.role == "assistant" and not said.is_synthetic]


def meter_turn(timeline: Timeline, turn: Turn) -> ContextMeter:
    """Return a meter of the context at the end of `turn`, which has what the turn added."""
    own = _list_metered(timeline.entries[turn.index])
    return measure_turn(_list_since_request(timeline, turn), own)


def _list_since_request(timeline: Timeline, turn: Turn) -> list[Metered]:
    """Return the entries before `turn`, from the last reply that recorded the tokens read."""
    found: list[Metered] = []
    index = _find_previous_turn(timeline, turn.index)
    while index is not None:
        entries = _list_metered(timeline.entries[index])
        for place in range(len(entries) - 1, -1, -1):
            entry = entries[place]
            if isinstance(entry, messages.Message) and measure_context([entry]):
                return entries[place:] + found
        found = entries + found
        index = _find_previous_turn(timeline, index)
    return found


def _find_previous_turn(timeline: Timeline, index: int) -> int | None:
    """Return the turn that a turn continues, which is not the one before it after a rewind."""
    first = next((name for entry in timeline.entries[index] if (name := _uuid_of(entry))), None)
    if first is None:
        return index - 1 if index else None
    ancestors = timeline.contents.tree.iter_ancestors(first)
    turns = (timeline.turn_of[uuid] for uuid in ancestors)
    return next((each for each in turns if each < index), None)


def _list_metered(entries: Iterable[TimelineEntry]) -> list[Metered]:
    found: list[Metered] = []
    for entry in entries:
        if entry.message is not None:
            if entry.what is entry.message.records[0]:
                found.append(entry.message)
        elif isinstance(
            entry.what, attachments.Attachment | CompactBoundary | MicrocompactBoundary
        ):
            found.append(entry.what)
    return found


def find_opener(turn: Turn) -> messages.Message | None:
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


def choose_words(prompt: prompts.Prompt) -> str:
    """Return the text at the top of a turn; a summary is part of a notice instead."""
    if prompt.kind is InputKind.COMPACTION_SUMMARY:
        return ""
    if prompt.kind is InputKind.TASK_NOTIFICATION:
        return task_reports.name_notification(prompt.words)
    return prompt.words


def _iter_contexts(
    entries: tuple[TimelineEntry, ...], named: Sequence[Context]
) -> Iterator[Context]:
    """Yield the contexts that the client attached, except files that the prompt itself lists."""
    known = {(context.kind, _name_path(context.path)) for context in named}
    for entry in entries:
        if isinstance(entry.what, attachments.Attachment) and entry.message is None:
            context = message_steps.read_context(entry.what)
            if context is not None and (context.kind, _name_path(context.text)) not in known:
                yield context


def _name_path(path: str | None) -> str:
    return (path or "").rstrip("/")


def _uuid_of(entry: TimelineEntry) -> str | None:
    return entry.what.uuid if isinstance(entry.what, envelope.Chain) else None


def _name_steps(
    steps: Iterable[turn_documents.Step], what: object
) -> Iterable[turn_documents.Step]:
    """Name the notices of a record without a uuid after its line, so that links find them."""
    if not isinstance(what, envelope.Record) or (isinstance(what, envelope.Chain) and what.uuid):
        return steps
    name = record_notices.name_line(what.span)
    return (
        replace(step, uuid=name)
        if isinstance(step, turn_documents.NoticeStep) and not step.uuid
        else step
        for step in steps
    )


class _Steps:
    """Builds the steps of one turn."""

    def __init__(
        self,
        timeline: Timeline,
        opener: messages.Message | None,
        calls: message_steps.CallSteps | None = None,
    ) -> None:
        self._contents = timeline.contents
        self._places = timeline
        self._opener = opener
        self._gaps = timeline.contents.tree.gaps
        self._replies = message_steps.Replies(timeline, self._show_hooks, calls)

    def show(self, entries: tuple[TimelineEntry, ...]) -> Iterator[turn_documents.Step]:
        """Yield the steps of a turn, in order."""
        for entry in entries:
            what = entry.what
            if not isinstance(what, envelope.Chain) or isinstance(what, envelope.Unknown):
                yield from _name_steps(self._show_entry(entry), what)
                continue
            if self._gaps and what.uuid in self._gaps:
                yield notices.make_gap_notice(what)
            steps = self._show_entry(entry)
            texts = record_texts.list_texts(what)
            if texts and not self._repeats_call(what):
                steps = record_notices.add_texts(what, tuple(steps), texts)
            yield from _name_steps(steps, what)

    def _show_entry(self, entry: TimelineEntry) -> Iterable[turn_documents.Step]:
        what, message = entry.what, entry.message
        if message is not None:
            if isinstance(what, conversation_records.Assistant):
                return self._show_reply(what, message)
            return self._show_input(message)
        if isinstance(what, _IRREGULAR):
            return (notices.make_irregular_notice(what),)
        if isinstance(what, state.State):
            return (record_notices.make_state_notice(what),)
        return (
            self._show_record(what)
            if isinstance(what, envelope.Record)
            else (notices.make_report_notice(what),)
        )

    def _show_hooks(self, call_id: str) -> tuple[turn_documents.NoticeStep, ...]:
        """Return the notices of a call's hooks, with all texts of their records."""
        return tuple(
            notice
            for run in self._places.hooks.get(call_id, ())
            for notice in self._make_hook_notice(run)
        )

    def _make_hook_notice(self, run: hook_runs.HookRun) -> Iterator[turn_documents.NoticeStep]:
        steps: tuple[turn_documents.Step, ...] = (notices.make_report_notice(run),)
        record = self._contents.tree.links.get(run.uuid or "")
        if record is not None:
            steps = record_notices.add_texts(record, steps, record_texts.list_texts(record))
        return (step for step in steps if isinstance(step, turn_documents.NoticeStep))

    def _show_reply(
        self, line: conversation_records.Assistant, message: messages.Message
    ) -> Sequence[turn_documents.Step]:
        steps = self._replies.show(line, message)
        switch = self._places.switches.get(line.uuid or "")
        return (
            steps
            if switch is None
            else (notices.make_switch_notice(switch, line.timestamp), *steps)
        )

    def _show_input(self, message: messages.Message) -> Iterator[turn_documents.Step]:
        prompt = message.prompt
        if prompt is not None and prompt.kind is InputKind.COMPACTION_SUMMARY:
            yield self._make_compaction_notice(message)
        elif message is not self._opener:
            for step in message_steps.show_input(message, self._places.orphans):
                yield self._refer_to_tasks(step, prompt)
        elif prompt is not None and prompt.kind is InputKind.TASK_NOTIFICATION:
            yield from self._show_notification(message, prompt)

    def _refer_to_tasks(
        self, step: turn_documents.Step, prompt: prompts.Prompt | None
    ) -> turn_documents.Step:
        """Return a notification with references to its tasks, and any other step unchanged."""
        is_report = prompt is not None and prompt.kind is InputKind.TASK_NOTIFICATION
        if not (is_report and prompt and isinstance(step, turn_documents.TextStep)):
            return step
        tasks = (self._find_task(report) for report in task_reports.read_reports(prompt.words))
        return replace(step, tasks=tuple(task for task in tasks if task))

    def _find_task(self, report: task_reports.TaskReport) -> turn_documents.TaskReference | None:
        # A background task may belong to a subagent; the reference then names that subagent.
        started = next(
            (
                each
                for each in self._contents.subagents
                if each.agent_id == report.task_id or each.session.find_tool_call(report.call_id)
            ),
            None,
        )
        call = self._contents.calls.get(report.call_id) or (started and started.call)
        turn = self._places.turn_of.get((call.call_uuid or "") if call else "")
        if not call or not call.call_uuid or turn is None:
            return None
        agents = self._places.subagents.get(call.id, ())
        return turn_documents.TaskReference(
            call_uuid=call.call_uuid,
            turn=turn + 1,
            title=describe_call(call).title,
            agent_id=agents[0].agent_id if agents else None,
        )

    def _make_compaction_notice(self, message: messages.Message) -> turn_documents.Step:
        uuid = message.records[0].uuid
        segment = self._places.segment_of.get(uuid or "")
        if message is self._opener:
            # The turn itself has the uuid of the summary: a link must have one target.
            uuid = segment.boundary_uuid if segment else None
        return notices.make_compaction_notice(uuid, segment, message.text, message.timestamp)

    def _show_notification(
        self, message: messages.Message, prompt: prompts.Prompt
    ) -> Iterator[turn_documents.Step]:
        """Yield the whole notification whose first line is at the top of the turn."""
        parts = message_steps.show_words(prompt)
        if parts != part_builders.show_prose(choose_words(prompt)):
            yield self._refer_to_tasks(
                message_steps.make_text_step(message, parts, is_opener=True), prompt
            )

    def _show_record(self, record: envelope.Record) -> Iterator[turn_documents.Step]:
        uuid = record.uuid if isinstance(record, envelope.Chain) else None
        reports = self._places.reports.get(uuid or "", ())
        if reports:
            yield from map(notices.make_report_notice, reports)
        elif isinstance(record, CompactBoundary):
            segment = self._places.segment_of.get(uuid or "")
            if segment is None or segment.summary is None:
                yield notices.make_compaction_notice(uuid, segment, "", record.timestamp)
        elif not self._repeats_call(record):
            noted = notices.make_record_notice(record)
            if noted is not None:
                yield noted

    def _repeats_call(self, record: envelope.Record) -> bool:
        """Return whether a call already shows a record: a structured reply, or one of its hooks."""
        match record:
            case attachments.Attachment(
                attachment=attachment_kinds.HookKind(tool_use_id=str(call_id)), uuid=uuid
            ):
                return any(run.uuid == uuid for run in self._places.hooks.get(call_id, ()))
            case attachments.Attachment(
                attachment=attachment_kinds.StructuredOutput(tool_use_id=str(call_id))
            ):
                return self._contents.calls.get(call_id) is not None
        return False


def complete_turn(
    view: turn_documents.TurnView, session: Session, *, subagents: bool = False
) -> turn_documents.TurnView:
    """Return a turn of `session` with whole calls, and with the turns of their `subagents`."""
    whole = whole_calls.show_whole_calls(view, session)
    if not subagents:
        return whole
    return replace(whole, steps=tuple(_expand(step, session) for step in whole.steps))


def _expand(step: turn_documents.Step, session: Session) -> turn_documents.Step:
    if not isinstance(step, turn_documents.ToolStep) or not step.subagents:
        return step
    children = {child.agent_id: child for child in session.find_subagents(step.call_id)}
    return replace(
        step,
        subagents=tuple(
            replace(each, turns=_list_turns(children[each.agent_id].session))
            for each in step.subagents
        ),
    )


def _list_turns(session: Session) -> tuple[turn_documents.TurnView, ...]:
    views = build_turn_views(session)
    return tuple(complete_turn(view, session, subagents=True) for view in views)
