"""Only what counting tokens needs of a transcript, several times faster than whole records.

Lines are not looped over: each block is searched for the word that every assistant record holds
(by ahocorasick-rs, three times as fast as `bytes.find`), and only the lines around it are decoded,
without their content. A line that the narrow decoder refuses goes through the full reader, so that
both ways give the same figures.
"""

from collections.abc import Iterable, Iterator
from io import FileIO
from itertools import chain
from pathlib import Path

import msgspec
from ahocorasick_rs import BytesAhoCorasick
from msgspec.structs import force_setattr

from recollect.locations import open_regular
from recollect.reader.blocks import MAX_LINE, Block, BlockSplitter
from recollect.reader.chunks import iter_chunks, seek_line_start
from recollect.records.blocks import ContentBlock, UnknownBlock
from recollect.records.conversation import (
    ApiMessage,
    Assistant,
    AssistantUsage,
    BlockHead,
    MessageUsage,
)
from recollect.records.envelope import Record
from recollect.records.span import Span

# Without the closing quote: a line may break off within the word and still be completed.
_MARK = BytesAhoCorasick([b'"assistant'])
_REFUSED = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_decode = msgspec.json.Decoder(AssistantUsage).decode
_SHARED_FIELDS = tuple(
    name for name in AssistantUsage.__struct_fields__ if name not in ("type", "message")
)


def read_usage(
    path: Path | str, start: int = 0, stop: int | None = None, *, completes_last: bool = False
) -> Iterator[AssistantUsage]:
    """The assistant records with usage in the file at `path`, from byte `start` up to `stop`.

    A last line that breaks off may be continued, and is left out; with `completes_last` it is
    taken for what it is, as any other broken line: its message was paid for all the same.
    """
    with open_regular(path) as file:
        yield from read_usage_of(file, str(path), start, stop, completes_last=completes_last)


def read_usage_of(
    file: FileIO, name: str, start: int, stop: int | None, *, completes_last: bool
) -> Iterator[AssistantUsage]:
    """What `read_usage` gives, of a file that is open and goes by `name`."""
    end = b"\n" if completes_last else b""
    splitter = BlockSplitter(seek_line_start(file, start))
    is_cut = splitter.offset < start
    for records in _read_file(file, name, splitter, stop, end):
        yield from _drop_before(start, records) if is_cut else records


def _drop_before(start: int, records: Iterable[AssistantUsage]) -> Iterator[AssistantUsage]:
    for record in records:
        if record.span is None or record.span.offset >= start:
            yield record


def _read_file(
    file: FileIO, name: str, splitter: BlockSplitter, stop: int | None, end: bytes
) -> Iterator[Iterable[AssistantUsage]]:
    for chunk in iter_chunks(file, stop):
        for piece in splitter.feed(chunk):
            if isinstance(piece, Block):
                yield _search(name, piece)
    rest = splitter.finish()
    if isinstance(rest, Block):
        yield _read_fully(name, rest.offset, rest.data + end)


def _search(file: str, block: Block) -> list[AssistantUsage]:
    """The records in a block: at once, since a generator would be woken for every line."""
    data, offset = block.data, block.offset
    found: list[AssistantUsage] = []
    end = 0
    for _, mark, _ in _MARK.find_matches_as_indexes(data):
        if mark < end:
            continue
        start = data.rfind(b"\n", end, mark) + 1 or end
        end = data.index(b"\n", mark) + 1
        if end - start > MAX_LINE:
            continue
        try:
            record = _decode(data[start : end - 1])
        except _REFUSED:
            found += _read_fully(file, offset + start, data[start:end])
            continue
        if record.type == "assistant" and record.message is not None and record.message.usage:
            # Not shared yet: setting a field of a frozen value is still building it.
            force_setattr(record, "span", Span(file, offset + start, end - start))
            found.append(record)
    return found


def _read_fully(file: str, offset: int, data: bytes) -> Iterator[AssistantUsage]:
    # Its types are many, and most files have no line that needs them.
    from recollect.reader.transcript import TranscriptDecoder  # noqa: PLC0415

    decoder = TranscriptDecoder(file, offset)
    yield from _project(chain(decoder.feed(data), decoder.finish()))


def _project(records: Iterable[Record]) -> Iterator[AssistantUsage]:
    for record in records:
        if isinstance(record, Assistant) and record.message and record.message.usage:
            yield AssistantUsage(
                type="assistant",
                message=_project_message(record.message),
                **{name: getattr(record, name) for name in _SHARED_FIELDS},
            )


def _project_message(message: ApiMessage) -> MessageUsage:
    content = message.content
    if isinstance(content, tuple):
        heads = tuple(_head_of(block) for block in content if not isinstance(block, str))
        return MessageUsage(id=message.id, model=message.model, content=heads, usage=message.usage)
    return MessageUsage(id=message.id, model=message.model, content=content, usage=message.usage)


def _head_of(block: ContentBlock) -> BlockHead:
    known = None if isinstance(block, UnknownBlock) else block.__struct_config__.tag
    return BlockHead(
        type=str(known) if known else getattr(block, "block_type", None),
        id=getattr(block, "id", None),
        name=getattr(block, "name", None),
    )
