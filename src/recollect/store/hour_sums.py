"""The hours table: what counts, added up by hour, file and circumstances.

Reports read only this, or the sums over all files that are kept beside it, so that they take as
long for ten years as for ten days. It is rebuilt from the messages, in SQL, for the files whose
messages changed and for no others. One number made of all of it is kept too: where pages have no
checksums, a bit that flipped on the disk would otherwise be a figure like any other.
"""

from collections.abc import Sequence

import apsw

from recollect.records.usage import CLASSES
from recollect.store.integrity import DamagedIndex
from recollect.store.schema import (
    FIGURES,
    NO_HOUR,
    NO_MODEL,
    read_meta,
    write_meta,
)

HOUR_MS = 3_600_000

KEYS = ("hour", "model", "branch", "version", "entrypoint", "cwd", "tools")
HOUR_COLUMNS = ("file_id", *KEYS, *FIGURES)

_HOUR_SUM_COLUMNS = ", ".join(HOUR_COLUMNS)
CORRECTED = ", ".join(
    f"iif(c.message IS NULL, m.{name}, c.{name}) AS {name}"
    for name in (*CLASSES, "time", "tools", "cost")
)
"""What counts of message `m`: the figures of correction `c` where there is one."""
_CLASS_SUMS = ", ".join(f"sum({name})" for name in CLASSES)
CLIENT_PRICED = f"iif(client_cost IS NULL, 0, cost IS client_cost AND {' + '.join(CLASSES)} = 0)"
"""Whether what counts has no tokens, so that its cost is the one recorded by the client."""
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
    """Add up again what counts in these files."""
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
    """Raise `DamagedIndex` when the table is not as it was written."""
    query = _SUM_OF.format(rows=_OF_HOURS.format(condition=""))
    # One statement, so that there is no write between the sum and what it is compared with.
    kept, rows, total = next(
        connection.execute(
            f"SELECT (SELECT value FROM meta WHERE key = ?), * FROM ({query})",
            (_SUM_KEY,),
        )
    )
    if (kept or "0 0") != f"{rows} {total}":
        raise DamagedIndex("The hours of the index do not add up.")


def check_messages(connection: apsw.Connection, file_ids: Sequence[int] | None = None) -> None:
    """Raise `DamagedIndex` when the messages of files, or all of them, contradict their hours."""
    of_hours, of_messages = (
        _sum_up(connection, rows, file_ids) for rows in (_OF_HOURS, _OF_MESSAGES)
    )
    if of_hours != of_messages:
        raise DamagedIndex("The messages and the hours of the index contradict each other.")


def check_sums(connection: apsw.Connection) -> None:
    """Raise `DamagedIndex` when the sums by hour and model are not those of the hours."""
    by_model = _BY_MODEL.format(sign="", condition="")
    for one, other in ((_SUMS, by_model), (by_model, _SUMS)):
        if connection.execute(f"SELECT * FROM ({one}) EXCEPT SELECT * FROM ({other})").fetchone():
            raise DamagedIndex("The hours and the sums of the index contradict each other.")


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
