"""Render each kind of part as lines for a terminal."""

import binascii
from collections.abc import Callable, Iterator
from typing import Any

from rich.text import Text

from recollect.documents.turns import (
    CheckItem,
    Checklist,
    CheckState,
    Choice,
    Code,
    Diff,
    Entries,
    Entry,
    Fields,
    Json,
    Output,
    Part,
    Picture,
    Plain,
    Prose,
    Question,
)
from recollect.quantities import format_bytes, format_count
from recollect.render.terminal.ansi_output import Ink, iter_runs
from recollect.render.terminal.canvas import Canvas, indent
from recollect.render.terminal.prose import draw_plain, draw_prose
from recollect.render.terminal.safe_text import measure, safe_text
from recollect.render.terminal.source_code import describe_change, draw_code, draw_diff

_MAX_NAME_WIDTH = 20
_BOXES = {
    CheckState.PENDING: ("☐", ""),
    CheckState.ACTIVE: ("▶", "bold yellow"),
    CheckState.DONE: ("✓", "green"),
    CheckState.DROPPED: ("✗", "dim strike"),
}
_WORD_STYLES = {
    CheckState.PENDING: "",
    CheckState.ACTIVE: "bold",
    CheckState.DONE: "dim",
    CheckState.DROPPED: "dim strike",
}


def draw_part(part: Part, canvas: Canvas, columns: int) -> Iterator[str]:
    """Yield the lines of a part, none wider than `columns`."""
    return _DRAW[type(part)](part, canvas, columns)


def _draw_prose(part: Prose, canvas: Canvas, columns: int) -> Iterator[str]:
    return draw_prose(part.text, canvas, columns)


def _draw_plain(part: Plain, canvas: Canvas, columns: int) -> Iterator[str]:
    return draw_plain(part.text, canvas, columns)


def _draw_code(part: Code, canvas: Canvas, columns: int) -> Iterator[str]:
    return draw_code(part, canvas, columns)


def _draw_json(part: Json, canvas: Canvas, columns: int) -> Iterator[str]:
    return draw_code(Code(part.text, language="json"), canvas, columns)


def _draw_output(part: Output, canvas: Canvas, columns: int) -> Iterator[str]:
    """Yield the output of a program in its colours; errors are red."""
    line = Text()
    for words, ink in iter_runs(part.text.replace("\r\n", "\n").strip("\n")):
        style = _style_of(ink) or ("red" if part.is_error else "")
        first, *others = words.split("\n")
        line.append(first, style)
        for other in others:
            yield from canvas.fold(line, columns)
            line = Text(other, style)
    yield from canvas.fold(line, columns)


def _style_of(ink: Ink) -> str:
    flags = ("bold", "dim", "italic", "underline", "strike", "reverse")
    return " ".join([*([ink.hue] if ink.hue else []), *(f for f in flags if getattr(ink, f))])


def _draw_diff(part: Diff, canvas: Canvas, columns: int) -> Iterator[str]:
    path = _one_line(part.path or "(unnamed)")
    title = Text.assemble((path, "bold"), (f"  {describe_change(part)}", "dim"))
    yield from canvas.fold(title, columns)
    yield from draw_diff(part, canvas, columns)


def _draw_checklist(part: Checklist, canvas: Canvas, columns: int) -> Iterator[str]:
    for item in part.items:
        yield from _draw_item(item, canvas, columns)


def _draw_item(item: CheckItem, canvas: Canvas, columns: int) -> Iterator[str]:
    box, style = _BOXES[item.state]
    note = f"  {safe_text(item.note)}" if item.note else ""
    words = Text.assemble((safe_text(item.text), _WORD_STYLES[item.state]), (note, "dim"))
    yield from _hang(box, style, words, canvas, columns)


