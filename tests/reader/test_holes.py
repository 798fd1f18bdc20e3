"""Files with a hole: zeros that were never written and need not be read."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from recollect.library.transcript_ends import read_head_and_tail
from recollect.reader.line_blocks import CHUNK, MAX_LINE, find_holes, iter_pieces, seek_line_start
from recollect.reader.marked_lines import iter_marked_lines
from recollect.reader.transcript_reader import read_transcript
from recollect.records.envelope import Oversized
from recollect.records.state import Tag
from recollect.sources.safe_files import open_file

GIGABYTES = 10 << 30
LINE = b'{"type":"tag","tag":"%s","sessionId":"s"}\n'
BEFORE, AFTER = LINE % b"before", LINE % b"after"


def make_file(path: Path, parts: Sequence[bytes | int]) -> Path:
    """A file of bytes and holes; skips the test where a hole takes room."""
    with path.open("wb") as file:
        for part in parts:
            if isinstance(part, int):
                file.seek(part, os.SEEK_CUR)
            else:
                file.write(part)
        file.truncate()
    with open_file(path) as file:
        if GIGABYTES in parts and not find_holes(file):
            pytest.skip("this file system has no holes")
    return path


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([BEFORE, GIGABYTES, b"\n", AFTER], ["before", Oversized, "after"]),
        ([BEFORE, GIGABYTES, AFTER, AFTER], ["before", Oversized, "after"]),
        ([BEFORE, b'{"half', GIGABYTES, b'of"}\n', AFTER], ["before", Oversized, "after"]),
        ([GIGABYTES, b"\n", AFTER], [Oversized, "after"]),
        ([BEFORE, GIGABYTES], ["before", Oversized]),
        (
            [BEFORE, GIGABYTES, b"\n", AFTER, GIGABYTES, b"\n"],
            ["before", Oversized, "after", Oversized],
        ),
    ],
)
def test_a_hole_is_part_of_one_line_that_is_too_long(
    tmp_path: Path, parts: Sequence[bytes | int], expected: Sequence[object]
) -> None:
    """It is left out at once, the records around it are read, and the spans tile the file."""
    path = make_file(tmp_path / "s.jsonl", parts)
    records = list(read_transcript(path))
    found = [each.tag if isinstance(each, Tag) else type(each) for each in records]
    assert found == expected
    position = 0
    for record in records:
        assert record.span is not None
        assert record.span.offset == position
        position += record.span.length
    assert position == path.stat().st_size


@pytest.mark.parametrize("length", [CHUNK, MAX_LINE - 200, MAX_LINE + CHUNK])
def test_pieces_are_the_bytes_of_the_file(tmp_path: Path, length: int) -> None:
    """A hole as short as a line may be is read, because it may be part of one."""
    path = make_file(tmp_path / "s.jsonl", [BEFORE, length, AFTER, length, AFTER])
    for start, stop in ((0, None), (len(BEFORE) + 5, None), (3, len(BEFORE) + 2 * CHUNK)):
        with open_file(path) as file:
            file.seek(start)
            pieces = list(iter_pieces(file, stop))
        end = path.stat().st_size if stop is None else stop
        assert sum(map(len, pieces)) == end - start
        read = b"".join(
            piece if isinstance(piece, bytes) else bytes(len(piece)) for piece in pieces
        )
        assert read == path.read_bytes()[start:stop]


def test_the_line_that_holds_a_hole_begins_before_it(tmp_path: Path) -> None:
    """Its start is found without reading back through the hole."""
    path = make_file(tmp_path / "s.jsonl", [BEFORE, b"x", GIGABYTES, AFTER, AFTER])
    size = path.stat().st_size
    with open_file(path) as file:
        found = [seek_line_start(file, size - back) for back in (0, 5, len(AFTER) + 5)]
    assert found == [size, size - len(AFTER), len(BEFORE)]


def test_marks_are_found_on_both_sides_of_a_hole(tmp_path: Path) -> None:
    """The line that contains the hole is left out."""
    path = make_file(tmp_path / "s.jsonl", [BEFORE, GIGABYTES, AFTER, AFTER])
    with open_file(path) as file:
        lines = [line.data for line in iter_marked_lines(file, [b'"tag"'], 0, path.stat().st_size)]
    assert lines == [BEFORE, AFTER]


def test_the_ends_of_a_file_with_a_hole_are_read_at_once(tmp_path: Path) -> None:
    """As a list does it."""
    path = make_file(tmp_path / "s.jsonl", [BEFORE, GIGABYTES, b"\n", AFTER])
    tags = [each.tag for each in read_head_and_tail(path).log.states if isinstance(each, Tag)]
    assert tags[-1] == "after"
