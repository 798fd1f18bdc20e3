"""The usage ledger: each message as recorded in each file, whether it counts, and totals by hour,
file and other dimensions.

Only a sync reads and writes rows of messages; reports read the sums.

Sums are stored by hour and file, and once more over all files, so that a report on ten years is as
fast as one on ten days. They are rebuilt from the messages, in SQL, only for files whose messages
changed. A checksum over all of them detects flipped bits where pages have no checksums.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import apsw
from msgspec import Struct, structs

from recollect.records.token_usage import CLASSES, Tokens
from recollect.store.schema import FIGURES, NO_HOUR, NO_MODEL, DamagedIndex, read_meta, write_meta


class MessageRow(Tokens, frozen=True, gc=False, array_like=True):
    """A message as recorded in one file: the union of its lines there."""

    late_5m: int = 0
    """Cache writes that appear only in the split by lifetime; they count in the largest copy."""
    late_1h: int = 0
    usage: bytes | None = None
    """The usage as JSON if more requests were billed: then the cost cannot be computed from tokens
    alone.
    """
    cost: int | None = None
    """Micro-dollars, None when the price is not known."""
    client_cost: int | None = None
    """Micro-dollars that an old client recorded on the message itself."""
    time: int | None = None
    """Milliseconds since 1970."""
    is_sidechain: bool = False
    is_copy: bool = False
    """Whether it is marked as a copy from another session."""
    is_relayed: bool = False
    """Whether it is a subagent's message, known from a progress record of the parent."""
    position: int = 0
    """Offset of its first line."""
    message_id: str = ""
    request_id: str | None = None
    model: str | None = None
    branch: str | None = None
    version: str | None = None
    entrypoint: str | None = None
    cwd: str | None = None
    tools: str = ""
    """Names of the tools that it calls, one per line, in order."""
    terms: str = ""
    """Speed, service tier and geography, which change the price."""

    @property
    def tokens(self) -> Tokens:
        """Its tokens by class."""
        return Tokens(*structs.astuple(self)[: len(CLASSES)])

    @property
    def key(self) -> tuple[str, str | None, str | None, bool]:
        """The key that its lines share."""
        return self.message_id, self.request_id, self.model, self.is_relayed

    @property
    def has_tokens(self) -> bool:
        """Whether any usage is known: an old client may have recorded only the cost."""
        figures = (self.total, self.web_searches, self.late_5m, self.late_1h)
        return any(figures) or self.usage is not None


class Copy(NamedTuple):
    """A message as recorded in one file, and that file."""

    row: MessageRow
    path: str
    is_gone: bool = False
    began: int | None = None
    """The first timestamp in that file."""


class Counted(Struct, frozen=True):
    """The figures that count for the copies of one message; copies are given by number."""

    owner: int
    """The copy that they are attributed to."""
    members: tuple[int, ...]
    time: int | None
    tools: str
    tokens: Tokens
    cost: int | None


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


MessageValues = tuple[Any, ...]
"""The same as a plain tuple, which is faster to write for thousands of rows."""


class Correction(NamedTuple):
    """A row of `corrections`: figures that count instead of those in the message's own row."""

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


def insert_messages(connection: apsw.Connection, rows: Iterable[MessageValues]) -> None:
    """Write rows with new numbers."""
    connection.executemany(f"INSERT {_INTO}", rows)


def replace_messages(connection: apsw.Connection, rows: Iterable[MessageValues]) -> None:
    """Write rows in place of those with the same numbers."""
    connection.executemany(f"REPLACE {_INTO}", rows)


def next_message_number(connection: apsw.Connection) -> int:
    """Return a number above those of all messages."""
    return int(connection.execute("SELECT coalesce(max(id), 0) + 1 FROM messages").get)


def delete_messages(connection: apsw.Connection, file_id: int, start: int) -> set[str]:
    """Delete the messages of a file from a position on, and return their ids."""
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
    """Return the row of a message in a file."""
    found = connection.execute(
        f"{_SELECT} WHERE message_id = ? AND file_id = ? AND request_id IS ? AND model IS ? "
        "AND is_relayed = ?",
        (message_id, file_id, request_id, model, is_relayed),
    ).fetchone()
    return None if found is None else StoredMessage._make(found)


