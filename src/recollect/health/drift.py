"""Find format drift: fields, kinds and values of a line that its declared type does not have.

The declared types are the only list of known names, so declaring a field is enough to make it
known. Fields declared `Raw` are opaque. Recursion follows the types, whose depth is fixed, never
the data. Names from files may contain anything, even secrets, so a report repeats only those that
look like identifiers.
"""

import re
import types
from functools import cache
from typing import NamedTuple, TypeGuard, Union, get_args, get_origin

import msgspec

from recollect.records import attachment_kinds, attachments, blocks, decoding, envelope
from recollect.records.stream import control, partial_messages, stream_messages, system_messages
from recollect.records.system_records import OtherProgress, Progress, System

ODD_NAME = "(odd name)"
NO_TYPE = "(no type)"

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", re.ASCII)
_VERSION = re.compile(r"[0-9]{1,4}\.[0-9]{1,4}\.[0-9]{1,6}[A-Za-z0-9.+-]{0,24}", re.ASCII)
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?Z")


def safe_name(name: str) -> str:
    """Return `name` if it looks like an identifier, otherwise a placeholder."""
    return name if _IDENTIFIER.fullmatch(name) else ODD_NAME


def safe_version(version: str) -> str:
    """Return `version` if it looks like a client version, otherwise a placeholder."""
    return version if _VERSION.fullmatch(version) else ODD_NAME


def is_time(text: str) -> bool:
    """Whether `text` is a UTC timestamp as clients write it, which sorts chronologically."""
    return _TIME.fullmatch(text) is not None


def name_record(record: msgspec.Struct) -> str:
    """Return the name of a transcript record in a report: its type, and its subtype or kind."""
    match record:
        case envelope.Unknown():
            return NO_TYPE if record.record_type is None else safe_name(record.record_type)
        case System():
            return _join("system", record.subtype)
        case attachments.Attachment():
            return _join("attachment", _get_kind(record.attachment))
        case Progress():
            return _join("progress", _get_kind(record.data))
    return str(record.__struct_config__.tag)


def name_message(message: msgspec.Struct) -> str:
    """Return the name of a stream message in a report."""
    match message:
        case stream_messages.UnknownMessage():
            kind, _, subtype = (message.kind or "").partition("/")
            return _join("stream", kind or NO_TYPE, subtype or None)
        case system_messages.SystemMessage() | stream_messages.Result():
            return _join("stream", str(message.__struct_config__.tag), message.subtype)
    return _join("stream", str(message.__struct_config__.tag))


def _get_kind(inner: msgspec.Struct | None) -> str | None:
    if isinstance(inner, attachment_kinds.OtherAttachment | OtherProgress):
        return inner.kind
    return None if inner is None else str(inner.__struct_config__.tag)


def _join(first: str, *names: str | None) -> str:
    safe = [name if name == NO_TYPE else safe_name(name) for name in names if name is not None]
    return "/".join([first, *safe])


Parts = dict[str, msgspec.Raw]

_decode_object = msgspec.json.Decoder(Parts).decode
_decode_array = msgspec.json.Decoder(list[msgspec.Raw]).decode


class Drift(NamedTuple):
    """Paths of unknown fields and names of unknown kinds, one entry per occurrence."""

    fields: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()


class _UnionFallback(msgspec.Struct, frozen=True):
    """How a report treats members of a tagged union without a separate class."""

    name: str
    known: frozenset[str] = frozenset()
    """Tags that are known without a class."""
    is_open: bool = False
    """Whether any tag is accepted."""


_FALLBACKS: dict[type[msgspec.Struct], _UnionFallback] = {
    blocks.UnknownBlock: _UnionFallback("block"),
    attachment_kinds.OtherAttachment: _UnionFallback(
        "attachment", known=attachments.KINDS_KNOWN_BY_NAME
    ),
    OtherProgress: _UnionFallback("progress"),
    partial_messages.OtherEvent: _UnionFallback("stream_event"),
    partial_messages.OtherDelta: _UnionFallback("delta"),
    control.OtherRequest: _UnionFallback("control_request", is_open=True),
}
"""By the class to which members without a separate class are decoded."""


class _Plan(msgspec.Struct, frozen=True):
    """How to check a value: as one of several structs, an array, or an object with any keys."""

    structs: dict[str, type[msgspec.Struct]]
    tag_field: str | None
    fallback: _UnionFallback | None
    item: "_Plan | None"
    value: "_Plan | None"


class _Shape(msgspec.Struct, frozen=True):
    """The field names of a struct, and how to check the fields that contain structs."""

    names: frozenset[str]
    parts: tuple[tuple[str, _Plan], ...]


