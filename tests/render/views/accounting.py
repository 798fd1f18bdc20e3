"""Find records of a session that are neither shown in its views nor listed as hidden."""

from collections.abc import Iterable, Iterator

from recollect.documents.turn_documents import NoticeKind, Step, ToolStep, TurnView
from recollect.records.attachment_kinds import HookKind, OtherAttachment, StructuredOutput
from recollect.records.attachments import Attachment
from recollect.records.blocks import ServerToolResult
from recollect.records.conversation_records import Assistant, User
from recollect.records.envelope import Chain, Record
from recollect.records.system_records import CompactBoundary, Progress, StopHookSummary, System
from recollect.render.views.message_steps import read_context
from recollect.render.views.notices import (
    HIDDEN_ATTACHMENT_NAMES,
    HIDDEN_ATTACHMENTS,
    HIDDEN_INPUTS,
    HIDDEN_PROGRESS,
    HIDDEN_SYSTEM,
)
from recollect.render.views.record_notices import name_line
from recollect.render.views.turn_views import build_turn_views
from recollect.session.messages import Message, is_empty_block
from recollect.session.record_texts import iter_tool_results, list_blocks
from recollect.session.session import Session


def find_unaccounted(session: Session) -> list[Record]:
    """Return the records of `session` and its subagents that are neither shown nor listed."""
    own = _Accounts(session).find_unaccounted()
    return [
        *own,
        *(lost for child in session.subagents for lost in find_unaccounted(child.session)),
    ]


class _Accounts:
    def __init__(self, session: Session) -> None:
        self._session = session
        self._views = build_turn_views(session)
        self._shown = set(_iter_shown(self._views))
        self._message_ids = {getattr(step, "message_id", None) for step in _iter_steps(self._views)}
        self._messages = {
            id(line): message for message in session.messages for line in message.records
        }

    def find_unaccounted(self) -> list[Record]:
        links = self._session.tree.links.values()
        nameless = (
            line
            for message in self._session.messages
            for line in message.records
            if line.uuid is None
        )
        lost: list[Record] = [link for link in links if not self._is_accounted(link)]
        lost += [line for line in nameless if not self._is_said(line)]
        noted = [step for step in _iter_steps(self._views) if _is_irregular(step)]
        assert len(noted) == len(self._session.irregular) + self._count_strange()
        return lost

    def _count_strange(self) -> int:
        """Count attachments and progress records of unknown kinds."""
        links = [*self._session.tree.links.values(), *self._session.nameless]
        return sum(
            isinstance(link, Attachment | Progress)
            and (link.uuid or name_line(link.span)) in self._shown_as_unknown()
            for link in links
        )

    def _shown_as_unknown(self) -> set[str | None]:
        return {step.uuid for step in _iter_steps(self._views) if _is_irregular(step)}

    def _is_accounted(self, link: Chain) -> bool:
        if link.uuid in self._shown:
            return True
        match link:
            case User() | Assistant():
                return self._is_said(link)
            case System():
                return self._is_system_accounted(link)
            case Progress(data=data):
                return isinstance(data, HIDDEN_PROGRESS)
            case Attachment():
                return self._is_attachment_accounted(link)
        return False

    def _is_system_accounted(self, link: System) -> bool:
        if isinstance(link, CompactBoundary):
            return self._has_summary(link)
        if isinstance(link, StopHookSummary):
            return not any(run.uuid == link.uuid for run in self._session.hooks)
        return isinstance(link, HIDDEN_SYSTEM)

    def _has_summary(self, link: CompactBoundary) -> bool:
        return any(
            segment.boundary_uuid == link.uuid and segment.summary is not None
            for segment in self._session.segments
        )

    def _is_attachment_accounted(self, link: Attachment) -> bool:
        context = read_context(link)
        match link.attachment:
            case OtherAttachment(kind=kind):
                return kind in HIDDEN_ATTACHMENT_NAMES
            case StructuredOutput(tool_use_id=call_id):
                return self._session.find_tool_call(call_id or "") is not None
            case HookKind():
                return not any(run.uuid == link.uuid for run in self._session.hooks)
        if context is not None:
            return any(context in view.contexts for view in self._views)
        return isinstance(link.attachment, HIDDEN_ATTACHMENTS)

    def _is_said(self, link: Chain) -> bool:
        message = self._messages[id(link)]
        return self._is_input(link, message) if isinstance(link, User) else self._is_reply(link)

    def _is_input(self, link: User, message: Message) -> bool:
        assert message.prompt is not None
        if link.uuid is None and message.prompt.kind not in HIDDEN_INPUTS:
            return message.id in self._message_ids or any(
                message.prompt.words == view.words for view in self._views
            )
        content = link.message.content if link.message else None
        results = [result.tool_use_id for result in iter_tool_results(content)]
        return message.prompt.kind in HIDDEN_INPUTS and not any(map(self._is_unseen, results))

    def _is_unseen(self, call_id: str) -> bool:
        """Return whether a call's result is not shown; a later one may have replaced it."""
        call = self._session.find_tool_call(call_id)
        if call is None:
            return call_id not in self._session.orphan_results
        return call.result_uuid is not None and call.result_uuid not in self._shown

    def _is_reply(self, link: Chain) -> bool:
        assert isinstance(link, Assistant)
        message = self._messages[id(link)]
        blocks = list_blocks(link.message.content if link.message else None)
        kept = [id(block) for block in message.content]
        if link.uuid is None and message.id in self._message_ids:
            return True
        return not message.is_visible or all(
            is_empty_block(block) or isinstance(block, ServerToolResult) or id(block) not in kept
            for block in blocks
        )


def _iter_steps(views: Iterable[TurnView]) -> Iterator[Step]:
    return (step for view in views for step in view.steps)


def _is_irregular(step: Step) -> bool:
    return getattr(step, "kind", None) in (NoticeKind.DAMAGE, NoticeKind.UNKNOWN)


def _iter_shown(views: Iterable[TurnView]) -> Iterator[str]:
    for view in views:
        candidates = [view.uuid, *(step.uuid for step in view.steps)]
        calls = [step for step in view.steps if isinstance(step, ToolStep)]
        candidates += [step.result_uuid for step in calls]
        candidates += [hook.uuid for step in calls for hook in step.hooks]
        yield from (uuid for uuid in candidates if uuid)
