"""The tables of an index: made, taken away, and told from those of other versions."""

from pathlib import Path
from zlib import crc32

import apsw

from recollect import __version__
from recollect.store.checksums import reserve_checksums
from recollect.store.failures import DamagedIndex, NewerIndex
from recollect.store.meta import read_meta, write_meta
from recollect.store.place import VARIABLE
from recollect.store.schema import DATA_VERSION, SCHEMA_VERSION, TABLE_NAMES, TABLES

NEWER_NAME = "index.newer.db"
"""What the index of a newer program is called when it had to make room."""


def make_tables(connection: apsw.Connection) -> None:
    """Make all tables, empty, and note who made them."""
    connection.execute(TABLES)
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    write_meta(connection, "schema", str(SCHEMA_VERSION))
    write_meta(connection, "data", str(DATA_VERSION))
    write_meta(connection, "program", __version__)
    write_meta(connection, "tables", sum_tables(connection))


def drop_everything(connection: apsw.Connection) -> None:
    """Leave a file without any table."""
    connection.config(apsw.SQLITE_DBCONFIG_RESET_DATABASE, 1)
    reserve_checksums(connection)
    connection.execute("VACUUM")
    connection.config(apsw.SQLITE_DBCONFIG_RESET_DATABASE, 0)


def has_tables(connection: apsw.Connection) -> bool:
    """Whether there is any table."""
    return bool(connection.execute("SELECT count(*) FROM sqlite_schema").get)


def is_current(connection: apsw.Connection, path: Path) -> bool:
    """Whether the tables are those of this program and not of an older one.

    Raises `NewerIndex` when a newer one made them.
    """
    version = int(connection.execute("PRAGMA user_version").get)
    try:
        kept, program = (read_meta(connection, key) for key in ("schema", "program"))
    except apsw.SQLError as error:
        raise DamagedIndex(f"The index {path} has other tables than any version made.") from error
    if kept != str(version):
        raise DamagedIndex(f"The index {path} contradicts itself about its version.")
    if version > SCHEMA_VERSION:
        raise NewerIndex(
            f"Recollect {program or 'of a newer version'} made the index {path}: it has schema "
            f"{version}, and this program, Recollect {__version__}, knows {SCHEMA_VERSION}. Use "
            "that version; or let this one begin anew with `recollect index --rebuild`, which "
            f"sets that index aside as {NEWER_NAME}; or set {VARIABLE} to another directory."
        )
    return version == SCHEMA_VERSION


def sum_tables(connection: apsw.Connection) -> str:
    """A checksum of the definitions; other modules may have tables of their own beside ours."""
    rows = connection.execute("SELECT tbl_name, sql FROM sqlite_schema ORDER BY name").fetchall()
    return str(crc32(repr([row for row in rows if row[0] in TABLE_NAMES]).encode()))
