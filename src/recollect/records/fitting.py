"""JSON text of an unexpected shape → the typed value that comes nearest to it.

The fast decoder refuses a whole line when one field has a new type. Here the same types are
filled part by part: a field that does not fit gets its default and is named, a block or record of
an unknown type becomes the `Unknown…` member of its union. Recursion follows the types, whose
depth is fixed, never the data.
"""

from __future__ import annotations

import types
from functools import cache
from typing import Any, Union, get_args, get_origin

import msgspec
from msgspec import Raw, Struct

UNKNOWN_FIELDS = {"block_type", "kind", "record_type"}
"""Where the `Unknown…` classes keep the tag that they could not place."""


class Misfit(Exception):
    """Internal: a value that no part of the wanted type can hold."""


def fit(raw: Raw | bytes, wanted: Any, path: str, misfits: list[str]) -> Any:
    """The value of type `wanted` in `raw`; the names of fields that do not fit go to `misfits`.

    Raises `Misfit` when not even the outermost shape is right.
    """
    try:
        return msgspec.json.decode(raw, type=wanted)
    except (msgspec.ValidationError, RecursionError):
        return _fit_parts(raw, wanted, path, misfits)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise Misfit(path) from None


def _fit_parts(raw: Raw | bytes, wanted: Any, path: str, misfits: list[str]) -> Any:
    first = bytes(raw).lstrip()[:1]
    for member in _members(wanted):
        origin = get_origin(member)
        if first == b"[" and origin is tuple:
            return _fit_tuple(raw, get_args(member)[0], path, misfits)
        if first == b"{" and origin is dict:
            return _fit_dict(raw, get_args(member)[1], path, misfits)
    structs = [member for member in _members(wanted) if isinstance(member, type(Struct))]
    if first == b"{" and structs:
        return _fit_struct(raw, structs, path, misfits)
    raise Misfit(path)


def _members(wanted: Any) -> tuple[Any, ...]:
    if get_origin(wanted) in (Union, types.UnionType):
        return get_args(wanted)
    return (wanted,)


def _fit_tuple(raw: Raw | bytes, item: Any, path: str, misfits: list[str]) -> tuple[Any, ...]:
    values = []
    for number, part in enumerate(msgspec.json.decode(raw, type=list[Raw])):
        try:
            values.append(fit(part, item, f"{path}[]", misfits))
        except Misfit:
            unknown = _unknown_member(_members(item))
            if unknown is None:
                misfits.append(f"{path}[{number}]")
            else:
                values.append(unknown(raw=part))
    return tuple(values)


def _fit_dict(raw: Raw | bytes, item: Any, path: str, misfits: list[str]) -> dict[str, Any]:
    values = {}
    for key, part in msgspec.json.decode(raw, type=dict[str, Raw]).items():
        try:
            values[key] = fit(part, item, f"{path}.*", misfits)
        except Misfit:
            misfits.append(f"{path}.*")
    return values


def _fit_struct(raw: Raw | bytes, structs: list[Any], path: str, misfits: list[str]) -> Any:
    parts = msgspec.json.decode(raw, type=dict[str, Raw])
    wanted = _choose(structs, parts)
    values: dict[str, Any] = {}
    for info in _fields(wanted):
        part = parts.get(info.encode_name)
        if part is None:
            continue
        name = f"{path}.{info.encode_name}" if path else info.encode_name
        try:
            values[info.name] = fit(part, info.type, name, misfits)
        except Misfit:
            misfits.append(name)
    if wanted is _unknown_member(structs):
        values["raw"] = Raw(bytes(raw))
        values.update({name: _tag_of(wanted, parts) for name in _tag_fields(wanted)})
    if any(info.required and info.name not in values for info in _fields(wanted)):
        raise Misfit(path)
    return wanted(**values)


@cache
def _fields(struct: Any) -> tuple[msgspec.structs.FieldInfo, ...]:
    return msgspec.structs.fields(struct)


def _choose(structs: list[Any], parts: dict[str, Raw]) -> Any:
    """The struct whose tag the object has, else the `Unknown…` one, else the only one."""
    for struct in structs:
        config = struct.__struct_config__
        if config.tag is None or _tag_of(struct, parts) == config.tag:
            return struct
    unknown = _unknown_member(structs)
    if unknown is None:
        raise Misfit("type")
    return unknown


def _tag_of(struct: Any, parts: dict[str, Raw]) -> str | None:
    tag = parts.get(struct.__struct_config__.tag_field)
    if tag is None:
        return None
    try:
        return msgspec.json.decode(tag, type=str)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _unknown_member(structs: Any) -> Any:
    for struct in structs:
        if isinstance(struct, type(Struct)) and struct.__struct_config__.tag in (
            "<unknown>",
            "<other>",
        ):
            return struct
    return None


def _tag_fields(struct: Any) -> list[str]:
    return [name for name in struct.__struct_fields__ if name in UNKNOWN_FIELDS]
