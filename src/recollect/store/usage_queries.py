"""Queries on usage: sums, and the rows behind a figure.

Sums come from the smallest suitable table, grouped in SQL only as far as a report needs, to be
fast. If an hour is too coarse (time zones with half hours) or lacks a column (records of subagents
inside a session's file), the messages themselves are summed.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple

import apsw
import msgspec

from recollect.records.token_usage import CLASSES, Tokens
from recollect.sources.source import Stamp
from recollect.store.catalog import FileRow, Names, has_files_elsewhere, load_files, load_problems
from recollect.store.ledger_rows import CLIENT_PRICED, CORRECTED, KEYS
from recollect.store.schema import FIGURES, NO_HOUR, NO_MODEL, TABLES, load_checksums

Dimension = Literal[
    "moment",
    "file_id",
    "model",
    "branch",
    "version",
    "entrypoint",
    "cwd",
    "tools",
    "is_sidechain",
]
"""Dimensions of sums; `is_sidechain` is only available when messages are summed."""

SumValues = tuple[Any, ...]
"""The requested dimensions, then the figures in the order of `schema.FIGURES`."""

_NAMED = KEYS[1:]
_FIGURES = ", ".join(FIGURES)
_SUMS = f"""
SELECT nullif(hour, {NO_HOUR}) * 3600 AS moment, nullif(model, {NO_MODEL}) AS model, {_FIGURES}
FROM sums
"""
_HOURS = f"SELECT hour * 3600 AS moment, file_id, {', '.join(_NAMED)}, {_FIGURES} FROM hours"
# Integer division rounds towards zero, which would put two quarters around 1970 into one.
_QUARTERS = f"""
SELECT (time - iif(time < 0, 899999, 0)) / 900000 * 900 AS moment,
       file_id, {", ".join(_NAMED)}, is_sidechain, {", ".join(CLASSES)}, 1 AS messages,
       coalesce(cost, 0) AS cost, cost IS NULL AS unpriced, is_relayed AS relayed,
       {CLIENT_PRICED} AS client_priced
FROM (SELECT m.file_id, m.model, m.branch, m.version, m.entrypoint, m.cwd, m.is_sidechain,
             m.client_cost, m.is_relayed, {CORRECTED}
      FROM messages AS m LEFT JOIN corrections AS c ON c.message = m.id WHERE m.counted = 1)
"""

WEEK = 7 * 24 * 3600


class Measures(msgspec.Struct, frozen=True, gc=False):
    """Tokens by class, cost and time of one message; None if not known."""

    tokens: Tokens
    cost: int | None = None
    time: int | None = None


class ClientSum(NamedTuple):
    """Costs that old clients recorded on messages, and our costs of the same messages."""

    cost: int
    messages: int
    own_cost: int


class LedgerEntry(msgspec.Struct, frozen=True, gc=False):
    """A message as recorded in one file, and whether it counts; times are in milliseconds."""

    number: int
    file_id: int
    position: int
    message_id: str
    request_id: str | None
    model: str | None
    is_sidechain: bool
    is_relayed: bool
    """Whether it is known from a progress record."""
    client_cost: int | None
    """The cost that the client recorded on it."""
    is_counted: bool
    own: Measures
    corrected: Measures | None
    """The figures that count instead of its own."""

    @property
    def key(self) -> tuple[str, str | None, str | None, bool]:
        """The key that its lines share."""
        return self.message_id, self.request_id, self.model, self.is_relayed

    @property
    def measures(self) -> Measures:
        """The figures that count, or those in its own lines if it does not count."""
        return self.corrected or self.own


_MEASURES = (*CLASSES, "cost", "time")
_ENTRIES = f"""
SELECT m.id, m.file_id, m.position, m.message_id, m.request_id, names.text, m.is_sidechain,
       m.is_relayed, m.client_cost, m.counted, {", ".join(f"m.{name}" for name in _MEASURES)},
       c.message IS NOT NULL, {", ".join(f"c.{name}" for name in _MEASURES)}
