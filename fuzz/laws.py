"""What must hold for any bytes whatever; each law is a function that raises `LawBroken`.

The laws are stated against the public reader only, so that they survive any rewrite of it.
"""

import random
from itertools import pairwise, zip_longest
from pathlib import Path

import msgspec
from msgspec.structs import replace

from recollect.reader import TranscriptDecoder, read_usage
from recollect.records.blocks import ContentBlock, UnknownBlock
from recollect.records.conversation import Assistant, AssistantUsage, BlockHead, MessageUsage
from recollect.records.envelope import Record
from recollect.records.span import Span

_encode = msgspec.json.Encoder().encode
_FIELDS = tuple(
    name for name in AssistantUsage.__struct_fields__ if name not in ("type", "message", "span")
)
_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")


class LawBroken(Exception):
    """The reader did what it must never do."""


def read_chunks(chunks: list[bytes], max_line: int) -> list[Record]:
    """All records of the chunks, one after the other."""
    decoder = TranscriptDecoder(max_line=max_line)
    records = [record for chunk in chunks for record in decoder.feed(chunk)]
    return [*records, *decoder.finish()]


def cut(rng: random.Random, data: bytes) -> list[bytes]:
    """`data` in chunks of random sizes, tiny ones among them."""
    places = {rng.randrange(len(data) + 1) for _ in range(rng.choice((0, 1, 3, 30)))}
    places |= {place + 1 for place in list(places)[:2]}
    edges = [0, *sorted(place for place in places if 0 < place < len(data)), len(data)]
    return [data[start:end] for start, end in pairwise(edges)]


def check_speed(seconds: float, size: int) -> None:
    """Reading `size` bytes takes a time in proportion to them, however broken they are.

    The limit lies far above the usual time: it is there for what grows with the square.
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
        # Encodes each string on its way; raw JSON text is passed over, as it is bytes already.
        _encode(records)
    except UnicodeEncodeError as error:
        raise LawBroken(f"a string cannot be encoded: {error}") from error


def check_same(records: list[Record], data: bytes, max_line: int) -> None:
    """`records`, read from chunks, are those of one read of `data`."""
    for ours, whole in zip_longest(records, read_chunks([data], max_line)):
        if ours != whole:
            raise LawBroken(f"chunks give {ours}, one read gives {whole}")


def check_resumed(records: list[Record], data: bytes, place: int, max_line: int) -> None:
    """A read that starts where another one stopped gives the rest of `records`."""
    first = TranscriptDecoder(max_line=max_line)
    head = list(first.feed(data[:place]))
    rest = TranscriptDecoder(offset=first.offset, max_line=max_line)
    tail = [*rest.feed(data[first.offset :]), *rest.finish()]
    if [*head, *tail] != records:
        raise LawBroken(f"reading to {place} and from {first.offset} on is not reading all")


def check_usage(records: list[Record], path: Path) -> None:
    """The narrow reader finds in the file at `path` what the full one found: `records`."""
    found = [_project(record) for record in read_usage(path)]
    wanted = [_project(record) for record in records if isinstance(record, Assistant)]
    wanted = [item for item in wanted if item[-1] is not None]
    if found != wanted:
        extra = [item for item in found if item not in wanted]
        missing = [item for item in wanted if item not in found]
        raise LawBroken(f"read_usage gives in addition {extra} and leaves out {missing}")


def _project(record: Assistant | AssistantUsage) -> tuple[object, ...]:
    """What both readers must agree on, the usage last."""
    message = record.message or MessageUsage()
    content = message.content
    heads: object = content
    if isinstance(content, tuple):
        heads = [_head_of(block) for block in content if not isinstance(block, str)]
    # The file's name is the one thing that may differ: the full read here is from memory.
    span = replace(record.span or Span("", 0, 0), file="")
    fields = (getattr(record, name) for name in _FIELDS)
    return (*fields, span, message.id, message.model, heads, message.usage)


def _head_of(block: ContentBlock | BlockHead) -> tuple[object, ...]:
    """The type of a block and, for a call, which tool; a missing name is an empty one."""
    if isinstance(block, BlockHead):
        kind = block.type
    elif isinstance(block, UnknownBlock):
        kind = block.block_type
    else:
        kind = str(block.__struct_config__.tag)
    if kind not in _CALLS:
        return (kind,)
    return (kind, getattr(block, "id", None) or None, getattr(block, "name", None) or None)
