"""What search asks of the full-text index: all texts that fulfil a condition, and what they are.

Which texts match is fetched as one JSON text a column: a hundred thousand texts take tens of
milliseconds, where as many rows would take a second. What else there is to know of a text is
fetched for those that are worth it.
"""

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple

import apsw
import msgspec
from msgspec import Struct

from recollect.store.catalog import Names
from recollect.store.text_conditions import Check, Condition, has_part
from recollect.store.text_database import open_in_memory, read_texts
from recollect.store.text_rows import SLOTS, IndexedFile, TextBatch, TextKind, TextWriter
from recollect.store.vocabulary import (
    find_beginning,
    find_ending,
    find_stem,
    find_terms,
    is_gathered,
)

# As `os.fsdecode` does it, which looks them up for each of thousands of paths.
_PATHS: Final = (sys.getfilesystemencoding(), sys.getfilesystemencodeerrors())
_STEPS: Final = 5_000
"""Steps of SQLite's machine between two looks at the clock."""

_COLUMNS: Final = (
    "id file_id position length number part tool is_error is_subagent is_copy cwd key".split()
)
_LIST: Final = ", ".join(f"texts.{name}" for name in _COLUMNS)
_IS_SAID: Final = f"""(
texts.part <> {int(TextKind.QUEUED)} OR NOT EXISTS (
    SELECT 1 FROM texts AS prompt
    WHERE prompt.call = texts.call AND prompt.file_id = texts.file_id AND prompt.part <> texts.part
))"""
"""Not a line of the queue whose prompt is found by itself."""

_BY_WORDS: Final = (
    "FROM words CROSS JOIN texts ON texts.id = words.rowid "
    f"WHERE words MATCH ? AND {_IS_SAID} AND {{condition}}"
)
_BY_FIELDS: Final = f"FROM texts WHERE {_IS_SAID} AND {{condition}}"
_PLACE: Final = (
    "(texts.file_id << 12) | (texts.part << 8) | "
    "(CAST(log2(texts.length + 1) / 2 AS INTEGER) << 2) | (texts.is_copy << 1) | texts.is_subagent"
)
_MATCHES: Final = ("texts.id * {tables} + {number}", _PLACE, "texts.key")
_DESCRIBE: Final = (
    f"SELECT {_LIST}, density(words) FROM words CROSS JOIN texts ON texts.id = words.rowid "
    "WHERE words MATCH ? AND +words.rowid IN (SELECT value FROM json_each(?))"
)
_DESCRIBE_ONLY: Final = (
    f"SELECT {_LIST}, NULL FROM json_each(?) CROSS JOIN texts ON texts.id = json_each.value"
)
_FACETS: Final = ("texts.cwd", "texts.part", "texts.tool", "texts.is_error", "texts.model")
_DAYS: Final = f"texts.id / {SLOTS * 86_400}"
_COUNT: Final = (
    f"SELECT {', '.join(f'json_group_array({column})' for column in (*_FACETS, _DAYS))} "
    "FROM json_each(?) CROSS JOIN texts ON texts.id = json_each.value"
)
_NEWEST: Final = 2_000
"""Matches that are still looked for when there are too many to find all in time."""

_MAX_COUNTED: Final = 64
"""Words of an expression that are counted in a text."""

_MAX_REPEATED: Final = 3
"""Occurrences of a word in a text beyond which it does not count for more."""

_GRACE: Final = 0.25
"""Seconds for that."""

_DECODER: Final = msgspec.json.Decoder(list[int])
_VALUES: Final = msgspec.json.Decoder(list[int | None])


class TextPlace(NamedTuple):
    """What ranking needs to know of every match."""

    file_id: int
    part: int
    magnitude: int
    """The logarithm of the length of its record in bytes, to the base 4."""
    is_copy: bool
    is_subagent: bool


def unpack_place(place: int) -> TextPlace:
    """The place that a number stands for."""
    magnitude, is_copy, is_subagent = (place >> 2) & 63, bool(place & 2), bool(place & 1)
    return TextPlace(place >> 12, (place >> 8) & 15, magnitude, is_copy, is_subagent)


def move_place(place: int, file_id: int) -> int:
    """The number of the same place in another file."""
    return (file_id << 12) | (place & 0xFFF)


class Matches(Struct, frozen=True):
    """All texts that fulfil a condition, one list a column, the oldest first.

    A handle names a text, a place is a number to be unpacked, and copies share a key.
    """

    handles: list[int]
    places: list[int]
    keys: list[int]
    is_cut: bool = False
    """Whether time ran out before all were found."""


class TextCounts(Struct, frozen=True):
    """How many texts have each value; `cwd`, `tool` and `model` are numbers of names."""

    cwd: Counter[int | None]
    part: Counter[int | None]
    tool: Counter[int | None]
    is_error: Counter[int | None]
    model: Counter[int | None]
    day: Counter[int | None]
    """Days since 1970."""


