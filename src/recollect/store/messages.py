"""Rows of messages: what each file says of each, which of them count, and with which figures."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import apsw

from recollect.records.tokens import CLASSES

MESSAGE_COLUMNS = [
    *("id", "file_id", *CLASSES, "late_5m", "late_1h", "usage", "cost", "time"),
    *("is_sidechain", "is_copy", "position", "message_id", "request_id"),
    *("model", "branch", "version", "entrypoint", "cwd", "tools", "terms", "counted"),
]
CORRECTION_COLUMNS = ["message", *CLASSES, "cost", "time", "tools"]

MessageValues = tuple[Any, ...]
"""Values in the order of `MESSAGE_COLUMNS`."""

_COLUMNS = ", ".join(MESSAGE_COLUMNS)
_INTO = f"INTO messages ({_COLUMNS}) VALUES ({', '.join('?' * len(MESSAGE_COLUMNS))})"
_SELECT = f"SELECT {_COLUMNS} FROM messages"  # noqa: S608 - our own names
_MESSAGE_ID = MESSAGE_COLUMNS.index("message_id")
_CHUNK = 200


def insert_messages(connection: apsw.Connection, rows: Iterable[MessageValues]) -> None:
    """Write rows with new numbers."""
    connection.executemany(f"INSERT {_INTO}", rows)


def replace_messages(connection: apsw.Connection, rows: Iterable[MessageValues]) -> None:
    """Write rows in place of those with the same numbers."""
    connection.executemany(f"REPLACE {_INTO}", rows)


def next_message_number(connection: apsw.Connection) -> int:
    """A number that no message has, nor any above it."""
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
) -> MessageValues | None:
    """The row that a file has of a message."""
    return connection.execute(
        f"{_SELECT} WHERE message_id = ? AND file_id = ? AND request_id IS ? AND model IS ?",
        (message_id, file_id, request_id, model),
    ).fetchone()


def select_of_file(connection: apsw.Connection, file_id: int) -> list[MessageValues]:
    """Every row of a file."""
    return connection.execute(f"{_SELECT} WHERE file_id = ? ORDER BY id", (file_id,)).fetchall()


def iter_copies(
    connection: apsw.Connection, message_ids: Sequence[str]
) -> Iterator[list[MessageValues]]:
    """The rows of each of these messages, in whatever files."""
    for start in range(0, len(message_ids), _CHUNK):
        wanted = message_ids[start : start + _CHUNK]
        marks = ", ".join("?" * len(wanted))
        groups: dict[str, list[MessageValues]] = {}
        for row in connection.execute(f"{_SELECT} WHERE message_id IN ({marks})", wanted):
            groups.setdefault(row[_MESSAGE_ID], []).append(row)
        yield from groups.values()


def find_shared(connection: apsw.Connection, file_id: int) -> list[str]:
    """Ids of the messages of a file that have more than this one row."""
    return _find_shared(connection, "n.file_id = ?", file_id)


def find_shared_from(connection: apsw.Connection, number: int) -> list[str]:
    """Ids of the messages with a row from `number` on that have more than this one row."""
    return _find_shared(connection, "n.id >= ?", number)


def _find_shared(connection: apsw.Connection, condition: str, value: int) -> list[str]:
    # Not DISTINCT, for which SQLite would go through all messages in the order of their ids.
    query = (
        f"SELECT n.message_id FROM messages AS n WHERE {condition} AND EXISTS "  # noqa: S608 - our own words
        "(SELECT 1 FROM messages AS o WHERE o.message_id = n.message_id AND o.id <> n.id)"
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


def insert_corrections(connection: apsw.Connection, rows: Iterable[tuple[object, ...]]) -> None:
    """Let rows count with other figures than their own, in the order of `CORRECTION_COLUMNS`."""
    marks = ", ".join("?" * len(CORRECTION_COLUMNS))
    columns = ", ".join(CORRECTION_COLUMNS)
    connection.executemany(f"INSERT INTO corrections ({columns}) VALUES ({marks})", rows)  # noqa: S608 - our own names


def find_corrected(connection: apsw.Connection) -> list[str]:
    """Ids of the messages with a row that counts with other figures than its own."""
    query = "SELECT DISTINCT message_id FROM corrections JOIN messages ON id = message"
    return [row[0] for row in connection.execute(query)]


def iter_chunks(connection: apsw.Connection) -> Iterator[list[MessageValues]]:
    """Every row there is, many at a time; rows may be changed meanwhile."""
    last = 0
    query = f"{_SELECT} WHERE id > ? ORDER BY id LIMIT 5000"
    while rows := list(connection.execute(query, (last,))):
        yield rows
        last = rows[-1][0]


def set_costs(connection: apsw.Connection, rows: Iterable[tuple[int | None, int]]) -> None:
    """Set the cost of each row, given as (cost, number)."""
    connection.executemany("UPDATE messages SET cost = ? WHERE id = ?", rows)
