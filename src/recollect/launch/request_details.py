"""Details for answering a request: the form of an MCP server, and the change that a tool call would
make.

A server may request texts, numbers, booleans and choices; a property of any other type is entered
as JSON. Choices are identified by position, so only what the server offers can be sent.

A request contains only the strings to replace; their positions, and the lines that new content
would remove, come from the file. If it cannot be read, or the edit does not apply, the tool call is
shown instead.
"""

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal

import msgspec

from recollect.documents.turn_documents import Diff, Hunk
from recollect.errors import UsageError
from recollect.library.processes import read_small
from recollect.records.decoding import decode_value
from recollect.records.tools import canonical_name, parse_input, split_mcp_name
from recollect.records.tools.file_tools import EditInput, EditStep, MultiEditInput, WriteInput
from recollect.render.views.part_builders import compare, show_addition, split_lines
from recollect.render.views.tools import ToolView, describe_call
from recollect.session.tool_calls import ToolCall
from recollect.versions.file_texts import count_equal

FieldKind = Literal["text", "number", "integer", "boolean", "choice", "choices", "json"]
MAX_FIELDS: Final = 100
_PLAIN: Final[dict[str, FieldKind]] = {
    "string": "text",
    "number": "number",
    "integer": "integer",
    "boolean": "boolean",
}


class FormOption(msgspec.Struct, frozen=True):
    """An option of a choice."""

    value: str
    label: str


class FormField(msgspec.Struct, frozen=True, kw_only=True):
    """A value that a server requests."""

    name: str
    kind: FieldKind
    title: str
    description: str = ""
    options: tuple[FormOption, ...] = ()
    is_required: bool = False
    default: str = ""
    """The default as text: the value of an option, `true`, a number."""


class _Choice(msgspec.Struct, frozen=True):
    const: str = ""
    title: str = ""


class _Property(msgspec.Struct, frozen=True, kw_only=True):
    type: str = ""
    title: str = ""
    description: str = ""
    default: msgspec.Raw = msgspec.Raw()
    enum: tuple[str, ...] = ()
    enum_names: tuple[str, ...] = msgspec.field(default=(), name="enumNames")
    one_of: tuple[_Choice, ...] = msgspec.field(default=(), name="oneOf")
    any_of: tuple[_Choice, ...] = msgspec.field(default=(), name="anyOf")
    items: msgspec.Raw = msgspec.Raw()


class _Schema(msgspec.Struct, frozen=True):
    properties: dict[str, msgspec.Raw] = {}
    required: tuple[str, ...] = ()


def read_form(form: msgspec.Raw) -> tuple[FormField, ...]:
    """Return the fields of a form in its order; empty if the schema cannot be read."""
    schema = (decode_value(form, _Schema) if bytes(form) else None) or _Schema()
    named = list(schema.properties.items())[:MAX_FIELDS]
    return tuple(_read_field(name, raw, name in schema.required) for name, raw in named)


def _read_field(name: str, raw: msgspec.Raw, is_required: bool) -> FormField:
    found = decode_value(raw, _Property) or _Property()
    kind, options = _find_kind(found)
    default = decode_value(found.default, str) if bytes(found.default)[:1] == b'"' else None
    return FormField(
        name=name,
        kind=kind,
        title=found.title or name,
        description=found.description,
        options=options,
        is_required=is_required,
        default=bytes(found.default).decode(errors="replace") if default is None else default,
    )


def _find_kind(found: _Property) -> tuple[FieldKind, tuple[FormOption, ...]]:
    options = _list_options(found)
    if options:
        return "choice", options
    if found.type == "array" and bytes(found.items):
        options = _list_options(decode_value(found.items, _Property) or _Property())
        return ("choices", options) if options else ("json", ())
    return _PLAIN.get(found.type, "json"), ()


def _list_options(found: _Property) -> tuple[FormOption, ...]:
    titled = found.one_of or found.any_of
    if titled:
        return tuple(FormOption(each.const, each.title or each.const) for each in titled)
    labels = found.enum_names if len(found.enum_names) == len(found.enum) else found.enum
    return tuple(map(FormOption, found.enum, labels))


def fill_form(
    form: Sequence[FormField],
    texts: Mapping[int, str],
    chosen: Mapping[int, Sequence[int]],
) -> dict[str, object]:
    """Return the values of a form by name.

    The keys of `texts` and `chosen` are positions of fields; choices are positions of options.
    Empty fields are left out. Raises UsageError if a value is missing or invalid.
    """
    values: dict[str, object] = {}
    for place, each in enumerate(form):
        value = _read_value(each, texts.get(place, ""), chosen.get(place, ()))
        if value is not None:
            values[each.name] = value
        elif each.is_required:
            raise UsageError(f"{each.title} is required.")
    return values


def _read_value(wanted: FormField, text: str, chosen: Sequence[int]) -> object | None:
    match wanted.kind:
        case "choice" | "choices":
            return _read_choices(wanted, chosen)
        case "boolean":
            return text == "true"
        case "text":
            return text or None
    return _READERS[wanted.kind](wanted.title, text.strip()) if text.strip() else None


def _read_choices(wanted: FormField, chosen: Sequence[int]) -> object | None:
    if any(not 0 <= place < len(wanted.options) for place in chosen):
        raise UsageError(f"Not a valid choice for {wanted.title}.")
    values = [wanted.options[place].value for place in chosen]
    if wanted.kind == "choices":
        return values or None
    return values[0] if values else None


def _read_number(title: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise UsageError(f"{title} must be a number.")
    return int(number) if number.is_integer() else number


def _read_integer(title: str, text: str) -> int:
    number = _read_number(title, text)
    if not isinstance(number, int):
        raise UsageError(f"{title} must be a whole number.")
    return number


def _read_json(title: str, text: str) -> object:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise UsageError(f"{title} is not JSON: {error}") from error


_READERS: Final[dict[str, Callable[[str, str], object]]] = {
    "number": _read_number,
    "integer": _read_integer,
    "json": _read_json,
}


MAX_FILE: Final = 4 * 1024 * 1024
_CONTEXT: Final = 3


def describe_proposal(tool: str, given: msgspec.Raw, call_id: str = "") -> ToolView:
    """Return the view of a tool call that has not been allowed yet."""
    mcp_name = split_mcp_name(tool)
    call = ToolCall(
        id=call_id,
        name=canonical_name(tool),
        recorded_name=tool,
        mcp_server=mcp_name[0] if mcp_name else None,
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
        return msgspec.structs.replace(
            view, input=(change,), output=(), summary=f"+{added:,} -{removed:,}"
        )
    return msgspec.structs.replace(view, output=(), summary="")


def find_change(tool: str, given: msgspec.Raw) -> Diff | None:
    """Return the change that an edit would make; None for other tools, or if it is unknown."""
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
        # Unlike `Path.read_bytes`, this treats a name that is too long like a missing file.
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
    """Return the hunks between two texts of any length; only the lines that differ are compared."""
    old, new = split_lines(before), split_lines(after)
    start = count_equal(old, new)
    rest = min(len(old), len(new)) - start
    end = min(count_equal(reversed(old), reversed(new)), rest)
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
        msgspec.structs.replace(
            hunk, old_start=hunk.old_start + first, new_start=hunk.new_start + first
        )
        for hunk in hunks
    )


def _join(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