def select_of_file(connection: apsw.Connection, file_id: int) -> list[StoredMessage]:
    """Return all rows of a file."""
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
    """Return the ids of messages in a file that have other rows too."""
    return _find_shared(connection, "n.file_id = ?", file_id)


def find_shared_from(connection: apsw.Connection, number: int) -> list[str]:
    """Return the ids of messages with two rows that count, one of them from `number` on."""
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
    """Store whether each row counts, given as (counted, number)."""
    connection.executemany("UPDATE messages SET counted = ? WHERE id = ?", rows)


def drop_corrections(connection: apsw.Connection, numbers: Iterable[int]) -> None:
    """Delete the corrections of these rows."""
    connection.executemany(
        "DELETE FROM corrections WHERE message = ?", ((number,) for number in numbers)
    )


def insert_corrections(connection: apsw.Connection, rows: Iterable[Correction]) -> None:
    """Store corrections."""
    marks = ", ".join("?" * len(CORRECTION_COLUMNS))
    columns = ", ".join(CORRECTION_COLUMNS)
    connection.executemany(f"INSERT INTO corrections ({columns}) VALUES ({marks})", rows)


def find_corrected(connection: apsw.Connection) -> list[str]:
    """Return the ids of messages that have a correction."""
    query = "SELECT DISTINCT message_id FROM corrections JOIN messages ON id = message"
    return [row[0] for row in connection.execute(query)]


def iter_chunks(connection: apsw.Connection) -> Iterator[list[StoredMessage]]:
    """Yield all rows in chunks; rows may be changed meanwhile."""
    last = 0
    query = f"{_SELECT} WHERE id > ? ORDER BY id LIMIT 5000"
    while rows := list(map(StoredMessage._make, connection.execute(query, (last,)))):
        yield rows
        last = rows[-1].id


def set_costs(connection: apsw.Connection, rows: Iterable[tuple[int | None, int]]) -> None:
    """Set the cost of each row, given as (cost, number)."""
    connection.executemany("UPDATE messages SET cost = ? WHERE id = ?", rows)


HOUR_MS = 3_600_000

KEYS = ("hour", "model", "branch", "version", "entrypoint", "cwd", "tools")
HOUR_COLUMNS = ("file_id", *KEYS, *FIGURES)

_HOUR_SUM_COLUMNS = ", ".join(HOUR_COLUMNS)
CORRECTED = ", ".join(
    f"iif(c.message IS NULL, m.{name}, c.{name}) AS {name}"
    for name in (*CLASSES, "time", "tools", "cost")
)
"""The figures that count for message `m`: those of correction `c`, if there is one."""
_CLASS_SUMS = ", ".join(f"sum({name})" for name in CLASSES)
CLIENT_PRICED = f"iif(client_cost IS NULL, 0, cost IS client_cost AND {' + '.join(CLASSES)} = 0)"
"""Whether a message has no tokens, so that its cost is the one recorded by the client."""
# Integer division rounds towards zero, which would put two hours around 1970 into one.
_HOUR = f"(time - iif(time < 0, {HOUR_MS - 1}, 0)) / {HOUR_MS}"
_OF_MESSAGES = f"""
SELECT file_id, {_HOUR} AS hour, {", ".join(KEYS[1:])},
       {_CLASS_SUMS}, count(*), coalesce(sum(cost), 0), sum(cost IS NULL), sum(is_relayed),
       sum({CLIENT_PRICED})
FROM (SELECT m.file_id, m.model, m.branch, m.version, m.entrypoint, m.cwd, m.client_cost,
             m.is_relayed, {CORRECTED}
      FROM messages AS m LEFT JOIN corrections AS c ON c.message = m.id
      WHERE m.counted = 1 {{condition}})
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
"""
_OF_HOURS = f"SELECT {_HOUR_SUM_COLUMNS} FROM hours WHERE true {{condition}}"
# A flipped bit always shows: a number becomes another one, or not a number, and a sum with
# something that is not an integer is not an integer.
_SUM = " + ".join(
    f"sum(ifnull({name}, -1))" if name in KEYS else f"sum({name})" for name in HOUR_COLUMNS
)
_SUM_OF = f"""
WITH each ({_HOUR_SUM_COLUMNS}) AS ({{rows}}) SELECT count(*), coalesce({_SUM}, 0) FROM each
"""
_BY_MODEL = f"""
SELECT ifnull(hour, {NO_HOUR}) AS hour, ifnull(model, {NO_MODEL}) AS model,
       {", ".join(f"{{sign}} sum({name}) AS {name}" for name in FIGURES)}
FROM hours WHERE true {{condition}} GROUP BY 1, 2
"""
_ADD_SUMS = f"""
INSERT INTO sums (hour, model, {", ".join(FIGURES)}) SELECT * FROM ({_BY_MODEL}) WHERE true
ON CONFLICT DO UPDATE SET {", ".join(f"{name} = {name} + excluded.{name}" for name in FIGURES)}
"""
_SUMS = f"SELECT hour, model, {', '.join(FIGURES)} FROM sums"
_SUM_CHUNK = 200

