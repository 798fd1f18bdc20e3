"""Notices for texts of a record that none of its steps shows, so that nothing is hidden, and for
the sidecar files of a session: its todo lists, its tasks and its plan.

`session.record_texts` lists the texts of a record outside the conversation. They are added to the
notice of their record, or to a new routine notice if there is none.

Sidecar files only have the last state and belong to no turn, so they are shown after the last turn.
"""

from collections.abc import Iterable, Iterator

from msgspec import Raw, structs

from recollect.documents.turn_documents import NoticeKind, NoticeStep, Part, Step, TextStep
from recollect.library.sidecar_files import SessionSidecars, TodoFile, load_session_lists
from recollect.locations.place_names import BESIDE_PREFIX, LINE_PREFIX
from recollect.records import attachment_kinds, attachments, conversation_records, decoding, state
from recollect.records.envelope import Chain, Span, is_absent
from recollect.records.system_records import CompactBoundary, LocalCommand, System
from recollect.records.tools.planning_tools import Todo
from recollect.render.views import message_steps, part_builders, whole_calls
from recollect.render.views.tools.planning_views import show_tasks, show_todos
from recollect.session.queue import QueuedPrompt
from recollect.session.record_texts import NamedText, list_texts
from recollect.session.session import Session

_ARROW = " → "
"""Between the old and the new value in a title."""

_STATE_TITLES = {
    "ai-title": "Title by the model",
    "custom-title": "Title by you",
    "dev-mods": "Developer modifications",
    "frame-link": "Published page",
    "pr-link": "Pull request",
    "relocated": "Moved to another directory",
    "summary": "Summary of a session",
    "worktree-state": "Worktree",
}
"""Titles of state records whose type would be less clear."""


def add_texts(
    record: Chain, steps: tuple[Step, ...], texts: Iterable[NamedText]
) -> tuple[Step, ...]:
    """Return `steps` with those `texts` of `record` that none of them shows."""
    shown = whole_calls.ShownTexts(_iter_lines(record, steps), tuple(_iter_parts(steps)))
    missing = [(name, text) for name, text in texts if shown.lacks(text)]
    if not missing:
        return steps
    parts = _show_missing(record, missing)
    last = steps[-1] if steps else None
    if isinstance(last, NoticeStep):
        return (*steps[:-1], structs.replace(last, parts=(*last.parts, *parts)))
    return (*steps, _make_notice(record, parts))


def _iter_lines(record: Chain, steps: tuple[Step, ...]) -> Iterator[str]:
    titles = [step.title for step in steps if isinstance(step, NoticeStep)]
    yield from (part for title in titles for part in (title, *title.split(_ARROW)))
    if isinstance(record, CompactBoundary | LocalCommand):
        # The text of a boundary is always the same; that of a command is shown without tags.
        yield record.content or ""
    match record:
        case attachments.Attachment(attachment=attachment_kinds.OtherAttachment(kind=str(kind))):
            yield kind
        case (
            attachments.Attachment(attachment=attachment_kinds.QueuedCommand(prompt=str(words)))
            | QueuedPrompt(prompt=str(words))
        ):
            # Its step shows it without the client's tags.
            yield words if any(isinstance(step, TextStep) for step in steps) else ""
    context = (
        message_steps.read_context(record) if isinstance(record, attachments.Attachment) else None
    )
    if context is not None:
        yield from (context.text, context.path or "")


def _iter_parts(steps: tuple[Step, ...]) -> Iterator[Part]:
    return (
        part for step in steps if isinstance(step, NoticeStep | TextStep) for part in step.parts
    )


def _show_missing(record: Chain, missing: list[tuple[str, str]]) -> tuple[Part, ...]:
    """Return the texts with their names; a todo list is shown as a list."""
    raw = record.todos if isinstance(record, conversation_records.User) else Raw()
    todos = (() if is_absent(raw) else decoding.decode_value(raw, tuple[Todo, ...])) or ()
    listed = {text for todo in todos for text in structs.astuple(todo) if text}
    others = ((name.replace("_", " "), text) for name, text in missing if text not in listed)
    return (
        *show_todos(tuple(todo for todo in todos if todo.content)),
        *part_builders.show_fields(*others),
    )


def _make_notice(record: Chain, parts: tuple[Part, ...]) -> NoticeStep:
    # Links to the record of a message already lead to its step or turn.
    is_message = isinstance(record, conversation_records.User | conversation_records.Assistant)
    return NoticeStep(
        uuid=name_beside(record) if is_message else record.uuid or name_line(record.span),
        kind=NoticeKind.INFORMATION,
        title=_name(record),
        parts=parts,
        timestamp=record.timestamp,
        is_routine=True,
    )


def name_beside(record: Chain) -> str | None:
    """Return the name for texts of a message that are not part of the conversation."""
    return f"{BESIDE_PREFIX}{record.uuid}" if record.uuid else None


def name_line(span: Span | None) -> str | None:
    """Return the name of a record without a uuid: where its line is, if it is in a file."""
    return f"{LINE_PREFIX}{span.offset}" if span else None


def make_state_notice(record: state.State) -> NoticeStep:
    """Return a routine notice with the content of a state record."""
    tag = str(record.__struct_config__.tag)
    texts = ((name.replace("_", " "), text) for name, text in list_texts(record))
    return NoticeStep(
        uuid=name_line(record.span),
        kind=NoticeKind.INFORMATION,
        title=_STATE_TITLES.get(tag) or tag.replace("-", " ").capitalize(),
        parts=part_builders.show_fields(*texts),
        timestamp=record.timestamp,
        is_routine=True,
    )


def _name(record: Chain) -> str:
    match record:
        case attachments.Attachment(attachment=attachment_kinds.OtherAttachment(kind=str(kind))):
            name = kind
        case attachments.Attachment(attachment=attachment) if attachment is not None:
            name = str(attachment.__struct_config__.tag)
        case System(subtype=str(subtype)):
            name = subtype
        case _:
            return "Also in this record"
    return name.replace("_", " ").capitalize()


TODOS = "To-do list"
TASKS = "Tasks"
PLAN = "Plan"


def load_sidecar_notices(session: Session) -> tuple[NoticeStep, ...]:
    """Return the notices for the lists and the plan that are stored beside an opened session."""
    return list_sidecar_notices(load_session_lists(session), session.contents.metadata.id)


def list_sidecar_notices(sidecars: SessionSidecars, session_id: str) -> tuple[NoticeStep, ...]:
    """Return a notice for each todo list, for the tasks and for the plan of a session."""
    return tuple(_iter_notices(sidecars, session_id))


def _iter_notices(sidecars: SessionSidecars, session_id: str) -> Iterator[NoticeStep]:
    for file in sidecars.todos:
        yield _make_sidecar_notice(_name_todos(file, session_id), show_todos(file.todos))
    if sidecars.tasks:
        described = ((task.subject or task.id, task.description) for task in sidecars.tasks)
        parts = (*show_tasks(sidecars.tasks), *part_builders.show_fields(*described))
        yield _make_sidecar_notice(TASKS, parts)
    if sidecars.plan:
        yield _make_sidecar_notice(PLAN, part_builders.show_prose(sidecars.plan))


def _name_todos(file: TodoFile, session_id: str) -> str:
    is_own = file.agent_id in ("", session_id)
    return TODOS if is_own else f"{TODOS} of agent {file.agent_id}"


def _make_sidecar_notice(title: str, parts: tuple[Part, ...]) -> NoticeStep:
    return NoticeStep(uuid=None, kind=NoticeKind.INFORMATION, title=title, parts=parts)
