"""What search asks of the full-text index: the newest texts that fulfil a condition.

Conditions are put together from the functions here and nowhere else, each with its parameters, so
that no word of a query becomes SQL. The newest come first, and only so many: a word that is
everywhere costs no more than one that is rare.
"""

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal

import apsw
import msgspec
from msgspec import Struct

from recollect.store.catalog import Names
from recollect.store.text_database import open_in_memory, read_texts
from recollect.store.text_rows import SLOTS, IndexedFile, TextBatch, TextKind, TextWriter
from recollect.store.vocabulary import (
    find_beginning,
    find_ending,
    find_frequent,
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
    f"SELECT {_LIST}, density(words) FROM words CROSS JOIN texts ON texts.id = words.rowid "
    f"WHERE words MATCH ? AND {_IS_SAID} AND {{condition}} "
    "ORDER BY words.rowid DESC LIMIT ?"
)
_BY_TIME: Final = (
    f"SELECT {_LIST}, 0.0 FROM texts WHERE {_IS_SAID} AND {{condition}} ORDER BY id DESC LIMIT ?"
)

NamedColumn = Literal["tool", "model", "branch", "cwd"]
Check = Callable[[int, int, int, int], bool]
"""Looks at a text itself, given file, position, length and number."""


class Condition(Struct, frozen=True):
    """A part of a WHERE clause, with the values of its parameters in order.

    `{id}` stands for the number of the text, which has two names where it is found by words; SQLite
    can leap over what is out of range only by the one of the full-text index.
    """

    sql: str
    values: tuple[str | int, ...] = ()


ALWAYS: Final = Condition("1")
NEVER: Final = Condition("0")


def holds_words(match: str) -> Condition:
    """The text fulfils an expression of FTS5."""
    # With the plus it is one look-up for all, not one for each text that it would find.
    return Condition("+{id} IN (SELECT rowid FROM words WHERE words MATCH ?)", (match,))


def has_part(parts: Iterable[TextKind]) -> Condition:
    """The text is one of these in its session."""
    numbers = ", ".join(str(int(part)) for part in parts)
    return Condition(f"texts.part IN ({numbers})")


def has_name(column: NamedColumn, numbers: Iterable[int]) -> Condition:
    """The text has one of these names."""
    return _is_among(column, numbers)


def in_files(numbers: Iterable[int]) -> Condition:
    """The text is in one of these files."""
    return _is_among("file_id", numbers)


def is_error() -> Condition:
    """The text tells of a failure."""
    return Condition("texts.is_error")


def is_of_subagent() -> Condition:
    """The text is from a subagent."""
    return Condition("texts.is_subagent")


def is_since(second: int) -> Condition:
    """The text was written then or later."""
    return Condition("{id} >= ?", (second * SLOTS,))


def is_until(second: int) -> Condition:
    """The text was written before then."""
    return Condition("{id} < ?", (second * SLOTS,))


def passes(check: int) -> Condition:
    """The text passes the check of this number."""
    columns = "texts.file_id, texts.position, texts.length, texts.number"
    return Condition(f"passes(?, {columns})", (check,))


def all_of(conditions: Sequence[Condition]) -> Condition:
    """Every condition holds."""
    return _join(" AND ", conditions) if conditions else ALWAYS


def any_of(conditions: Sequence[Condition]) -> Condition:
    """At least one condition holds."""
    return _join(" OR ", conditions)


def none_of(condition: Condition) -> Condition:
    """The condition does not hold."""
    return Condition(f"NOT ({condition.sql})", condition.values)


def _is_among(column: str, numbers: Iterable[int]) -> Condition:
    values = msgspec.json.encode(list(numbers)).decode()
    # What has no such name is not among them, where SQL would leave it open.
    sql = f"ifnull(texts.{column} IN (SELECT value FROM json_each(?)), 0)"
    return Condition(sql, (values,))


def _join(operator: str, conditions: Sequence[Condition]) -> Condition:
    sql = operator.join(f"({condition.sql})" for condition in conditions)
    return Condition(sql, tuple(value for part in conditions for value in part.values))


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
    density: float
    """From 0 to 1: how much of the text is what was sought."""

    @property
    def second(self) -> int:
        """When it was written, in seconds since 1970."""
        return self.id // SLOTS


class TextSelection(Struct, frozen=True):
    """The newest texts that fulfil a condition, and whether time ran out before the last."""

    texts: list[FoundText]
    is_cut: bool


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

    def find_frequent(self, beginning: str) -> set[str]:
        """Those of the terms that begin with a text that are in many texts."""
        return set().union(*(find_frequent(each.connection, beginning) for each in self._tables))

    @cached_property
    def knows_all_terms(self) -> bool:
        """Whether all terms there are can be found: yes, unless a long run was cut off."""
        return all(is_gathered(tables.connection) for tables in self._tables)

    def select_ids(self, match: str, first: int, limit: int, *, deadline: float) -> set[int]:
        """The numbers of the newest texts that fulfil an expression, down to `first`."""
        query = (
            "SELECT rowid FROM words WHERE words MATCH ? AND rowid >= ? ORDER BY rowid DESC LIMIT ?"
        )
        values = (match, first, limit)
        rows: list[tuple[int]] = []
        for tables in self._tables:
            tables.collect(query, values, deadline, rows.append)
        return {row[0] for row in rows}

    def list_in_file(self, file_id: int, parts: Iterable[TextKind]) -> list[FoundText]:
        """All texts of these kinds in a file, in its order."""
        query = f"SELECT {_LIST}, 0.0 FROM texts WHERE file_id = ? AND {has_part(parts).sql}"
        rows = (row for each in self._tables for row in each.connection.execute(query, (file_id,)))
        return sorted((FoundText(*row) for row in rows), key=lambda text: text.position)

    def select(
        self,
        match: str | None,
        condition: Condition,
        *,
        limit: int,
        deadline: float,
        checks: Sequence[Check] = (),
    ) -> TextSelection:
        """The newest texts, `limit` at most: all, or those found until the clock says `deadline`.

        The clock is `time.monotonic`.
        """
        sql = condition.sql.format(id="words.rowid" if match else "texts.id")
        query = (_BY_WORDS if match else _BY_TIME).format(condition=sql)
        values = (*([match] if match else []), *condition.values, limit)
        found = [tables.select(query, values, checks, deadline) for tables in self._tables]
        if len(found) == 1:
            return found[0]
        texts = sorted((text for each in found for text in each.texts), key=lambda text: -text.id)
        return TextSelection(texts[:limit], is_cut=any(each.is_cut for each in found))


class _Tables:
    """Texts in one database."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection
        self._average_length = 0.0
        connection.register_fts5_function("density", self._measure_density)

    def select(
        self, query: str, values: Sequence[str | int], checks: Sequence[Check], deadline: float
    ) -> TextSelection:
        """The texts that a query finds before the deadline."""
        self.connection.create_scalar_function(
            "passes", lambda check, *place: not _is_over(deadline) and checks[check](*place)
        )
        texts: list[FoundText] = []
        is_cut = self.collect(query, values, deadline, lambda row: texts.append(FoundText(*row)))
        return TextSelection(texts, is_cut=is_cut or (bool(checks) and _is_over(deadline)))

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

        Without the rarity of each word, which would mean to count all texts that hold it.
        """
        if not self._average_length:
            self._average_length = max(api.column_total_size(0) / max(api.row_count, 1), 1.0)
        count = api.inst_count
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
