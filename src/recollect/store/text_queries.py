"""Queries on the full-text index: all texts that match a condition, and their properties.

Which texts match is fetched as one JSON text a column: a hundred thousand texts take tens of
milliseconds, where as many rows would take a second. What else there is to know of a text is
fetched for those that are worth it.
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
from recollect.store.text_database import KeptConnection, open_in_memory, read_texts
from recollect.store.text_matches import FoundText, Matches, TextCounts, concatenate
from recollect.store.text_rows import SLOTS, FreshTexts, IndexedFile, TextWriter
from recollect.store.vocabulary import Vocabulary

# As `os.fsdecode` does it, which looks them up for each of thousands of paths.
_PATHS: Final = (sys.getfilesystemencoding(), sys.getfilesystemencodeerrors())
_STEPS: Final = 5_000
"""Steps of SQLite's machine between two looks at the clock."""

_COLUMNS: Final = (
    "id file_id position length number part tool is_error is_subagent is_copy cwd key".split()
)
_LIST: Final = ", ".join(f"texts.{name}" for name in _COLUMNS)
_IS_SAID: Final = f"""(
places.place & {15 << 8} <> {TextKind.QUEUED << 8} OR NOT EXISTS (
    SELECT 1 FROM texts AS queued JOIN texts AS prompt
    ON prompt.call = queued.call AND prompt.file_id = queued.file_id AND prompt.part <> queued.part
    WHERE queued.id = places.id
))"""
"""Not a line of the queue whose prompt is found by itself."""

