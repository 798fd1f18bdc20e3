"""Views of tools that read and change files: numbered text, images, PDFs, notebooks, diffs.

If only the model's text was kept, the line numbers that the client added are removed again. A diff
is part of the input: a rejected or failed call shows it too, and the result of a successful one
only repeats it.
"""

import re
from collections.abc import Iterable

from recollect.documents.kinds import FileAction
from recollect.documents.turn_documents import Code, Diff, Output, Part, Picture
from recollect.quantities import format_bytes, format_count
from recollect.records.blocks import ToolResult
from recollect.records.tools import LineCount, ToolOutput, count_patch_lines, file_tools
from recollect.render.views import part_builders
from recollect.render.views.tools.tool_view import Case, ToolView
from recollect.session.prompt_contexts import separate_words
from recollect.session.tool_effects import FileEvent, build_file_events

_NUMBERED = re.compile(r" {0,10}(\d{1,9})[→\t]")
_DONE = re.compile(
    r"(?:The file .* has been updated|File created successfully at|Updated cell )[^\n]*(?:\n|\Z)"
)
"""The sentence in which clients confirm a change to the model."""

_SNIPPET = "on a snippet of the edited file:"
_PDF = "application/pdf"
_IMAGE = "image/png"


def describe_read(case: Case) -> ToolView | None:
    """Describe reading a file, or a part of it."""
    match case.input:
        case (
            file_tools.ReadInput(file_path=path) | file_tools.NotebookReadInput(notebook_path=path)
        ) if path:
            pass
        case _:
            return None
    summary, output = _show_found(case, path)
    return ToolView(title=path, summary=summary, input=_show_range(case), output=output)


def _show_range(case: Case) -> tuple[Part, ...]:
    match case.input:
        case file_tools.ReadInput() as wanted:
            return part_builders.show_fields(
                ("offset", wanted.offset), ("limit", wanted.limit), ("pages", wanted.pages)
            )
        case file_tools.NotebookReadInput(cell_id=cell):
            return part_builders.show_fields(("cell", cell))
    return ()


def _show_found(case: Case, path: str) -> tuple[str, tuple[Part, ...]]:
    result = case.result
    match result:
        case file_tools.ReadText(file=file):
            return _describe_range(file), _show_text(file, path)
        case file_tools.ReadNotebook(file=notebook):
            cells = notebook.cells
            return format_count(len(cells), "cell"), _join(_show_cell(cell, path) for cell in cells)
        case file_tools.ReadUnchanged():
            return "unchanged since it was last read", ()
    return _show_media(result, path) or _show_seen(case, path)


def _join(groups: Iterable[tuple[Part, ...]]) -> tuple[Part, ...]:
    return tuple(part for group in groups for part in group)


def _describe_range(file: file_tools.TextFile) -> str:
    lines = file_tools.count_text_lines(file.content) if file.num_lines is None else file.num_lines
    start, total = file.start_line or 1, file.total_lines
    cut = "truncated at the token limit" if file.truncated_by_token_cap else None
    if not lines or total is None or (start == 1 and lines >= total):
        return part_builders.join_facts(format_count(lines, "line"), cut)
    return part_builders.join_facts(f"lines {start:,} to {start + lines - 1:,} of {total:,}", cut)


def _show_text(file: file_tools.TextFile, path: str) -> tuple[Part, ...]:
    if not file.content:
        return ()
    return (Code(file.content, path=path, first_line=file.start_line or 1),)


def _show_cell(cell: file_tools.NotebookCell, path: str) -> tuple[Part, ...]:
    source = cell.source if isinstance(cell.source, str) else "".join(cell.source)
    return (
        Code(source, path=path, language=cell.language),
        *part_builders.show_value(cell.outputs),
    )


def _show_media(result: ToolOutput | None, path: str) -> tuple[str, tuple[Part, ...]] | None:
    match result:
        case file_tools.ReadImage(file=image):
            picture = Picture(image.type or _IMAGE, image.base64, path)
            return part_builders.join_facts("a picture", _size(image.original_size)), (picture,)
        case file_tools.ReadPdf(file=pdf):
            picture = Picture(_PDF, pdf.base64, path)
            return part_builders.join_facts("a PDF", _size(pdf.original_size)), (picture,)
        case file_tools.ReadParts(file=parts):
            pages = len(result.pages) if parts.count is None else parts.count
            return format_count(pages, "page"), tuple(
                Picture(page.media_type or _IMAGE, page.base64) for page in result.pages
            )
    return None


def _size(size: int | None) -> str | None:
    return None if size is None else format_bytes(size)


def _show_seen(case: Case, path: str) -> tuple[str, tuple[Part, ...]]:
    """Return what the model saw, if the result was not kept otherwise."""
    block = case.call.block
    if isinstance(block, ToolResult) and isinstance(block.content, tuple):
        parts = part_builders.show_blocks(block.content)
        if any(isinstance(part, Picture) for part in parts):
            return "a picture or document", parts
    text, _ = separate_words(case.text) if case.text.rstrip().endswith(">") else (case.text, ())
    code, rest = strip_numbers(text, path)
    said = part_builders.show_plain(rest)
    if code is None:
        return "", said
    return format_count(file_tools.count_text_lines(code.text), "line"), (code, *said)


