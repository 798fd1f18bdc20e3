"""Tests of recollect.store.database: versions, readers, transactions."""

import stat
from pathlib import Path

import apsw
import pytest

from recollect import __version__
from recollect.errors import IndexFailure
from recollect.store import data_directory as place
from recollect.store import database
from recollect.store.data_directory import DATA_VERSION, INDEX_NAME, SCHEMA_VERSION
from recollect.store.database import (
    DAMAGED_NAME,
    open_for_reading,
    open_for_writing,
    snapshot,
    transaction,
)
from recollect.store.schema import NEWER_NAME, TABLE_NAMES, read_meta, write_meta
from recollect.sync.index_access import is_current
from tests.sync.lines import Line
from tests.sync.world import World, assert_same


def set_versions(world: World, *, schema: int = SCHEMA_VERSION, data: int = DATA_VERSION) -> None:
    """Set the versions of the index."""
    connection = apsw.Connection(str(world.data / INDEX_NAME))
    connection.execute(f"PRAGMA user_version = {schema}")
    write_meta(connection, "schema", str(schema))
    write_meta(connection, "data", str(data))
    write_meta(connection, "program", "9.8.7")
    connection.close()


@pytest.fixture
def indexed(world: World) -> World:
    """A world with an index of one existing and one deleted file."""
    for name in ("here", "gone"):
        world.write(f"p/{name}", Line(id=name).encode())
    world.sync()
    world.path("p/gone").unlink()
    world.sync()
    return world


def test_an_index_of_a_newer_program_is_left_alone(indexed: World) -> None:
    """Readers and writers raise an error that says what to do."""
    set_versions(indexed, schema=SCHEMA_VERSION + 1)
    path = indexed.data / INDEX_NAME
    content = path.read_bytes()
    message = (
        f"The index {path} was created by Recollect 9.8.7 (schema {SCHEMA_VERSION + 1}), and this "
        f"is Recollect {__version__} (schema {SCHEMA_VERSION}). Use that version; or start over "
        "with `recollect index --rebuild`, which moves that index to index.newer.db; or set "
        "RECOLLECT_DATA_DIR to another directory."
    )
    for attempt in (indexed.sync, lambda: open_for_reading(indexed.data)):
        with pytest.raises(IndexFailure) as told:
            attempt()
        assert str(told.value) == message
    assert path.read_bytes() == content


def test_a_rebuild_sets_the_index_of_a_newer_program_aside(indexed: World) -> None:
    """On request, and nothing is deleted."""
    set_versions(indexed, schema=SCHEMA_VERSION + 1)
    content = (indexed.data / INDEX_NAME).read_bytes()
    assert indexed.sync(rebuild=True).files_read == 1
    assert (indexed.data / NEWER_NAME).read_bytes() == content
    assert_same(indexed.dump(), indexed.dump_fresh())


def test_an_index_with_older_tables_is_emptied_and_filled(indexed: World) -> None:
    """In place, so that readers are not disturbed; data of deleted files is kept."""
    before = indexed.dump()
    set_versions(indexed, schema=SCHEMA_VERSION - 1)
    inode = (indexed.data / INDEX_NAME).stat().st_ino
    assert open_for_reading(indexed.data) is None
    assert indexed.sync().files_read == 1
    assert (indexed.data / INDEX_NAME).stat().st_ino == inode
    assert_same(indexed.dump(), before)


def test_an_index_with_older_data_is_read_again(indexed: World) -> None:
    """Data about deleted files is kept."""
    before = indexed.dump()
    set_versions(indexed, data=DATA_VERSION - 1)
    assert open_for_reading(indexed.data) is None
    assert not is_current(indexed.data, indexed.find())
    assert indexed.sync().files_read == 1
    assert_same(indexed.dump(), before)


def test_an_index_that_contradicts_itself_about_its_version_is_damaged(indexed: World) -> None:
    """A flipped bit must not look like a newer version."""
    connection = apsw.Connection(str(indexed.data / INDEX_NAME))
    write_meta(connection, "schema", str(SCHEMA_VERSION + 1))
    connection.close()
    indexed.sync()
    assert (indexed.data / DAMAGED_NAME).exists()
    assert len(indexed.dump()["files"]) == 2


