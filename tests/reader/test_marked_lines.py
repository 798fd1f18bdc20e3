"""Marked lines are found wherever they are, and no others."""

import os
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from recollect.reader.marked_lines import MarkedLine, contains_any, contains_mark, iter_marked_lines
from recollect.sources.safe_files import open_file
from tests.sources.memory import MemoryFile

MARKS = (b'"user"', b'-title"')
PIECES = st.sampled_from([b"\n", b'"user"', b'-title"', b"x", b"x" * 65_530, b'"use', b'er"'])


def lines_of(data: bytes) -> list[MarkedLine]:
    """The lines of a text with their offsets, those with a mark only, found one by one."""
    found, offset = [], 0
    for line in data.splitlines(keepends=True):
        if any(mark in line for mark in MARKS):
            found.append(MarkedLine(offset, line))
        offset += len(line)
    return found


@given(st.lists(PIECES, max_size=40))
def test_the_lines_are_those_that_hold_a_mark(pieces: list[bytes]) -> None:
    """However the windows cut the file, every line is found once and in order."""
    data = b"".join(pieces)
    file = MemoryFile(data, os.stat_result((0,) * 10))
    assert list(iter_marked_lines(file, MARKS, 0, len(data))) == lines_of(data)


def test_a_part_begins_with_the_line_that_it_cuts(tmp_path: Path) -> None:
    """A line that starts before the part counts completely; what comes after does not."""
    path = tmp_path / "lines"
    path.write_bytes(b'"user" 1\n"user" 2\nno\n"user" 3\n"user" 4\n')
    with open_file(path) as file:
        found = list(iter_marked_lines(file, MARKS, 15, 28))
    assert found == [MarkedLine(9, b'"user" 2\n'), MarkedLine(21, b'"user" 3\n')]


def test_a_mark_in_a_text() -> None:
    """Tests whether a text contains a mark."""
    assert (contains_mark(b'a "user"', b'"user"'), contains_mark(b"a user", b'"user"')) == (
        True,
        False,
    )


WORDS = frozenset({b"msg_01first", b"msg_01second", b"other_word"})
ALIKE = st.sampled_from([*WORDS, b"msg_01", b"first", b"x" * 131_000, b"x" * 13, b"\n"])


@given(st.lists(ALIKE, max_size=12))
def test_one_of_many_words_is_found(pieces: list[bytes]) -> None:
    """However the windows cut the file, and although other words begin alike."""
    data = b"".join(pieces)
    file = MemoryFile(data, os.stat_result((0,) * 10))
    assert contains_any(file, WORDS, len(data)) == any(word in data for word in WORDS)
