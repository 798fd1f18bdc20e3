"""Parse notifications about background tasks: their content, and how the tasks ended.

A notification has elements written by the client, possibly with the user's words around them. It
names the call that started its task, or in older versions only the task, which for a subagent is
its id.
"""

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from recollect.documents.kinds import InputKind, SubagentOutcome, ToolStatus
from recollect.documents.turn_documents import Part
from recollect.records.tools.agent_tools import AgentCompleted
from recollect.render.views import part_builders
from recollect.session.messages import Message
from recollect.session.subagents import Subagent

_TASK = "task-notification"
_TASK_FIELDS = ("task-id", "status", "tool-use-id", "output-file", "note", "usage")
_REPORTED = {
    "completed": SubagentOutcome.COMPLETED,
    "failed": SubagentOutcome.FAILED,
    "killed": SubagentOutcome.STOPPED,
    "stopped": SubagentOutcome.STOPPED,
}
_ENDED = {
    ToolStatus.PENDING: SubagentOutcome.RUNNING,
    ToolStatus.FAILED: SubagentOutcome.FAILED,
    ToolStatus.REJECTED: SubagentOutcome.STOPPED,
    ToolStatus.INTERRUPTED: SubagentOutcome.STOPPED,
}


class TaskReport(Struct, frozen=True):
    """The task that a notification is about, and how it ended."""

    task_id: str
    call_id: str
    status: str


def read_reports(text: str) -> Iterator[TaskReport]:
    """Yield the reports in a text, which may contain several notifications."""
    for notice in part_builders.split_at(text, _TASK):
        names = (
            part_builders.find_inside(notice, name) for name in ("task-id", "tool-use-id", "status")
        )
        yield TaskReport(*(name.strip() for name in names))


def read_outcomes(messages: Iterable[Message]) -> dict[str, SubagentOutcome]:
    """Return the outcomes that notifications report, by task and by call."""
    found: dict[str, SubagentOutcome] = {}
    for said in messages:
        if said.prompt and said.prompt.kind is InputKind.TASK_NOTIFICATION:
            for report in read_reports(said.prompt.words):
                if outcome := _REPORTED.get(report.status):
                    found |= {report.task_id: outcome, report.call_id: outcome}
    return found


def find_outcome(
    subagent: Subagent, reported: Mapping[str, SubagentOutcome]
) -> SubagentOutcome | None:
    """Return how a subagent ended: as reported, or else as its call did; None if unknown."""
    call, meta = subagent.call, subagent.meta
    known = reported.get(subagent.agent_id) or (reported.get(call.id) if call else None)
    if known is not None:
        return known
    if meta is not None and meta.stopped_by_user:
        return SubagentOutcome.STOPPED
    if call is None:
        return None
    if isinstance(call.result, AgentCompleted):
        is_cut = call.result.was_interrupted
        return SubagentOutcome.STOPPED if is_cut else SubagentOutcome.COMPLETED
    return _ENDED.get(call.status)


def name_notification(text: str) -> str:
    """Return one line for a notification: its summary, or else its start."""
    return part_builders.take_line(
        part_builders.find_inside(text, "summary")
    ) or part_builders.take_line(text)


def show_notification(text: str) -> tuple[Part, ...]:
    """Return what a background task reported: its result and its details.

    The text may contain several notifications; text around them may be the user's and is kept.
    """
    notices = tuple(part_builders.split_at(text, _TASK))
    if not notices:
        return part_builders.show_prose(text)
    parts: list[Part] = list(part_builders.show_prose(text.partition(f"<{_TASK}>")[0]))
    for notice in notices:
        parts += part_builders.show_plain(part_builders.find_inside(notice, "summary"))
        parts += part_builders.show_prose(part_builders.find_inside(notice, "result"))
        parts += part_builders.show_fields(
            *((name, part_builders.find_inside(notice, name)) for name in _TASK_FIELDS)
        )
        parts += part_builders.show_plain(_remove_known(notice))
    return (
        *parts,
        *part_builders.show_prose(
            text.rpartition(f"</{_TASK}>")[2] if f"</{_TASK}>" in text else ""
        ),
    )


def _remove_known(notice: str) -> str:
    """Return the text of a notification outside the elements that are shown."""
    for name in ("summary", "result", *_TASK_FIELDS):
        before, opened, rest = notice.partition(f"<{name}>")
        notice = before + rest.partition(f"</{name}>")[2] if opened else notice
    return notice.strip()