_BY_WORDS: Final = (
    "FROM words CROSS JOIN places ON places.id = words.rowid {texts} "
    f"WHERE words MATCH ? AND {_IS_SAID} AND {{condition}} ORDER BY words.rowid DESC"
)
_TEXTS: Final = "CROSS JOIN texts ON texts.id = places.id"
_BY_FIELDS: Final = (
    f"FROM texts CROSS JOIN places ON places.id = texts.id WHERE {_IS_SAID} AND {{condition}} "
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
"""Matches that are still looked for when there are too many to find all in time."""

_MAX_COUNTED: Final = 64
"""Words of an expression that are counted in a text."""

_MAX_REPEATED: Final = 3
"""Occurrences of a word in a text beyond which it does not count for more."""

_GRACE: Final = 0.25
"""Seconds for that."""

_DECODER: Final = msgspec.json.Decoder(list[int])


class TextQueries:
    """The full-text index as search sees it, with texts that are not indexed yet."""

    def __init__(self, tables: Sequence["_Tables"], *, has_index: bool) -> None:
        self._tables = tables
        self.has_index = has_index
        """Whether there is an index with these terms."""
        self.files = tables[-1].files
        """Every file by its number."""
        self.names = tables[-1].names
        """Every name by its number."""
        self.titled = tables[0].titled
        """The files of the sessions that titles are of, by handle; a search adds what it finds.

        Later searches have it as long as the index does not change.
        """

    def find_terms(self, part: str, most: int, lengths: Container[int] | None = None) -> list[str]:
        """Terms with `part` inside them, the shortest first; with `lengths`, only those."""
        found = [each.vocabulary.find_terms(part, most, lengths) for each in self._tables]
        return _merge_terms(found)[:most]

    def find_ending(self, ending: str, most: int) -> list[str]:
        """Terms of two characters or more that end with a text, the shortest first."""
        found = [each.vocabulary.find_ending(ending, most) for each in self._tables]
        return _merge_terms(found)[:most]

    def find_beginning(self, beginning: str) -> set[str]:
        """All terms of two characters or more that begin with a text."""
        return set().union(*(each.vocabulary.find_beginning(beginning) for each in self._tables))

    def find_forms(self, word: str, most: int) -> list[str]:
        """Other English words with the same stem, in the order of the alphabet."""
        found = set().union(*(each.vocabulary.find_forms(word) for each in self._tables))
        return sorted(found)[:most]

    @property
    def has_all_terms(self) -> bool:
        """Whether all terms there are can be found: yes, unless a long run was cut off."""
        return all(tables.vocabulary.is_complete for tables in self._tables)

    def has_secret(self, digest: bytes) -> bool:
        """Whether a record holds the secret with this keyed hash."""
        query = "SELECT EXISTS (SELECT 1 FROM secrets WHERE hash = ?)"
        return any(each.connection.execute(query, (digest,)).get for each in self._tables)

    def list_in_file(self, file_id: int, parts: Iterable[TextKind]) -> list[FoundText]:
        """All texts of these kinds in a file, in its order."""
        query = f"SELECT {_LIST}, NULL FROM texts WHERE file_id = ? AND {has_part(parts).sql}"
        rows = (row for each in self._tables for row in each.connection.execute(query, (file_id,)))
        return sorted((FoundText(*row) for row in rows), key=lambda text: text.position)

    @property
    def text_count(self) -> int:
        """How many texts there are."""
        return sum(tables.text_count for tables in self._tables)

    def count_matches(self, match: str, most: int = -1) -> int:
        """How many texts fulfil an expression; with `most`, no more are counted in a table."""
        query = "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)"
        return sum(each.connection.execute(query, (match, most)).get for each in self._tables)

    def find_matches(
        self,
        match: str | None,
        condition: Condition,
        *,
        deadline: float,
        checks: Sequence[Check] = (),
        with_traits: bool = False,
        most: int | None = None,
    ) -> Matches:
        """All texts that fulfil a condition, or the newest found until the clock says `deadline`.

        The clock is `time.monotonic`. With `most`, only as many of the newest, unless they are
        checked.
        """
        sql = condition.sql.format(id="words.rowid" if match else "texts.id")
        texts = _TEXTS if "texts." in sql else ""
        source = (_BY_WORDS if match else _BY_FIELDS).format(condition=sql, texts=texts)
        values = (*([match] if match else []), *condition.values)
        columns = {"handles": _HANDLE, "places": "places.place"}
        if with_traits:
            columns["traits"] = "places.traits"
        found = [
            tables.find_matches(self._fill(columns, number), source, values, checks, deadline, most)
            for number, tables in enumerate(self._tables)
        ]
        return found[0] if len(found) == 1 else concatenate(found)

    def find_handles(self, match: str) -> Iterator[int]:
        """The handles of all texts that fulfil an expression."""
        query = "SELECT json_group_array(rowid) FROM words WHERE words MATCH ?"
        for number, tables in enumerate(self._tables):
            rows = _DECODER.decode(tables.connection.execute(query, (match,)).get)
            yield from (row * len(self._tables) + number for row in rows)

    def find_passing(self, handles: Iterable[int], condition: Condition) -> set[int]:
        """Those of these texts that fulfil a condition."""
        query = _PASSING.format(condition=condition.sql.format(id="texts.id"))
        found = set[int]()
        for number, wanted in enumerate(self._split(handles)):
            values = (msgspec.json.encode(wanted).decode(), *condition.values)
            rows = self._tables[number].connection.execute(query, values).get
            found.update(row * len(self._tables) + number for row in _DECODER.decode(rows))
        return found

    def find_keys(self, handles: Iterable[int]) -> dict[int, int]:
        """The keys of texts by their handles; copies share a key."""
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

    def count_traits(self, matches: Matches) -> TextCounts:
        """How many texts have each value; the matches have the column of their traits."""
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
        """When a text was written, in seconds since 1970."""
        return handle // (SLOTS * len(self._tables))

    def find_handle(self, second: int) -> int:
        """The lowest handle that a text of this second may have."""
        return second * SLOTS * len(self._tables)

    def _split(self, handles: Iterable[int]) -> list[list[int]]:
        """The numbers of texts in each of the tables."""
        numbers: list[list[int]] = [[] for _ in self._tables]
        for handle in handles:
            numbers[handle % len(self._tables)].append(handle // len(self._tables))
        return numbers

    def _fill(self, columns: Mapping[str, str], number: int) -> dict[str, str]:
        """The expressions of columns for one of the tables."""
        filled = {"tables": len(self._tables), "number": number}
        return {name: sql.format(**filled) for name, sql in columns.items()}


def _gather(columns: Mapping[str, str], source: str) -> str:
    """A query for one array a column; its last value is how many rows there may be."""
    arrays = ", ".join(f"json_group_array({name})" for name in columns)
    named = ", ".join(f"{column} AS {name}" for name, column in columns.items())
    return f"SELECT {arrays} FROM (SELECT {named} {source} LIMIT ?)"


def _merge_terms(found: Sequence[list[str]]) -> list[str]:
    if len(found) == 1:
        return found[0]
    return sorted(set(chain.from_iterable(found)), key=lambda term: (len(term), term))


class _Tables:
    """Texts in one database that does not change meanwhile."""

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
        """Every combination of traits: its number, and what facets count."""
        query = "SELECT id, cwd, tool, model, is_error FROM traits"
        rows: Any = self.connection.execute(query).fetchall()
        return list(rows)

    @cached_property
    def text_count(self) -> int:
        """How many texts there are."""
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
        most: int | None,
    ) -> Matches:
        """What a query finds before the deadline."""
        if not checks:
            found: list[tuple[str, ...]] = []
            query, limit = _gather(columns, source), -1 if most is None else most + 1
            if not self.collect(query, (*values, limit), deadline, found.append):
                newest = [_DECODER.decode(column) for column in found[0]]
                is_cut = most is not None and len(newest[0]) > most
                return _make_matches(columns, (each[:most][::-1] for each in newest), is_cut)
        self.connection.create_scalar_function(
            "passes", lambda check, *place: not _is_over(deadline) and checks[check](*place)
        )
        rows: list[tuple[int, ...]] = []
        # Row by row and the newest first, so that something is found when time runs out.
        query = f"SELECT {', '.join(columns.values())} {source} LIMIT ?"
        limit = -1 if checks else _NEWEST
        is_cut = self.collect(query, (*values, limit), deadline + _GRACE, rows.append)
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


def _measure_density(api: apsw.FTS5ExtensionApi, *_: Any) -> float:
    """How often the words occur for the length of the text, as in BM25.

    Without the rarity of each word, which would mean to count all texts that hold it. A word
    counts up to three times, so that one that is everywhere does not outweigh the others.
    """
    # Kept for one query only: a statement is used again after the index has grown.
    average: float | None = api.aux_data
    if average is None:
        api.aux_data = average = max(api.column_total_size(0) / max(api.row_count, 1), 1.0)
    phrases = range(min(api.phrase_count, _MAX_COUNTED))
    counts = (len(api.phrase_column_offsets(phrase, 0)) for phrase in phrases)
    count = sum(min(each, _MAX_REPEATED) for each in counts)
    return count / (count + 0.3 + 0.9 * api.column_size(0) / average)


class KeptTexts:
    """What a server keeps of the full-text index between two searches.

    That is a connection with the pages that it has read, and what was read of the index as long as
    nobody changes it.
    """

    def __init__(self) -> None:
        self.connection = KeptConnection()
        self._read: tuple[int, _Tables] | None = None

    def find_tables(self, connection: apsw.Connection) -> _Tables:
        """The tables of a connection, in a transaction, with what is known of them already."""
        # Told apart by connection: each has a count of its own of the changes made by others.
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
    kept: KeptTexts | None = None,
    fresh: FreshTexts | None = None,
) -> Iterator[TextQueries]:
    """The full-text index in a data directory, together with texts that it does not have yet.

    Without an index with these terms, only those. Raises `DamagedIndex` if it proves to be damaged,
    which has been deleted by then.
    """
    with read_texts(directory, version, kept=kept.connection if kept else None) as connection:
        if connection is None:
            tables = _Tables(open_in_memory(tokenizer))
            yield TextQueries(_add_texts(tables, tokenizer, fresh), has_index=False)
            return
        with snapshot(connection):
            tables = kept.find_tables(connection) if kept else _Tables(connection)
            yield TextQueries(_add_texts(tables, tokenizer, fresh), has_index=True)


def _add_texts(tables: _Tables, tokenizer: str, fresh: FreshTexts | None) -> Sequence[_Tables]:
    """Tables of the index, and of these texts, which are not put into it."""
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
