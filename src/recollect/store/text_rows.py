"""The rows of the full-text index: texts, and the terms that find them.

The texts themselves are not stored: a row has the position of a record and the number of a text in
it. The number of a row is the second in which the text was written, times four, so that the newest
come first and a period is a range, without sorting or a second index; a full second overflows into
the next. Callers define the terms: the tokenizer is an argument.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import apsw
import msgspec
from msgspec import Struct
from msgspec.structs import astuple

from recollect.documents.kinds import TextKind
from recollect.sources.growth import FileState
from recollect.store.catalog import Names
from recollect.store.vocabulary import add_terms

SLOTS: Final = 4
"""Maximum number of texts per second before numbers overflow into the next."""

LAST_SECOND: Final = 1 << 40


TABLES: Final = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE names (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE, crc INTEGER NOT NULL);

-- Paths are bytes, because some are not valid UTF-8. `began` is the first time in the file, which
-- distinguishes an original from a fork.
CREATE TABLE files (
    id INTEGER PRIMARY KEY,
    path BLOB NOT NULL UNIQUE,
    project TEXT NOT NULL,
    session_id TEXT NOT NULL,
    began INTEGER
);
CREATE INDEX files_by_session ON files (session_id);

-- How far each stage of reading got, and what the file was like then.
CREATE TABLE states (
    file_id INTEGER NOT NULL,
    stage INTEGER NOT NULL,
    position INTEGER NOT NULL,
    device INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    head_hash BLOB NOT NULL,
    tail_hash BLOB NOT NULL,
    is_racy INTEGER NOT NULL,
    moment INTEGER NOT NULL,
    PRIMARY KEY (file_id, stage)
) WITHOUT ROWID;

-- `number` is the position of a text among those of its record; copies share a `key`. `call` is a
-- hash of the id of a tool call, by which later results find the name of the tool, or of the text
-- of a prompt, by which a queue record that only repeats it is recognised.
CREATE TABLE texts (
    id INTEGER PRIMARY KEY,
    file_id INTEGER NOT NULL,
    stage INTEGER NOT NULL,
    position INTEGER NOT NULL,
    length INTEGER NOT NULL,
    number INTEGER NOT NULL,
    part INTEGER NOT NULL,
    tool INTEGER,
    model INTEGER,
    branch INTEGER,
    cwd INTEGER,
    is_error INTEGER NOT NULL,
    is_subagent INTEGER NOT NULL,
    is_copy INTEGER NOT NULL,
    key INTEGER NOT NULL,
    call INTEGER
);
CREATE INDEX texts_by_file ON texts (file_id, stage, position);
CREATE INDEX texts_by_call ON texts (call) WHERE call IS NOT NULL;
CREATE INDEX texts_with_errors ON texts (id) WHERE is_error;

-- The columns that ranking and facets need for every match, in a table of their own: a hundred
-- thousand rows of a few bytes are read in half the time. `place` is packed by `pack_place`, and
-- `traits` is an id in the table below, where 0 means no name.
CREATE TABLE places (id INTEGER PRIMARY KEY, place INTEGER NOT NULL, traits INTEGER NOT NULL);
CREATE TABLE traits (
    id INTEGER PRIMARY KEY,
    cwd INTEGER NOT NULL,
    tool INTEGER NOT NULL,
    model INTEGER NOT NULL,
    is_error INTEGER NOT NULL
);

-- Where secrets are, never what they are: `hash` is keyed, and the key is beside the index. There
-- is one row for each value in a record. `kind` is a name; `spans` are its positions in the strings
-- of the record.
CREATE TABLE secrets (
    file_id INTEGER NOT NULL,
    stage INTEGER NOT NULL,
    position INTEGER NOT NULL,
    length INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    is_definite INTEGER NOT NULL,
    hash BLOB NOT NULL,
    uuid TEXT,
    timestamp TEXT,
    spans TEXT NOT NULL
);
CREATE INDEX secrets_by_file ON secrets (file_id, stage, position);
CREATE INDEX secrets_by_hash ON secrets (hash);

CREATE VIRTUAL TABLE words USING fts5(
    text, content='', contentless_delete=1, tokenize="{tokenizer}"
);
CREATE VIRTUAL TABLE words_vocabulary USING fts5vocab('words', 'row');

-- All terms in order, one per line, in a few rows that are quick to search. A row has the terms
-- from `start` to `stop`.
CREATE TABLE vocabulary (
    id INTEGER PRIMARY KEY,
    start TEXT NOT NULL,
    stop TEXT NOT NULL,
    terms BLOB NOT NULL
);
"""
SETTINGS: Final = {"hashsize": 64 << 20, "automerge": 32, "crisismerge": 1_000, "pgsz": 8_000}
"""FTS5 settings, chosen by measurement: docs/dev/decisions/0006-full-text.md."""

