"""Forms of MCP servers: fields from the JSON schema of a request, and values from the answers.

A server may ask for texts, numbers, yes or no, and choices; a property of any other kind is asked
for as JSON. Choices are named by their positions, so that only what the server offers can be sent.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal

import msgspec
from msgspec import Raw, Struct, field

from recollect.errors import UsageError
from recollect.records.decoding import decode_value

FieldKind = Literal["text", "number", "integer", "boolean", "choice", "choices", "json"]
MAX_FIELDS: Final = 100
_PLAIN: Final[dict[str, FieldKind]] = {
    "string": "text",
    "number": "number",
    "integer": "integer",
    "boolean": "boolean",
}


class FormOption(Struct, frozen=True):
    """Something that can be chosen."""

    value: str
    label: str


class FormField(Struct, frozen=True, kw_only=True):
    """A value that a server asks for."""

    name: str
    kind: FieldKind
    title: str
    description: str = ""
    options: tuple[FormOption, ...] = ()
    is_required: bool = False
    default: str = ""
    """As text: the value of an option, `true`, a number."""


class _Choice(Struct, frozen=True):
    const: str = ""
    title: str = ""


class _Property(Struct, frozen=True, kw_only=True):
    type: str = ""
    title: str = ""
    description: str = ""
    default: Raw = Raw()
    enum: tuple[str, ...] = ()
    enum_names: tuple[str, ...] = field(default=(), name="enumNames")
    one_of: tuple[_Choice, ...] = field(default=(), name="oneOf")
    any_of: tuple[_Choice, ...] = field(default=(), name="anyOf")
    items: Raw = Raw()


class _Schema(Struct, frozen=True):
    properties: dict[str, Raw] = {}
    required: tuple[str, ...] = ()


def read_form(form: Raw) -> tuple[FormField, ...]:
    """Return the fields of a form, in its order; none if the schema cannot be read."""
    schema = (decode_value(form, _Schema) if bytes(form) else None) or _Schema()
    named = list(schema.properties.items())[:MAX_FIELDS]
    return tuple(_read_field(name, raw, name in schema.required) for name, raw in named)


def _read_field(name: str, raw: Raw, is_required: bool) -> FormField:
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

    `texts` and `chosen` are by the position of the field; choices are positions of its options.
    What is left empty is left out. Raises UsageError if something is missing or is not a value.
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
        raise UsageError(f"{wanted.title} has no such choice.")
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
