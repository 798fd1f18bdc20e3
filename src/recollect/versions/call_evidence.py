"""A tool call → what it says about the file that it read or changed.

The client's result object counts, not the input: it has what was found and written. Calls of
subagents have none in newer clients; there the input and the numbered lines are all there is.
"""

from __future__ import annotations

import re
from typing import Final

from recollect.records.tools.file_tools import (
    EditInput,
    EditResult,
    EditStep,
    MultiEditInput,
    MultiEditResult,
    NotebookEditInput,
    NotebookEditResult,
    ReadInput,
    ReadText,
    WriteInput,
    WriteResult,
)
from recollect.session.tool_calls import ToolCall
from recollect.versions.evidence import (
    Change,
    FileEvidence,
    Origin,
    Sighting,
    SightingKind,
    Window,
)
from recollect.versions.file_texts import normalize

_NUMBERED: Final = re.compile(r" *(\d+)(?:\t|→)(.*)")


def read_file_call(call: ToolCall, path: str, origin: Origin) -> FileEvidence | None:
    """Return what a successful call says about the file at `path`."""
    wanted, result = call.input, call.result
    match wanted:
        case ReadInput():
            return _read_lines(call, result, path, origin)
        case WriteInput():
            return _read_write(call, wanted, result, path, origin)
        case EditInput() | MultiEditInput():
            return _read_edit(wanted, result, path, origin)
        case NotebookEditInput():
            has_result = isinstance(result, NotebookEditResult)
            found = result if isinstance(result, NotebookEditResult) else NotebookEditResult()
            if found.error:
                return None
            return Change(
                path=path,
                origin=origin,
                before=_normal(found.original_file),
                after=_normal(found.updated_file),
                has_result=has_result,
                cell=wanted.new_source,
            )
    return None


def _normal(text: str | None) -> str | None:
    return None if text is None else normalize(text)


def _read_lines(call: ToolCall, result: object, path: str, origin: Origin) -> FileEvidence | None:
    if not isinstance(result, ReadText):
        return _read_numbered(call.text, path, origin)
    file = result.file
    start = file.start_line or 1
    is_whole = (
        start == 1
        and file.num_lines is not None
        and file.num_lines == file.total_lines
        and not file.truncated_by_token_cap
    )
    text = normalize(file.content)
    if is_whole:
        return Sighting(path=path, origin=origin, kind=SightingKind.READ, text=text)
    lines = text.split("\n")
    return Window(
        path=path,
        origin=origin,
        start=start,
        # The last line may have been cut.
        lines=tuple(lines[: file.num_lines or len(lines)][:-1]),
        total=file.total_lines,
    )


def _read_numbered(text: str, path: str, origin: Origin) -> Window | None:
    """Read the numbered lines that the model saw, for a call without a result object."""
    matches = [_NUMBERED.fullmatch(line) for line in text.split("\n")]
    found = [(int(match[1]), match[2]) for match in matches if match]
    if not found or found[0][0] < 1:
        return None
    start = found[0][0]
    lines = [line for at, (number, line) in enumerate(found) if number == start + at]
    return Window(path=path, origin=origin, start=start, lines=tuple(lines[:-1]))


def _read_write(
    call: ToolCall, wanted: WriteInput, result: object, path: str, origin: Origin
) -> Change:
    if not isinstance(result, WriteResult) or result.type is None:
        return Change(
            path=path,
            origin=origin,
            after=normalize(wanted.content),
            is_new=call.text.startswith("File created"),
            has_result=False,
        )
    return Change(
        path=path,
        origin=origin,
        before=_normal(result.original_file),
        after=normalize(result.content),
        is_new=result.type == "create",
        hunks=result.structured_patch,
        is_modified=result.user_modified,
    )


def _read_edit(
    wanted: EditInput | MultiEditInput, result: object, path: str, origin: Origin
) -> Change:
    steps: tuple[EditStep, ...]
    match result:
        case EditResult() if result.structured_patch or result.original_file is not None:
            steps = (
                EditStep(
                    old_string=result.old_string,
                    new_string=result.new_string,
                    replace_all=result.replace_all,
                ),
            )
            before, is_stale = result.original_file, result.stale_recovered
        case MultiEditResult() if result.structured_patch:
            steps, before, is_stale = result.edits, result.original_file_contents, False
        case _:
            return Change(path=path, origin=origin, steps=_plan_steps(wanted), has_result=False)
    return Change(
        path=path,
        origin=origin,
        before=_normal(before),
        is_new=before == "" and not steps[0].old_string,
        steps=steps,
        hunks=result.structured_patch,
        is_stale=is_stale,
        is_modified=result.user_modified,
    )


def _plan_steps(wanted: EditInput | MultiEditInput) -> tuple[EditStep, ...]:
    if isinstance(wanted, MultiEditInput):
        return wanted.edits
    # Without a result nothing says what was written: the client strips blanks at line ends.
    is_markdown = wanted.file_path.lower().endswith((".md", ".mdx"))
    new = wanted.new_string
    stripped = "\n".join(line.rstrip(" \t\r") for line in new.split("\n"))
    return (
        EditStep(
            old_string=wanted.old_string,
            new_string=new if is_markdown else stripped,
            replace_all=wanted.replace_all,
        ),
    )