FROM messages AS m
LEFT JOIN corrections AS c ON c.message = m.id
LEFT JOIN names ON names.id = m.model
WHERE m.message_id IN ({{ids}})
ORDER BY m.file_id, m.position, m.id
"""
_OF_MESSAGE = _ENTRIES.format(ids="?")
_OF_FILES = _ENTRIES.format(
    ids="SELECT message_id FROM messages WHERE file_id IN (SELECT value FROM json_each(?))"
)
_IN_TIME = _ENTRIES.format(
    ids="SELECT x.message_id FROM messages AS x LEFT JOIN corrections AS y ON y.message = x.id "
    "WHERE x.time BETWEEN :first AND :last OR y.time BETWEEN :first AND :last"
)


_ALL = _ENTRIES.replace("WHERE m.message_id IN ({ids})\n", "")


class Sums(NamedTuple):
    """Sums, and the names behind the numbers of models, branches and so on."""

    rows: Iterable[SumValues]
    names: Mapping[int, str]


class UsageQueries:
    """Queries on the index, which must be opened in one transaction."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection

    @cached_property
    def files(self) -> dict[str, tuple[int, FileRow]]:
        """Return every known transcript by its path, with its number."""
        return load_files(self.connection, is_trusted=load_checksums())

    def has_files_elsewhere(self, places: Iterable[str]) -> bool:
        """Return whether any transcript may be outside the paths with these prefixes."""
        return has_files_elsewhere(self.connection, places)

    def has_copies_elsewhere(self, file_ids: Iterable[int]) -> bool:
        """Return whether a message of these files is in another one too."""
        query = (
            "WITH inside AS (SELECT value FROM json_each(?)) "
            "SELECT EXISTS (SELECT 1 FROM messages AS m WHERE m.file_id IN inside AND EXISTS "
            "(SELECT 1 FROM messages AS o WHERE o.message_id = m.message_id AND o.id <> m.id "
            "AND o.file_id NOT IN inside))"
        )
        return bool(self.connection.execute(query, (_to_json(file_ids),)).get)

    @cached_property
    def problems(self) -> dict[str, str]:
        """Why files could not be read, by path."""
        return load_problems(self.connection)

    def find_titles(self, paths: Iterable[str]) -> dict[str, tuple[Stamp, str | None]]:
        """Return the titles of these files as last listed, by path."""
        from recollect.store.session_table import find_titles  # for reports by session only

        return find_titles(self.connection, paths)

    @cached_property
    def names(self) -> Names:
        """Return the texts by their numbers."""
        return Names(self.connection)

    def sum_up(self, dimensions: Sequence[Dimension], *, from_messages: bool = False) -> "Sums":
        """Return the sums, split by `dimensions`.

        `moment` is the start, in seconds since 1970, of an hour or, from messages, of a quarter.
        """
        query = _make_query(dimensions, from_messages=from_messages)
        return Sums(self.connection.execute(query), self.names.texts)

    def list_weeks(self) -> list[int]:
        """Return the starts of all weeks with usage, in seconds."""
        query = f"SELECT DISTINCT hour * 3600 / {WEEK} * {WEEK} FROM sums WHERE hour <> {NO_HOUR}"
        return [row[0] for row in self.connection.execute(query)]

    def find_first_time(self, since: int, file_ids: Iterable[int]) -> int | None:
        """Return the first time from `since` on of a message that counts, in milliseconds."""
        row = self.connection.execute(
            "SELECT min(iif(c.message IS NULL, m.time, c.time)) FROM messages AS m "
            "LEFT JOIN corrections AS c ON c.message = m.id "
            "WHERE m.counted = 1 AND iif(c.message IS NULL, m.time, c.time) >= ? "
            "AND m.file_id IN (SELECT value FROM json_each(?))",
            (since * 1000, _to_json(file_ids)),
        ).fetchone()
        return row[0] if row else None

    def sum_client_costs(self) -> dict[int, ClientSum]:
        """Return the costs that old clients recorded on the messages that count, by file."""
        rows = self.connection.execute(
            "SELECT m.file_id, sum(m.client_cost), count(*), "
            "sum(coalesce(iif(c.message IS NULL, m.cost, c.cost), 0)) FROM messages AS m "
            "LEFT JOIN corrections AS c ON c.message = m.id "
            "WHERE m.counted = 1 AND m.client_cost IS NOT NULL GROUP BY 1"
        )
        return {file_id: ClientSum(*sums) for file_id, *sums in rows}

    def sum_copied(self) -> dict[int, int]:
        """Return the tokens of replies in each file that count in another, without subagents."""
        total = " + ".join(name for name in CLASSES if name != "web_searches")
        rows = self.connection.execute(
            f"SELECT file_id, sum({total}) FROM messages "
            "WHERE counted = 0 AND is_relayed = 0 AND is_sidechain = 0 GROUP BY 1"
        )
        return dict(rows)

    def list_message_ids(self) -> list[str]:
        """Return the ids of all messages, each once."""
        return [
            row[0] for row in self.connection.execute("SELECT DISTINCT message_id FROM messages")
        ]

    def select_of_message(self, message_id: str) -> list[LedgerEntry]:
        """Return all rows of a message."""
        return self._select(_OF_MESSAGE, (message_id,))

    def select_of_files(self, file_ids: Iterable[int]) -> list[LedgerEntry]:
        """Return every row, in any file, of the messages in these files."""
        return self._select(_OF_FILES, (_to_json(file_ids),))

    def select_in_time(self, first: int, last: int) -> list[LedgerEntry]:
        """Return all rows of the messages from `first` to `last`, in milliseconds."""
        return self._select(_IN_TIME, {"first": first, "last": last})

    def iter_all(self) -> Iterator[LedgerEntry]:
        """Yield all rows, in the order of files and of lines."""
        yield from map(_make_entry, self.connection.execute(_ALL))

    def find_directories(self) -> dict[int, str | None]:
        """Return the working directory of each row, by its number."""
        rows = self.connection.execute("SELECT id, cwd FROM messages")
        return {number: self.names.text(cwd) for number, cwd in rows}

    def _select(self, query: str, values: tuple[str] | dict[str, int]) -> list[LedgerEntry]:
        rows = self.connection.execute(query, values)
        return [_make_entry(row) for row in rows]


