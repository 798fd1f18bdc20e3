"""If the index cannot be written, a message says what to do, and nothing is lost."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from recollect.errors import IndexFailure
from recollect.store.data_directory import INDEX_NAME
from recollect.store.schema import DamagedIndex, is_damage, translate_errors
from recollect.sync.index_access import is_current
from recollect.sync.sync_engine import sync
from tests.store.limited import sync_limited
from tests.sync.lines import Line
from tests.sync.world import World, assert_same

REMEDY = "Set RECOLLECT_DATA_DIR to a directory that you can write to."
MANY = b"".join(Line(id=f"msg_{number}").encode() for number in range(3000))


@pytest.fixture
def locked() -> Iterator[list[Path]]:
    """Paths without permissions, which are restored after the test."""
    paths: list[Path] = []
    yield paths
    for path in paths:
        path.chmod(0o700)


def test_a_data_directory_that_is_a_file_is_reported(world: World) -> None:
    """It cannot contain an index."""
    world.write("p/a", Line().encode())
    world.data.write_text("mine", encoding="utf-8")
    with pytest.raises(IndexFailure, match=f"it is a file. {REMEDY}"):
        world.sync()
    assert not is_current(world.data, world.find())
    assert world.data.read_text(encoding="utf-8") == "mine"


def test_a_data_directory_whose_name_is_no_text_is_reported(world: World) -> None:
    """SQLite accepts only UTF-8."""
    world.write("p/a", Line().encode())
    world.data = Path(os.fsdecode(os.fsencode(world.base) + b"/caf\xe9"))
    with pytest.raises(IndexFailure, match=r"its name is not valid UTF-8\. Set RECOLLECT_DATA_DIR"):
        world.sync()


def test_a_data_directory_below_a_file_is_reported(world: World) -> None:
    """It cannot be created."""
    world.write("p/a", Line().encode())
    (world.base / "file").write_text("mine", encoding="utf-8")
    with pytest.raises(IndexFailure, match=f"Not a directory. {REMEDY}"):
        sync(world.base / "file" / "data", world.find())


def test_a_data_directory_that_cannot_be_made_is_reported(world: World, locked: list[Path]) -> None:
    """The parent directory belongs to another user."""
    world.write("p/a", Line().encode())
    place = world.base / "theirs"
    place.mkdir(mode=0o500)
    locked.append(place)
    assert sync_limited(world, data=place / "data") == [
        False,
        "IndexFailure",
        f"Cannot create the data directory {place / 'data'}: Permission denied. {REMEDY}",
    ]


def test_a_read_only_index_answers_as_long_as_it_is_up_to_date(
    world: World, locked: list[Path]
) -> None:
    """If something has changed, callers have to read the files."""
    world.write("p/a", Line().encode())
    world.sync()
    for path in (*world.data.iterdir(), world.data):
        path.chmod(0o500)
        locked.append(path)
    failure = (
        f"Cannot lock {world.data / 'index.lock'}: Permission denied. "
        "Set RECOLLECT_DATA_DIR to a directory on a local disk that you can write to."
    )
    assert sync_limited(world) == [True, "IndexFailure", failure]
    world.write("p/b", Line(id="msg_2").encode())
    assert sync_limited(world) == [False, "IndexFailure", failure]


def test_a_read_only_index_without_its_log_can_be_read(world: World, locked: list[Path]) -> None:
    """As on a read-only medium."""
    world.write("p/a", Line().encode())
    world.sync()
    for suffix in ("-wal", "-shm"):
        (world.data / f"{INDEX_NAME}{suffix}").unlink(missing_ok=True)
    for path in (*world.data.iterdir(), world.data):
        path.chmod(0o500)
        locked.append(path)
    assert sync_limited(world)[0] is True


def test_an_unreadable_index_is_no_index(world: World, locked: list[Path]) -> None:
    """It is not set aside: it may be intact, and belong to another user."""
    world.write("p/a", Line().encode())
    world.sync()
    path = world.data / INDEX_NAME
    content = path.read_bytes()
    path.chmod(0)
    level, failure, message = sync_limited(world)
    path.chmod(0o600)
    assert (level, failure) == (False, "IndexFailure")
    assert message == (
        f"The index {path} cannot be opened or written (unable to open database file). "
        "Free some space or fix the permissions, or set RECOLLECT_DATA_DIR to another directory."
    )
    assert path.read_bytes() == content


def test_an_unreadable_transcript_is_a_problem(world: World, locked: list[Path]) -> None:
    """All others are counted."""
    world.write("p/a", Line().encode())
    hidden = world.write("p/b", Line(id="msg_2").encode())
    hidden.chmod(0)
    reason = (
        f"Cannot read {hidden}: Permission denied. Check that it exists and that you can read it."
    )
    assert sync_limited(world) == [False, 1, [[str(hidden), reason]]]
    assert sync_limited(world) == [True, 0, [[str(hidden), reason]]]
    hidden.chmod(0o600)
    assert sync_limited(world) == [False, 1, []]


@pytest.mark.parametrize("room", [1, 4096, 30_000, 70_000, 150_000, 300_000])
def test_too_little_room_loses_nothing(world: World, room: int) -> None:
    """A file that cannot grow, at any moment; with space again, the sync continues."""
    world.write("p/a", Line(id="first").encode())
    world.sync()
    before = world.dump()
    world.write("p/b", MANY)
    _, outcome, _ = sync_limited(world, room=room)
    assert outcome == "IndexFailure"
    assert_same(world.dump(), before)
    world.sync()
    assert_same(world.dump(), world.dump_fresh())


def test_a_full_disk_loses_nothing(world: World, small_disk: Path) -> None:
    """It is reported, and the sync continues when there is space."""
    world.write("p/a", Line(id="first").encode())
    world.data = small_disk / "data"
    world.sync()
    before = world.dump()
    world.write("p/b", MANY)
    with pytest.raises(IndexFailure, match=r"The disk is full: the index .* cannot grow\."):
        world.sync()
    assert_same(world.dump(), before)
    subprocess.run(["mount", "-o", "remount,size=20m", str(small_disk)], check=True)
    world.sync()
    expected = world.dump_fresh()
    assert_same(world.dump(), expected)


def test_a_bug_of_ours_is_not_called_damage() -> None:
    """A wrong statement must not delete the index."""
    connection = apsw.Connection(":memory:")
    with pytest.raises(apsw.SQLError), translate_errors(Path("index.db")):
        connection.execute("SELECT * FROM nothing")


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (apsw.FullError("full"), "The disk is full: the index x cannot grow."),
        (apsw.ReadOnlyError("ro"), "The index x cannot be opened or written (ro)."),
        (apsw.BusyError("busy"), "The index x is in use by another program (busy)."),
        (apsw.IOError("io"), "The index x cannot be used (io)."),
    ],
)
def test_failures_of_the_place_say_what_to_do(error: apsw.Error, message: str) -> None:
    """They are not damage."""
    with pytest.raises(IndexFailure) as told, translate_errors(Path("x")):
        raise error
    assert not isinstance(told.value, DamagedIndex)
    remedy = (
        "Free some space or fix the permissions, or set RECOLLECT_DATA_DIR to another directory."
    )
    assert str(told.value) == f"{message} {remedy}"


def test_damage_is_distinguished_from_failures() -> None:
    """Damage is about the content of the file, not its environment."""
    short = apsw.IOError("short")
    short.extendedresult = apsw.SQLITE_IOERR_SHORT_READ  # type: ignore[attr-defined]
    assert [
        is_damage(error)
        for error in (
            apsw.CorruptError(),
            apsw.NotADBError(),
            short,
            apsw.IOError(),
            apsw.FullError(),
        )
    ] == [True, True, True, False, False]
