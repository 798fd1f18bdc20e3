"""The turn views of a session that grows while it is shown, as a conversation does.

A session derives its views from all of its records. A turn may have hundreds of them, and nearly
all are consecutive replies and results: for those, only the last few records are read,
from the first message whose calls still lack a result. The part of the turn before them is
final and is kept. Anything else, such as a prompt, a compaction, another model or a second result,
rebuilds the views from the whole session.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from msgspec import structs
from msgspec.structs import replace

from recollect.documents.kinds import SubagentKind, SubagentOutcome
from recollect.documents.turn_documents import Step, SubagentReference, ToolStep, TurnView
from recollect.records import conversation_records, envelope, token_usage
from recollect.records.blocks import RedactedThinking, Text, Thinking, ToolResult, ToolUse
from recollect.render.views import message_steps, task_reports, timeline, turn_views
from recollect.session import record_texts, subagents, times, tool_calls
from recollect.session.context_growth import ContextMeter
from recollect.session.session import Session

_REPLY_BLOCKS: Final = (Text, Thinking, RedactedThinking, ToolUse)

Line = conversation_records.Assistant | conversation_records.User


class GrowingTurns:
    """The views of a session's turns, kept up to date by `add`.

    `children` are its subagents by the calls that started them, and `attach` joins them to it.
    """

    def __init__(
        self,
        session: Session,
        children: Mapping[str, "GrowingTurns"] | None = None,
        attach: Callable[[], None] = lambda: None,
    ) -> None:
        self.session = session
        self._children = {} if children is None else children
        self._attach = attach
        self._calls = message_steps.CallSteps()
        self._earlier: dict[int, TurnView] = {}
        self._count = 0
        self._running: _RunningTurn | None = None

    @property
    def count(self) -> int:
        """The number of turns."""
        self._update()
        return self._count

    def add(self, records: Sequence[envelope.Record]) -> None:
        """Append records that the session does not have yet."""
        self.session.extend(records)
        for record in records:
            if self._running is not None and not self._running.add(record):
                self._running = None

    def note_growth(self, call_id: str) -> None:
        """Note that the subagent of a call has grown."""
        if self._running is not None and not self._running.note_growth(call_id):
            self._running = None

    def show(self, turns: range) -> tuple[TurnView, ...]:
        """Return the views of turns, given by index."""
        self._update()
        return tuple(map(self._show, range(max(turns.start, 0), min(turns.stop, self._count))))

    def refer(
        self, call: tool_calls.ToolCall, outcomes: Mapping[str, SubagentOutcome]
    ) -> SubagentReference:
        """Return the reference to the session as the subagent that a call started.

        `outcomes` are those that its parent session recorded.
        """
        views = self.show(range(self.count))
        start, end = times.find_range(time for view in views for time in (view.start, view.end))
        started = subagents.Subagent(
            agent_id=call.id, kind=SubagentKind.FILE, session=self.session, call=call
        )
        return SubagentReference(
            agent_id=call.id,
            kind=started.kind,
            agent_type=started.agent_type,
            description=started.description,
            turn_count=len(views),
            tool_calls=self._count_calls(),
            tokens=sum(view.tokens.total for view in views),
            duration_ms=times.milliseconds_between(start, end),
            model=next((view.model for view in reversed(views) if view.model), None),
            outcome=task_reports.find_outcome(started, outcomes),
        )

    def _count_calls(self) -> int:
        running = self._running
        return len(self.session.tool_calls) if running is None else running.call_count

    def _show(self, index: int) -> TurnView:
        if self._running is not None and index == self._count - 1:
            return self._running.show()
        known = self._earlier.get(index)
        if known is None:
            self._attach()
            views = turn_views.build_turn_views(
                self.session, start=index, stop=index + 1, calls=self._calls
            )
            known = self._earlier[index] = views[0]
        return known

    def _update(self) -> None:
        """Rebuild everything from the session, unless it only continues the running turn."""
        if self._running is not None:
            return
        self._attach()
        session = self.session
        self._earlier.clear()
        self._count = len(session.turns)
        last = next(reversed(session.tree.links), None)
        if last is not None and timeline.find_turn_index(session, last) == self._count - 1:
            view = self._show(self._count - 1)
            if view.active_ms == times.milliseconds_between(view.start, view.end):
                self._running = _RunningTurn(session, self._children, self._calls, view, last)


class _RunningTurn:
    """The last turn of a session, to which replies and results are appended."""

    def __init__(
        self,
        session: Session,
        children: Mapping[str, GrowingTurns],
        calls: message_steps.CallSteps,
        view: TurnView,
        last: str,
    ) -> None:
        self._is_subagent = session.is_subagent
        # A notification opens a turn, so no other outcome can arrive during this one.
        self._outcomes = timeline.build_timeline(session).outcomes
        self._children = children
        self._calls = calls
        self._settled = view
        self._meter = turn_views.meter_turn(
            timeline.build_timeline(session), session.contents.turns[-1]
        )
        """Measured up to the end of the final part."""
        self._view: TurnView | None = view
        self._last = last
        self._model = session.facts.models[-1].value if session.facts.models else None
        self._messages = {said.id for said in session.messages}
        self._known_calls = {call.id for call in session.tool_calls}
        self._own_calls = frozenset(self._known_calls)
        """Calls that the session already had, including those of other turns."""
        self._starters: dict[str, tuple[int, tool_calls.ToolCall]] = {}
        """Final calls that may start a subagent, by id, with the position of their step."""
        self._record_starters(session, view.steps, 0)
        self._tail: list[Line] = []
        self._message: str | None = None
        """The last message of the tail, which may still get another line."""
        self._open: set[str] = set()
        """Calls of the tail without a result."""
        self._cut = 0
        """Number of records of the tail that are final."""

    @property
    def call_count(self) -> int:
        """The number of calls in the session."""
        return len(self._known_calls)

    def add(self, record: envelope.Record) -> bool:
        """Append a record; return False if it does not simply continue the turn."""
        match record:
            case conversation_records.Assistant():
                is_next = self._follows(record) and self._add_reply(record)
            case conversation_records.User():
                is_next = self._follows(record) and self._add_results(record)
            case _:
                return False
        if is_next:
            self._tail.append(record)
            self._last = record.uuid or ""
            self._view = None
        return is_next

    def _follows(self, record: Line) -> bool:
        is_own = record.is_sidechain == self._is_subagent and not record.is_meta
        return is_own and bool(record.uuid) and record.parent_uuid == self._last

    def _add_reply(self, record: conversation_records.Assistant) -> bool:
        message = record.message
        if message is None or not message.id or record.is_api_error_message:
            return False
        if message.model != self._model or not _consists_of(record, _REPLY_BLOCKS):
            return False
        called = {use.id for use in record_texts.iter_tool_uses(message.content)}
        is_repeated = message.id != self._message and message.id in self._messages
        if is_repeated or not called.isdisjoint(self._known_calls):
            return False
        if message.id != self._message and not self._open:
            self._cut = len(self._tail)
        self._message = message.id
        self._messages.add(message.id)
        self._known_calls |= called
        self._open |= called
        return True

    def _add_results(self, record: conversation_records.User) -> bool:
        if record.message is None or not _consists_of(record, ToolResult):
            return False
        ids = [
            result.tool_use_id for result in record_texts.iter_tool_results(record.message.content)
        ]
        is_marked = record.interrupted_message_id or record.prompt_id or record.permission_mode
        if is_marked or len(set(ids)) < len(ids) or not self._open.issuperset(ids):
            return False
        self._open.difference_update(ids)
        return True

    def note_growth(self, call_id: str) -> bool:
        """Update the reference to a call's subagent; False if the call is in another turn."""
        if call_id in self._starters:
            place, call = self._starters[call_id]
            steps = list(self._settled.steps)
            steps[place] = self._refer(steps[place], call)
            self._settled = replace(self._settled, steps=tuple(steps))
        elif call_id in self._own_calls:
            return False
        # Otherwise its call is in the tail, or it was started by another subagent.
        self._view = None
        return True

    def _refer(self, step: Step, call: tool_calls.ToolCall | None) -> Step:
        """Return the step with a reference to the subagent that its call started, if any."""
        child = self._children.get(call.id) if call else None
        if child is None or call is None or call.name not in subagents.STARTERS:
            return step
        return replace(step, subagents=(child.refer(call, self._outcomes),))

    def show(self) -> TurnView:
        """Return the view of the turn."""
        if self._cut:
            self._finalize()
        if self._view is None:
            self._view = self._settled
            if self._tail:
                self._view = self._join(Session(self._tail), self._meter.copy())
        return self._view

    def _finalize(self) -> None:
        lines = Session(self._tail[: self._cut])
        place = len(self._settled.steps)
        self._settled = self._join(lines, self._meter)
        self._record_starters(lines, self._settled.steps[place:], place)
        del self._tail[: self._cut]
        self._cut = 0

    def _join(self, lines: Session, meter: ContextMeter) -> TurnView:
        """Return the final part of the turn with `lines` after it, which are added to `meter`."""
        meter.add_all(lines.messages)
        joined = join_views(self._settled, self._show_lines(lines))
        return replace(joined, context_growth=meter.growth)

    def _record_starters(self, session: Session, steps: Iterable[Step], first: int) -> None:
        for place, step in enumerate(steps, first):
            if isinstance(step, ToolStep) and step.tool in subagents.STARTERS:
                call = session.find_tool_call(step.call_id)
                if call is not None:
                    self._starters[call.id] = (place, call)

    def _show_lines(self, lines: Session) -> TurnView:
        (view,) = turn_views.build_turn_views(lines, calls=self._calls)
        steps = (
            self._refer(step, lines.find_tool_call(step.call_id))
            if isinstance(step, ToolStep) and step.call_id in self._children
            else step
            for step in view.steps
        )
        return replace(view, steps=tuple(steps)) if self._children else view


def _consists_of(record: Line, kinds: type | tuple[type, ...]) -> bool:
    blocks = record_texts.list_blocks(record.message.content if record.message else None)
    return bool(blocks) and all(isinstance(block, kinds) for block in blocks)


def join_views(first: TurnView, rest: TurnView) -> TurnView:
    """Return the view of a turn from those of its first part and of the replies after it."""
    start, end = times.find_range((first.start, first.end, rest.start, rest.end))
    counts = zip(structs.astuple(first.tokens), structs.astuple(rest.tokens), strict=True)
    return replace(
        first,
        steps=first.steps + rest.steps,
        tokens=token_usage.Tokens(*map(sum, counts)),
        model=rest.model or first.model,
        start=start,
        end=end,
        active_ms=times.milliseconds_between(start, end),
        context_tokens=rest.context_tokens or first.context_tokens,
        uuids=first.uuids + rest.uuids,
    )
