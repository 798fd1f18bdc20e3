"""Rows of files and names: the indexed transcripts, and interned strings.

Names that repeat are stored once and referred to by number; a `Names` belongs to one connection and
one sync. Rows of files and names have checksums, for SQLite builds that cannot check pages. A path
whose bytes are not UTF-8 is stored as hex digits, which SQLite and JSON can store.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from struct import iter_unpack, pack
from typing import Final, NamedTuple
from zlib import crc32

import apsw
import msgspec

from recollect.sources.source import UNTRUSTED, Stamp
from recollect.store.schema import DamagedIndex, load_checksums, read_meta

ODD: Final = "\0"
"""Marks a path stored as hex digits, because it is not valid UTF-8; no path contains it."""


def encode_path(path: str) -> str:
    """Encode a path that is not valid UTF-8 as text, after a marker."""
    if path.isascii():
        return path
    try:
        path.encode()
    except UnicodeEncodeError:
        return ODD + os.fsencode(path).hex()
    return path


def encode_paths(paths: Iterable[str]) -> str:
    """Encode paths as JSON, for queries that compare them with stored paths by `json_each`."""
    return msgspec.json.encode([encode_path(path) for path in paths]).decode()


def decode_path(text: str) -> str:
    """Reverse `encode_path`."""
    try:
        return os.fsdecode(bytes.fromhex(text[1:])) if text[:1] == ODD else text
    except (TypeError, ValueError) as error:
        raise DamagedIndex(f"The index is damaged: {text!r} is not a valid path.") from error


Span = tuple[int, int]
"""Offset and length of a line."""

MAX_LENGTH = 10_000
"""Maximum length of a stored name; all names are in memory at the same time."""


class FileRow(msgspec.Struct, frozen=True):
    """A transcript as it was when it was last read."""

    path: str
    project: str
    kind: str
    session_id: str
    """Empty if neither the directory nor the records contain it."""
    agent_id: str | None
    agent_type: str | None
    """The type of a subagent, from the sidecar file."""
    began: int | None
    """The first timestamp in the file, in milliseconds; for a fork, that of the fork itself."""
    device: int
    inode: int
    """0 where directory listings do not include it."""
    size: int
    mtime_ns: int
    position: int
    """Where reading can continue: always the start of a line."""
    head_hash: bytes
    tail_hash: bytes
    is_racy: bool
    """Whether it was read so soon after a write that a later change may have the same mtime."""
    is_gone: bool = False


# The checksum covers everything but `is_gone`, which changes on its own and which the next sync
# would repair.
_COLUMNS = ("crc", "is_gone", *FileRow.__struct_fields__[:-1])
_SELECT_FILES = f"SELECT id, {', '.join(_COLUMNS)} FROM files"
_GONE_OR_ASKED = "WHERE is_gone OR path IN (SELECT value FROM json_each(?))"
_SAVE_FILE = (
    f"INSERT INTO files (id, {', '.join(_COLUMNS)}) "
    f"VALUES (?, {', '.join('?' * len(_COLUMNS))}) ON CONFLICT (id) DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in _COLUMNS)
)


def load_files(
    connection: apsw.Connection, paths: Iterable[str] | None = None, *, is_trusted: bool = False
) -> dict[str, tuple[int, FileRow]]:
    """Every known transcript by its path, with its number.

    With `paths`, only these and the deleted ones, which may have been moved. With `is_trusted`,
    pages have checksums, so row checksums are not compared.
    """
    files: dict[str, tuple[int, FileRow]] = {}
    if paths is None:
        rows = connection.execute(_SELECT_FILES)
    else:
        rows = connection.execute(f"{_SELECT_FILES} {_GONE_OR_ASKED}", (encode_paths(paths),))
    for number, crc, is_gone, *values in rows:
        if not is_trusted and crc != _crc_of(number, *values):
            raise DamagedIndex(f"The index is damaged: file {number} is not valid.")
        *others, is_racy = values
        row = FileRow(*others, bool(is_racy), bool(is_gone))  # type: ignore[call-arg]
        if row.path[:1] == ODD:
            row = _translate(row, decode_path)
        files[row.path] = (number, row)
    return files


def load_states(connection: apsw.Connection) -> dict[str, Stamp]:
    """The stamp of every transcript that is not gone, by its path."""
    query = "SELECT path, inode, size, iif(is_racy, ?, mtime_ns) FROM files WHERE is_gone = 0"
    rows = connection.execute(query, (UNTRUSTED,))
    states = {path: (inode, size, time) for path, inode, size, time in rows}
    # Few are encoded, and a call for each of thousands of paths would cost more than reading them.
    for path in [path for path in states if path[:1] == ODD]:
        states[decode_path(path)] = states.pop(path)
    return states


def save_file(connection: apsw.Connection, row: FileRow, number: int | None = None) -> int:
    """Write the row of a transcript, replacing row `number` if given; return its number."""
    if number is None:
        number = int(connection.execute("SELECT coalesce(max(id), 0) + 1 FROM files").get)
    *others, is_racy, is_gone = msgspec.structs.astuple(_translate(row, encode_path))
    values = (*others, int(is_racy))
    connection.execute(_SAVE_FILE, (number, _crc_of(number, *values), is_gone, *values))
    return number


def save_naming_lines(
    connection: apsw.Connection, number: int, start: int, spans: Sequence[Span] | None
) -> None:
    """Replace the naming lines of a file from byte `start` on; None if they are not known."""
    known = _load_spans(connection, number) if start else []
    if known is None or spans is None:
        connection.execute("DELETE FROM naming_lines WHERE file_id = ?", (number,))
        return
    kept = [span for span in known if span[0] < start]
    numbers = [value for span in (*kept, *spans) for value in span]
    values = (number, pack(f"<{len(numbers)}q", *numbers))
    connection.execute("INSERT OR REPLACE INTO naming_lines VALUES (?, ?)", values)


class StoredLines(NamedTuple):
    """The naming lines of a file, and the stamp of the file when they were found."""

    stamp: Stamp
    spans: list[Span]


def load_naming_lines(
    connection: apsw.Connection, paths: Iterable[str] | None = None
) -> dict[str, StoredLines]:
    """Return the naming lines of all files, or of those in `paths`, by path."""
    if not load_checksums():
        # Nothing else would detect a damaged offset.
        return {}
    query = (
        "SELECT path, inode, size, iif(is_racy, ?, mtime_ns), spans "
        "FROM files JOIN naming_lines ON file_id = id"
    )
    values: tuple[int | str, ...] = (UNTRUSTED,)
    if paths is not None:
        query += " WHERE path IN (SELECT value FROM json_each(?))"
        values = (UNTRUSTED, encode_paths(paths))
    return {
        decode_path(path): StoredLines((inode, size, time), _decode_spans(spans))
        for path, inode, size, time, spans in connection.execute(query, values)
    }


def _load_spans(connection: apsw.Connection, number: int) -> list[Span] | None:
    query = "SELECT spans FROM naming_lines WHERE file_id = ?"
    found = connection.execute(query, (number,)).fetchone()
    return None if found is None else _decode_spans(found[0])


def _decode_spans(data: bytes) -> list[Span]:
    return list(iter_unpack("<qq", data))


def _translate(row: FileRow, translate: Callable[[str], str]) -> FileRow:
    """Return the row with encoded paths: fields that may contain file names which are not UTF-8."""
    return msgspec.structs.replace(
        row,
        path=translate(row.path),
        project=translate(row.project),
        session_id=translate(row.session_id),
        agent_id=row.agent_id and translate(row.agent_id),
    )


def mark_gone(connection: apsw.Connection, number: int, *, is_gone: bool) -> None:
    """Mark a transcript as deleted, keeping its rows; or unmark it."""
    connection.execute("UPDATE files SET is_gone = ? WHERE id = ?", (is_gone, number))


class FileOrigin(NamedTuple):
    """The facts that decide between copies of a message in several files."""

    path: str
    is_gone: bool
    began: int | None


def load_origins(connection: apsw.Connection) -> dict[int, FileOrigin]:
    """Return the path, the deletion and the start of every known transcript, by number."""
    rows = connection.execute("SELECT id, path, is_gone, began FROM files")
    return {
        number: FileOrigin(decode_path(path), bool(is_gone), began)
        for number, path, is_gone, began in rows
    }


def has_files(connection: apsw.Connection) -> bool:
    """Whether any transcript is known."""
    return bool(connection.execute("SELECT EXISTS (SELECT 1 FROM files)").get)


def has_files_elsewhere(connection: apsw.Connection, prefixes: Iterable[str]) -> bool:
    """Whether the index has a transcript whose path begins with none of these prefixes.

    Also true for a path that is not valid UTF-8, which a query cannot compare.
    """
    names = tuple(prefix for prefix in prefixes if prefix.isprintable())
    inside = " OR ".join("substr(path, 1, length(?)) = ?" for _ in names) or "false"
    query = f"SELECT EXISTS (SELECT 1 FROM files WHERE NOT ({inside}))"
    return bool(connection.execute(query, [name for name in names for _ in range(2)]).get)


def _crc_of(*values: object) -> int:
    return crc32(repr(values).encode())


class Names:
    """Interned strings and their numbers."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.numbers = _Numbers(connection)
        """The number of each text, assigned on first use; None has no number."""

    def number(self, text: str | None) -> int | None:
        """Return the number of `text`, assigning one if it is new."""
        return self.numbers[text]

    @property
    def texts(self) -> Mapping[int, str]:
        """The text of each number."""
        return self.numbers.texts

    def text(self, number: int | None) -> str | None:
        """Return the text with that number."""
        return None if number is None else self.numbers.texts.get(number)


