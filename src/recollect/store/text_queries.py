"""Queries on the full-text index: all texts that match a condition, and their properties.

Matches are fetched as one JSON text per column: a hundred thousand take tens of milliseconds, while
as many rows would take a second. Other properties are only fetched for the best matches.
"""

import sys
import time
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Final

import apsw
import msgspec

from recollect.documents.kinds import TextKind
from recollect.store.catalog import Names
from recollect.store.database import snapshot
from recollect.store.text_conditions import Check, Condition, has_part
from recollect.store.text_database import CachedConnection, open_in_memory, read_texts
from recollect.store.text_matches import FoundText, Matches, TextCounts, concatenate
from recollect.store.text_rows import SLOTS, FreshTexts, IndexedFile, TextWriter
from recollect.store.vocabulary import Vocabulary

# As in `os.fsdecode`, which looks them up for each of thousands of paths.
_PATHS: Final = (sys.getfilesystemencoding(), sys.getfilesystemencodeerrors())
_STEPS: Final = 5_000
"""Steps of SQLite's virtual machine between two checks of the deadline."""

_COLUMNS: Final = (
    "id file_id position length number part tool is_error is_subagent is_copy cwd key".split()
)
_LIST: Final = ", ".join(f"texts.{name}" for name in _COLUMNS)
_IS_UNIQUE: Final = f"""(
places.place & {15 << 8} <> {TextKind.QUEUED << 8} OR NOT EXISTS (
    SELECT 1 FROM texts AS queued JOIN texts AS prompt
    ON prompt.call = queued.call AND prompt.file_id = queued.file_id AND prompt.part <> queued.part
    WHERE queued.id = places.id
))"""
"""Excludes queue records whose prompt is found separately."""

_BY_WORDS: Final = (
    "FROM words CROSS JOIN places ON places.id = words.rowid {texts} "
    f"WHERE words MATCH ? AND {_IS_UNIQUE} AND {{condition}} ORDER BY words.rowid DESC"
)
_TEXTS: Final = "CROSS JOIN texts ON texts.id = places.id"
_BY_FIELDS: Final = (
    f"FROM texts CROSS JOIN places ON places.id = texts.id WHERE {_IS_UNIQUE} AND {{condition}} "
    "ORDER BY texts.id DESC"
)
_HANDLE: Final = "places.id * {tables} + {number}"

_DESCRIBE: Final = (
    f"SELECT {_LIST}, density(words) FROM words CROSS JOIN texts ON texts.id = words.rowid "
    "WHERE words MATCH ? AND +words.rowid IN (SELECT value FROM json_each(?))"
)
_KEYS: Final = (
    "SELECT json_group_array(texts.key) "
    "FROM json_each(?) CROSS JOIN texts ON texts.id = json_each.value"
)
_PASSING: Final = (
    "SELECT json_group_array(texts.id) FROM json_each(?) AS wanted "
    "CROSS JOIN texts ON texts.id = wanted.value WHERE {condition}"
)
_DESCRIBE_ONLY: Final = (
    f"SELECT {_LIST}, NULL FROM json_each(?) CROSS JOIN texts ON texts.id = json_each.value"
)
_NEWEST: Final = 2_000
"""Number of newest matches to find if there is no time to find all."""

_MAX_COUNTED: Final = 64
"""Maximum number of words of an expression that are counted in a text."""

_MAX_REPEATED: Final = 3
"""Maximum number of occurrences of a word in a text that count."""

_GRACE: Final = 0.25
"""Extra seconds to find the newest matches."""

_DECODER: Final = msgspec.json.Decoder(list[int])


