"""What a line has that its type does not: unknown fields, unknown kinds, values that do not fit.

The declared types are the only list of known names, so that declaring a field is all it takes to
make it known. Fields declared `Raw` are opaque: what is in them is not drift. Recursion follows
the types, whose depth is fixed, never the data.
"""

import types
from functools import cache
from typing import NamedTuple, TypeGuard, Union, get_args, get_origin

import msgspec
from msgspec import Raw, Struct

from recollect.health.naming import NO_TYPE, safe_name
from recollect.records.attachments import KINDS_KNOWN_BY_NAME
from recollect.records.attachments.kinds import OtherAttachment
from recollect.records.blocks import UnknownBlock
from recollect.records.decoding import REFUSED, find_misfits
from recollect.records.envelope import SPAN_KEY
from recollect.records.progress import OtherProgress
from recollect.records.repair import repair
from recollect.records.stream.control import OtherRequest
from recollect.records.stream.events import OtherDelta, OtherEvent

Parts = dict[str, Raw]

_decode_object = msgspec.json.Decoder(Parts).decode
_decode_array = msgspec.json.Decoder(list[Raw]).decode


class Drift(NamedTuple):
    """Paths of unknown fields and names of unknown kinds, one entry for each time they occur."""

    fields: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()


class _Family(Struct, frozen=True):
    """The members of a tagged union: what they are called, and which need no class to be known."""

    name: str
    known: frozenset[str] = frozenset()
    is_open: bool = False


_FAMILIES: dict[type[Struct], _Family] = {
    UnknownBlock: _Family("block"),
    OtherAttachment: _Family("attachment", known=KINDS_KNOWN_BY_NAME),
    OtherProgress: _Family("progress"),
    OtherEvent: _Family("stream_event"),
    OtherDelta: _Family("delta"),
    OtherRequest: _Family("control_request", is_open=True),
}
"""By the member that stands for whatever has no class of its own."""


class _Plan(Struct, frozen=True):
    """How to look into a value: as one of several structs, an array, an object with free keys."""

    structs: dict[str, type[Struct]]
    tag_field: str | None
    family: _Family | None
    item: "_Plan | None"
    value: "_Plan | None"


class _Shape(Struct, frozen=True):
    """The names that a struct declares, and how to look into those that hold structs."""

    names: frozenset[str]
    parts: tuple[tuple[str, _Plan], ...]


def find_drift(line: bytes, kind: type[Struct]) -> Drift:
    """What `line`, which was read as a `kind`, has beyond what `kind` declares."""
    return _find_strictly(line, kind) or _find_strictly(repair(line), kind) or Drift()


def find_misfit_fields(line: bytes, kind: type[Struct]) -> tuple[str, ...]:
    """The fields of `line`, which was read as a `kind`, whose value `kind` cannot hold."""
    try:
        _decoder_of(kind).decode(line)
    except REFUSED:
        return find_misfits(line)
    return ()


@cache
def _decoder_of(kind: type[Struct]) -> msgspec.json.Decoder[Struct]:
    return msgspec.json.Decoder(kind)


def _find_strictly(line: bytes, kind: type[Struct]) -> Drift | None:
    search = _Search()
    try:
        search.look_at_struct(_decode_object(line), kind, "")
    except REFUSED:
        return None
    return Drift(tuple(search.fields), tuple(search.kinds))


class _Search:
    """One walk over the JSON of a line, side by side with the types that it was read as."""

    def __init__(self) -> None:
        self.fields: list[str] = []
        self.kinds: list[str] = []

    def look_at_struct(self, parts: Parts, kind: type[Struct], path: str) -> None:
        shape = _shape_of(kind)
        prefix = f"{path}." if path else ""
        self.fields.extend(prefix + safe_name(name) for name in parts.keys() - shape.names)
        for name, plan in shape.parts:
            part = parts.get(name)
            if part is not None:
                self._look_at(part, plan, prefix + name)

    def _look_at(self, raw: Raw, plan: _Plan, path: str) -> None:
        first = memoryview(raw)[:1].tobytes()
        if first == b"[" and plan.item:
            for part in _decode_array(raw):
                self._look_at(part, plan.item, f"{path}[]")
        elif first == b"{" and plan.value:
            for part in _decode_object(raw).values():
                self._look_at(part, plan.value, f"{path}.*")
        elif first == b"{":
            self._look_at_member(_decode_object(raw), plan, path)

    def _look_at_member(self, parts: Parts, plan: _Plan, path: str) -> None:
        tag = "" if plan.tag_field is None else _find_tag(parts, plan.tag_field)
        if tag in plan.structs:
            self.look_at_struct(parts, plan.structs[tag], _name_item(path, tag))
        elif plan.family and not plan.family.is_open and tag not in plan.family.known:
            self.kinds.append(f"{plan.family.name}/{safe_name(tag) if tag else NO_TYPE}")


def _find_tag(parts: Parts, tag_field: str) -> str | None:
    tag = parts.get(tag_field)
    if tag is None or not bytes(tag).startswith(b'"'):
        return None
    return msgspec.json.decode(tag, type=str)


def _name_item(path: str, tag: str) -> str:
    """An array's item is named by its tag: `content[text]` says more than `content[]`."""
    return f"{path[:-1]}{tag}]" if tag and path.endswith("[]") else path


@cache
def _shape_of(kind: type[Struct]) -> _Shape:
    fields = [info for info in msgspec.structs.fields(kind) if info.encode_name != SPAN_KEY]
    tag_field = kind.__struct_config__.tag_field
    names = {info.encode_name for info in fields} | ({tag_field} if tag_field else set())
    plans = ((info.encode_name, _plan_for(info.type)) for info in fields)
    return _Shape(frozenset(names), tuple((name, plan) for name, plan in plans if plan))


def _plan_for(wanted: object) -> _Plan | None:
    """How to look into a value of type `wanted`; None when it is opaque."""
    members = _members_of(wanted)
    items = [_plan_for(get_args(member)[0]) for member in members if get_origin(member) is tuple]
    values = [_plan_for(get_args(member)[1]) for member in members if get_origin(member) is dict]
    structs = [member for member in members if _is_struct(member)]
    if not structs and not any(items) and not any(values):
        return None
    return _Plan(
        structs={_tag_of(struct): struct for struct in structs if struct not in _FAMILIES},
        tag_field=structs[0].__struct_config__.tag_field if structs else None,
        family=next((_FAMILIES[struct] for struct in structs if struct in _FAMILIES), None),
        item=next(iter(items), None),
        value=next(iter(values), None),
    )


def _tag_of(struct: type[Struct]) -> str:
    return str(struct.__struct_config__.tag or "")


def _members_of(wanted: object) -> tuple[object, ...]:
    is_union = get_origin(wanted) in (Union, types.UnionType)
    return get_args(wanted) if is_union else (wanted,)


def _is_struct(member: object) -> TypeGuard[type[Struct]]:
    return isinstance(member, type) and issubclass(member, Struct)