class FoundText(Struct, frozen=True, gc=False):
    """A text that fulfils a condition: where it is and what it is; `cwd` and `tool` are numbers."""

    id: int
    file_id: int
    position: int
    length: int
    number: int
    part: int
    tool: int | None
    is_error: bool
    is_subagent: bool
    is_copy: bool
    cwd: int | None
    key: int
    density: float | None
    """From 0 to 1: how much of the text is what was sought; None if that was not counted."""

    @property
    def second(self) -> int:
        """When it was written, in seconds since 1970."""
        return self.id // SLOTS


class TextQueries:
    """The full-text index as search sees it, with what is not in it yet beside it."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._tables = [_Tables(connection)]

    def add(
        self, batches: Sequence[TextBatch], files: Sequence[IndexedFile], tokenizer: str
    ) -> None:
        """Search these texts too, without putting them into the index; before asking anything."""
        known, added = self._tables[0].connection, open_in_memory(tokenizer)
        # Numbers mean the same in both as long as the index looks the same from now on.
        known.execute("BEGIN")
        for table in ("files", "names"):
            rows = known.execute(f"SELECT * FROM {table}").fetchall()
            if rows:
                marks = ", ".join("?" * len(rows[0]))
                added.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
        TextWriter(added).write(batches, files)
        self._tables.append(_Tables(added))

    @cached_property
    def files(self) -> dict[int, IndexedFile]:
        """Every file by its number."""
        rows = self._tables[-1].connection.execute(
            "SELECT id, path, project, session_id, began FROM files"
        )
        return {row[0]: IndexedFile(row[1].decode(*_PATHS), *row[2:]) for row in rows}

    @cached_property
    def names(self) -> dict[int, str]:
        """Every name by its number."""
        return Names(self._tables[-1].connection).numbers.texts

    def find_terms(self, part: str, most: int) -> list[str]:
        """Terms with `part` inside them, the shortest first."""
        found = {
            term for tables in self._tables for term in find_terms(tables.connection, part, most)
        }
        return sorted(found, key=lambda term: (len(term), term))[:most]

    def find_ending(self, ending: str, most: int) -> list[str]:
        """Terms of two characters or more that end with a text, the shortest first."""
        found = {
            term for tables in self._tables for term in find_ending(tables.connection, ending, most)
        }
        return sorted(found, key=lambda term: (len(term), term))[:most]

    def find_beginning(self, beginning: str) -> set[str]:
        """All terms of two characters or more that begin with a text."""
        return set().union(*(find_beginning(each.connection, beginning) for each in self._tables))

    def find_stem(self, term: str) -> str:
        """The stem of an English word."""
        return find_stem(term)

    @cached_property
    def knows_all_terms(self) -> bool:
        """Whether all terms there are can be found: yes, unless a long run was cut off."""
        return all(is_gathered(tables.connection) for tables in self._tables)

    def has_secret(self, digest: bytes) -> bool:
        """Whether a record holds the secret with this keyed hash."""
        query = "SELECT EXISTS (SELECT 1 FROM secrets WHERE hash = ?)"
        return any(each.connection.execute(query, (digest,)).get for each in self._tables)

    def list_in_file(self, file_id: int, parts: Iterable[TextKind]) -> list[FoundText]:
        """All texts of these kinds in a file, in its order."""
        query = f"SELECT {_LIST}, NULL FROM texts WHERE file_id = ? AND {has_part(parts).sql}"
        rows = (row for each in self._tables for row in each.connection.execute(query, (file_id,)))
        return sorted((FoundText(*row) for row in rows), key=lambda text: text.position)

    @cached_property
    def text_count(self) -> int:
        """How many texts there are."""
        counts = (each.connection.execute("SELECT count(*) FROM texts") for each in self._tables)
        return sum(each.get for each in counts)

    def count_matches(self, match: str) -> int:
        """How many texts fulfil an expression."""
        query = "SELECT count(*) FROM words WHERE words MATCH ?"
        return sum(each.connection.execute(query, (match,)).get for each in self._tables)

    def find_matches(
        self,
        match: str | None,
        condition: Condition,
        *,
        deadline: float,
        checks: Sequence[Check] = (),
    ) -> Matches:
        """All texts that fulfil a condition, or the newest found until the clock says `deadline`.

        The clock is `time.monotonic`.
        """
        sql = condition.sql.format(id="words.rowid" if match else "texts.id")
        source = (_BY_WORDS if match else _BY_FIELDS).format(condition=sql)
        order = f"ORDER BY {'words.rowid' if match else 'texts.id'} DESC"
        values = (*([match] if match else []), *condition.values)
        found = [
            tables.find_matches(self._list_columns(number), source, order, values, checks, deadline)
            for number, tables in enumerate(self._tables)
        ]
        return found[0] if len(found) == 1 else _concatenate(found)

    def describe(self, handles: Iterable[int], match: str | None) -> dict[int, FoundText]:
        """Texts by their handles, with the density of an expression in each."""
        found: dict[int, FoundText] = {}
        wanted = self._split(handles)
        for number, tables in enumerate(self._tables):
            described = {text.id: text for text in tables.describe(wanted[number], match)}
            # What fulfils another condition than the expression is described without it.
            others = [each for each in wanted[number] if each not in described]
            described |= {text.id: text for text in tables.describe(others, None)}
            found |= {each * len(self._tables) + number: text for each, text in described.items()}
        return found

    def count_values(self, handles: Iterable[int]) -> TextCounts:
        """How many of these texts have each value."""
        counters: list[Counter[int | None]] = [Counter() for _ in (*_FACETS, _DAYS)]
        for wanted, tables in zip(self._split(handles), self._tables, strict=True):
            row = tables.connection.execute(_COUNT, (msgspec.json.encode(wanted).decode(),))
            for counter, values in zip(counters, next(row), strict=True):
                counter.update(_VALUES.decode(values))
        return TextCounts(*counters)

    def _split(self, handles: Iterable[int]) -> list[list[int]]:
        """The numbers of texts in each of the tables."""
        numbers: list[list[int]] = [[] for _ in self._tables]
        for handle in handles:
            numbers[handle % len(self._tables)].append(handle // len(self._tables))
        return numbers

    def _list_columns(self, number: int) -> tuple[str, ...]:
        return tuple(column.format(tables=len(self._tables), number=number) for column in _MATCHES)


def _concatenate(found: Sequence[Matches]) -> Matches:
    columns = zip(*((each.handles, each.places, each.keys) for each in found), strict=True)
    handles, places, keys = (list(chain.from_iterable(column)) for column in columns)
    return Matches(handles, places, keys, is_cut=any(each.is_cut for each in found))


class _Tables:
    """Texts in one database."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection
        self._average_length = 0.0
        connection.register_fts5_function("density", self._measure_density)

    def find_matches(
        self,
        columns: Sequence[str],
        source: str,
        order: str,
        values: Sequence[str | int],
        checks: Sequence[Check],
        deadline: float,
    ) -> Matches:
        """What a query finds before the deadline."""
        if not checks:
            arrays = ", ".join(f"json_group_array({column})" for column in columns)
            found: list[tuple[str, ...]] = []
            query = f"SELECT {arrays} {source}"
            if not self.collect(query, values, deadline, found.append):
                handles, places, keys = map(_DECODER.decode, found[0])
                return Matches(handles, places, keys)
        self.connection.create_scalar_function(
            "passes", lambda check, *place: not _is_over(deadline) and checks[check](*place)
        )
        rows: list[tuple[int, int, int]] = []
        # Row by row and the newest first, so that something is found when time runs out.
        query = f"SELECT {', '.join(columns)} {source} {order} LIMIT ?"
        limit = -1 if checks else _NEWEST
        is_cut = self.collect(query, (*values, limit), deadline + _GRACE, rows.append)
        rows.reverse()
        handles, places, keys = ([row[at] for row in rows] for at in range(3))
        return Matches(handles, places, keys, is_cut or not checks or _is_over(deadline))

    def describe(self, numbers: Sequence[int], match: str | None) -> Iterator[FoundText]:
        """Texts by their numbers."""
        wanted = msgspec.json.encode(numbers).decode()
        query = _DESCRIBE if match else _DESCRIBE_ONLY
        values = (match, wanted) if match else (wanted,)
        return (FoundText(*row) for row in self.connection.execute(query, values))

    def collect(
        self,
        query: str,
        values: Sequence[str | int],
        deadline: float,
        keep: Callable[[Any], None],
    ) -> bool:
        """Keep each row of a query until the deadline; whether that came before the last row."""
        self.connection.set_progress_handler(lambda: _is_over(deadline), _STEPS)
        try:
            for row in self.connection.execute(query, values):
                keep(row)
        except apsw.InterruptError:
            return True
        finally:
            self.connection.set_progress_handler(None)
        return False

    def _measure_density(self, api: apsw.FTS5ExtensionApi, *_: Any) -> float:
        """How often the words occur for the length of the text, as in BM25.

        Without the rarity of each word, which would mean to count all texts that hold it. A word
        counts up to three times, so that one that is everywhere does not outweigh the others.
        """
        if not self._average_length:
            self._average_length = max(api.column_total_size(0) / max(api.row_count, 1), 1.0)
        phrases = range(min(api.phrase_count, _MAX_COUNTED))
        counts = (len(api.phrase_column_offsets(phrase, 0)) for phrase in phrases)
        count = sum(min(each, _MAX_REPEATED) for each in counts)
        return count / (count + 0.3 + 0.9 * api.column_size(0) / self._average_length)


@contextmanager
def open_text_queries(directory: Path, version: str) -> Iterator[TextQueries | None]:
    """The full-text index in a data directory; None unless there is one with these terms.

    Raises `DamagedIndex` if it proves to be damaged, which has been deleted by then.
    """
    with read_texts(directory, version) as connection:
        yield None if connection is None else TextQueries(connection)


def open_no_texts(tokenizer: str) -> TextQueries:
    """An index without a text, to add some to."""
    return TextQueries(open_in_memory(tokenizer))


def _is_over(deadline: float) -> bool:
    return time.monotonic() >= deadline
