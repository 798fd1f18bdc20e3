"""Tests of recollect.store.ledger_rows: sums that can be trusted."""

from collections.abc import Sequence
from typing import Any

import apsw
import pytest

from recollect.records.token_usage import CLASSES
from recollect.store.ledger_rows import (
    CORRECTION_COLUMNS,
    HOUR_COLUMNS,
    MESSAGE_COLUMNS,
    Correction,
    StoredMessage,
    check_hours,
    check_messages,
    check_sums,
    insert_corrections,
    insert_messages,
    rebuild_hours,
)
from recollect.store.schema import FIGURES, NO_HOUR, DamagedIndex
from recollect.store.usage_queries import open_in_memory

BLANK = dict.fromkeys(MESSAGE_COLUMNS, 0) | dict.fromkeys(
    "request_id model branch version entrypoint cwd tools terms time usage cost".split()
)


@pytest.fixture
def connection() -> apsw.Connection:
    """An index in memory."""
    return open_in_memory()


def add(connection: apsw.Connection, number: int, **values: int) -> None:
    """Put a message into the index, which counts."""
    row: dict[str, Any] = (
        BLANK | {"id": number, "message_id": f"msg_{number}", "counted": 1} | values
    )
    insert_messages(connection, [StoredMessage(**row)])


def test_messages_of_an_hour_are_added_up(connection: apsw.Connection) -> None:
    """By file and circumstances; without a time they have an hour of their own."""
    add(connection, 1, file_id=1, time=3_600_000, model=7, input=1, output=2, cost=5)
    add(connection, 2, file_id=1, time=7_199_999, model=7, input=10, cache_read=3)
    add(connection, 3, file_id=1, time=7_200_000, model=7, cache_write_5m=4, cache_write_1h=5)
    add(connection, 4, file_id=1, model=7, web_searches=6)
    add(connection, 5, file_id=2, time=-1, output=9)
    add(connection, 6, file_id=2, counted=0, output=9)
    rebuild_hours(connection, [1, 2])
    assert load(connection, "hours", HOUR_COLUMNS) == [
        {"file_id": 1, "hour": None, "model": 7, "web_searches": 6, "messages": 1, "unpriced": 1},
        {"file_id": 1, "hour": 1, "model": 7}
        | {"input": 11, "output": 2, "cache_read": 3, "messages": 2, "cost": 5, "unpriced": 1},
        {"file_id": 1, "hour": 2, "model": 7}
        | {"cache_write_5m": 4, "cache_write_1h": 5, "messages": 1, "unpriced": 1},
        {"file_id": 2, "hour": -1, "output": 9, "messages": 1, "unpriced": 1},
    ]


def load(
    connection: apsw.Connection, table: str, columns: Sequence[str]
) -> list[dict[str, int | None]]:
    """The rows of a table by name, without empty values; an hour is always included."""
    query = f"SELECT {', '.join(columns)} FROM {table} ORDER BY 1, 2, 3"
    rows = (dict(zip(columns, row, strict=True)) for row in connection.execute(query))
    return [{name: value for name, value in row.items() if value or name == "hour"} for row in rows]


def test_corrected_messages_count_with_other_figures(connection: apsw.Connection) -> None:
    """Time, tools, tokens and cost."""
    add(connection, 1, file_id=1, time=7_200_000, output=2, cost=5)
    correction = dict.fromkeys(CORRECTION_COLUMNS, 0) | {"message": 1, "tools": 3, "cost": 8}
    correction |= {name: number for number, name in enumerate(CLASSES, start=1)}
    insert_corrections(connection, [Correction(**correction)])
    rebuild_hours(connection, [1])
    expected = {name: number for number, name in enumerate(CLASSES, start=1)}
    expected |= {"file_id": 1, "hour": 0, "tools": 3, "messages": 1, "cost": 8}
    assert load(connection, "hours", HOUR_COLUMNS) == [expected]


