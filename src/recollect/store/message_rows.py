"""Rows of messages: what each file says of each, which of them count, and with which figures.

Only a sync reads and writes them; reports read `hour_sums`.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import apsw


class StoredMessage(NamedTuple):
    """A row of `messages`; names that repeat are numbers of `names`."""

    id: int
    file_id: int
    input: int
    output: int
    cache_read: int
    cache_write_5m: int
    cache_write_1h: int
    web_searches: int
    late_5m: int
    late_1h: int
    usage: bytes | None
    cost: int | None
    client_cost: int | None
    time: int | None
    is_sidechain: int
    is_copy: int
    is_relayed: int
    position: int
    message_id: str
    request_id: str | None
    model: int | None
    branch: int | None
    version: int | None
    entrypoint: int | None
    cwd: int | None
    tools: int | None
    terms: int | None
    counted: int


class Correction(NamedTuple):
    """A row of `corrections`: what counts instead of the figures of a message's own row."""

    message: int
    input: int
    output: int
    cache_read: int
    cache_write_5m: int
    cache_write_1h: int
    web_searches: int
    cost: int | None
    time: int | None
    tools: int | None


MESSAGE_COLUMNS = StoredMessage._fields
CORRECTION_COLUMNS = Correction._fields

_COLUMNS = ", ".join(MESSAGE_COLUMNS)
_INTO = f"INTO messages ({_COLUMNS}) VALUES ({', '.join('?' * len(MESSAGE_COLUMNS))})"
_SELECT = f"SELECT {_COLUMNS} FROM messages"
_CHUNK = 200


def insert_messages(connection: apsw.Connection, rows: Iterable[StoredMessage]) -> None:
    """Write rows with new numbers."""
    connection.executemany(f"INSERT {_INTO}", rows)


def replace_messages(connection: apsw.Connection, rows: Iterable[StoredMessage]) -> None:
    """Write rows in place of those with the same numbers."""
    connection.executemany(f"REPLACE {_INTO}", rows)


def next_message_number(connection: apsw.Connection) -> int:
    """Return a number above those of all messages."""
    return int(connection.execute("SELECT coalesce(max(id), 0) + 1 FROM messages").get)


def delete_messages(connection: apsw.Connection, file_id: int, start: int) -> set[str]:
    """Drop the messages of a file from a position on, and give their ids."""
    query = "DELETE FROM messages WHERE file_id = ? AND position >= ? RETURNING id, message_id"
    rows = list(connection.execute(query, (file_id, start)))
    drop_corrections(connection, (number for number, _ in rows))
    return {message_id for _, message_id in rows}


def find_message(
    connection: apsw.Connection,
    file_id: int,
    message_id: str,
    request_id: str | None,
    model: int | None,
    *,
    is_relayed: bool,
) -> StoredMessage | None:
    """The row that a file has of a message."""
    found = connection.execute(
        f"{_SELECT} WHERE message_id = ? AND file_id = ? AND request_id IS ? AND model IS ? "
        "AND is_relayed = ?",
        (message_id, file_id, request_id, model, is_relayed),
    ).fetchone()
    return None if found is None else StoredMessage._make(found)


def select_of_file(connection: apsw.Connection, file_id: int) -> list[StoredMessage]:
    """Every row of a file."""
    rows = connection.execute(f"{_SELECT} WHERE file_id = ? ORDER BY id", (file_id,))
    return list(map(StoredMessage._make, rows))


def iter_copies(
    connection: apsw.Connection, message_ids: Sequence[str]
) -> Iterator[list[StoredMessage]]:
    """Yield the rows of each of these messages, in all files."""
    for start in range(0, len(message_ids), _CHUNK):
        wanted = message_ids[start : start + _CHUNK]
        marks = ", ".join("?" * len(wanted))
        groups: dict[str, list[StoredMessage]] = {}
        rows = connection.execute(f"{_SELECT} WHERE message_id IN ({marks})", wanted)
        for row in map(StoredMessage._make, rows):
            groups.setdefault(row.message_id, []).append(row)
        yield from groups.values()


def find_shared(connection: apsw.Connection, file_id: int) -> list[str]:
    """Ids of the messages of a file that have more than this one row."""
    return _find_shared(connection, "n.file_id = ?", file_id)


def find_shared_from(connection: apsw.Connection, number: int) -> list[str]:
    """Ids of the messages with two rows that count, one of them from `number` on."""
    return _find_shared(connection, "n.id >= ? AND n.counted", number, "AND o.counted")


def _find_shared(
    connection: apsw.Connection, condition: str, value: int, other: str = ""
) -> list[str]:
    # Not DISTINCT, for which SQLite would go through all messages in the order of their ids.
    query = (
        f"SELECT n.message_id FROM messages AS n WHERE {condition} AND EXISTS "
        f"(SELECT 1 FROM messages AS o WHERE o.message_id = n.message_id AND o.id <> n.id {other})"
    )
    return list(dict.fromkeys(row[0] for row in connection.execute(query, (value,))))


def set_counted(connection: apsw.Connection, rows: Iterable[tuple[bool, int]]) -> None:
    """Say of each row, given as (counted, number), whether it counts."""
    connection.executemany("UPDATE messages SET counted = ? WHERE id = ?", rows)


def drop_corrections(connection: apsw.Connection, numbers: Iterable[int]) -> None:
    """Let these rows count with their own figures."""
    connection.executemany(
        "DELETE FROM corrections WHERE message = ?", ((number,) for number in numbers)
    )


def insert_corrections(connection: apsw.Connection, rows: Iterable[Correction]) -> None:
    """Let rows count with other figures than their own."""
    marks = ", ".join("?" * len(CORRECTION_COLUMNS))
    columns = ", ".join(CORRECTION_COLUMNS)
    connection.executemany(f"INSERT INTO corrections ({columns}) VALUES ({marks})", rows)


def find_corrected(connection: apsw.Connection) -> list[str]:
    """Ids of the messages with a row that counts with other figures than its own."""
    query = "SELECT DISTINCT message_id FROM corrections JOIN messages ON id = message"
    return [row[0] for row in connection.execute(query)]


def iter_chunks(connection: apsw.Connection) -> Iterator[list[StoredMessage]]:
    """Every row there is, many at a time; rows may be changed meanwhile."""
    last = 0
    query = f"{_SELECT} WHERE id > ? ORDER BY id LIMIT 5000"
    while rows := list(map(StoredMessage._make, connection.execute(query, (last,)))):
        yield rows
        last = rows[-1].id


def set_costs(connection: apsw.Connection, rows: Iterable[tuple[int | None, int]]) -> None:
    """Set the cost of each row, given as (cost, number)."""
    connection.executemany("UPDATE messages SET cost = ? WHERE id = ?", rows)
