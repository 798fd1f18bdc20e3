"""Tests of recollect.store.replaced_indexes: indexes of older versions, and what is kept of them.

`older_indexes` holds indexes as older versions wrote them: a session and a fork of it that has the
larger figures of one message, with their listings, figures and tool calls. Both files are gone.
"""

from pathlib import Path

import apsw
import pytest

from recollect.store.catalog import load_files
from recollect.store.data_directory import INDEX_NAME, SCHEMA_VERSION
from recollect.store.database import DAMAGED_NAME, check_everything, open_for_writing
from recollect.store.schema import NEWER_NAME, load_checksums, reserve_checksums, write_meta
from recollect.sync.session_lists import find_deleted_session, list_indexed
from tests.sync.lines import Line
from tests.sync.world import World, add_up

OLDER = sorted((Path(__file__).parent / "older_indexes").glob("*.sql"))
MESSAGES, OUTPUT = 3, 20 + 33 + 40
FORK = "5b0e7c1a-0000-4000-8000-000000000002"


def load_dump(path: Path, dump: Path) -> None:
    """Make an index of an older version at `path`."""
    load_checksums()
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = apsw.Connection(str(path))
    reserve_checksums(connection)
    connection.execute(dump.read_text(encoding="utf-8"))
    connection.close()


def make_older(world: World) -> None:
    """Let the index be one of the version before, which did not know of its predecessors yet."""
    connection = apsw.Connection(str(world.data / INDEX_NAME))
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION - 1}")
    write_meta(connection, "schema", str(SCHEMA_VERSION - 1))
    connection.close()


def count(world: World) -> tuple[int, int]:
    """Messages and output tokens that count, of an index that is sound."""
    connection = world.open()
    check_everything(connection)
    messages, _, output, *_ = add_up(connection)
    connection.close()
    return messages, output


def find_copies(world: World) -> list[str]:
    """The replaced indexes that are still in the data directory."""
    return sorted(path.name for path in world.data.glob("index.*.db"))


@pytest.mark.parametrize("dump", OLDER, ids=lambda dump: dump.stem)
def test_an_older_index_hands_on_what_it_knows_of_deleted_transcripts(
    world: World, dump: Path
) -> None:
    """Usage never shrinks because Claude Code cleaned up; the copy is deleted afterwards."""
    load_dump(world.data / INDEX_NAME, dump)
    world.write("p/here", Line(id="here", output=5).encode())
    world.sync()
    assert count(world) == (MESSAGES + 1, OUTPUT + 5)
    connection = world.open()
    files = load_files(connection)
    assert sum(row.is_gone for _, row in files.values()) == 2
    connection.close()
    assert find_copies(world) == []
    assert world.sync().files_read == 0
    assert count(world) == (MESSAGES + 1, OUTPUT + 5)


@pytest.mark.parametrize("dump", OLDER, ids=lambda dump: dump.stem)
def test_the_listings_of_deleted_transcripts_are_handed_on(world: World, dump: Path) -> None:
    """Under the kinds of this version."""
    load_dump(world.data / INDEX_NAME, dump)
    world.sync()
    gone = find_deleted_session(FORK, world.data)
    assert gone is not None
    assert (gone.title, gone.git_branch, gone.cwd) == ("Sort the list", "main", "/home/ada/app")
    assert len(list_indexed(world.data)) == 2


@pytest.mark.parametrize("dump", OLDER, ids=lambda dump: dump.stem)
def test_rows_survive_two_generations_without_a_sync(world: World, dump: Path) -> None:
    """`list` alone replaces the index as well, and the next version may come before `usage`."""
    load_dump(world.data / INDEX_NAME, dump)
    for expected in (1, 2):
        with open_for_writing(world.data):
            assert len(find_copies(world)) == expected
        make_older(world)
    world.sync()
    assert count(world) == (MESSAGES, OUTPUT)
    assert find_copies(world) == []


def test_rows_survive_two_generations_with_a_sync(world: World) -> None:
    """Each version hands on what it was handed, and what was deleted in its own time."""
    load_dump(world.data / INDEX_NAME, OLDER[0])
    world.write("p/later", Line(id="later", output=5).encode())
    world.sync()
    world.path("p/later").unlink()
    world.sync()
    before = world.dump()
    make_older(world)
    world.sync()
    assert world.dump() == before
    assert count(world) == (MESSAGES + 1, OUTPUT + 5)


def test_a_file_that_came_back_is_read_and_not_carried_over(world: World) -> None:
    """The current file counts."""
    path = world.write("p/back", Line(id="back", output=5).encode())
    world.sync()
    path.unlink()
    world.sync()
    make_older(world)
    world.write("p/back", Line(id="back", output=7).encode())
    world.sync()
    assert count(world) == (1, 7)


def test_an_index_set_aside_by_an_older_version_is_taken_up_again(world: World) -> None:
    """`index --rebuild` of an older version leaves it as index.newer.db."""
    load_dump(world.data / NEWER_NAME, OLDER[-1])
    world.sync()
    assert count(world) == (MESSAGES, OUTPUT)


def test_the_index_of_a_newer_version_is_not_read(world: World) -> None:
    """Its rows may mean something else; it stays where it is."""
    load_dump(world.data / NEWER_NAME, OLDER[-1])
    connection = apsw.Connection(str(world.data / NEWER_NAME))
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    connection.close()
    world.sync()
    connection = world.open()
    assert load_files(connection) == {}
    connection.close()
    assert find_copies(world) == [NEWER_NAME]


@pytest.mark.skipif(not load_checksums(), reason="this apsw has no checksum VFS")
def test_a_damaged_older_index_is_kept_aside(world: World) -> None:
    """It is not replaced by an incomplete copy; what is readable is carried over."""
    path = world.data / INDEX_NAME
    load_dump(path, OLDER[0])
    connection = apsw.Connection(str(path))
    query = "SELECT rootpage, (SELECT * FROM pragma_page_size) FROM sqlite_schema WHERE name = ?"
    page, size = next(connection.execute(query, ("problems",)))
    connection.close()
    content = bytearray(path.read_bytes())
    content[page * size - 100] ^= 1
    path.write_bytes(content)
    world.sync()
    assert find_copies(world) == [DAMAGED_NAME]
    assert count(world) == (MESSAGES, OUTPUT)
