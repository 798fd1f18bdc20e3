"""What a tool would do if it were allowed: for edits, the difference to the file as it is now.

A request has only the strings to replace; where they are, and what a new content would remove, is
in the file. If that cannot be read, or the edit does not apply, the view of the tool is shown.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from msgspec import Raw
from msgspec.structs import replace

from recollect.documents.turns import Diff, Hunk
from recollect.library.processes import read_small
from recollect.records.tools import parse_input
from recollect.records.tools.file_tools import EditInput, EditStep, MultiEditInput, WriteInput
from recollect.render.views.part_builders import compare, show_addition, split_lines
from recollect.render.views.tools import ToolView, describe_call
from recollect.session.tool_calls import ToolCall

MAX_FILE: Final = 4 * 1024 * 1024
_CONTEXT: Final = 3


def describe_proposal(tool: str, given: Raw, call_id: str = "") -> ToolView:
    """Return the view of a tool call that has not been allowed yet."""
    call = ToolCall(
        id=call_id,
        recorded_name=tool,
        raw_input=given,
        message_id="",
        call_uuid=None,
        started=None,
    )
    view = describe_call(call)
    change = find_change(tool, given)
    if change is not None:
        lines = [line for hunk in change.hunks for line in hunk.lines]
        added = sum(line.startswith("+") for line in lines)
        removed = sum(line.startswith("-") for line in lines)
        return replace(view, input=(change,), output=(), summary=f"+{added:,} -{removed:,}")
    return replace(view, output=(), summary="")


def find_change(tool: str, given: Raw) -> Diff | None:
    """Return what an edit would change in its file; None for other tools, or if it is not known."""
    match parse_input(tool, given):
        case EditInput(file_path=path) as edit if path:
            step = EditStep(
                old_string=edit.old_string,
                new_string=edit.new_string,
                replace_all=edit.replace_all,
            )
            return _compare_with_file(path, (step,))
        case MultiEditInput(file_path=path, edits=steps) if path:
            return _compare_with_file(path, steps)
        case WriteInput(file_path=path, content=content) if path:
            before = _read(path)
            if before is None:
                return None
            return (
                Diff(path, compare_texts(before, content)) if before else _show_new(path, content)
            )
    return None


def _show_new(path: str, content: str) -> Diff:
    return Diff(path, show_addition(content), is_new_file=True)


def _compare_with_file(path: str, steps: Iterable[EditStep]) -> Diff | None:
    before = _read(path)
    after = None if before is None else _apply(before, steps)
    if before is None or after is None:
        return None
    return Diff(path, compare_texts(before, after))


def _read(path: str) -> str | None:
    """Return the content of a file; "" if it does not exist, and None if it cannot be compared."""
    if not Path(path).is_absolute() or "\0" in path:
        return None
    data = read_small(path, MAX_FILE)
    if data is None:
        # Unlike a path's own method, this takes a name that is too long for one of a missing file.
        return None if os.path.lexists(path) else ""
    try:
        return data.decode().replace("\r\n", "\n")
    except UnicodeDecodeError:
        return None


def _apply(text: str, steps: Iterable[EditStep]) -> str | None:
    for step in steps:
        if not step.old_string:
            text = text or step.new_string
        elif step.old_string not in text:
            return None
        else:
            text = text.replace(step.old_string, step.new_string, -1 if step.replace_all else 1)
    return text


def compare_texts(before: str, after: str) -> tuple[Hunk, ...]:
    """Return the hunks between two texts, however long: only what differs is compared."""
    old, new = split_lines(before), split_lines(after)
    start = _count_equal(old, new)
    rest = min(len(old), len(new)) - start
    end = min(_count_equal(old[::-1], new[::-1]), rest)
    first = max(start - _CONTEXT, 0)
    kept = max(end - _CONTEXT, 0)
    old_part, new_part = old[first : len(old) - kept], new[first : len(new) - kept]
    hunks = compare(_join(old_part), _join(new_part))
    if hunks is None:
        lines = (*(f"-{line}" for line in old_part), *(f"+{line}" for line in new_part))
        whole = Hunk(
            old_start=1,
            old_lines=len(old_part),
            new_start=1,
            new_lines=len(new_part),
            lines=lines,
        )
        hunks = (whole,)
    return tuple(
        replace(hunk, old_start=hunk.old_start + first, new_start=hunk.new_start + first)
        for hunk in hunks
    )


def _join(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _count_equal(one: list[str], other: list[str]) -> int:
    """Return how many lines two texts have in common at the start."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
