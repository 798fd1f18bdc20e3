"""Follow one file: whatever happens to it, the records equal those of a fresh read."""

import os
import random
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.live.live_events import Mark
from recollect.live.tail import (
    NOTHING_READ,
    REPLACED,
    REWRITTEN,
    SHORTER,
    UNKNOWN,
    End,
    Piece,
    StartOver,
    Tail,
)
from recollect.reader.line_blocks import CHUNK
from recollect.reader.transcript_reader import read_transcript
from recollect.records.envelope import Record, Torn
from recollect.sources.growth import EDGE
from tests.live.schedules import Reader, Schedule, line
from tests.samples import every_transcript


def drain(tail: Tail) -> list[Piece]:
    """Return everything there is to read, without a reset."""
    pieces: list[Piece] = []
    while True:
        step = tail.read()
        assert step.reset is None
        pieces += step.pieces
        if step.is_caught_up:
            return pieces


def check(tail: Tail) -> None:
    """Verify everything that was read against the file."""
    for _ in tail.check():
        continue


def fresh(path: Path) -> list[Record]:
    """Return the records of a file, without an incomplete last line."""
    return [record for record in read_transcript(path) if not isinstance(record, Torn)]


def chunked(data: bytes, cuts: list[int]) -> Iterator[bytes]:
    """Yield the bytes in pieces that end at these positions."""
    edges = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return (data[start:end] for start, end in pairwise(edges))


