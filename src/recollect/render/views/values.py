"""Texts, listings and JSON of any shape → parts; nothing to show is no part at all.

JSON is named values where it is flat and indented text where it is not.
"""

from collections.abc import Iterable

import msgspec
from msgspec import Raw

from recollect.records.decoding import REFUSED, decode_value
from recollect.records.envelope import is_absent
from recollect.render.views.parts import Entries, Entry, Fields, Json, Part, Plain, Prose

_NESTED = (b"{", b"[")


def show_json(raw: Raw | bytes) -> Json:
    """`raw` indented; as it is where it is no JSON."""
    data = bytes(raw)
    try:
        data = msgspec.json.format(data, indent=2)
    except REFUSED:
        return Json(data.decode(errors="replace"))
    return Json(data.decode(errors="replace"))


def show_value(raw: Raw | bytes) -> tuple[Part, ...]:
    """An object without inner ones as named values, anything else as JSON, nothing as nothing."""
    data = Raw(bytes(raw))
    if is_absent(data):
        return ()
    values = decode_value(data, dict[str, Raw])
    if values is None:
        return (show_json(data),)
    if any(bytes(value).lstrip().startswith(_NESTED) for value in values.values()):
        return (show_json(data),)
    return show_fields(*((name, show_scalar(value)) for name, value in values.items()))


def show_scalar(raw: Raw) -> str:
    """A string's own text; for other values what is written."""
    text = decode_value(raw, str) if bytes(raw).lstrip().startswith(b'"') else None
    return bytes(raw).decode(errors="replace").strip() if text is None else text


def show_prose(text: str | None) -> tuple[Part, ...]:
    """Words that somebody wrote."""
    return (Prose(text),) if text and text.strip() else ()


def show_plain(text: str | None) -> tuple[Part, ...]:
    """Words without markup."""
    return (Plain(text),) if text and text.strip() else ()


def show_entries(entries: Iterable[Entry], omitted: int = 0) -> tuple[Part, ...]:
    """A listing."""
    listed = tuple(entries)
    return (Entries(listed, omitted),) if listed else ()


def show_fields(*fields: tuple[str, object]) -> tuple[Part, ...]:
    """Those of `fields` that have a value, as one part, or none."""
    known = tuple((name, _show(value)) for name, value in fields if value not in (None, "", ()))
    return (Fields(known),) if known else ()


def _show(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)
