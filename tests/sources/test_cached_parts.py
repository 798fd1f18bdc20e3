"""Parts of files that are kept for the next reader."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.demo import CLAUDE_DIRECTORY
from recollect.errors import UnreadableInput
from recollect.sources.safe_files import END_BYTES, open_file, read_parts, use_parts
from recollect.sync import find_transcripts, list_current, list_unsaved, sync_with_parts

LINE = b"0123456789abcde\n"
SIZES = st.sampled_from([0, 1, END_BYTES, 2 * END_BYTES, 2 * END_BYTES + 1, 5 * END_BYTES])
MOVES = st.lists(st.tuples(st.integers(0, 5 * END_BYTES + 9), st.integers(-1, 2 * END_BYTES)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory for the files of all examples."""
    return tmp_path_factory.mktemp("kept")


@given(size=SIZES, moves=MOVES, lines=st.lists(st.integers(0, 5 * END_BYTES // len(LINE))))
def test_a_kept_file_reads_like_the_file(
    folder: Path, size: int, moves: list[tuple[int, int]], lines: list[int]
) -> None:
    """Any read, cached or not, returns the bytes of the file."""
    path = folder / "file.jsonl"
    path.write_bytes((LINE * (size // len(LINE) + 1))[:size])
    spans = [(number * len(LINE), len(LINE)) for number in lines]
    with open_file(path) as file:
        kept = read_parts(file, spans)
        with use_parts({str(path): kept}), open_file(path) as again:
            assert again.find_status().st_size == size
            assert again.find_status().st_mtime_ns == path.stat().st_mtime_ns
            for offset, length in moves:
                assert again.seek(offset) == file.seek(offset)
                assert again.read(length) == file.read(length)
                assert again.tell() == file.tell()
                buffers = bytearray(99), bytearray(99)
                assert again.readinto(buffers[0]) == file.readinto(buffers[1])
                assert buffers[0] == buffers[1]


def test_the_ends_and_the_lines_between_need_no_file(tmp_path: Path) -> None:
    """Cached parts are read from memory; anything else, and everything later, from the file."""
    path = tmp_path / "file.jsonl"
    path.write_bytes(LINE * (END_BYTES // 4))
    size = path.stat().st_size
    with open_file(path) as file:
        kept = read_parts(file, [(END_BYTES, len(LINE))])
    path.unlink()
    with use_parts({str(path): kept}), open_file(path) as file:
        assert file.read(END_BYTES) == LINE * (END_BYTES // len(LINE))
        assert file.read(len(LINE)) == LINE
        assert file.seek(-len(LINE), 2) == size - len(LINE)
        assert file.read() == LINE
        file.seek(2 * END_BYTES)
        with pytest.raises(FileNotFoundError):
            file.read(1)
    with pytest.raises(UnreadableInput):
        open_file(path)


def test_lists_from_cached_parts_are_those_from_files(tmp_path: Path) -> None:
    """A list after a sync shows the same sessions, whichever of the two it reads."""
    transcripts = find_transcripts([CLAUDE_DIRECTORY])
    kept = sync_with_parts(tmp_path, transcripts)
    assert kept.keys() == {each.file for each in transcripts}
    with use_parts(kept):
        listed = list_current(tmp_path, transcripts)
    assert listed
    assert listed == [each for each in list_unsaved(transcripts) if each.path in kept]
    assert sync_with_parts(tmp_path, transcripts) == {}