_MERGED_PAGES: Final = 128
_IS_TAKEN: Final = "SELECT 1 FROM texts WHERE id = ?"
_TAKEN: Final = f"""
SELECT texts.id FROM json_each(?) AS asked
CROSS JOIN texts ON texts.id BETWEEN asked.value AND asked.value + {SLOTS - 1}
"""


class IndexedFile(Struct, frozen=True, array_like=True):
    """An indexed transcript."""

    path: str
    project: str
    session_id: str
    began: int | None = None
    """The first timestamp in it, in milliseconds since 1970, once it has been read."""


class TextRow(Struct, frozen=True, gc=False, array_like=True):
    """A text to index; `second` is since 1970.

    `text` is prepared for the tokenizer, as UTF-8: bytes pass between processes unchanged.
    """

    second: int
    position: int
    length: int
    number: int
    part: int
    tool: str | None
    model: str | None
    branch: str | None
    cwd: str | None
    is_error: bool
    is_subagent: bool
    is_copy: bool
    """Whether its record is marked as a copy from another session."""
    key: int
    call: int | None
    text: bytes


class SecretRow(Struct, frozen=True, gc=False, array_like=True):
    """A secret to record. Its value is hashed before it is written."""

    position: int
    length: int
    kind: str
    is_definite: bool
    value: bytes
    uuid: str | None
    timestamp: str | None
    spans: tuple[int, ...] = ()
    """Start and end of each occurrence of a definite secret in the strings of the record."""


class TextState(Struct, frozen=True, gc=False, array_like=True):
    """How far a stage has read a file, and the state of the file at that time."""

    file: FileState = FileState()
    moment: int = 0
    """The second of the last record with a timestamp."""


class TextBatch(Struct, frozen=True, array_like=True):
    """Texts that a stage has found in a file from byte `start` on."""

    path: str
    stage: int
    start: int
    state: TextState
    rows: list[TextRow]
    began: int | None = None
    """The first timestamp in the file, if it was read from the start."""
    secrets: list[SecretRow] = []


class FreshTexts(Struct, frozen=True):
    """Texts that are not indexed yet, and their files."""

    batches: list[TextBatch] = []
    files: list[IndexedFile] = []


HashValue = Callable[[bytes], bytes]
_Placed = tuple[int, int, TextRow]
"""A text with the numbers of its file and of the stage that found it."""

States = dict[tuple[str, int], TextState]
"""By path and stage."""


def pack_place(file_id: int, row: TextRow) -> int:
    """Encode the properties that ranking needs as one number; see `text_matches.unpack_place`."""
    magnitude = ((row.length + 1).bit_length() - 1) // 2
    return file_id << 12 | row.part << 8 | magnitude << 2 | row.is_copy << 1 | row.is_subagent


class _Traits(dict[tuple[int | None, ...], int]):
    """The number of each combination of facet values, assigned on first use."""

    def __init__(self, connection: apsw.Connection) -> None:
        rows = connection.execute("SELECT cwd, tool, model, is_error, id FROM traits")
        super().__init__({tuple(name or None for name in names): row for *names, row in rows})
        self._connection = connection

    def __missing__(self, names: tuple[int | None, ...]) -> int:
        query = "INSERT INTO traits VALUES (NULL, ?, ?, ?, ?) RETURNING id"
        number = int(self._connection.execute(query, tuple(name or 0 for name in names)).get)
        return self.setdefault(names, number)