_SUM_KEY = "hours"


def rebuild_hours(connection: apsw.Connection, file_ids: Sequence[int]) -> None:
    """Rebuild the sums of these files."""
    for start in range(0, len(file_ids), _SUM_CHUNK):
        _rebuild(connection, file_ids[start : start + _SUM_CHUNK])


def _rebuild(connection: apsw.Connection, file_ids: Sequence[int]) -> None:
    condition = f"AND file_id IN ({', '.join('?' * len(file_ids))})"
    rows, total = _read_sum(connection)
    rows_before, before = _sum_up(connection, _OF_HOURS, file_ids)
    connection.execute(_ADD_SUMS.format(sign="-", condition=condition), file_ids)
    connection.execute(f"DELETE FROM hours WHERE true {condition}", file_ids)
    source = _OF_MESSAGES.format(condition=condition)
    connection.execute(f"INSERT INTO hours ({_HOUR_SUM_COLUMNS}) {source}", file_ids)
    connection.execute(_ADD_SUMS.format(sign="+", condition=condition), file_ids)
    connection.execute("DELETE FROM sums WHERE messages = 0")
    rows_after, after = _sum_up(connection, _OF_HOURS, file_ids)
    rows, total = rows + rows_after - rows_before, total + after - before
    write_meta(connection, _SUM_KEY, f"{rows} {total}")


def check_hours(connection: apsw.Connection) -> None:
    """Raise `DamagedIndex` if the table does not match its checksum."""
    query = _SUM_OF.format(rows=_OF_HOURS.format(condition=""))
    # One statement, so that no write happens between the sum and the comparison.
    kept, rows, total = next(
        connection.execute(
            f"SELECT (SELECT value FROM meta WHERE key = ?), * FROM ({query})",
            (_SUM_KEY,),
        )
    )
    if (kept or "0 0") != f"{rows} {total}":
        raise DamagedIndex("The hourly totals in the index do not add up.")


def check_messages(connection: apsw.Connection, file_ids: Sequence[int] | None = None) -> None:
    """Raise `DamagedIndex` if the messages of files, or all of them, contradict the sums."""
    of_hours, of_messages = (
        _sum_up(connection, rows, file_ids) for rows in (_OF_HOURS, _OF_MESSAGES)
    )
    if of_hours != of_messages:
        raise DamagedIndex("The messages and the hourly totals in the index disagree.")


def check_sums(connection: apsw.Connection) -> None:
    """Raise `DamagedIndex` if the sums by hour and model contradict those by hour."""
    by_model = _BY_MODEL.format(sign="", condition="")
    for one, other in ((_SUMS, by_model), (by_model, _SUMS)):
        if connection.execute(f"SELECT * FROM ({one}) EXCEPT SELECT * FROM ({other})").fetchone():
            raise DamagedIndex("The hourly totals and the sums in the index disagree.")


def _sum_up(
    connection: apsw.Connection, rows: str, file_ids: Sequence[int] | None
) -> tuple[int, int]:
    condition = "" if file_ids is None else f"AND file_id IN ({', '.join('?' * len(file_ids))})"
    query = _SUM_OF.format(rows=rows.format(condition=condition))
    count, total = next(connection.execute(query, file_ids or ()))
    return count, total


def _read_sum(connection: apsw.Connection) -> tuple[int, int]:
    rows, total = (read_meta(connection, _SUM_KEY) or "0 0").split(" ")
    return int(rows), int(total)