class TextQueries:
    """Queries on the full-text index, including texts that are not indexed yet."""

    def __init__(self, tables: Sequence["_Tables"], *, has_index: bool) -> None:
        self._tables = tables
        self.has_index = has_index
        """Whether there is an index with these terms."""
        self.files = tables[-1].files
        """Every file by its number."""
        self.names = tables[-1].names
        """Every name by its number."""
        self.titled = tables[0].titled
        """The files of titled sessions, by handle; a cache filled by searches.

        It is valid until the index changes.
        """

    def find_terms(self, part: str, limit: int, lengths: Container[int] | None = None) -> list[str]:
        """Find terms that contain `part`, shortest first; with `lengths`, only of these lengths."""
        found = [each.vocabulary.find_terms(part, limit, lengths) for each in self._tables]
        return _merge_terms(found)[:limit]

    def find_ending(self, ending: str, limit: int) -> list[str]:
        """Find terms of two characters or more that end with a text, shortest first."""
        found = [each.vocabulary.find_ending(ending, limit) for each in self._tables]
        return _merge_terms(found)[:limit]

    def find_beginning(self, beginning: str) -> set[str]:
        """Find all terms of two characters or more that begin with a text."""
        return set().union(*(each.vocabulary.find_beginning(beginning) for each in self._tables))

    def find_forms(self, word: str, limit: int) -> list[str]:
        """Find other English words with the same stem, in alphabetical order."""
        found = set().union(*(each.vocabulary.find_forms(word) for each in self._tables))
        return sorted(found)[:limit]

    @property
    def has_all_terms(self) -> bool:
        """Whether every term can be found; false if a long run was truncated."""
        return all(tables.vocabulary.is_complete for tables in self._tables)

    def list_secret_kinds(self, digest: bytes) -> frozenset[str]:
        """Return the kinds of the secret with this keyed hash; empty if no record contains it."""
        query = "SELECT names.text FROM secrets JOIN names ON names.id = kind WHERE hash = ?"
        rows = (row for each in self._tables for row in each.connection.execute(query, (digest,)))
        return frozenset(str(kind) for (kind,) in rows)

    def list_in_file(self, file_id: int, parts: Iterable[TextKind]) -> list[FoundText]:
        """Return all texts of these kinds in a file, in file order."""
        query = f"SELECT {_LIST}, NULL FROM texts WHERE file_id = ? AND {has_part(parts).sql}"
        rows = (row for each in self._tables for row in each.connection.execute(query, (file_id,)))
        return sorted((FoundText(*row) for row in rows), key=lambda text: text.position)

    @property
    def text_count(self) -> int:
        """Return the number of texts."""
        return sum(tables.text_count for tables in self._tables)

    def count_matches(self, match: str, limit: int = -1) -> int:
        """Count the texts that match an expression, at most `limit` per table."""
        query = "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)"
        return sum(each.connection.execute(query, (match, limit)).get for each in self._tables)

    def find_matches(
        self,
        match: str | None,
        condition: Condition,
        *,
        deadline: float,
        checks: Sequence[Check] = (),
        with_traits: bool = False,
        limit: int | None = None,
    ) -> Matches:
        """Find all texts that match a condition, or the newest ones found before `deadline`.

        The clock is `time.monotonic`. With `limit`, find only that many of the newest, unless they
        are checked.
        """
        sql = condition.sql.format(id="words.rowid" if match else "texts.id")
        texts = _TEXTS if "texts." in sql else ""
        source = (_BY_WORDS if match else _BY_FIELDS).format(condition=sql, texts=texts)
        values = (*([match] if match else []), *condition.values)
        columns = {"handles": _HANDLE, "places": "places.place"}
        if with_traits:
            columns["traits"] = "places.traits"
        found = [
            tables.find_matches(
                self._fill(columns, number), source, values, checks, deadline, limit
            )
            for number, tables in enumerate(self._tables)
        ]
        return found[0] if len(found) == 1 else concatenate(found)

    def find_handles(self, match: str) -> Iterator[int]:
        """Return the handles of all texts that match an expression."""
        query = "SELECT json_group_array(rowid) FROM words WHERE words MATCH ?"
        for number, tables in enumerate(self._tables):
            rows = _DECODER.decode(tables.connection.execute(query, (match,)).get)
            yield from (row * len(self._tables) + number for row in rows)

    def find_passing(self, handles: Iterable[int], condition: Condition) -> set[int]:
        """Return the texts in `handles` that fulfil a condition."""
        query = _PASSING.format(condition=condition.sql.format(id="texts.id"))
        found = set[int]()
        for number, wanted in enumerate(self._split(handles)):
            values = (msgspec.json.encode(wanted).decode(), *condition.values)
            rows = self._tables[number].connection.execute(query, values).get
            found.update(row * len(self._tables) + number for row in _DECODER.decode(rows))
        return found

    def find_keys(self, handles: Iterable[int]) -> dict[int, int]:
        """Return the keys of texts by their handles; copies share a key."""
        found: dict[int, int] = {}
        for number, (wanted, tables) in enumerate(
            zip(self._split(handles), self._tables, strict=True)
        ):
            listed = msgspec.json.encode(wanted).decode()
            keys = _DECODER.decode(tables.connection.execute(_KEYS, (listed,)).get)
            each = (row * len(self._tables) + number for row in wanted)
            found.update(zip(each, keys, strict=True))
        return found

    def describe(self, handles: Iterable[int], match: str | None) -> dict[int, FoundText]:
        """Return texts by their handles, with the density of an expression in each."""
        found: dict[int, FoundText] = {}
        wanted = self._split(handles)
        for number, tables in enumerate(self._tables):
            described = {text.id: text for text in tables.describe(wanted[number], match)}
            # Texts that match a condition without the expression have no density.
            others = [each for each in wanted[number] if each not in described]
            described |= {text.id: text for text in tables.describe(others, None)}
            found |= {each * len(self._tables) + number: text for each, text in described.items()}
        return found

    def count_traits(self, matches: Matches) -> TextCounts:
        """Return the number of texts with each value; the matches must have the traits column."""
        tool, model, errors = Counter[int](), Counter[int](), 0
        projects = Counter[tuple[int, str]]()
        known = {number: names for number, *names in self._tables[-1].traits}
        in_files, files = [place >> 12 for place in matches.places], self.files
        pairs = Counter(zip(matches.traits or (), in_files, strict=True))
        for (number, file), count in pairs.items():
            cwd_name, tool_name, model_name, is_error = known[number]
            projects[cwd_name, files[file].project] += count
            tool[tool_name] += count
            model[model_name] += count
            errors += count * is_error
        return TextCounts(projects, +tool, +model, errors)

    def find_second(self, handle: int) -> int:
        """Return when a text was written, in seconds since 1970."""
        return handle // (SLOTS * len(self._tables))

    def find_handle(self, second: int) -> int:
        """Return the lowest possible handle of a text of this second."""
        return second * SLOTS * len(self._tables)

    def _split(self, handles: Iterable[int]) -> list[list[int]]:
        """Split handles into the numbers of texts in each table."""
        numbers: list[list[int]] = [[] for _ in self._tables]
        for handle in handles:
            numbers[handle % len(self._tables)].append(handle // len(self._tables))
        return numbers

    def _fill(self, columns: Mapping[str, str], number: int) -> dict[str, str]:
        """Return the SQL of the columns for one table."""
        filled = {"tables": len(self._tables), "number": number}
        return {name: sql.format(**filled) for name, sql in columns.items()}


def _gather(columns: Mapping[str, str], source: str) -> str:
    """Return a query for one array per column; its last parameter is the maximum number of rows."""
    arrays = ", ".join(f"json_group_array({name})" for name in columns)
    named = ", ".join(f"{column} AS {name}" for name, column in columns.items())
    return f"SELECT {arrays} FROM (SELECT {named} {source} LIMIT ?)"


def _merge_terms(found: Sequence[list[str]]) -> list[str]:
    if len(found) == 1:
        return found[0]
    return sorted(set(chain.from_iterable(found)), key=lambda term: (len(term), term))


class _Tables:
    """Texts in one database, within one transaction."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection
        self.titled: dict[int, int | None] = {}
        connection.register_fts5_function("density", _measure_density)

    @cached_property
    def files(self) -> dict[int, IndexedFile]:
        """Every file by its number."""
        rows = self.connection.execute("SELECT id, path, project, session_id, began FROM files")
        return {row[0]: IndexedFile(row[1].decode(*_PATHS), *row[2:]) for row in rows}

    @cached_property
    def names(self) -> dict[int, str]:
        """Every name by its number."""
        return Names(self.connection).numbers.texts

    @cached_property
    def traits(self) -> list[tuple[int, int, int, int, int]]:
        """Every combination of facet values, by its number."""
        query = "SELECT id, cwd, tool, model, is_error FROM traits"
        rows: Any = self.connection.execute(query).fetchall()
        return list(rows)

    @cached_property
    def text_count(self) -> int:
        """Return the number of texts."""
        return int(self.connection.execute("SELECT count(*) FROM places").get)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """All terms."""
        return Vocabulary(self.connection)

    def find_matches(
        self,
        columns: Mapping[str, str],
        source: str,
        values: Sequence[str | int],
        checks: Sequence[Check],
        deadline: float,
        limit: int | None,
    ) -> Matches:
        """What a query finds before the deadline."""
        if not checks:
            found: list[tuple[str, ...]] = []
            query, row_limit = _gather(columns, source), -1 if limit is None else limit + 1
            if not self.collect(query, (*values, row_limit), deadline, found.append):
                newest = [_DECODER.decode(column) for column in found[0]]
                is_cut = limit is not None and len(newest[0]) > limit
                return _make_matches(columns, (each[:limit][::-1] for each in newest), is_cut)
        self.connection.create_scalar_function(
            "passes", lambda check, *place: not _is_over(deadline) and checks[check](*place)
        )
        rows: list[tuple[int, ...]] = []
        # Row by row and newest first, so that there are results when time runs out.
        query = f"SELECT {', '.join(columns.values())} {source} LIMIT ?"
        row_limit = -1 if checks else _NEWEST
        is_cut = self.collect(query, (*values, row_limit), deadline + _GRACE, rows.append)
        rows.reverse()
        lists = ([row[at] for row in rows] for at in range(len(columns)))
        return _make_matches(columns, lists, is_cut or not checks or _is_over(deadline))

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
        """Collect rows of a query until the deadline; return whether any may be missing."""
        self.connection.set_progress_handler(lambda: _is_over(deadline), _STEPS)
        try:
            for row in self.connection.execute(query, values):
                keep(row)
        except apsw.InterruptError:
            return True
        finally:
            self.connection.set_progress_handler(None)
        return False


def _measure_density(api: apsw.FTS5ExtensionApi, *_: Any) -> float:
    """Measure the frequency of words relative to the length of the text, as in BM25.

    The rarity of words is ignored, because that would need a count of all texts with each word. A
    word counts at most three times, so that a frequent one does not outweigh the others.
    """
    # Kept for one query only: a statement is used again after the index has grown.
    average: float | None = api.aux_data
    if average is None:
        api.aux_data = average = max(api.column_total_size(0) / max(api.row_count, 1), 1.0)
    phrases = range(min(api.phrase_count, _MAX_COUNTED))
    counts = (len(api.phrase_column_offsets(phrase, 0)) for phrase in phrases)
    count = sum(min(each, _MAX_REPEATED) for each in counts)
    return count / (count + 0.3 + 0.9 * api.column_size(0) / average)


class TextIndexCache:
    """The data of the full-text index that a server caches between searches.

    It consists of a connection with its page cache, and of tables that are valid until the index
    changes.
    """

    def __init__(self) -> None:
        self.connection = CachedConnection()
        self._read: tuple[int, _Tables] | None = None

    def find_tables(self, connection: apsw.Connection) -> _Tables:
        """Return the tables of a connection, in a transaction, with cached data."""
        # By connection, because each has its own count of changes by others.
        version = connection.execute("PRAGMA data_version").get
        match self._read:
            case known, tables if known == version and tables.connection is connection:
                return tables
        tables = _Tables(connection)
        self._read = version, tables
        return tables

    def close(self) -> None:
        """Close the connection."""
        self._read = None
        self.connection.close()


@contextmanager
def open_text_queries(
    directory: Path,
    version: str,
    tokenizer: str,
    cache: TextIndexCache | None = None,
    fresh: FreshTexts | None = None,
) -> Iterator[TextQueries]:
    """Open the full-text index in a data directory, with texts that it does not have yet.

    Without an index with these terms, there are only the additional texts. A damaged index is
    deleted, and `DamagedIndex` is raised.
    """
    with read_texts(directory, version, cache=cache.connection if cache else None) as connection:
        if connection is None:
            tables = _Tables(open_in_memory(tokenizer))
            yield TextQueries(_add_texts(tables, tokenizer, fresh), has_index=False)
            return
        with snapshot(connection):
            tables = cache.find_tables(connection) if cache else _Tables(connection)
            yield TextQueries(_add_texts(tables, tokenizer, fresh), has_index=True)


def _add_texts(tables: _Tables, tokenizer: str, fresh: FreshTexts | None) -> Sequence[_Tables]:
    """Return the tables of the index, and of the additional texts, which are not added to it."""
    if fresh is None or not fresh.batches:
        return [tables]
    # Numbers mean the same in both: the index is read in one transaction.
    added = open_in_memory(tokenizer)
    for table in ("files", "names", "traits"):
        rows = tables.connection.execute(f"SELECT * FROM {table}").fetchall()
        if rows:
            marks = ", ".join("?" * len(rows[0]))
            added.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
    TextWriter(added).write(fresh.batches, fresh.files)
    return [tables, _Tables(added)]


def _make_matches(names: Iterable[str], columns: Iterable[list[int]], is_cut: bool) -> Matches:
    found = dict(zip(names, columns, strict=True))
    return Matches(found["handles"], found["places"], found.get("traits"), is_cut)


def _is_over(deadline: float) -> bool:
    return time.monotonic() >= deadline
