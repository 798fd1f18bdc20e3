"""The positions of secrets as recorded in the full-text index, and the key of their hashes.

The index never contains a secret: a keyed hash identifies each one, so that anyone who has the
secret can find it. The key is in a separate file in the data directory that only the user can read;
without it the hashes are useless.
"""

import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

import apsw

from recollect.digests import blake2b
from recollect.errors import IndexFailure
from recollect.sources.growth import FileState
from recollect.store import data_directory
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
_STATES: Final = """
SELECT files.path, files.session_id, position, device, inode, size, mtime_ns, head_hash, tail_hash,
    is_racy
FROM states JOIN files ON files.id = states.file_id
"""
_ORDER: Final = " ORDER BY secrets.timestamp, files.path, secrets.position, secrets.rowid"


class IndexedSecret(NamedTuple):
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


class IndexedSecrets(NamedTuple):
    """Recorded secrets of files, oldest first, and how far each file has been read."""

    states: dict[str, FileState]
    secrets: tuple[IndexedSecret, ...]


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
    data_directory.make_private_directory(path.parent)
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
        f"Cannot use {path}: {error.strerror}. Set {data_directory.VARIABLE} to another directory."
    )


T = TypeVar("T")


class SecretReader:
    """Reads recorded secrets; keeps the index open briefly, as a search needs many sessions."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._connection: apsw.Connection | None = None
        self._opened = -_KEPT_SECONDS

    def reopen(self) -> None:
        """Open the index again for the next query: it may have been replaced."""
        self._opened = -_KEPT_SECONDS

    def load_session(self, path: str) -> IndexedSecrets:
        """Return the recorded secrets of the session of a file, and of its subagents."""
        return self.load_sessions([path]).get(path, NO_SECRETS)

    def load_sessions(self, paths: Collection[str]) -> Mapping[str, IndexedSecrets]:
        """Return the same for several files, by path; files that have not been read are missing."""
        return self._ask(lambda connection: _load_sessions(connection, paths)) or {}

    def load_all(self) -> IndexedSecrets:
        """Return the recorded secrets of all files."""
        return self._ask(_load_all) or NO_SECRETS

    def _ask(self, query: Callable[[apsw.Connection], T]) -> T | None:
        """Query the index; None if there is none, or it is damaged."""
        try:
            if time.monotonic() - self._opened >= _KEPT_SECONDS:
                self._connection = _open(data_directory.find_text_path(self._directory))
                self._opened = time.monotonic()
            return None if self._connection is None else query(self._connection)
        except apsw.Error:
            self.reopen()
            return None


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
    is_ours = version is not None and str(version[0]).startswith(
        f"{data_directory.name_version(data_directory.TEXT_SCHEMA)}/"
    )
    return connection if is_ours else None


def _load_all(connection: apsw.Connection) -> IndexedSecrets:
    states = {path: state for _, path, state in _iter_states(connection, "", ())}
    return IndexedSecrets(states, _load(connection, "", ()))


def _load_sessions(
    connection: apsw.Connection, paths: Collection[str]
) -> Mapping[str, IndexedSecrets]:
    """Return the secrets of the sessions of files; a file without a session is treated as one."""
    encoded = [os.fsencode(path) for path in paths]
    rows = connection.execute(
        f"SELECT path, session_id FROM files WHERE path IN ({_list_marks(encoded)})", encoded
    )
    sessions = {bytes(path): str(session) for path, session in rows}
    names = sorted({name for name in sessions.values() if name})
    alone = [path for path, name in sessions.items() if not name]
    condition = (
        f" WHERE files.session_id IN ({_list_marks(names)}) OR files.path IN ({_list_marks(alone)})"
    )
    values = (*names, *alone)
    states: dict[str, dict[str, FileState]] = {}
    for name, path, state in _iter_states(connection, condition, values):
        states.setdefault(name or path, {})[path] = state
    secrets: dict[str, list[IndexedSecret]] = {}
    for each in _load(connection, condition, values):
        secrets.setdefault(each.session_id or each.path, []).append(each)
    found = {
        key: IndexedSecrets(states.get(key, {}), tuple(secrets.get(key, ())))
        for key in (*names, *map(os.fsdecode, alone))
    }
    return {os.fsdecode(path): found[name or os.fsdecode(path)] for path, name in sessions.items()}


def _list_marks(values: Sequence[object]) -> str:
    return ",".join("?" * len(values))


def _load(
    connection: apsw.Connection, condition: str, values: tuple[object, ...]
) -> tuple[IndexedSecret, ...]:
    rows = connection.execute(_COLUMNS + condition + _ORDER, values)
    return tuple(
        IndexedSecret(
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


def _iter_states(
    connection: apsw.Connection, condition: str, values: tuple[object, ...]
) -> Iterator[tuple[str, str, FileState]]:
    """Yield session, path and how far both stages have read each file that both have read."""
    rows = connection.execute(f"{_STATES}{condition} ORDER BY position, size", values)
    found: dict[tuple[str, str], list[FileState]] = {}
    for path, session, *state, is_racy in rows:
        read = FileState(*state, bool(is_racy))  # type: ignore[call-arg]
        found.setdefault((session, os.fsdecode(path)), []).append(read)
    for (session, path), states in found.items():
        if len(states) == _STAGES:
            yield session, path, states[0]


NO_SECRETS: Final = IndexedSecrets({}, ())
_STAGES: Final = 2
