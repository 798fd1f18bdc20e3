"""Any steps, any order: an index that was updated equals one that is built at the end."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.sync.sync_engine import sync
from recollect.sync.workers import Limits
from tests.sync.lines import LINES, Line
from tests.sync.world import World, assert_same

NAMES = ("p/one", "p/two", "q/agent-three")
FILES = st.lists(st.lists(LINES, max_size=5), min_size=1, max_size=len(NAMES))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Room for the worlds of all examples."""
    return tmp_path_factory.mktemp("worlds")


def make_world(place: Path) -> World:
    """A world for one example."""
    base = Path(tempfile.mkdtemp(dir=place))
    return World(base, base / "data")


def encode(lines: list[Line]) -> bytes:
    """A transcript of these lines."""
    return b"".join(line.encode() for line in lines)


@settings(max_examples=30)
@given(files=FILES, data=st.data())
def test_appending_in_any_pieces_gives_the_same_index(
    place: Path, files: list[list[Line]], data: st.DataObject
) -> None:
    """Files grow byte by byte, whole lines or torn ones, in turns."""
    world = make_world(place)
    contents = dict(zip(NAMES, map(encode, files), strict=False))
    written = dict.fromkeys(contents, 0)
    for _ in range(data.draw(st.integers(0, 4), "steps")):
        name = data.draw(st.sampled_from(sorted(contents)), "file")
        length = data.draw(st.integers(0, len(contents[name]) - written[name]), "bytes")
        world.append(name, contents[name][written[name] :][:length])
        written[name] += length
        world.sync()
    for name, content in contents.items():
        world.append(name, content[written[name] :])
    world.sync()
    assert_same(world.dump(), world.dump_fresh())


@settings(max_examples=20)
@given(files=FILES, order=st.permutations(range(len(NAMES))))
def test_files_may_come_in_any_order(
    place: Path, files: list[list[Line]], order: list[int]
) -> None:
    """A file that is not looked at yet changes nothing about the others."""
    world = make_world(place)
    for name, lines in zip(NAMES, files, strict=False):
        world.write(name, encode(lines))
    found = world.find()
    for end in range(len(found)):
        chosen = [found[turn] for turn in order if turn <= end and turn < len(found)]
        sync(world.data, chosen)
    world.sync()
    assert_same(world.dump(), world.dump_fresh())


@settings(max_examples=20)
@given(files=FILES, others=FILES)
def test_what_a_file_held_before_leaves_no_trace(
    place: Path, files: list[list[Line]], others: list[list[Line]]
) -> None:
    """Files that are rewritten count as what they are now."""
    world = make_world(place)
    for lines_of_all in (files, others):
        for name, lines in zip(NAMES, lines_of_all, strict=False):
            world.write(name, encode(lines) or b"\n")
        world.sync()
    assert_same(world.dump(), world.dump_fresh())


@settings(max_examples=10)
@given(files=FILES)
def test_small_steps_give_what_one_transaction_gives(place: Path, files: list[list[Line]]) -> None:
    """The result does not depend on where a sync commits."""
    world = make_world(place)
    for name, lines in zip(NAMES, files, strict=False):
        world.write(name, encode(lines) or b"\n")
    world.sync()
    small = World(world.base, world.base / "small", limits=Limits(commit_bytes=1))
    small.sync()
    assert_same(small.dump(), world.dump())