def load_text_files(connection: apsw.Connection) -> dict[str, int]:
    """Return the id of every file, by its path."""
    rows = connection.execute("SELECT path, id FROM files")
    return {os.fsdecode(path): number for path, number in rows}


def load_text_states(connection: apsw.Connection) -> States:
    """Return how far every file has been read."""
    rows = connection.execute("SELECT path, states.* FROM states JOIN files ON file_id = files.id")
    return {(os.fsdecode(path), stage): _to_state(*state) for path, _, stage, *state in rows}


def _to_state(*values: Any) -> TextState:
    *others, is_racy, moment = values
    return TextState(FileState(*others, bool(is_racy)), moment)  # type: ignore[call-arg]


class TextWriter:
    """Inserts texts in the order of their numbers, which keeps the index in few segments."""

    def __init__(self, connection: apsw.Connection, hash_value: HashValue | None = None) -> None:
        self._connection = connection
        self._names = Names(connection)
        self._traits = _Traits(connection)
        self._hash_value = hash_value

    def write(self, batches: Iterable[TextBatch], files: Iterable[IndexedFile]) -> None:
        """Add batches of texts, skipping those that another process has added meanwhile."""
        described = {file.path: file for file in files}
        rows: list[_Placed] = []
        for batch in batches:
            number = self._find_or_add_file(described[batch.path])
            if self._accept(batch, number):
                self._record_start(batch, number)
                self._record_secrets(batch, number)
                rows += [(number, batch.stage, row) for row in batch.rows]
        rows.sort(key=_order)
        self._insert(rows)
        if add_terms(self._connection, [row.text for _, _, row in rows]):
            # Merge a little after each write: automatic merges would occasionally take seconds.
            self._connection.execute(
                "INSERT INTO words(words, rank) VALUES ('merge', ?)", (_MERGED_PAGES,)
            )

    def remove_files(self, paths: Iterable[str]) -> None:
        """Remove files and their texts."""
        for path in paths:
            number = self._find_file(path)
            if number is None:
                continue
            self._delete_texts("file_id = ?", (number,))
            self._connection.execute("DELETE FROM secrets WHERE file_id = ?", (number,))
            self._connection.execute("DELETE FROM states WHERE file_id = ?", (number,))
            self._connection.execute("DELETE FROM files WHERE id = ?", (number,))

    def _accept(self, batch: TextBatch, number: int) -> bool:
        known = self._connection.execute(
            "SELECT position FROM states WHERE file_id = ? AND stage = ?", (number, batch.stage)
        ).fetchone()
        if batch.start and (known is None or known[0] != batch.start):
            return False
        if known is not None:
            values = (number, batch.stage, batch.start)
            condition = "file_id = ? AND stage = ? AND position >= ?"
            self._delete_texts(condition, values)
            self._connection.execute(f"DELETE FROM secrets WHERE {condition}", values)
        self._connection.execute(
            "INSERT OR REPLACE INTO states VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (number, batch.stage, *astuple(batch.state.file), batch.state.moment),
        )
        return True

    def _record_start(self, batch: TextBatch, number: int) -> None:
        if not batch.start:
            values = (batch.began, number)
            self._connection.execute("UPDATE files SET began = ? WHERE id = ?", values)

    def _record_secrets(self, batch: TextBatch, number: int) -> None:
        if self._hash_value is None:
            return
        names = self._names.numbers
        self._connection.executemany(
            "INSERT INTO secrets VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (number, batch.stage, row.position, row.length, names[row.kind], row.is_definite,
                 self._hash_value(row.value), row.uuid, row.timestamp,
                 " ".join(map(str, row.spans)))
                for row in batch.secrets
            ],
        )  # fmt: skip

    def _find_file(self, path: str) -> int | None:
        found = self._connection.execute(
            "SELECT id FROM files WHERE path = ?", (os.fsencode(path),)
        ).fetchone()
        return int(found[0]) if found else None

    def _find_or_add_file(self, file: IndexedFile) -> int:
        known = self._find_file(file.path)
        if known is not None:
            return known
        added = self._connection.execute(
            "INSERT INTO files (path, project, session_id) VALUES (?, ?, ?) RETURNING id",
            (os.fsencode(file.path), _printable(file.project), _printable(file.session_id)),
        )
        return int(added.get)

    def _delete_texts(self, condition: str, values: tuple[int, ...]) -> None:
        rows = self._connection.execute(
            f"DELETE FROM texts WHERE {condition} RETURNING id",
            values,
        ).fetchall()
        self._connection.executemany("DELETE FROM places WHERE id = ?", rows)
        self._connection.executemany("DELETE FROM words WHERE rowid = ?", rows)

    def _insert(self, rows: Sequence[_Placed]) -> None:
        numbers = self._take_numbers([row.second for _, _, row in rows])
        tools = self._find_tools([row for _, _, row in rows])
        names = self._names.numbers
        self._connection.executemany(
            "INSERT INTO texts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (number, file_id, stage, row.position, row.length, row.number, row.part, tool,
                 names[row.model], names[row.branch], names[row.cwd], row.is_error,
                 row.is_subagent, row.is_copy, row.key,
                 None if row.part == TextKind.TOOL_RESULT else row.call)
                for number, tool, (file_id, stage, row) in zip(numbers, tools, rows, strict=True)
            ),
        )  # fmt: skip
        traits = self._traits
        self._connection.executemany(
            "INSERT INTO places VALUES (?, ?, ?)",
            (
                (number, pack_place(file_id, row),
                 traits[names[row.cwd], tool, names[row.model], row.is_error or None])
                for number, tool, (file_id, _, row) in zip(numbers, tools, rows, strict=True)
            ),
        )  # fmt: skip
        self._connection.executemany(
            # Bound as bytes, which saves a conversion to text and back.
            "INSERT INTO words(rowid, text) VALUES (?, CAST(? AS TEXT))",
            ((number, row.text) for number, (_, _, row) in zip(numbers, rows, strict=True)),
        )

    def _find_tools(self, rows: Sequence[TextRow]) -> list[int | None]:
        """Return the tool of each text; for a result, that of its call, which comes before it."""
        names = self._names.numbers
        called = {row.call: names[row.tool] for row in rows if row.part != TextKind.TOOL_RESULT}
        return [
            names[row.tool]
            if row.part != TextKind.TOOL_RESULT
            else called.get(row.call) or self._find_tool(row.call)
            for row in rows
        ]

    def _find_tool(self, call: int | None) -> int | None:
        found = self._connection.execute(
            "SELECT tool FROM texts WHERE call = ? LIMIT 1", (call,)
        ).fetchone()
        return found[0] if found else None

    def _take_numbers(self, seconds: Sequence[int]) -> list[int]:
        """Return a free number for each text; `seconds` are sorted, and so is the result."""
        firsts = [min(max(second, 0), LAST_SECOND) * SLOTS for second in seconds]
        taken = self._find_taken(firsts)
        numbers: list[int] = []
        # Never below the previous one: FTS5 would start a new segment.
        number = -1
        for first in firsts:
            number = max(first, number + 1)
            while number in taken if number < first + SLOTS else self._is_taken(number):
                number += 1
            numbers.append(number)
        return numbers

    def _find_taken(self, firsts: Iterable[int]) -> set[int]:
        """Return the numbers used in these seconds, in one query, because there are many."""
        asked = msgspec.json.encode(list(dict.fromkeys(firsts))).decode()
        return {number for (number,) in self._connection.execute(_TAKEN, (asked,))}

    def _is_taken(self, number: int) -> bool:
        return self._connection.execute(_IS_TAKEN, (number,)).fetchone() is not None


def _order(item: _Placed) -> tuple[int, int, int, int]:
    file_id, _, row = item
    return row.second, file_id, row.position, row.number


def _printable(text: str) -> str:
    return Path(text).name.encode("utf-8", "replace").decode()
