"""The texts of a record that no step of it shows → a notice, so that nothing written is hidden.

Which texts a record has beside the conversation is known by `session.record_texts`. They join the
notice of their record where there is one, and else make a routine one.
"""

from collections.abc import Iterable, Iterator

from msgspec import Raw
from msgspec.structs import astuple, replace

from recollect.documents.turns import NoticeKind, NoticeStep, Part, Step, TextStep
from recollect.records.attachment_kinds import OtherAttachment
from recollect.records.attachments import Attachment
from recollect.records.conversation import Assistant, User
from recollect.records.decoding import decode_value
from recollect.records.envelope import Chain, is_absent
from recollect.records.state import State
from recollect.records.system import CompactBoundary, LocalCommand, System
from recollect.records.tools.planning_tools import Todo
from recollect.render.views.message_steps import read_context
from recollect.render.views.part_builders import show_fields
from recollect.render.views.tools.planning_views import show_todos
from recollect.render.views.whole_calls import ShownTexts
from recollect.session.record_texts import NamedText, list_texts

_ARROW = " → "
"""Stands between what was before and what is now in a title."""

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
"""Titles of state records whose type would not say it as well."""


def add_texts(
    record: Chain, steps: tuple[Step, ...], texts: Iterable[NamedText]
) -> tuple[Step, ...]:
    """`steps`, with those `texts` of `record` that none of them shows."""
    shown = ShownTexts(_iter_lines(record, steps), tuple(_iter_parts(steps)))
    missing = [(name, text) for name, text in texts if shown.lacks(text)]
    if not missing:
        return steps
    parts = _show_missing(record, missing)
    last = steps[-1] if steps else None
    if isinstance(last, NoticeStep):
        return (*steps[:-1], replace(last, parts=(*last.parts, *parts)))
    return (*steps, _make_notice(record, parts))


def _iter_lines(record: Chain, steps: tuple[Step, ...]) -> Iterator[str]:
    titles = [step.title for step in steps if isinstance(step, NoticeStep)]
    yield from (part for title in titles for part in (title, *title.split(_ARROW)))
    if isinstance(record, CompactBoundary | LocalCommand):
        # The words of a boundary are always the same; those of a command are shown without tags.
        yield record.content or ""
    match record:
        case Attachment(attachment=OtherAttachment(kind=str(kind))):
            yield kind
    context = read_context(record) if isinstance(record, Attachment) else None
    if context is not None:
        yield from (context.text, context.path or "")


def _iter_parts(steps: tuple[Step, ...]) -> Iterator[Part]:
    return (
        part for step in steps if isinstance(step, NoticeStep | TextStep) for part in step.parts
    )


def _show_missing(record: Chain, missing: list[tuple[str, str]]) -> tuple[Part, ...]:
    """The texts by their names; those of a todo list as the list that they are."""
    raw = record.todos if isinstance(record, User) else Raw()
    todos = (() if is_absent(raw) else decode_value(raw, tuple[Todo, ...])) or ()
    listed = {text for todo in todos for text in astuple(todo) if text}
    others = ((name.replace("_", " "), text) for name, text in missing if text not in listed)
    return (*show_todos(tuple(todo for todo in todos if todo.content)), *show_fields(*others))


def _make_notice(record: Chain, parts: tuple[Part, ...]) -> NoticeStep:
    # What a person or a model said has a step or a turn that links to the record lead to.
    is_message = isinstance(record, User | Assistant)
    return NoticeStep(
        uuid=None if is_message else record.uuid,
        kind=NoticeKind.INFORMATION,
        title=_name(record),
        parts=parts,
        timestamp=record.timestamp,
        is_routine=True,
    )


def note_state(record: State) -> NoticeStep:
    """A routine notice of what a state record says."""
    tag = str(record.__struct_config__.tag)
    texts = ((name.replace("_", " "), text) for name, text in list_texts(record))
    return NoticeStep(
        uuid=None,
        kind=NoticeKind.INFORMATION,
        title=_STATE_TITLES.get(tag) or tag.replace("-", " ").capitalize(),
        parts=show_fields(*texts),
        timestamp=record.timestamp,
        is_routine=True,
    )


def _name(record: Chain) -> str:
    match record:
        case Attachment(attachment=OtherAttachment(kind=str(kind))):
            name = kind
        case Attachment(attachment=attachment) if attachment is not None:
            name = str(attachment.__struct_config__.tag)
        case System(subtype=str(subtype)):
            name = subtype
        case _:
            return "Also in this record"
    return name.replace("_", " ").capitalize()