class _Numbers(dict[str | None, int | None]):
    """A dictionary, so that each of millions of lookups needs no Python call."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self.texts: dict[int, str] = {}
        for number, text, crc in connection.execute("SELECT id, text, crc FROM names"):
            if _crc_of(number, text) != crc:
                raise DamagedIndex(f"The index is damaged: name {number} is not valid.")
            self.texts[number] = text
        super().__init__({text: number for number, text in self.texts.items()})
        self[None] = None

    def __missing__(self, text: str | None) -> int | None:
        from recollect.redact.quick_masks import mask_name  # most syncs meet no new name

        # Names of branches, models and tools are kept even if their sessions are deleted.
        kept = mask_name((text or "")[:MAX_LENGTH])
        number = self.get(kept)
        if number is None:
            number = len(self.texts) + 1
            values = (number, kept, _crc_of(number, kept))
            self._connection.execute("INSERT INTO names (id, text, crc) VALUES (?, ?, ?)", values)
            self.texts[number] = kept
            self[kept] = number
        self[text] = number
        return number


def load_problems(connection: apsw.Connection) -> dict[str, str]:
    """Return why files could not be read, by path."""
    rows = connection.execute("SELECT path, reason FROM problems")
    return {decode_path(path): str(reason) for path, reason in rows}


PRICES_KEY: Final = "prices"


class KnownFiles(NamedTuple):
    """The data that decides whether an index is up to date."""

    prices: str | None
    """The fingerprint of the prices that costs were computed with."""
    stamps: dict[str, Stamp]
    problems: dict[str, str]


def load_known(connection: apsw.Connection) -> KnownFiles:
    """Return the fingerprint of the applied prices, the existing files, and their problems."""
    prices = read_meta(connection, PRICES_KEY)
    return KnownFiles(prices, load_states(connection), load_problems(connection))


def save_problem(connection: apsw.Connection, path: str, reason: str | None) -> None:
    """Record or clear the problem of a file."""
    if reason is None:
        connection.execute("DELETE FROM problems WHERE path = ?", (encode_path(path),))
    else:
        text = reason.encode("utf-8", "replace").decode()
        connection.execute(
            "INSERT OR REPLACE INTO problems VALUES (?, ?)", (encode_path(path), text)
        )
