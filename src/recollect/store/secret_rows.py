"""The positions of secrets as recorded in the full-text index, and the key of their hashes.

The index never contains a secret: a keyed hash identifies each one, so that whoever has the secret
can find it. The key is in a separate file in the data directory that only the user can read;
without it the hashes are useless.
"""

import os
import time
from collections.abc import Callable
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Final, NamedTuple

import apsw

from recollect.errors import IndexFailure
from recollect.sources.growth import FileState
from recollect.store.data_directory import (
    TEXT_SCHEMA,
    VARIABLE,
    find_text_path,
    make_private_directory,
)
from recollect.store.schema import load_checksums

KEY_NAME: Final = "secrets.key"
_KEY_BYTES: Final = 32
_HASH_BYTES: Final = 16
_BUSY_MS: Final = 5_000
_KEPT_SECONDS: Final = 2.0
_COLUMNS: Final = """
SELECT files.path, files.session_id, secrets.position, secrets.length, names.text,
    secrets.is_definite, secrets.hash, secrets.uuid, secrets.timestamp, secrets.spans
FROM secrets JOIN files ON files.id = secrets.file_id JOIN names ON names.id = secrets.kind
"""
_ORDER: Final = " ORDER BY secrets.timestamp, files.path, secrets.position, secrets.rowid"


class NotedSecret(NamedTuple):
    """A secret in a record: its kind and position, not its value."""

    path: str
    session_id: str
    position: int
    length: int
    kind: str
    is_definite: bool
    hash: bytes
    uuid: str | None
    timestamp: str | None
    spans: tuple[tuple[int, int], ...] = ()
    """Its positions in the strings of the record."""


class SecretNotes(NamedTuple):
    """Recorded secrets of files, oldest first, and how far each file has been read."""

    states: dict[str, FileState]
    secrets: tuple[NotedSecret, ...]


def hash_secret(directory: Path, value: bytes) -> bytes | None:
    """Return the keyed hash of a secret; None if there is no key yet."""
    return load_hasher(directory)(value) if (directory / KEY_NAME).is_file() else None


def load_hasher(directory: Path) -> Callable[[bytes], bytes]:
    """Return the hash function of a data directory; its key is created on first use."""
    return partial(_hash, _load_key(directory))


def _hash(key: bytes, value: bytes) -> bytes:
    return blake2b(value, key=key, digest_size=_HASH_BYTES).digest()


def _load_key(directory: Path) -> bytes:
    path = directory / KEY_NAME
    try:
        key = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        key = b""
    except OSError as error:
        raise _refuse(path, error) from error
    return key if len(key) == _KEY_BYTES else _make_key(path)


def _make_key(path: Path) -> bytes:
    """Write a new key, unless another process has just done so."""
    make_private_directory(path.parent)
    key = os.urandom(_KEY_BYTES)
    try:
        path.unlink(missing_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(key)
    except FileExistsError:
        return path.read_bytes()
    except OSError as error:
        raise _refuse(path, error) from error
    return key


def _refuse(path: Path, error: OSError) -> IndexFailure:
    return IndexFailure(
        f"Cannot use {path}: {error.strerror}. Set {VARIABLE} to another directory."
    )


class NotesReader:
    """Reads recorded secrets; keeps the index open briefly, as a search needs many sessions."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._connection: apsw.Connection | None = None
        self._opened = -_KEPT_SECONDS

    def load_session(self, path: str) -> SecretNotes:
        """Return the recorded secrets of the session of a file, and of its subagents."""
        return self._ask(lambda connection: _load_session(connection, path))

    def load_all(self) -> SecretNotes:
        """Return the recorded secrets of all files."""
        return self._ask(
            lambda connection: SecretNotes(
                _load_states(connection, "", ()), _load(connection, "", ())
            )
        )

    def _ask(self, query: Callable[[apsw.Connection], SecretNotes]) -> SecretNotes:
        """Query the index; empty if there is none, or it is damaged."""
        try:
            if time.monotonic() - self._opened >= _KEPT_SECONDS:
                self._connection = _open(find_text_path(self._directory))
                self._opened = time.monotonic()
            return NO_NOTES if self._connection is None else query(self._connection)
        except apsw.Error:
            self._opened = -_KEPT_SECONDS
            return NO_NOTES


def _open(path: Path) -> apsw.Connection | None:
    """Open the index for reading; None if there is none with these tables."""
    if not path.is_file():
        return None
    load_checksums()
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_timeout(_BUSY_MS)
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    connection.execute("PRAGMA query_only = ON")
    version = connection.execute("SELECT value FROM meta WHERE key = 'version'").fetchone()
    is_ours = version is not None and str(version[0]).startswith(f"{TEXT_SCHEMA}/")
    return connection if is_ours else None


def _load_session(connection: apsw.Connection, path: str) -> SecretNotes:
    found = connection.execute(
        "SELECT session_id FROM files WHERE path = ?", (os.fsencode(path),)
    ).fetchone()
    if found is None:
        return NO_NOTES
    condition, values = " WHERE files.session_id = ?", (found[0],)
    if not found[0]:
        condition, values = " WHERE files.path = ?", (os.fsencode(path),)
    return SecretNotes(
        _load_states(connection, condition, values), _load(connection, condition, values)
    )


def _load(
    connection: apsw.Connection, condition: str, values: tuple[object, ...]
) -> tuple[NotedSecret, ...]:
    rows = connection.execute(_COLUMNS + condition + _ORDER, values)
    return tuple(
        NotedSecret(
            os.fsdecode(path),
            session,
            position,
            length,
            kind,
            bool(is_definite),
            digest,
            uuid,
            timestamp,
            _read_pairs(spans),
        )
        for path, session, position, length, kind, is_definite, digest, uuid, timestamp, spans in (
            rows
        )
    )


def _read_pairs(spans: str) -> tuple[tuple[int, int], ...]:
    numbers = iter(map(int, spans.split()))
    return tuple(zip(numbers, numbers, strict=True))


def _load_states(
    connection: apsw.Connection, condition: str, values: tuple[object, ...]
) -> dict[str, FileState]:
    """Return how far both stages have read each file; files that one has not read are missing."""
    rows = connection.execute(
        "SELECT files.path, position, device, inode, size, mtime_ns, head_hash, tail_hash, is_racy "
        "FROM states JOIN files ON files.id = states.file_id"
        + condition
        + " ORDER BY position, size",
        values,
    )
    found: dict[str, list[FileState]] = {}
    for path, *state, is_racy in rows:
        read = FileState(*state, bool(is_racy))  # type: ignore[call-arg]
        found.setdefault(os.fsdecode(path), []).append(read)
    return {path: states[0] for path, states in found.items() if len(states) == _STAGES}


NO_NOTES: Final = SecretNotes({}, ())
_STAGES: Final = 2