def test_sums_follow_the_hours(connection: apsw.Connection) -> None:
    """Over all files, by hour and model; rows without messages are removed."""
    columns = ("hour", "model", *FIGURES)
    add(connection, 1, file_id=1, time=0, model=7, output=1)
    add(connection, 2, file_id=2, time=1, model=7, output=2, cost=3)
    add(connection, 3, file_id=2, output=4)
    rebuild_hours(connection, [1, 2])
    both = {"hour": 0, "model": 7, "output": 3, "messages": 2, "cost": 3, "unpriced": 1}
    nameless = {"hour": NO_HOUR, "output": 4, "messages": 1, "unpriced": 1}
    assert load(connection, "sums", columns) == [nameless, both]
    connection.execute("UPDATE messages SET counted = 0 WHERE file_id = 2")
    rebuild_hours(connection, [2])
    one = {"hour": 0, "model": 7, "output": 1, "messages": 1, "unpriced": 1}
    assert load(connection, "sums", columns) == [one]
    check_sums(connection)


@pytest.mark.parametrize("change", ["output = 9", "hour = 5", "model = 9"])
def test_sums_that_contradict_the_hours_are_damage(
    connection: apsw.Connection, change: str
) -> None:
    """A look at everything compares each of them."""
    add(connection, 1, file_id=1, time=0, model=7, output=1)
    rebuild_hours(connection, [1])
    connection.execute(f"UPDATE sums SET {change}")
    with pytest.raises(DamagedIndex):
        check_sums(connection)


def test_only_the_given_files_are_rebuilt(connection: apsw.Connection) -> None:
    """The others keep what they had, and all of it still adds up."""
    for number in (1, 2, 3):
        add(connection, number, file_id=number, output=number)
    rebuild_hours(connection, [1, 2, 3])
    connection.execute("UPDATE messages SET output = output + 10")
    rebuild_hours(connection, [2])
    assert sorted(row["output"] or 0 for row in load(connection, "hours", HOUR_COLUMNS)) == [
        1,
        3,
        12,
    ]
    check_hours(connection)


def test_many_files_are_added_up_in_parts(connection: apsw.Connection) -> None:
    """However many there are."""
    for number in range(1, 450):
        add(connection, number, file_id=number, output=number)
    rebuild_hours(connection, range(1, 450))
    check_hours(connection)
    check_messages(connection)
    assert connection.execute("SELECT sum(output) FROM hours").get == sum(range(450))


CHANGES = [
    "hour = hour + 1",
    "hour = NULL",
    "model = 0",
    "output = output + 64",
    "output = x''",
    "cost = 1.5",
    "file_id = 2",
    "unpriced = NULL",
]


@pytest.mark.parametrize("change", CHANGES)
def test_hours_that_were_not_written_so_are_damage(
    connection: apsw.Connection, change: str
) -> None:
    """Any value of any column."""
    add(connection, 1, file_id=1, time=0, output=2)
    rebuild_hours(connection, [1])
    check_hours(connection)
    connection.execute("PRAGMA ignore_check_constraints = ON")
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute("UPDATE sqlite_schema SET sql = replace(sql, ' NOT NULL', '')")
    connection.execute("PRAGMA writable_schema = RESET")
    connection.execute(f"UPDATE hours SET {change}")
    with pytest.raises(DamagedIndex):
        check_hours(connection)


def test_lost_hours_are_damage(connection: apsw.Connection) -> None:
    """Rows may be missing without anything being wrong with the rest."""
    add(connection, 1, file_id=1)
    rebuild_hours(connection, [1])
    connection.execute("DELETE FROM hours")
    with pytest.raises(DamagedIndex):
        check_hours(connection)


def test_messages_that_say_something_else_are_damage(connection: apsw.Connection) -> None:
    """In one file, and in all of them."""
    for number in (1, 2):
        add(connection, number, file_id=number, output=3)
    rebuild_hours(connection, [1, 2])
    connection.execute("UPDATE messages SET output = 4 WHERE id = 2")
    check_messages(connection, [1])
    for files in ([2], None):
        with pytest.raises(DamagedIndex):
            check_messages(connection, files)


def test_rows_have_the_columns_of_their_tables(connection: apsw.Connection) -> None:
    """By name and in order, with token classes in counting order."""
    for table, row in (("messages", StoredMessage), ("corrections", Correction)):
        columns = [each[1] for each in connection.execute(f"PRAGMA table_info({table})")]
        assert (table, columns) == (table, list(row._fields))
    assert CORRECTION_COLUMNS[1 : 1 + len(CLASSES)] == CLASSES