@pytest.mark.parametrize("source", every_transcript(), ids=lambda path: path.stem)
def test_following_equals_reading(source: Path, tmp_path: Path) -> None:
    """A file that grows in any pieces gives the same records as reading it at once."""
    data = source.read_bytes()
    rng = random.Random(source.name)
    for number, size in enumerate((1, 7, 200, 5000)):
        path = tmp_path / f"{number}.jsonl"
        path.touch()
        tail = Tail(path)
        cuts = sorted(rng.randrange(len(data) + 1) for _ in range(min(len(data) // size, 300)))
        pieces: list[Piece] = []
        for chunk in chunked(data, cuts):
            with path.open("ab") as file:
                file.write(chunk)
            pieces += drain(tail)
        pieces += tail.read_rest()
        assert [piece.record for piece in pieces] == fresh(path)
        check(tail)
        assert tail.read().reset in (None, REWRITTEN if tail.mark.offset < len(data) else None)


def test_following_equals_reading_real_files(shared: Path, tmp_path: Path) -> None:
    """The same for files of the real client, of every version."""
    rng = random.Random(1)
    files = sorted(shared.glob("real_cli/*/config*/projects/*/*.jsonl"))
    for number, source in enumerate(rng.sample(files, 60)):
        data = source.read_bytes()
        path = tmp_path / f"{number}.jsonl"
        path.touch()
        tail = Tail(path)
        pieces: list[Piece] = []
        for chunk in chunked(data, [rng.randrange(len(data) + 1) for _ in range(30)]):
            with path.open("ab") as file:
                file.write(chunk)
            pieces += drain(tail)
        assert [piece.record for piece in (*pieces, *tail.read_rest())] == fresh(path)


@given(data=st.binary(max_size=400), cuts=st.lists(st.integers(0, 400), max_size=8))
def test_any_bytes_in_any_pieces(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, cuts: list[int]
) -> None:
    """Following arbitrary bytes gives the same as reading them."""
    path = tmp_path_factory.mktemp("tail") / "x.jsonl"
    path.touch()
    tail = Tail(path)
    pieces: list[Piece] = []
    for chunk in chunked(data.replace(b"a", b"\n"), cuts):
        with path.open("ab") as file:
            file.write(chunk)
        pieces += drain(tail)
    pieces += tail.read_rest()
    assert [piece.record for piece in pieces] == fresh(path)
    raw = b"".join(piece.raw for piece in pieces)
    assert path.read_bytes().startswith(raw)


@pytest.mark.parametrize("seed", range(60))
def test_any_schedule_ends_in_the_state_of_a_fresh_read(seed: int, tmp_path: Path) -> None:
    """Truncation, rewriting, replacement and new bytes of the same size leave no trace."""
    path = tmp_path / "x.jsonl"
    reader = Reader(path)
    for _ in Schedule(path, random.Random(seed)).play(25):
        if seed % 3 or random.Random(seed).random() < 0.5:
            reader.look()
    reader.settle()
    assert reader.records == fresh(path)


def write(path: Path, *lines: bytes) -> None:
    """Write these lines to a file, and nothing else."""
    path.write_bytes(b"".join(lines))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with three lines that was not written recently."""
    path = tmp_path / "x.jsonl"
    write(path, line(1), line(2), line(3))
    return path


def test_a_torn_line_is_held_back(path: Path) -> None:
    """A torn line is reported once, when it is complete."""
    tail = Tail(path)
    assert len(drain(tail)) == 3
    with path.open("ab") as file:
        file.write(line(4)[:10])
        file.flush()
        assert drain(tail) == []
        file.write(line(4)[10:])
    assert [piece.raw for piece in drain(tail)] == [line(4)]


def test_a_rewritten_torn_line_is_not_a_reset(path: Path) -> None:
    """Nothing was reported of it, so nothing has to be taken back."""
    tail = Tail(path)
    drain(tail)
    size = path.stat().st_size
    with path.open("ab") as file:
        file.write(line(4)[:10])
    drain(tail)
    os.truncate(path, size)
    with path.open("ab") as file:
        file.write(line(5))
    assert [piece.raw for piece in drain(tail)] == [line(5)]


def test_truncation_starts_over(path: Path) -> None:
    """A file that lost its last line is read again from the start."""
    tail = Tail(path)
    drain(tail)
    write(path, line(1), line(2))
    step = tail.read()
    assert (step.reset, [piece.raw for piece in step.pieces]) == (SHORTER, [line(1), line(2)])


def test_a_rewritten_file_that_has_grown_starts_over(path: Path) -> None:
    """Other bytes before the known position mean another file."""
    tail = Tail(path)
    drain(tail)
    write(path, line(1), line(9), line(3, "x" * 50))
    assert tail.read().reset == REWRITTEN


def test_a_replacement_with_the_same_lines_continues(path: Path) -> None:
    """Replacing the file with a copy that has one more line is not a rewrite."""
    tail = Tail(path)
    drain(tail)
    other = path.with_name("other")
    write(other, line(1), line(2), line(3), line(4))
    other.replace(path)
    assert [piece.raw for piece in drain(tail)] == [line(4)]


def test_a_replacement_with_other_lines_starts_over(path: Path) -> None:
    """Another file under the same name is read completely."""
    tail = Tail(path)
    drain(tail)
    other = path.with_name("other")
    write(other, line(1), line(7), line(3))
    other.replace(path)
    step = tail.read()
    assert (step.reset, len(step.pieces)) == (REPLACED, 3)


def test_bytes_exchanged_in_the_middle_are_found_by_a_check(path: Path) -> None:
    """A change that the edges do not show is found by verifying everything."""
    padding = line(5, "p" * 2 * EDGE)
    write(path, padding, line(1), padding)
    tail = Tail(path)
    drain(tail)
    write(path, padding, line(2), padding)
    assert tail.read().reset is None
    assert tail.needs_verification
    check(tail)
    step = tail.read()
    assert (step.reset, [piece.raw for piece in step.pieces]) == (
        REWRITTEN,
        [padding, line(2), padding],
    )
    check(tail)
    assert not tail.needs_verification


def test_a_deleted_file_may_come_back(path: Path) -> None:
    """It continues where it was if the content is the same, even as a new file."""
    tail = Tail(path)
    drain(tail)
    data = path.read_bytes()
    path.unlink()
    assert tail.read().is_gone
    path.write_bytes(data + line(4))
    assert [piece.raw for piece in drain(tail)] == [line(4)]


def test_reading_can_resume_at_any_mark(path: Path) -> None:
    """Resuming after a record yields those that follow it, even two on a line."""
    write(path, line(1), line(2)[:-1] + line(3), line(4))
    pieces = drain(Tail(path))
    assert len(pieces) == 4
    for number, piece in enumerate(pieces, start=1):
        assert drain(Tail(path, piece.mark)) == pieces[number:]
    assert drain(Tail(path, NOTHING_READ)) == pieces


def test_a_mark_of_another_content_starts_over(path: Path) -> None:
    """A mark covers everything before it."""
    pieces = drain(Tail(path))
    write(path, line(1), line(7), line(3), line(4))
    step = Tail(path, pieces[2].mark).read()
    assert (step.reset, len(step.pieces)) == (REWRITTEN, 4)
    assert Tail(path, Mark(10**6, b"")).read().reset == SHORTER
    assert Tail(path, StartOver()).read().reset == UNKNOWN


def test_from_the_end_only_new_records_are_reported(path: Path) -> None:
    """A line that was incomplete then is reported completely."""
    with path.open("ab") as file:
        file.write(line(4)[:9])
    state = path.stat()
    tail = Tail(path, End((state.st_dev, state.st_ino), state.st_size))
    assert drain(tail) == []
    with path.open("ab") as file:
        file.write(line(4)[9:] + line(5))
    assert [piece.raw for piece in drain(tail)] == [line(4), line(5)]


def test_a_long_line_is_read_once_it_has_ended(tmp_path: Path) -> None:
    """A line of several chunks that grows slowly comes out complete, and so do later lines."""
    path = tmp_path / "x.jsonl"
    long = line(1, "x" * 5 * CHUNK)
    path.touch()
    tail = Tail(path)
    with path.open("ab", buffering=0) as file:
        for start in range(0, len(long) - 1, CHUNK // 2):
            file.write(long[start : min(start + CHUNK // 2, len(long) - 1)])
            assert drain(tail) == []
        file.write(b"\n" + line(2))
    assert [piece.raw for piece in drain(tail)] == [long, line(2)]
    check(tail)
    assert drain(tail) == []


def test_the_rest_is_reported_at_the_end(path: Path) -> None:
    """A last line without a line end counts if it is complete; more after it starts over."""
    with path.open("ab") as file:
        file.write(line(4)[:-1])
    tail = Tail(path)
    assert len(drain(tail)) == 3
    rest = tail.read_rest()
    assert [piece.raw for piece in rest] == [line(4)[:-1]]
    assert drain(Tail(path, rest[0].mark)) == []
    with path.open("ab") as file:
        file.write(b"\n")
    assert tail.read().reset == REWRITTEN
    assert drain(Tail(path, rest[0].mark)) == []


@settings(max_examples=30)
@given(seed=st.integers(0, 10**9))
def test_looks_at_any_time_end_alike(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    """However often it is read during a schedule, the result equals a fresh read."""
    path = tmp_path_factory.mktemp("tail") / "x.jsonl"
    rng = random.Random(seed)
    reader = Reader(path)
    for _ in Schedule(path, random.Random(seed)).play(12):
        for _ in range(rng.randrange(3)):
            reader.look()
    reader.settle()
    assert reader.records == fresh(path)
