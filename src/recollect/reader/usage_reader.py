"""Read only what is needed to count tokens, several times faster than reading whole records.

There is no loop over lines: each block is searched for a word that every assistant record contains
(with ahocorasick-rs, three times as fast as `bytes.find`), and only the lines around a match are
decoded, without their content. A line that this narrow decoder rejects goes through the full
reader, so both give the same totals. Optionally includes subagent messages that are repeated in
progress records of the parent.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TypeGuard

import msgspec
from ahocorasick_rs import BytesAhoCorasick
from msgspec import Raw
from msgspec.structs import force_setattr

from recollect.reader.line_blocks import (
    MAX_LINE,
    BlockSplitter,
    LineBlock,
    iter_pieces,
    masked_by,
    seek_line_start,
)
from recollect.records.blocks import ContentBlock, UnknownBlock
from recollect.records.conversation_records import (
    ApiMessage,
    Assistant,
    AssistantUsage,
    BlockHead,
    MessageUsage,
)
from recollect.records.envelope import REFUSED, Record, Span
from recollect.records.system_records import AgentProgress, AgentUsage, Progress, RelayedRecord
from recollect.sources.safe_files import open_file
from recollect.sources.source import SourceFile

# Without the closing quote: a line truncated right after the word can still be salvaged.
_MARK = BytesAhoCorasick([b'"assistant'])
_SHARED_FIELDS = tuple(
    name for name in AssistantUsage.__struct_fields__ if name not in ("type", "message")
)


OnLines = Callable[[int, bytes, range], None]
"""Called with whole lines: the offset of the data in the file, the data, and a range of it."""


class _Line(AssistantUsage, frozen=True, kw_only=True, rename="camel", gc=False):
    """The fields decoded here; `data` is the payload of a progress record."""

    data: Raw = Raw()


_decode = msgspec.json.Decoder(_Line).decode
_decode_agent = msgspec.json.Decoder(AgentUsage).decode
_decode_relayed = msgspec.json.Decoder(RelayedRecord).decode


def read_usage(
    path: Path | str,
    start: int = 0,
    stop: int | None = None,
    *,
    completes_last: bool = False,
    with_relayed: bool = False,
) -> Iterator[AssistantUsage]:
    """Yield the assistant records with usage in the file at `path`, from byte `start` up to `stop`.

    Includes records of old clients that only have a cost. A truncated last line may still be
    growing and is left out; with `completes_last` it is salvaged like any other broken line,
    because its message was paid for. With `with_relayed`, messages of subagents that progress
    records repeat are included as records of type `progress`.
    """
    with open_file(path) as file:
        blocks = _read_blocks(file, str(path), start, stop, completes_last=completes_last)
        yield from chain.from_iterable(blocks if with_relayed else map(_drop_relayed, blocks))


def read_usage_of(
    file: SourceFile,
    name: str,
    start: int,
    stop: int | None,
    *,
    completes_last: bool,
    on_lines: OnLines | None = None,
) -> Iterator[AssistantUsage]:
    """Return everything that `read_usage` can yield for an open file; `name` is the file of the
    spans.

    `on_lines` is called first with all lines, so that the quick pass can search them while they are
    in the CPU cache.
    """
    blocks = _read_blocks(file, name, start, stop, completes_last=completes_last, on_lines=on_lines)
    # Not a generator, which would be resumed for every record.
    return chain.from_iterable(blocks)


def _read_blocks(
    file: SourceFile,
    name: str,
    start: int,
    stop: int | None,
    *,
    completes_last: bool,
    on_lines: OnLines | None = None,
) -> Iterator[Iterable[AssistantUsage]]:
    """Yield the records from `start` on, in one list per block."""
    splitter = BlockSplitter(seek_line_start(file, start))
    end = b"\n" if completes_last else b""
    blocks = _read_file(file, name, splitter, stop, end, on_lines)
    return map(partial(_drop_before, start), blocks) if splitter.offset < start else blocks


def _drop_before(start: int, records: Iterable[AssistantUsage]) -> list[AssistantUsage]:
    return [each for each in records if each.span is None or each.span.offset >= start]


def _drop_relayed(records: Iterable[AssistantUsage]) -> list[AssistantUsage]:
    return [each for each in records if not each.is_relayed]


def _read_file(
    file: SourceFile,
    name: str,
    splitter: BlockSplitter,
    stop: int | None,
    end: bytes,
    on_lines: OnLines | None,
) -> Iterator[Iterable[AssistantUsage]]:
    for chunk in iter_pieces(file, stop):
        first, lines = splitter.split(chunk)
        if isinstance(first, LineBlock):
            whole = range(len(first.data))
            if on_lines:
                on_lines(first.offset, first.data, whole)
            yield _search(name, first.offset, first.data, whole)
        if lines and isinstance(chunk, bytes):
            offset = splitter.offset - lines.stop
            if on_lines:
                on_lines(offset, chunk, lines)
            # A copy of the lines alone would take as long as searching them.
            yield _search(name, offset, chunk, lines)
    rest = splitter.finish()
    if isinstance(rest, LineBlock):
        if on_lines:
            on_lines(rest.offset, rest.data, range(len(rest.data)))
        if _MARK.find_matches_as_indexes(rest.data):
            yield _read_fully(name, rest.offset, rest.data + end)


def _search(file: str, offset: int, data: bytes, lines: range) -> list[AssistantUsage]:
    """Return the records in `lines`, a range of whole lines in `data`, which begins at `offset`.

    As a list: a generator would be resumed for every line.
    """
    found: list[AssistantUsage] = []
    end = lines.start
    for _, mark, _ in _MARK.find_matches_as_indexes(data):
        if mark < end:
            continue
        if mark >= lines.stop:
            break
        start = data.rfind(b"\n", end, mark) + 1 or end
        end = data.index(b"\n", mark) + 1
        if end - start > MAX_LINE:
            continue
        try:
            record = _decode(data[start : end - 1])
        except REFUSED:
            found += _read_fully(file, offset + start, data[start:end])
            continue
        if record.type == "assistant":
            message = record.message
            if message is not None and (message.usage or record.cost_usd):
                # The value is not shared yet, so setting a frozen field is part of building it.
                force_setattr(record, "span", Span(file, offset + start, end - start))
                found.append(record)
        elif record.type == "progress":
            relayed = _find_relayed(record.data)
            if relayed is not None:
                span = Span(file, offset + start, end - start)
                found.append(_unfold(record, *relayed, span))
    return found


def _find_relayed(data: Raw) -> tuple[str | None, RelayedRecord] | None:
    """Return the id of a subagent and its message if `data` is an `agent_progress` with usage."""
    try:
        agent = _decode_agent(data)
    except REFUSED:
        return None
    if agent.type != "agent_progress" or not _has_usage(agent.message):
        return None
    return agent.agent_id, agent.message


def _has_usage(nested: RelayedRecord | None) -> TypeGuard[RelayedRecord]:
    return (
        nested is not None
        and nested.type == "assistant"
        and nested.message is not None
        and nested.message.usage is not None
    )


def _unfold(
    outer: AssistantUsage | Progress, agent_id: str | None, nested: RelayedRecord, span: Span | None
) -> AssistantUsage:
    """Return the nested message with the session fields of the record that repeats it."""
    return AssistantUsage(
        type="progress",
        # The uuid of the progress record, since the nested one is in no file.
        uuid=outer.uuid,
        is_sidechain=True,
        session_id=outer.session_id,
        agent_id=agent_id,
        timestamp=nested.timestamp or outer.timestamp,
        cwd=outer.cwd,
        version=outer.version,
        git_branch=outer.git_branch,
        entrypoint=outer.entrypoint,
        request_id=nested.request_id,
        message=nested.message,
        forked_from=outer.forked_from,
        span=span,
    )


def _read_fully(file: str, offset: int, data: bytes) -> list[AssistantUsage]:
    # Imported late: it loads every record type, and most files have no line that needs them.
    from recollect.reader.transcript_reader import decode_bytes

    # Counted values cannot contain secrets, and loading the rules takes longer than a sync.
    with masked_by(None):
        return list(_project(decode_bytes(file, offset, data)))


def _project(records: Iterable[Record]) -> Iterator[AssistantUsage]:
    for record in records:
        if isinstance(record, Progress):
            yield from _project_progress(record)
        elif (
            isinstance(record, Assistant)
            and record.message
            and (record.message.usage or record.cost_usd)
        ):
            yield AssistantUsage(
                type="assistant",
                message=_project_message(record.message),
                **{name: getattr(record, name) for name in _SHARED_FIELDS},
            )


def _project_progress(record: Progress) -> Iterator[AssistantUsage]:
    if isinstance(record.data, AgentProgress):
        try:
            nested = _decode_relayed(record.data.message)
        except REFUSED:
            return
        if _has_usage(nested):
            yield _unfold(record, record.data.agent_id, nested, record.span)


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
