"""Files that tool calls read and changed.

Lines are counted from the client's own patch. Subagents of new clients and old streams have none:
there the edit itself is compared, a text that was replaced everywhere counts once, and an
overwritten file counts as its new lines, because its old content is unknown. What shell commands
did to files is not known.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from recollect.documents.kinds import FileAction, ToolStatus
from recollect.records.tools import LineCount, PatchHunk, ToolInput, ToolOutput, count_changed_lines
from recollect.records.tools.file_tools import (
    FILE_TOOLS,
    EditInput,
    EditResult,
    MultiEditInput,
    MultiEditResult,
    NotebookEditInput,
    NotebookEditResult,
    NotebookReadInput,
    ReadInput,
    WriteInput,
    WriteResult,
    count_text_lines,
)
from recollect.session.times import find_range
from recollect.session.tool_calls import ToolCall

_CREATED_MARK = "File created successfully"


class FileEvent(Struct, frozen=True, kw_only=True):
    """One call about one file."""

    path: str
    action: FileAction
    call_id: str
    timestamp: str | None
    """When the result came, or else when the call was made."""
    status: ToolStatus
    hunks: tuple[PatchHunk, ...] = ()
    lines_added: int = 0
    lines_removed: int = 0
    has_content: bool = False
    """Whether the call has the whole content of the file afterwards."""

    @property
    def is_change(self) -> bool:
        """Whether the file was written."""
        return self.status is ToolStatus.SUCCESS and self.action is not FileAction.READ


class ChangedFile(Struct, frozen=True, kw_only=True):
    """A file that was written, with all of its events."""

    path: str
    events: tuple[FileEvent, ...]
    first_change: str | None
    last_change: str | None
    lines_added: int
    lines_removed: int
    is_created: bool


def build_file_events(tool_calls: Sequence[ToolCall]) -> tuple[FileEvent, ...]:
    """Return the file events, in the order of the calls."""
    events = (_make_event(call) for call in tool_calls if call.name in FILE_TOOLS)
    return tuple(event for event in events if event is not None)


def list_changed_files(events: Iterable[FileEvent]) -> tuple[ChangedFile, ...]:
    """Return the files that were written, in order of their first change."""
    by_path: dict[str, list[FileEvent]] = {}
    for event in events:
        if event.is_change:
            by_path.setdefault(event.path, []).append(event)
    return tuple(_unite(path, changes) for path, changes in by_path.items())


def count_lines(events: Iterable[FileEvent]) -> tuple[int, int]:
    """Return the lines that `events` added and removed; a changed line is one of each."""
    added = removed = 0
    for event in events:
        added += event.lines_added
        removed += event.lines_removed
    return added, removed


def _unite(path: str, changes: list[FileEvent]) -> ChangedFile:
    first, last = find_range(change.timestamp for change in changes)
    added, removed = count_lines(changes)
    return ChangedFile(
        path=path,
        events=tuple(changes),
        first_change=first,
        last_change=last,
        lines_added=added,
        lines_removed=removed,
        is_created=any(change.action is FileAction.CREATE for change in changes),
    )


def _make_event(call: ToolCall) -> FileEvent | None:
    wanted = call.input
    path = _path_of(wanted)
    if not path:
        return None
    event = FileEvent(
        path=path,
        action=_planned_action(wanted),
        call_id=call.id,
        timestamp=call.ended or call.started,
        status=call.status,
    )
    return _add_result(event, wanted, call) if event.is_change else event


def _path_of(wanted: ToolInput) -> str | None:
    match wanted:
        case ReadInput() | EditInput() | MultiEditInput() | WriteInput():
            return wanted.file_path
        case NotebookReadInput() | NotebookEditInput():
            return wanted.notebook_path
    return None


def _planned_action(wanted: ToolInput) -> FileAction:
    match wanted:
        case EditInput() | MultiEditInput():
            return FileAction.EDIT
        case NotebookEditInput():
            return FileAction.EDIT_NOTEBOOK
        case WriteInput():
            return FileAction.WRITE
    return FileAction.READ


def _add_result(event: FileEvent, wanted: ToolInput, call: ToolCall) -> FileEvent:
    """Return `event` with the effect of a change that was made."""
    result = call.result
    if isinstance(wanted, WriteInput):
        event = replace(event, action=_write_action(result, call.text), has_content=True)
    lines = _count(wanted, result)
    return replace(
        event,
        hunks=_hunks_of(result),
        lines_added=lines.added,
        lines_removed=lines.removed,
        has_content=event.has_content
        or (isinstance(result, NotebookEditResult) and result.updated_file is not None),
    )


def _write_action(result: ToolOutput | None, text: str) -> FileAction:
    if isinstance(result, WriteResult) and result.type is not None:
        is_created = result.type == "create"
    else:
        is_created = text.startswith(_CREATED_MARK)
    return FileAction.CREATE if is_created else FileAction.UPDATE


def _hunks_of(result: ToolOutput | None) -> tuple[PatchHunk, ...]:
    if isinstance(result, EditResult | MultiEditResult | WriteResult):
        return result.structured_patch
    return ()


def _count(wanted: ToolInput, result: ToolOutput | None) -> LineCount:
    """Count from the client's result if there is one, else from the model's input."""
    match result:
        case WriteResult(type=str()):
            return count_changed_lines(result)
        case EditResult() | MultiEditResult() if result.structured_patch:
            return count_changed_lines(result)
    match wanted:
        case EditInput():
            return _compare([(wanted.old_string, wanted.new_string)])
        case MultiEditInput():
            return _compare((step.old_string, step.new_string) for step in wanted.edits)
        case WriteInput():
            return LineCount(added=count_text_lines(wanted.content))
    return LineCount()


def _compare(edits: Iterable[tuple[str, str]]) -> LineCount:
    """Count lines that are only in the old or only in the new text, wherever they are.

    A real diff takes quadratic time on hostile text; for 149 of 153 edits with a patch both agree.
    """
    added = removed = 0
    for old, new in edits:
        before, after = _count_each_line(old), _count_each_line(new)
        added += (after - before).total()
        removed += (before - after).total()
    return LineCount(added, removed)


def _count_each_line(text: str) -> Counter[str]:
    return Counter(text.removesuffix("\n").split("\n") if text else ())
