"""Tests of recollect.sync.usage_counting: the range of a file that is read."""

import os
import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from recollect.sources.growth import EDGE
from recollect.sync.usage_counting import Extract, Job, decode_extracts, extract, extract_many
from tests.sync.lines import Line, user_line
from tests.sync.world import World

SECOND = 1_000_000_000


def go_on(read: Extract) -> Job:
    """Return the job that reads appended lines."""
    return Job(read.path, read.state)


def settle(read: Extract) -> Extract:
    """Return the extract as if it had been made later."""
    return replace(read, state=replace(read.state, is_racy=False))


def ids(read: Extract) -> list[str]:
    """Return the ids of the extracted messages."""
    return [row.message_id for row in read.rows]


def test_a_new_file_is_read_whole(world: World) -> None:
    """Up to its size, with the state for detecting later changes."""
    path = world.write("p/a", Line().encode())
    read, state = extract(Job(str(path))), path.stat()
    assert (read.start, read.state.position, read.state.size) == (0, state.st_size, state.st_size)
    assert (read.state.inode, read.state.device, read.state.mtime_ns) == (
        state.st_ino,
        state.st_dev,
        state.st_mtime_ns,
    )
    assert ids(read) == ["msg_1"]


def test_an_appended_file_is_read_from_where_it_was_left(world: World) -> None:
    """For small files, and for files with separate edges."""
    for filling in (b"", user_line("x" * 3 * EDGE)):
        path = world.write("p/a", filling + Line().encode())
        first = extract(Job(str(path)))
        world.append("p/a", Line(id="msg_2").encode())
        second = extract(go_on(first))
        assert (second.start, ids(second)) == (first.state.position, ["msg_2"])


@pytest.mark.parametrize("place", [0, 10, EDGE - 1, -1, -EDGE])
def test_a_changed_edge_means_another_file(world: World, place: int) -> None:
    """At the start or before the known end: then the whole file is read."""
    content = user_line("x" * 3 * EDGE) + Line().encode()
    path = world.write("p/a", content)
    first = extract(Job(str(path)))
    changed = bytearray(content)
    changed[place] ^= 1
    path.write_bytes(bytes(changed) + Line(id="msg_2").encode())
    assert extract(go_on(first)).start == 0


def test_a_file_that_did_not_grow_is_read_whole(world: World) -> None:
    """Its time changed, so its middle may have changed."""
    path = world.write("p/a", Line().encode())
    assert extract(go_on(extract(Job(str(path))))).start == 0


def test_a_torn_line_without_usage_is_left_for_later(world: World) -> None:
    """Reading resumes at its start."""
    whole, torn = Line().encode(), Line(id="msg_2").encode()[:60]
    path = world.write("p/a", whole + torn)
    read = extract(Job(str(path)))
    assert (read.state.position, ids(read)) == (len(whole), ["msg_1"])


def test_a_torn_line_counts_with_its_known_usage(world: World) -> None:
    """It was paid for, even if it is never completed; the next read starts over."""
    path = world.write("p/a", Line().encode() + Line(id="msg_2").encode()[:-3])
    read = extract(Job(str(path)))
    assert (read.state.position, ids(read)) == (0, ["msg_1", "msg_2"])


def test_a_whole_line_without_its_end_makes_the_next_reading_start_over(world: World) -> None:
    """It counts, and cannot be removed from a row that it was merged into."""
    path = world.write("p/a", Line().encode() + Line(output=81).encode()[:-1])
    read = extract(Job(str(path)))
    assert (read.state.position, [row.output for row in read.rows]) == (0, [81])


@pytest.mark.parametrize(
    ("age", "is_racy"),
    [
        (0, True),
        (SECOND // 100, True),
        (SECOND, False),
        (-SECOND // 100, True),
        (-SECOND * 3600, False),
    ],
)
def test_a_time_that_is_past_can_be_trusted(world: World, age: int, is_racy: bool) -> None:
    """Even one in the future: the clock will not reach it again soon."""
    path = world.write("p/a", Line().encode())
    # Never a whole second, which means a clock without fractions.
    moment = (time.time_ns() - age) | 1
    os.utime(path, ns=(moment, moment))
    assert extract(Job(str(path))).state.is_racy is is_racy


def test_a_clock_of_whole_seconds_is_trusted_later(world: World) -> None:
    """Some file systems only store even seconds."""
    path = world.write("p/a", Line().encode())
    moment = time.time_ns() // SECOND * SECOND - SECOND
    os.utime(path, ns=(moment, moment))
    assert extract(Job(str(path))).state.is_racy
    os.utime(path, ns=(moment - 2 * SECOND,) * 2)
    assert not extract(Job(str(path))).state.is_racy


def test_extracts_can_be_sent(world: World) -> None:
    """Including those of files whose names are not UTF-8."""
    name = os.fsdecode(b"caf\xe9")
    paths = [world.write(f"p/{word}", Line(advisor=5).encode()) for word in ("a", name)]
    jobs = [Job(str(path)) for path in paths]
    expected = [extract(job) for job in jobs]
    found = decode_extracts(extract_many(jobs), jobs)
    assert [settle(read) for read in found] == [settle(read) for read in expected]


def test_a_file_that_is_gone_is_no_problem(tmp_path: Path) -> None:
    """An unreadable one is."""
    assert extract(Job(str(tmp_path / "missing"))) == Extract(
        str(tmp_path / "missing"), is_gone=True
    )
    reason = (
        f"Not reading {tmp_path}: it is not a regular file. Specify a transcript, a .jsonl file."
    )
    assert extract(Job(str(tmp_path))) == Extract(str(tmp_path), problem=reason)


def test_the_session_is_found_in_the_records_where_it_is_asked_for(world: World) -> None:
    """It is that of the first record, even if reading resumes later."""
    path = world.write("p/agent-x", Line(session="parent").encode() + Line(session="x").encode())
    assert extract(Job(str(path))).session_id is None
    assert extract(Job(str(path), wants_session=True)).session_id == "parent"
