"""Laws that must hold for any bytes; each is a function that raises `LawBroken`.

They use only the public reader, so that they survive any rewrite of it.
"""

import random
from itertools import pairwise, zip_longest
from pathlib import Path

import msgspec
from msgspec.structs import replace

from recollect.reader.transcript_reader import TranscriptDecoder
from recollect.reader.usage_reader import read_usage
from recollect.records.blocks import ContentBlock, UnknownBlock
from recollect.records.conversation_records import (
    Assistant,
    AssistantUsage,
    BlockHead,
    MessageUsage,
)
from recollect.records.envelope import Record, Span

_encode = msgspec.json.Encoder().encode
_FIELDS = tuple(
    name for name in AssistantUsage.__struct_fields__ if name not in ("type", "message", "span")
)
_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")


class LawBroken(Exception):
    """The reader broke a law."""


def read_chunks(chunks: list[bytes], max_line: int) -> list[Record]:
    """Return all records of the chunks."""
    decoder = TranscriptDecoder(max_line=max_line)
    records = [record for chunk in chunks for record in decoder.feed(chunk)]
    return [*records, *decoder.finish()]


def cut(rng: random.Random, data: bytes) -> list[bytes]:
    """Split `data` into chunks of random sizes, including tiny ones."""
    positions = {rng.randrange(len(data) + 1) for _ in range(rng.choice((0, 1, 3, 30)))}
    positions |= {position + 1 for position in list(positions)[:2]}
    edges = [0, *sorted(position for position in positions if 0 < position < len(data)), len(data)]
    return [data[start:end] for start, end in pairwise(edges)]


def check_speed(seconds: float, size: int) -> None:
    """Reading takes time proportional to `size`, however broken the bytes are.

    The limit is far above the usual time: it is there to catch quadratic behaviour.
    """
    limit = 2 + size * 20e-6
    if seconds > limit:
        raise LawBroken(f"{size} bytes took {seconds:.1f} s of CPU time, more than {limit:.1f}")


def check_tiling(records: list[Record], size: int) -> None:
    """The spans of `records` cover all bytes, in order, without gap or overlap."""
    end = 0
    for record in records:
        span = record.span
        if span is None or span.offset != end or span.length <= 0:
            raise LawBroken(f"the span {span} does not continue at {end}")
        end = span.end
    if end != size:
        raise LawBroken(f"the spans end at {end} of {size}")


def check_encodable(records: list[Record]) -> None:
    """Every string in `records` can be encoded as UTF-8."""
    try:
        # This encodes every string; raw JSON text is bytes already and is skipped.
        _encode(records)
    except UnicodeEncodeError as error:
        raise LawBroken(f"a string cannot be encoded: {error}") from error


def check_same(records: list[Record], data: bytes, max_line: int) -> None:
    """`records`, read from chunks, equal one read of `data`."""
    for ours, whole in zip_longest(records, read_chunks([data], max_line)):
        if ours != whole:
            raise LawBroken(f"chunks give {ours}, one read gives {whole}")


def check_resumed(records: list[Record], data: bytes, position: int, max_line: int) -> None:
    """Reading on from where another read stopped gives the rest of `records`."""
    first = TranscriptDecoder(max_line=max_line)
    head = list(first.feed(data[:position]))
    rest = TranscriptDecoder(offset=first.offset, max_line=max_line)
    tail = [*rest.feed(data[first.offset :]), *rest.finish()]
    if [*head, *tail] != records:
        raise LawBroken(
            f"reading to {position} and from {first.offset} on differs from reading all"
        )


def check_usage(records: list[Record], path: Path) -> None:
    """`read_usage` finds in the file at `path` what the full reader found."""
    found = [_project(record) for record in read_usage(path)]
    wanted = [
        _project(record)
        for record in records
        if isinstance(record, Assistant)
        and record.message is not None
        # Old clients wrote a cost without usage.
        and (record.message.usage or record.cost_usd)
    ]
    if found != wanted:
        extra = [item for item in found if item not in wanted]
        missing = [item for item in wanted if item not in found]
        raise LawBroken(f"read_usage adds {extra} and misses {missing}")


def _project(record: Assistant | AssistantUsage) -> tuple[object, ...]:
    """Return the fields that both readers must agree on, usage last."""
    message = record.message or MessageUsage()
    content = message.content
    heads: object = content
    if isinstance(content, tuple):
        heads = [_head_of(block) for block in content if not isinstance(block, str)]
    # Only the file name may differ: the full read here is from memory.
    span = replace(record.span or Span("", 0, 0), file="")
    fields = (getattr(record, name) for name in _FIELDS)
    return (*fields, span, message.id, message.model, heads, message.usage)


def _head_of(block: ContentBlock | BlockHead) -> tuple[object, ...]:
    """Return the type of a block, and for a call its id and tool; missing equals empty."""
    if isinstance(block, BlockHead):
        kind = block.type
    elif isinstance(block, UnknownBlock):
        kind = block.block_type
    else:
        kind = str(block.__struct_config__.tag)
    if kind not in _CALLS:
        return (kind,)
    return (kind, getattr(block, "id", None) or None, getattr(block, "name", None) or None)