def _make_query(dimensions: Sequence[Dimension], *, from_messages: bool) -> str:
    """Return a query on the smallest table with these dimensions."""
    split, of_sums = ", ".join(dimensions), {"moment", "model"}
    if from_messages or not of_sums.issuperset(dimensions):
        source = _QUARTERS if from_messages else _HOURS
    elif of_sums == set(dimensions):
        # The table has these rows already, and grouping takes as long as reading them.
        return f"SELECT {split}, {_FIGURES} FROM ({_SUMS})"
    else:
        source = _SUMS
    sums = ", ".join(f"sum({name})" for name in FIGURES)
    return f"SELECT {split}, {sums} FROM ({source}) GROUP BY {split}"


def _to_json(numbers: Iterable[int]) -> str:
    return msgspec.json.encode(list(numbers)).decode()


def _make_entry(row: tuple[Any, ...]) -> LedgerEntry:
    number, file_id, position, message_id, request_id, model, *flags = row[:10]
    is_sidechain, is_relayed, client_cost, is_counted = flags
    own, is_corrected, *other = row[10 : 10 + len(_MEASURES)], *row[10 + len(_MEASURES) :]
    return LedgerEntry(
        number=number,
        file_id=file_id,
        position=position,
        message_id=message_id,
        request_id=request_id,
        model=model,
        is_sidechain=bool(is_sidechain),
        is_relayed=bool(is_relayed),
        client_cost=client_cost,
        is_counted=bool(is_counted),
        own=_make_measures(own),
        corrected=_make_measures(other) if is_corrected else None,
    )


def _make_measures(values: Iterable[Any]) -> Measures:
    *tokens, cost, time = values
    return Measures(Tokens(*tokens), cost, time)


def open_in_memory() -> apsw.Connection:
    """Return an empty index in memory."""
    connection = apsw.Connection(":memory:")
    connection.execute(TABLES)
    return connection
