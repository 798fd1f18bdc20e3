"""Samples of every type of record and block, each with a word in a different field.

For tests that check that every field is searched and shown.
"""

from collections.abc import Iterator
from types import NoneType, UnionType
from typing import Union, get_args, get_origin

from msgspec import Raw, Struct
from msgspec.structs import fields

from recollect.records.blocks import Content
from recollect.records.decoding import AnyRecord
from recollect.records.envelope import Record, Unknown
from recollect.records.state import JournalResult, QueueOperation
from recollect.records.system_records import SYSTEM_SUBTYPES
from recollect.session.record_texts import ELSEWHERE, find_unread

WORD = "heronword"
Json = dict[str, object]
Place = tuple[type[Struct], str]
"""A type, and its field that contains the word."""
Sample = tuple[list[Place], object]
"""The path to the word, and the value that contains it."""


def _iter_samples(kind: object, way: list[Place], depth: int = 0) -> Iterator[Sample]:
    """Yield values of a type, each with the word in a different position."""
    options = [each for each in get_args(kind) if each is not NoneType]
    if kind == Content:
        yield way, WORD
    elif get_origin(kind) in (Union, UnionType):
        for option in options:
            yield from _iter_samples(option, way, depth)
    elif get_origin(kind) is tuple:
        yield from ((path, [inner]) for path, inner in _iter_samples(options[0], way, depth))
    elif get_origin(kind) is dict:
        yield from ((path, {"k": inner}) for path, inner in _iter_samples(options[1], way, depth))
    elif kind is str:
        yield way, WORD
    elif kind is Raw:
        yield way, [{"text": WORD}]
    elif isinstance(kind, type) and issubclass(kind, Struct) and depth < 5:
        yield from iter_struct(kind, way, depth)


def iter_struct(kind: type[Struct], way: list[Place], depth: int = 0) -> Iterator[Sample]:
    """Yield values of a struct, each with the word in a different field."""
    config = kind.__struct_config__
    tag: Json = {config.tag_field or "type": config.tag} if config.tag else {}
    for field in fields(kind):
        step = [*way, (kind, field.name)]
        for path, value in _iter_samples(field.type, step, depth + 1):
            yield path, {**tag, field.encode_name: value}


def list_records() -> list[tuple[str, type[Record], Json]]:
    """Return every type of record, with the fields that decoding as that type takes."""
    needs: dict[type[Record], Json] = {
        # Only an entry into the queue has text.
        QueueOperation: {"operation": "enqueue"},
        # Without it, a line of this type is a stream message.
        JournalResult: {"key": "v2:1"},
    }
    found: list[tuple[str, type[Record], Json]] = [
        (kind.__name__, kind, needs.get(kind, {}))
        for kind in get_args(AnyRecord)
        if kind is not Unknown
    ]
    for name, kind in SYSTEM_SUBTYPES.items():
        found.append((name, kind, {"type": "system", "subtype": name}))
    return found


def is_unread(way: list[Place]) -> bool:
    """Return whether a type on the path has a reason to leave its field out."""
    reasons = (find_unread(kind).get(name, ELSEWHERE) for kind, name in way)
    return any(reason != ELSEWHERE for reason in reasons)


def name_of(way: list[Place]) -> str:
    """Return the last field of the path."""
    kind, name = way[-1]
    return f"{kind.__name__}.{name}"