def _draw_entries(part: Entries, canvas: Canvas, columns: int) -> Iterator[str]:
    for entry in part.entries:
        yield from canvas.fold(_describe_entry(entry), columns)
    if part.omitted:
        yield from canvas.fold(Text(f"… and {part.omitted:,} more", "dim"), columns)


def _describe_entry(entry: Entry) -> Text:
    """Return the location, and then the text; a list of paths does not repeat them."""
    line = Text()
    place = entry.path or entry.url or ""
    if place and place != entry.text:
        line.append(_one_line(place), "cyan" if entry.path else "underline")
        line.append(f":{entry.line}" if entry.line is not None else "", "dim")
        line.append("  " if entry.text else "")
    line.append(_one_line(entry.text.expandtabs()))
    if entry.path and entry.url:
        line.append(f"  {_one_line(entry.url)}", "underline")
    if entry.note:
        line.append(f"  {_one_line(entry.note)}", "dim")
    return line


def _draw_fields(part: Fields, canvas: Canvas, columns: int) -> Iterator[str]:
    names = [_one_line(name) for name, _ in part.fields]
    width = min(max(map(measure, names), default=0), _MAX_NAME_WIDTH, columns // 3)
    for name, (_, value) in zip(names, part.fields, strict=True):
        # A name that is too long gets a line of its own instead of being cut.
        is_long = measure(name) > width
        if is_long:
            yield from canvas.fold(Text(name, "dim"), columns)
        label = "" if is_long else name
        margin = canvas.styled(label + " " * (width - measure(label) + 2), "dim")
        lines = draw_plain(value, canvas, max(columns - width - 2, 1))
        yield from indent(lines, margin, " " * (width + 2))


def _draw_question(part: Question, canvas: Canvas, columns: int) -> Iterator[str]:
    question = Text()
    if part.header:
        question.append(f"{safe_text(part.header)}  ", "dim")
    question.append(safe_text(part.text), "bold")
    yield from canvas.wrap(question, columns)
    for choice in part.choices:
        yield from _draw_choice(choice, canvas, columns)
    if part.answer is not None:
        yield from _hang(">", "green", Text(safe_text(part.answer), "green"), canvas, columns)


def _draw_choice(choice: Choice, canvas: Canvas, columns: int) -> Iterator[str]:
    label = (safe_text(choice.label), "bold green" if choice.is_chosen else "")
    description = f"  {safe_text(choice.description)}" if choice.description else ""
    words = Text.assemble(label, (description, "dim"))
    sign, style = ("●", "green") if choice.is_chosen else ("○", "dim")
    yield from _hang(sign, style, words, canvas, columns)


def _draw_picture(part: Picture, canvas: Canvas, columns: int) -> Iterator[str]:
    words = [part.media_type, _describe_size(part.data), part.name or ""]
    label = ", ".join(_one_line(word) for word in words if word)
    yield from canvas.fold(Text(f"[{label}]", "magenta"), columns)


def _describe_size(data: str) -> str:
    if not data:
        return "not in the transcript"
    try:
        return format_bytes(len(binascii.a2b_base64(data)))
    except (binascii.Error, ValueError):
        return f"{format_count(len(data), 'character')}, no base64"


def _hang(sign: str, style: str, words: Text, canvas: Canvas, columns: int) -> Iterator[str]:
    """Yield text after a sign, with further lines aligned to the first word."""
    lines = canvas.wrap(words, max(columns - 2, 1))
    yield from indent(lines, canvas.styled(sign, style) + " ", "  ")


def _one_line(text: str) -> str:
    return safe_text(text, single_line=True)


_DRAW: dict[type, Callable[[Any, Canvas, int], Iterator[str]]] = {
    Prose: _draw_prose,
    Plain: _draw_plain,
    Code: _draw_code,
    Json: _draw_json,
    Output: _draw_output,
    Diff: _draw_diff,
    Checklist: _draw_checklist,
    Entries: _draw_entries,
    Fields: _draw_fields,
    Question: _draw_question,
    Picture: _draw_picture,
}