def strip_numbers(text: str, path: str | None) -> tuple[Code | None, str]:
    """Return the numbered lines at the start of `text`, and the rest."""
    lines = text.split("\n")
    kept: list[str] = []
    first = 0
    for line in lines:
        found = _NUMBERED.match(line)
        if found is None or (kept and int(found[1]) != first + len(kept)):
            break
        first = first if kept else int(found[1])
        kept.append(line[found.end() :])
    if not kept:
        return None, text
    rest = "\n".join(lines[len(kept) :])
    return Code("\n".join(kept), path=path, first_line=first), rest


def describe_edit(case: Case) -> ToolView | None:
    """Describe one or several replacements in a file."""
    match case.input:
        case file_tools.EditInput(file_path=path) as wanted if path:
            step = file_tools.EditStep(old_string=wanted.old_string, new_string=wanted.new_string)
            steps: tuple[file_tools.EditStep, ...] = (step,)
            everywhere = "all occurrences" if wanted.replace_all else None
        case file_tools.MultiEditInput(file_path=path, edits=steps) if path:
            everywhere = None
        case _:
            return None
    match case.result:
        case file_tools.EditResult() | file_tools.MultiEditResult() as result if (
            result.structured_patch
        ):
            lines = count_patch_lines(result.structured_patch)
            return ToolView(
                title=path,
                summary=part_builders.join_facts(
                    _summarise(lines, is_modified=result.user_modified), everywhere
                ),
                input=(Diff(path, part_builders.show_patch(result.structured_patch)),),
            )
    return ToolView(
        title=path,
        summary=part_builders.join_facts(_summarise(_count_lines(_find_event(case))), everywhere),
        input=_show_steps(path, steps),
    )


def _summarise(lines: LineCount | None, *, is_new: bool = False, is_modified: bool = False) -> str:
    return part_builders.join_facts(
        "new file" if is_new else None,
        f"+{lines.added:,} -{lines.removed:,}" if lines else None,
        "changed by you" if is_modified else None,
    )


def _show_steps(path: str, steps: Iterable[file_tools.EditStep]) -> tuple[Part, ...]:
    parts: list[Part] = []
    for step in steps:
        parts += _show_change(path, step.old_string, step.new_string)
    return tuple(parts)


def _show_change(path: str, before: str, after: str) -> tuple[Part, ...]:
    """Return the diff of two texts; both texts, if there is too much to compare."""
    hunks = part_builders.compare(before, after)
    if hunks is None:
        return tuple(Code(text, path=path) for text in (before, after) if text)
    return (Diff(path, hunks, is_fragment=True),)


def describe_write(case: Case) -> ToolView | None:
    """Describe writing a whole file."""
    wanted = case.input
    if not isinstance(wanted, file_tools.WriteInput) or not wanted.file_path:
        return None
    event = _find_event(case)
    is_created = event is not None and event.action is FileAction.CREATE
    result = (
        case.result if isinstance(case.result, file_tools.WriteResult) else file_tools.WriteResult()
    )
    return ToolView(
        title=wanted.file_path,
        summary=_summarise(
            _count_lines(event), is_new=is_created, is_modified=result.user_modified
        ),
        input=_show_file(wanted, result, is_created=is_created),
    )


def _show_file(
    wanted: file_tools.WriteInput, result: file_tools.WriteResult, *, is_created: bool
) -> tuple[Part, ...]:
    if is_created:
        return (
            Diff(wanted.file_path, part_builders.show_addition(wanted.content), is_new_file=True),
        )
    if result.structured_patch:
        return (Diff(wanted.file_path, part_builders.show_patch(result.structured_patch)),)
    return (Code(wanted.content, path=wanted.file_path, first_line=1),)


def strip_confirmation(text: str) -> str:
    """Return the result of a change without the confirmation, since the diff shows the change."""
    found = _DONE.match(text)
    if found is None:
        return text
    rest = text[found.end() :]
    return strip_numbers(rest, None)[1] if _SNIPPET in found[0] else rest


def _find_event(case: Case) -> FileEvent | None:
    return next(iter(build_file_events((case.call,))), None)


def _count_lines(event: FileEvent | None) -> LineCount | None:
    """Return the line counts of a change that was made."""
    if event is None or not event.is_change:
        return None
    return LineCount(event.lines_added, event.lines_removed)


def describe_notebook_edit(case: Case) -> ToolView | None:
    """Describe a change to one notebook cell."""
    wanted = case.input
    if not isinstance(wanted, file_tools.NotebookEditInput) or not wanted.notebook_path:
        return None
    result = (
        case.result
        if isinstance(case.result, file_tools.NotebookEditResult)
        else file_tools.NotebookEditResult()
    )
    mode = wanted.edit_mode or result.edit_mode or "replace"
    before = result.old_source or ""
    after = "" if mode == "delete" else wanted.new_source or result.new_source
    cell = wanted.cell_id or result.cell_id
    number = None if wanted.cell_number is None else str(wanted.cell_number)
    return ToolView(
        title=wanted.notebook_path,
        summary=part_builders.join_facts(
            mode, f"cell {cell or number}" if cell or number else None
        ),
        input=(
            *_show_change(wanted.notebook_path, before, after),
            *part_builders.show_fields(("cell type", wanted.cell_type or result.cell_type)),
        ),
        output=(Output(result.error, is_error=True),) if result.error else (),
    )