def test_tables_of_others_are_no_damage(indexed: World) -> None:
    """Only our own are checked."""
    with open_for_writing(indexed.data) as connection:
        connection.execute("CREATE TABLE others (x)")
    assert is_current(indexed.data, indexed.find())


def test_changed_tables_are_damage(indexed: World) -> None:
    """Their results would be wrong."""
    connection = apsw.Connection(str(indexed.data / INDEX_NAME))
    connection.execute("DROP INDEX messages_by_key")
    connection.close()
    assert open_for_reading(indexed.data) is None
    indexed.sync()
    assert len(indexed.dump()["files"]) == 2


def test_the_names_of_our_tables_are_listed(indexed: World) -> None:
    """All tables that are created."""
    connection = indexed.open()
    found = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
    assert {name for (name,) in found} == TABLE_NAMES
    connection.close()


def test_no_index_is_no_failure(world: World) -> None:
    """Nor is one that is just being created."""
    assert open_for_reading(world.data) is None
    world.data.mkdir()
    (world.data / INDEX_NAME).touch()
    assert open_for_reading(world.data) is None
    world.write("p/a", Line().encode())
    assert world.sync().files_read == 1


def test_readers_cannot_write(indexed: World) -> None:
    """Not even by mistake."""
    connection = indexed.open()
    with pytest.raises(apsw.ReadOnlyError):
        connection.execute("DELETE FROM hours")
    connection.close()


def test_only_writers_merge_the_log(indexed: World) -> None:
    """The last reader leaves the log unchanged."""
    reader = indexed.open()
    indexed.append("p/here", Line(id="more").encode())
    indexed.sync()
    log = indexed.data / f"{INDEX_NAME}-wal"
    size = log.stat().st_size
    reader.close()
    assert size > 0
    assert log.stat().st_size == size
    assert len(indexed.dump()["messages"]) == 3


def test_a_snapshot_stays_as_it_is(indexed: World) -> None:
    """Concurrent writes are only seen afterwards."""
    connection = indexed.open()
    query = "SELECT count(*) FROM messages"
    with snapshot(connection):
        before = connection.execute(query).get
        indexed.append("p/here", Line(id="more").encode())
        indexed.sync()
        assert connection.execute(query).get == before
    assert connection.execute(query).get == before + 1
    connection.close()


def test_a_transaction_is_all_or_nothing(indexed: World) -> None:
    """An error rolls it back."""
    with open_for_writing(indexed.data) as connection:
        with pytest.raises(apsw.ConstraintError), transaction(connection):
            connection.execute("INSERT INTO meta VALUES ('note', 'half'), ('other', NULL)")
        assert read_meta(connection, "note") is None
        with transaction(connection):
            write_meta(connection, "note", "whole")
    with open_for_writing(indexed.data) as connection:
        assert read_meta(connection, "note") == "whole"


def test_an_odd_place_can_be_read_without_writing(world: World) -> None:
    """Characters that are special in a URI are escaped in a path."""
    world.data = world.base / "100% of #1?"
    world.write("p/a", Line().encode())
    world.sync()
    for suffix in ("-wal", "-shm"):
        (world.data / f"{INDEX_NAME}{suffix}").unlink(missing_ok=True)
    connection = database._connect_immutable(world.data / INDEX_NAME)
    assert connection.execute("SELECT count(*) FROM messages").get == 1
    connection.close()


def test_no_log_is_kept_where_other_machines_may_write(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite's log needs memory that only one machine shares."""
    mounts = tmp_path / "mounts"
    mounts.write_text(f"server:/home {tmp_path} nfs4 rw 0 0\n", encoding="utf-8")
    monkeypatch.setattr(place, "MOUNTS", mounts)
    world.write("p/a", Line().encode())
    world.sync()
    connection = world.open()
    assert connection.execute("PRAGMA journal_mode").get == "delete"
    connection.close()
    assert sorted(path.name for path in world.data.iterdir()) == [INDEX_NAME, "index.lock"]


def test_an_existing_file_keeps_its_permissions(indexed: World) -> None:
    """The user's choice is kept."""
    path = indexed.data / INDEX_NAME
    path.chmod(0o640)
    indexed.append("p/here", Line(id="more").encode())
    indexed.sync()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
