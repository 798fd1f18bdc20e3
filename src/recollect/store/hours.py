"""The hours table: what counts, added up by hour, file and circumstances.

Reports read only this, so that they take as long for ten years as for ten days. It is made anew
from the messages, in SQL, for the files whose messages changed and for no others. A sum over all
of it is kept beside it: a bit that flipped on the disk would otherwise be a figure like any other.
"""

from collections.abc import Iterator, Sequence

import apsw
from msgspec import Struct

from recollect.store.failures import DamagedIndex
from recollect.store.meta import read_meta, write_meta

HOUR_MS = 3_600_000


class HourRow(Struct, frozen=True, gc=False):
    """What counts of one file, one hour and one set of circumstances; names are numbers."""

    file_id: int
    hour: int | None
    """Hours since 1970, None when the records tell no time."""
    model: int | None
    branch: int | None
    version: int | None
    entrypoint: int | None
    cwd: int | None
    tools: int | None
    messages: int
    input: int
    output: int
    cache_read: int
    cache_write_5m: int
    cache_write_1h: int
    web_searches: int
    cost: int
    """Micro-dollars of the messages whose price is known."""
    unpriced: int


_COLUMNS = HourRow.__struct_fields__
_FIGURES = ("input", "output", "cache_read", "cache_write_5m", "cache_write_1h", "web_searches")
_CORRECTED = ", ".join(
    f"iif(c.message IS NULL, m.{name}, c.{name}) AS {name}"
    for name in (*_FIGURES, "time", "tools", "cost")
)
_SUMS = ", ".join(f"sum({name}) AS {name}" for name in _FIGURES)
# Integer division rounds towards zero, which would put two hours around 1970 into one.
_HOUR = f"(time - iif(time < 0, {HOUR_MS - 1}, 0)) / {HOUR_MS}"
_OF_MESSAGES = f"""
SELECT file_id, {_HOUR} AS hour, model, branch, version, entrypoint, cwd, tools,
       count(*) AS messages, {_SUMS}, coalesce(sum(cost), 0) AS cost, sum(cost IS NULL) AS unpriced
FROM (SELECT m.file_id, m.model, m.branch, m.version, m.entrypoint, m.cwd, {_CORRECTED}
      FROM messages AS m LEFT JOIN corrections AS c ON c.message = m.id
      WHERE m.counted = 1 {{condition}})
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
"""  # noqa: S608 - our own names
_OF_HOURS = "SELECT * FROM hours WHERE true {condition}"
_KEYS = ("hour", "model", "branch", "version", "entrypoint", "cwd", "tools")
# One flipped bit always shows in it: a number becomes another one, or none at all, and a sum with
# something in it that is no whole number is no whole number.
_SUM = " + ".join(
    f"sum(ifnull({name}, -1))" if name in _KEYS else f"sum({name})" for name in _COLUMNS
)
_SUM_OF = f"SELECT count(*), coalesce({_SUM}, 0) FROM ({{rows}})"  # noqa: S608 - our own names
_CHUNK = 200

_SUM_KEY = "hours"


def rebuild_hours(connection: apsw.Connection, file_ids: Sequence[int]) -> None:
    """Add up anew what counts in these files."""
    for start in range(0, len(file_ids), _CHUNK):
        _rebuild(connection, file_ids[start : start + _CHUNK])


def _rebuild(connection: apsw.Connection, file_ids: Sequence[int]) -> None:
    condition = f"AND file_id IN ({', '.join('?' * len(file_ids))})"
    rows, total = _read_sum(connection)
    rows_before, before = _sum_up(connection, _OF_HOURS, file_ids)
    connection.execute(f"DELETE FROM hours WHERE true {condition}", file_ids)  # noqa: S608 - our own
    connection.execute(f"INSERT INTO hours {_OF_MESSAGES.format(condition=condition)}", file_ids)
    rows_after, after = _sum_up(connection, _OF_HOURS, file_ids)
    rows, total = rows + rows_after - rows_before, total + after - before
    write_meta(connection, _SUM_KEY, f"{rows} {total}")


def check_hours(connection: apsw.Connection) -> None:
    """Raise `DamagedIndex` when the table is not as it was written."""
    query = _SUM_OF.format(rows="SELECT * FROM hours")
    # One statement, so that nobody writes between the sum and what it is compared with.
    kept, rows, total = next(
        connection.execute(
            f"SELECT (SELECT value FROM meta WHERE key = ?), * FROM ({query})",  # noqa: S608 - our own
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


def iter_hours(connection: apsw.Connection) -> Iterator[HourRow]:
    """Every line of the table."""
    for row in connection.execute("SELECT * FROM hours"):
        yield HourRow(*row)


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
