"""Tools that change files: what they changed, or would have changed, as a diff.

The diff stands with the input: a call that was refused or failed shows it too, and the answer of
one that went well only repeats it.
"""

from collections.abc import Iterable

from recollect.records.tools import LineCount, count_patch_lines
from recollect.records.tools.files import (
    EditInput,
    EditResult,
    EditStep,
    MultiEditInput,
    MultiEditResult,
    NotebookEditInput,
    NotebookEditResult,
    WriteInput,
    WriteResult,
)
from recollect.render.views.changes import compare, show_addition
from recollect.render.views.parts import Code, Diff, Output, Part
from recollect.render.views.tools.view import Case, ToolView
from recollect.render.views.values import show_fields
from recollect.render.views.words import join_facts
from recollect.session.files import FileAction, FileEvent, build_file_events


def describe_edit(case: Case) -> ToolView | None:
    """One replacement in a file, or several."""
    match case.input:
        case EditInput(file_path=path) as wanted if path:
            step = EditStep(old_string=wanted.old_string, new_string=wanted.new_string)
            steps: tuple[EditStep, ...] = (step,)
        case MultiEditInput(file_path=path, edits=steps) if path:
            pass
        case _:
            return None
    match case.result:
        case EditResult() | MultiEditResult() as result if result.structured_patch:
            lines = count_patch_lines(result.structured_patch)
            return ToolView(
                title=path,
                summary=_summarise(lines, is_modified=result.user_modified),
                input=(Diff(path, result.structured_patch),),
            )
    return ToolView(
        title=path,
        summary=_summarise(_count_lines(_find_event(case))),
        input=_show_steps(path, steps),
    )


def _summarise(lines: LineCount | None, *, is_new: bool = False, is_modified: bool = False) -> str:
    return join_facts(
        "new file" if is_new else None,
        f"+{lines.added:,} -{lines.removed:,}" if lines else None,
        "changed by the person" if is_modified else None,
    )


def _show_steps(path: str, steps: Iterable[EditStep]) -> tuple[Part, ...]:
    parts: list[Part] = []
    for step in steps:
        parts += _show_change(path, step.old_string, step.new_string)
    return tuple(parts)


def _show_change(path: str, before: str, after: str) -> tuple[Part, ...]:
    """What makes `after` of `before`; both texts, where that is too much to compare."""
    hunks = compare(before, after)
    if hunks is None:
        return tuple(Code(text, path=path) for text in (before, after) if text)
    return (Diff(path, hunks, is_fragment=True),)


def describe_write(case: Case) -> ToolView | None:
    """A whole file."""
    wanted = case.input
    if not isinstance(wanted, WriteInput) or not wanted.file_path:
        return None
    event = _find_event(case)
    is_created = event is not None and event.action is FileAction.CREATE
    result = case.result if isinstance(case.result, WriteResult) else WriteResult()
    return ToolView(
        title=wanted.file_path,
        summary=_summarise(
            _count_lines(event), is_new=is_created, is_modified=result.user_modified
        ),
        input=_show_file(wanted, result, is_created=is_created),
    )


def _show_file(wanted: WriteInput, result: WriteResult, *, is_created: bool) -> tuple[Part, ...]:
    if is_created:
        return (Diff(wanted.file_path, show_addition(wanted.content), is_new_file=True),)
    if result.structured_patch:
        return (Diff(wanted.file_path, result.structured_patch),)
    return (Code(wanted.content, path=wanted.file_path, first_line=1),)


def _find_event(case: Case) -> FileEvent | None:
    return next(iter(build_file_events((case.call,))), None)


def _count_lines(event: FileEvent | None) -> LineCount | None:
    """Lines of a change that was made."""
    if event is None or not event.is_change:
        return None
    return LineCount(event.lines_added, event.lines_removed)


def describe_notebook_edit(case: Case) -> ToolView | None:
    """A change of one cell."""
    wanted = case.input
    if not isinstance(wanted, NotebookEditInput) or not wanted.notebook_path:
        return None
    result = case.result if isinstance(case.result, NotebookEditResult) else NotebookEditResult()
    mode = wanted.edit_mode or result.edit_mode or "replace"
    before = result.old_source or ""
    after = "" if mode == "delete" else wanted.new_source or result.new_source
    cell = wanted.cell_id or result.cell_id
    number = None if wanted.cell_number is None else str(wanted.cell_number)
    return ToolView(
        title=wanted.notebook_path,
        summary=join_facts(mode, f"cell {cell or number}" if cell or number else None),
        input=(
            *_show_change(wanted.notebook_path, before, after),
            *show_fields(("cell type", wanted.cell_type or result.cell_type)),
        ),
        output=(Output(result.error, is_error=True),) if result.error else (),
    )
