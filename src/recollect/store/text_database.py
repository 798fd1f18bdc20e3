"""Open the full-text index, a separate file beside the catalogue.

It is many times larger than the catalogue, takes minutes to write instead of moments, and can be
deleted at any time: as separate files, each can be written and checked without the other. Each page
has a checksum, as in the catalogue. An index that is damaged, or made for other terms, is deleted
and rebuilt; processes that were reading or writing it get an error.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import apsw
from msgspec import Struct

from recollect.store import data_directory, schema, text_rows
from recollect.store.database import check_length, transaction
from recollect.store.secret_rows import load_hasher
from recollect.store.text_conditions import ANY_OF
from recollect.store.vocabulary import is_rebuild_due, rebuild_vocabulary

REMEDY: Final = "recollect index --text --rebuild"
_VERSION_KEY: Final = "version"
_IDENTITY_KEY: Final = "identity"
_BUSY_MS: Final = 5_000
_PAGE_BYTES: Final = 8192
_CACHE_KB: Final = 16 * 1024
_MAX_ATTEMPTS: Final = 5
_TOKENIZER: Final = "unicode61"
_ANY_OF: Final = ANY_OF.encode()
_WORD: Final = re.compile(rb"[^ ]+")

T = TypeVar("T")


class CachedConnection:
    """A read connection that a server reuses, because a new one reads and checks all pages again.

    One search at a time uses it; others open their own. It is closed when the index has been
    replaced.
    """

    def __init__(self) -> None:
        self._cached: list[tuple[int | None, apsw.Connection]] = []

    def take(self, path: Path, terms: str) -> apsw.Connection | None:
        """Return the connection; None if there is none to this index, or another search uses it."""
        try:
            inode, connection = self._cached.pop()
        except IndexError:
            return None
        if inode == _find_inode(path) and _is_sound_for(connection, terms):
            return connection
        connection.close()
        return None

    def keep(self, inode: int | None, connection: apsw.Connection) -> None:
        """Keep a connection to the file `inode` for the next search, unless there is one."""
        if self._cached:
            connection.close()
        else:
            self._cached.append((inode, connection))

    def close(self) -> None:
        """Close the connection."""
        while self._cached:
            self._cached.pop()[1].close()


@contextmanager
def read_texts(
    directory: Path,
    terms: str,
    *,
    deletes_damaged: bool = True,
    cache: CachedConnection | None = None,
) -> Iterator[apsw.Connection | None]:
    """Open the full-text index in a data directory for reading; None unless it has these terms.

    A damaged index is deleted, unless this is only a check, and `DamagedIndex` is raised; the next
    indexing rebuilds it.
    """
    path = data_directory.find_text_path(directory)
    identity = None
    try:
        with ExitStack() as stack, schema.translate_errors(path, REMEDY):
            # Before it is opened, in case another index replaces it meanwhile.
            inode = _find_inode(path)
            connection = cache.take(path, terms) if cache else None
            connection = connection or _open_if_made_for(path, terms)
            if connection is not None:
                stack.callback(connection.close)
                identity = read_identity(connection)
            yield connection
            if connection is not None and cache is not None:
                stack.pop_all()
                cache.keep(inode, connection)
    except schema.DamagedIndex:
        if deletes_damaged:
            _delete_damaged(path, terms, identity)
        raise


def read_identity(connection: apsw.Connection) -> str:
    """Return the identity that distinguishes this index from one built later."""
    return schema.read_meta(connection, _IDENTITY_KEY) or ""


class TextIndexState(Struct, frozen=True):
    """How far the full-text index has read; by default, the state without an index."""

    states: text_rows.States = {}
    """How far each stage has read each file."""
    files: Mapping[str, int] = {}
    """The number of every file, by its path."""
    is_rebuild_due: bool = False
    """Whether much was added since the list of terms was last copied."""
    identity: str | None = None


def load_state(directory: Path, terms: str, *, deletes_damaged: bool = True) -> TextIndexState:
    """Return how far the full-text index has read; the default without one for these terms."""
    with read_texts(directory, terms, deletes_damaged=deletes_damaged) as connection:
        if connection is None:
            return TextIndexState()
        return TextIndexState(
            text_rows.load_text_states(connection),
            text_rows.load_text_files(connection),
            is_rebuild_due(connection),
            read_identity(connection),
        )


def find_identity(directory: Path, terms: str) -> str | None:
    """Return the identity of the full-text index; None without an intact one with these terms."""
    return _find_identity(data_directory.find_text_path(directory), terms)


def open_in_memory(tokenizer: str) -> apsw.Connection:
    """Return empty tables in memory."""
    connection = apsw.Connection(":memory:")
    _accept_alternatives(connection)
    connection.execute(text_rows.TABLES.format(tokenizer=tokenizer))
    return connection


def _accept_alternatives(connection: apsw.Connection) -> None:
    """Allow alternative terms at one position of a phrase, joined by `ANY_OF`.

    FTS5 has no syntax for that, but a tokenizer may return several terms for a word. A phrase for
    each alternative would collect all words with the same prefix again: for `parse_t` and six terms
    that end with *parse*, that took 2 s of CPU on 1 GB; one phrase takes 0.4 s. Our tokenizer
    replaces SQLite's before any table loads it.
    """
    connection.register_fts5_tokenizer(_TOKENIZER, _make_tokenizer)


def _make_tokenizer(_: apsw.Connection, arguments: list[str]) -> "apsw.Tokenizer":
    plain = apsw.Connection(":memory:").fts5_tokenizer(_TOKENIZER, arguments)

    def list_terms(word: bytes, flags: int) -> Iterable[Any]:
        if _ANY_OF in word:
            return word.decode().split(ANY_OF)
        return plain(word, flags, None, include_offsets=False, include_colocated=False)

    def tokenize(text: bytes, flags: int, locale: str | None) -> Any:
        if _ANY_OF not in text:
            return plain(text, flags, locale)
        return [(*word.span(), *list_terms(word[0], flags)) for word in _WORD.finditer(text)]

    return tokenize


def update_texts(
    directory: Path,
    terms: str,
    tokenizer: str,
    work: Callable[[apsw.Connection], T],
    *,
    identity: str | None = None,
) -> tuple[T, str]:
    """Return the result of `work`, in one transaction, and the identity of the index.

    An index with these terms is created if necessary; with an `identity`, raises `ReplacedIndex`
    unless the index has it. If it turns out to be damaged, it is deleted and `DamagedIndex` is
    raised.
    """
    data_directory.make_private_directory(directory)
    path = data_directory.find_text_path(directory)
    data_directory.make_private_directory(path.parent)
    with data_directory.hold_lock(path.parent):
        try:
            with schema.translate_errors(path, REMEDY):
                return _run(path, terms, tokenizer, work, identity)
        except schema.DamagedIndex:
            _delete(path)
            raise


class TextIndexWriter:
    """Writes the full-text index, in one transaction per call, so that others can write in between.

    Raises `ReplacedIndex` if another process has rebuilt the index since it had this identity.
    """

    def __init__(self, directory: Path, terms: str, tokenizer: str, identity: str | None) -> None:
        self._directory = directory
        self._terms = terms
        self._tokenizer = tokenizer
        self._hash_value = load_hasher(directory)
        self.identity = identity
        """None until there is an index."""

    def write(
        self, batches: Iterable[text_rows.TextBatch], files: Iterable[text_rows.IndexedFile]
    ) -> bool:
        """Add batches of texts; return whether the vocabulary should be rebuilt."""

        def work(connection: apsw.Connection) -> bool:
            text_rows.TextWriter(connection, self._hash_value).write(batches, files)
            return is_rebuild_due(connection)

        return self._update(work)

    def remove_files(self, paths: Iterable[str]) -> None:
        """Remove files and their texts."""
        self._update(lambda connection: text_rows.TextWriter(connection).remove_files(paths))

    def rebuild_vocabulary(self) -> None:
        """Copy the list of terms, so that any substring of a word is found quickly."""
        self._update(rebuild_vocabulary)

    def _update(self, work: Callable[[apsw.Connection], T]) -> T:
        result, self.identity = update_texts(
            self._directory, self._terms, self._tokenizer, work, identity=self.identity
        )
        return result


def delete_texts(directory: Path) -> None:
    """Delete the full-text index in a data directory, so that it is rebuilt."""
    path = data_directory.find_text_path(directory)
    if path.exists():
        with data_directory.hold_lock(path.parent):
            _delete(path)


def _delete_damaged(path: Path, terms: str, identity: str | None) -> None:
    """Delete an index, but not one that has replaced it in the meantime."""
    if path.exists():
        with data_directory.hold_lock(path.parent):
            if _find_identity(path, terms) in {None, identity}:
                _delete(path)


def _find_identity(path: Path, terms: str) -> str | None:
    try:
        with schema.translate_errors(path, REMEDY):
            connection = _open_if_made_for(path, terms)
            if connection is None:
                return None
            with closing(connection):
                return read_identity(connection)
    except schema.DamagedIndex:
        return None


def _run(
    path: Path,
    terms: str,
    tokenizer: str,
    work: Callable[[apsw.Connection], T],
    identity: str | None,
) -> tuple[T, str]:
    if path.exists() and not _is_usable(path, terms):
        _delete(path)
    with closing(_open_for_writing(path, terms, tokenizer)) as connection:
        found = read_identity(connection)
        if identity not in {None, found}:
            raise schema.ReplacedIndex(f"The index {path} was rebuilt while it was being written.")
        with transaction(connection):
            return work(connection), found


def _open_if_made_for(path: Path, terms: str) -> apsw.Connection | None:
    for _ in range(_MAX_ATTEMPTS):
        before = _find_inode(path)
        if before is None:
            return None
        try:
            connection = _open_for_reading(path, terms)
        except apsw.CantOpenError:
            if _find_inode(path) == before:
                raise
            continue
        # SQLite opens the log by name, and during a rebuild it may belong to another index than the
        # open one.
        if _find_inode(path) == before:
            return connection
        if connection is not None:
            connection.close()
    raise schema.ReplacedIndex(f"The index {path} keeps being rebuilt. Try again later.")


def _find_inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except (FileNotFoundError, NotADirectoryError):
        return None


def _open_for_reading(path: Path, terms: str) -> apsw.Connection | None:
    with ExitStack() as stack:
        connection = stack.enter_context(closing(_connect(path)))
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        connection.execute("PRAGMA query_only = ON")
        _accept_alternatives(connection)
        if not _is_sound_for(connection, terms):
            return None
        stack.pop_all()
    return connection


def _is_usable(path: Path, terms: str) -> bool:
    with closing(_connect(path)) as connection:
        return _is_sound_for(connection, terms)


def _is_sound_for(connection: apsw.Connection, terms: str) -> bool:
    """Whether the index has these terms; raises `DamagedIndex` if its pages cannot be checked."""
    if not _is_made_for(connection, terms):
        return False
    check_length(connection)
    schema.check_reserve(connection)
    return True


def _is_made_for(connection: apsw.Connection, terms: str) -> bool:
    if not connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'words'").get:
        return False
    return schema.read_meta(connection, _VERSION_KEY) == _name_version(terms)


def _open_for_writing(path: Path, terms: str, tokenizer: str) -> apsw.Connection:
    is_new = not path.exists()
    if is_new:
        _delete(path)
        # Made by us, because SQLite would let others read it. Its log gets the same permissions.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    with ExitStack() as stack:
        connection = stack.enter_context(closing(_connect(path)))
        connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
        if is_new:
            schema.reserve_checksums(connection)
        mode = "DELETE" if data_directory.is_on_network(path) else "WAL"
        connection.execute(f"PRAGMA journal_mode = {mode}")
        connection.execute("PRAGMA synchronous = NORMAL")
        if is_new:
            with transaction(connection):
                _make_tables(connection, terms, tokenizer)
        stack.pop_all()
    return connection


def _make_tables(connection: apsw.Connection, terms: str, tokenizer: str) -> None:
    connection.execute(text_rows.TABLES.format(tokenizer=tokenizer))
    for name, value in text_rows.SETTINGS.items():
        connection.execute("INSERT INTO words(words, rank) VALUES (?, ?)", (name, value))
    schema.write_meta(connection, _VERSION_KEY, _name_version(terms))
    schema.write_meta(connection, _IDENTITY_KEY, os.urandom(8).hex())


def _name_version(terms: str) -> str:
    return f"{data_directory.name_version(data_directory.TEXT_SCHEMA)}/{terms}"


def _connect(path: Path) -> apsw.Connection:
    schema.load_checksums()
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_timeout(_BUSY_MS)
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute(f"PRAGMA cache_size = -{_CACHE_KB}")
    return connection


def _delete(path: Path) -> None:
    # The log last, so that a process that has opened the index can tell that it was deleted.
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