def find_drift(line: bytes, kind: type[msgspec.Struct]) -> Drift:
    """Return what `line`, decoded as `kind`, has that `kind` does not declare."""
    return _find_strictly(line, kind) or _find_strictly(decoding.repair(line), kind) or Drift()


def find_misfit_fields(line: bytes, kind: type[msgspec.Struct]) -> tuple[str, ...]:
    """Return the fields of `line`, decoded as `kind`, whose values have the wrong type."""
    try:
        decoding.make_decoder(kind).decode(line)
    except envelope.REFUSED:
        return decoding.find_misfits(line)
    return ()


def _find_strictly(line: bytes, kind: type[msgspec.Struct]) -> Drift | None:
    search = _Search()
    try:
        search.check_struct(_decode_object(line), kind, "")
    except envelope.REFUSED:
        return None
    return Drift(tuple(search.fields), tuple(search.kinds))


class _Search:
    """Walks the JSON of a line in parallel with the types it was decoded as."""

    def __init__(self) -> None:
        self.fields: list[str] = []
        self.kinds: list[str] = []

    def check_struct(self, parts: Parts, kind: type[msgspec.Struct], path: str) -> None:
        shape = _make_shape(kind)
        prefix = f"{path}." if path else ""
        self.fields.extend(prefix + safe_name(name) for name in parts.keys() - shape.names)
        for name, plan in shape.parts:
            part = parts.get(name)
            if part is not None:
                self._check_value(part, plan, prefix + name)

    def _check_value(self, raw: msgspec.Raw, plan: _Plan, path: str) -> None:
        first = memoryview(raw)[:1].tobytes()
        if first == b"[" and plan.item:
            for part in _decode_array(raw):
                self._check_value(part, plan.item, f"{path}[]")
        elif first == b"{" and plan.value:
            for part in _decode_object(raw).values():
                self._check_value(part, plan.value, f"{path}.*")
        elif first == b"{":
            self._check_member(_decode_object(raw), plan, path)

    def _check_member(self, parts: Parts, plan: _Plan, path: str) -> None:
        tag = "" if plan.tag_field is None else _find_tag(parts, plan.tag_field)
        if tag in plan.structs:
            self.check_struct(parts, plan.structs[tag], _name_item(path, tag))
        elif plan.fallback and not plan.fallback.is_open and tag not in plan.fallback.known:
            self.kinds.append(f"{plan.fallback.name}/{safe_name(tag) if tag else NO_TYPE}")


def _find_tag(parts: Parts, tag_field: str) -> str | None:
    tag = parts.get(tag_field)
    if tag is None or not bytes(tag).startswith(b'"'):
        return None
    return msgspec.json.decode(tag, type=str)


def _name_item(path: str, tag: str) -> str:
    """Return a path with the tag of an array item: `content[text]` instead of `content[]`."""
    return f"{path[:-1]}{tag}]" if tag and path.endswith("[]") else path


@cache
def _make_shape(kind: type[msgspec.Struct]) -> _Shape:
    fields = [
        info for info in msgspec.structs.fields(kind) if info.encode_name != envelope.SPAN_KEY
    ]
    tag_field = kind.__struct_config__.tag_field
    names = {info.encode_name for info in fields} | ({tag_field} if tag_field else set())
    plans = ((info.encode_name, _make_plan(info.type)) for info in fields)
    return _Shape(frozenset(names), tuple((name, plan) for name, plan in plans if plan))


def _make_plan(wanted: object) -> _Plan | None:
    """Return how to check a value of type `wanted`; None if it is opaque."""
    members = _list_members(wanted)
    items = [_make_plan(get_args(member)[0]) for member in members if get_origin(member) is tuple]
    values = [_make_plan(get_args(member)[1]) for member in members if get_origin(member) is dict]
    structs = [member for member in members if _is_struct(member)]
    if not structs and not any(items) and not any(values):
        return None
    return _Plan(
        structs={_get_tag(struct): struct for struct in structs if struct not in _FALLBACKS},
        tag_field=structs[0].__struct_config__.tag_field if structs else None,
        fallback=next((_FALLBACKS[struct] for struct in structs if struct in _FALLBACKS), None),
        item=next(iter(items), None),
        value=next(iter(values), None),
    )


def _get_tag(struct: type[msgspec.Struct]) -> str:
    return str(struct.__struct_config__.tag or "")


def _list_members(wanted: object) -> tuple[object, ...]:
    is_union = get_origin(wanted) in (Union, types.UnionType)
    return get_args(wanted) if is_union else (wanted,)


def _is_struct(member: object) -> TypeGuard[type[msgspec.Struct]]:
    return isinstance(member, type) and issubclass(member, msgspec.Struct)
