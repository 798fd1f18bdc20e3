"""The transcript's record and the stream's record of one and the same thing → one record.

They share their `uuid`. The transcript has the last word on everything it says: it was written
when the response was whole. Booleans are never filled, because a transcript that leaves one out
says no.
"""

from collections.abc import Iterable
from typing import Any, TypeVar

from msgspec import Raw, Struct
from msgspec.structs import replace

from recollect.records.envelope import Chain, Record, is_absent
from recollect.records.stream.conversion import to_record
from recollect.records.stream.decoding import StreamMessage

R = TypeVar("R", bound=Struct)


def merge(file_record: R, stream_record: Record) -> R:
    """`file_record` with what only `stream_record` says; unchanged when they are of two types."""
    if type(file_record) is not type(stream_record):
        return file_record
    return _fill(file_record, stream_record)


def join(records: Iterable[Record], messages: Iterable[StreamMessage]) -> tuple[Record, ...]:
    """`records` of transcripts, merged with the stream, then what only the stream has so far.

    Messages without `uuid` (1.0.x) are left out: nothing tells whether `records` has them.
    """
    ahead = _index(messages)
    streamed = dict(ahead)
    joined: list[Record] = []
    for record in records:
        uuid = record.uuid if isinstance(record, Chain) else None
        joined.append(merge(record, streamed[uuid]) if uuid in streamed else record)
        ahead.pop(uuid, None)
    return (*joined, *ahead.values())


def _index(messages: Iterable[StreamMessage]) -> dict[str | None, Record]:
    found = filter(None, map(to_record, messages))
    return {record.uuid: record for record in found if isinstance(record, Chain) and record.uuid}


def _fill(first: R, second: Struct) -> R:
    changes: dict[str, Any] = {}
    for name in first.__struct_fields__:
        mine, other = getattr(first, name), getattr(second, name)
        if _is_missing(mine):
            changes[name] = other
        elif name == "message" and type(mine) is type(other):
            # One level only: parts of two usages would make a third that nobody reported.
            changes[name] = _fill(mine, other)
    return replace(first, **changes)


def _is_missing(value: Any) -> bool:
    return is_absent(value) if isinstance(value, Raw) else value is None or value == ()
