"""Tests of recollect.reader.line_blocks."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from recollect.reader.line_blocks import (
    LineBlock,
    find_mask,
    mask_by_default,
    mask_line,
    mask_text,
    masked_by,
)
from recollect.reader.transcript_reader import read_transcript
from recollect.records.conversation_records import User
from recollect.records.envelope import Record

LINE = b'{"type":"user","uuid":"%s","message":{"role":"user","content":"heron"}}'


def hide_herons(file: str, block: LineBlock) -> Mapping[int, bytes]:
    """A mask for one word."""
    starts = [0, *(at + 1 for at, byte in enumerate(block.data) if byte == ord("\n"))]
    lines = {start: block.data[start:].partition(b"\n")[0] for start in starts}
    return {
        start: line.replace(b"heron", b"a rather long tag") for start, line in lines.items()
        if b"heron" in line
    }  # fmt: skip


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    """Three lines, the last without its end."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\n".join(LINE % number for number in (b"1", b"2", b"3")))
    return path


def read_words(records: Iterator[Record]) -> list[tuple[object, int, int]]:
    """Return the texts of prompts, with their offsets in the file."""
    return [
        (each.message and each.message.content, each.span.offset, each.span.length)
        for each in records
        if isinstance(each, User) and each.span
    ]


def test_masked_lines_keep_their_spans(transcript: Path) -> None:
    """Records are made from what the mask returns, and lie where they lie."""
    length = len(LINE % b"1") + 1
    places = [(0, length), (length, length), (2 * length, length - 1)]
    assert read_words(read_transcript(transcript)) == [("heron", *place) for place in places]
    with masked_by(hide_herons):
        records = list(read_transcript(transcript))
    assert read_words(iter(records)) == [("a rather long tag", *place) for place in places]


def test_a_block_can_do_without_the_mask_of_the_process() -> None:
    """Restoring a file needs what was there."""
    mask_by_default(hide_herons)
    assert find_mask() is hide_herons
    with masked_by(None):
        assert find_mask() is None
        assert mask_text("a", "heron") == "heron"
    assert mask_text("a", "one heron") == "one a rather long tag"


def test_a_line_keeps_its_end() -> None:
    """Raw lines are masked with or without one."""
    with masked_by(hide_herons):
        assert mask_line("a", 0, b"heron\r\n") == b"a rather long tag\r\n"
        assert mask_line("a", 0, b"egret\n") == b"egret\n"
