"""Find what the view of a tool call leaves out, for when everything is to be shown.

Views select and reword, so missing texts are found by comparison: a text counts as shown if each of
its lines is somewhere in the view, a long one also inside another line. This is expensive, and done
only for `--tools full`, an opened call on a page, and records with other texts.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Final

import msgspec

from recollect.documents import turn_documents
from recollect.records.blocks import Document, Image, ServerToolResult, Text, ToolResult
from recollect.records.decoding import decode_value
from recollect.records.tools import TextResult, ToolOutput
from recollect.records.tools.file_tools import count_text_lines
from recollect.render.views import part_builders
from recollect.session.session import Session
from recollect.session.tool_calls import ToolCall

_MAX_DEPTH: Final = 20
_LONG: Final = 8
"""Minimum length of a line that also counts as shown inside another one."""

_NUMBER: Final = re.compile(r"\d{1,9}[→\t]")
_DATA_URL: Final = re.compile(r"data:[\w.+/-]{1,80};base64,")

Leaf = tuple[str, str]
"""A path and the value at it: `edits[0].old_string`."""


class ShownTexts:
    """The texts of some lines and parts."""

    def __init__(self, lines: Iterable[str], parts: tuple[turn_documents.Part, ...]) -> None:
        facts = (fact for line in lines for fact in line.split(part_builders.FACT_SEPARATOR))
        texts = [*facts, *(text for part in parts for text in _iter_texts(part))]
        self._lines = {"", *map(str.strip, "\n".join(texts).split("\n"))}
        self._texts = texts
        self._pictures = {part.data for part in parts if isinstance(part, turn_documents.Picture)}

    def lacks(self, text: str) -> bool:
        """Return whether some line of `text` is missing."""
        if self._pictures and {text, _DATA_URL.sub("", text, count=1)} & self._pictures:
            return False
        return any(True for _ in self.iter_missing(text))

    def iter_missing(self, text: str) -> Iterator[str]:
        """Yield the lines of `text` that are missing."""
        shown, lines = self._lines, text.split("\n")
        # Nearly all lines are shown as they are, and outputs have many.
        if shown.issuperset(map(str.strip, lines)):
            return
        for line in lines:
            if line.strip() not in shown and not self._has_reworded(line):
                yield line

    def _has_reworded(self, line: str) -> bool:
        number = _NUMBER.match(line.lstrip())
        if number is not None and line.lstrip()[number.end() :].strip() in self._lines:
            return True
        text = line.strip()
        return len(text) >= _LONG and text.casefold() in self._all

    @cached_property
    def _all(self) -> str:
        return "\n".join(self._texts).casefold()


def read_step(step: turn_documents.Step) -> str:
    """Return all texts that a step shows, one after the other."""
    match step:
        case turn_documents.ToolStep():
            lines = [step.title, step.summary, *map(read_step, step.hooks)]
            parts = (*step.input, *step.output)
        case turn_documents.ThinkingStep():
            lines, parts = [step.text], ()
        case turn_documents.NoticeStep():
            lines, parts = [step.title], step.parts
        case _:
            lines, parts = [], step.parts
    return "\n".join((*lines, *(text for part in parts for text in _iter_texts(part))))


def iter_leaves(value: object, place: str, depth: int = 0) -> Iterator[Leaf]:
    """Yield the values in a JSON value in order, without false flags and empty values."""
    if depth > _MAX_DEPTH:
        yield place, msgspec.json.encode(value).decode()
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from iter_leaves(inner, f"{place}.{name}" if place else str(name), depth + 1)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from iter_leaves(inner, f"{place}[{number}]", depth + 1)
    elif value is True:
        yield place, "true"
    elif value not in (None, False, ""):
        yield place, str(value)


def decode_any(raw: msgspec.Raw | bytes) -> object:
    """Return the JSON value in `raw`; None if there is none."""
    return decode_value(raw, object) if bytes(raw) else None


def _iter_texts(part: turn_documents.Part) -> Iterator[str]:
    match part:
        case turn_documents.Diff(path=path, hunks=hunks):
            yield path or ""
            yield from (text for hunk in hunks for text in _iter_hunk(hunk))
        case turn_documents.Checklist(items=items):
            yield from _iter_known(text for item in items for text in (item.text, item.note))
        case turn_documents.Entries(entries=entries):
            for entry in entries:
                yield from _list_entry(entry)
        case turn_documents.Fields(fields=fields):
            yield from (text for _, value in fields for text in (value, *value.split(", ")))
        case turn_documents.Question(text=text, header=header, answer=answer, choices=choices):
            yield from _iter_known((text, header, answer))
            yield from (each for choice in choices for each in (choice.label, choice.description))
        case turn_documents.Picture(name=name, media_type=media_type):
            yield from _iter_known((name, media_type))
        case turn_documents.Code(text=text, first_line=first) if first is not None:
            lines = count_text_lines(text)
            yield from (text, str(first), str(lines), str(first + lines - 1))
        case turn_documents.Json(text=text):
            yield text
            yield from (
                leaf for _, leaf in iter_leaves(decode_any(text.encode(errors="replace")), "")
            )
        case _:
            yield part.text


def _iter_hunk(hunk: turn_documents.Hunk) -> Iterator[str]:
    for line in hunk.lines:
        yield from (line, line[1:])
    numbers = (hunk.old_start, hunk.old_lines, hunk.new_start, hunk.new_lines)
    yield from map(str, numbers)


def _list_entry(entry: turn_documents.Entry) -> list[str]:
    """Return the texts of a listed entry, also joined as ripgrep writes them."""
    path, match, context = entry.path, f"{entry.line}:{entry.text}", f"{entry.line}-{entry.text}"
    return [
        *_iter_known((entry.text, path, entry.url)),
        *(entry.note or "").split(part_builders.FACT_SEPARATOR),
        *(match, f"{path}:{match}", context, f"{path}-{context}"),
    ]


def _iter_known(texts: Iterable[str | None]) -> Iterator[str]:
    return (text for text in texts if text)


_ERROR: Final = "Error: "
"""Prefix that the client adds to the text of a failure that it keeps as a result."""


def show_whole_calls(view: turn_documents.TurnView, session: Session) -> turn_documents.TurnView:
    """Return `view` with the complete input and output of its calls."""
    return msgspec.structs.replace(
        view, steps=tuple(show_whole_call(step, session) for step in view.steps)
    )


def show_whole_call(step: turn_documents.Step, session: Session) -> turn_documents.Step:
    """Return `step` with its complete input and output, if it is a call."""
    call = (
        session.find_tool_call(step.call_id) if isinstance(step, turn_documents.ToolStep) else None
    )
    return (
        complete_call(step, call)
        if isinstance(step, turn_documents.ToolStep) and call is not None
        else step
    )


def complete_call(
    step: turn_documents.ToolStep, call: ToolCall, directory: str | None = None
) -> turn_documents.ToolStep:
    """Return `step` with the parts of the input and result of `call` that it does not show.

    Of a path below `directory` it only shows what is relative to it.
    """
    title = part_builders.shorten_path(step.title, directory)
    parts = tuple(
        part_builders.shorten_entries(part, directory)
        if isinstance(part, turn_documents.Entries)
        else part
        for part in (*step.input, *step.output)
    )
    shown = ShownTexts((title, step.summary), parts)
    wanted = [leaf for leaf in iter_leaves(decode_any(call.raw_input), "") if shown.lacks(leaf[1])]
    result = call.result
    answered = [leaf for leaf in _iter_answer(call, result) if shown.lacks(leaf[1])]
    missing = [line for text in _iter_words(call, result) for line in shown.iter_missing(text)]
    words = [line for line in missing if shown.lacks(line)]
    return msgspec.structs.replace(
        step,
        input=(*step.input, *part_builders.show_fields(*wanted)),
        output=(
            *step.output,
            *part_builders.show_plain("\n".join(words)),
            *part_builders.show_fields(*answered),
        ),
    )


def _iter_words(call: ToolCall, result: ToolOutput | None) -> Iterator[str]:
    """Yield what the model saw, and what the client kept if that is only text."""
    yield call.text
    if isinstance(result, TextResult):
        yield result.text.removeprefix(_ERROR)


def _iter_answer(call: ToolCall, result: ToolOutput | None) -> Iterator[Leaf]:
    block = call.block
    if isinstance(block, ServerToolResult):
        yield from iter_leaves(decode_any(block.content), "")
    elif isinstance(block, ToolResult) and isinstance(block.content, tuple):
        # Texts are what the model saw, and pictures are in every view.
        others = [
            each for each in block.content if not isinstance(each, str | Text | Image | Document)
        ]
        yield from iter_leaves(decode_any(msgspec.json.encode(others)), "")
    if not isinstance(result, TextResult):
        yield from iter_leaves(decode_any(call.raw_result), "")
