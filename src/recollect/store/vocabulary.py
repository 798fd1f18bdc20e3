"""All terms of the full-text index as one long text, to search it for substrings.

SQLite's own list of terms counts their occurrences on every read, which takes seconds if there are
many texts. So the list is copied after large additions; after small ones, new terms are added
beside the copy. An obsolete term does no harm: searching for it finds nothing.
"""

import os
import re
from collections.abc import Container, Iterator, Sequence
from contextlib import closing
from functools import cache, cached_property, partial
from typing import Any, Final, NamedTuple

import apsw

from recollect.store.schema import DamagedIndex, read_meta, write_meta

_STALE_KEY: Final = "vocabulary"
_MANY: Final = 1 << 20
"""Size of additions from which copying the list is faster than splitting the texts."""

_CUTS: Final = ("", *"16acdfimpstv", "\x7f", "\U0010ffff")
"""Where the list is split to be copied on all cores, into parts of about equal work; the last is
above all terms. They are single characters, so that all terms with the same first character are
together."""

_MAX_ROWS: Final = 64
"""Maximum number of rows, the copy and later additions: beyond it, the list is copied again."""

_GATHER: Final = """
SELECT CAST(group_concat(term, char(10)) || char(10) AS BLOB)
FROM words_vocabulary WHERE term >= ? AND term < ?
"""

# Splits prepared texts like the tokenizer: they have non-ASCII characters in three blocks only. Not
# compiled here, which would take longer than it saves.
_WORD: Final = "[0-9A-Za-z\u0080-\u1fff\u2c00-\udfff\ue001-\U0010ffff]{2,}"

_ENGLISH: Final = "[a-z]{3,}"


class _Piece(NamedTuple):
    """A row of the copy."""

    start: str
    stop: str
    terms: bytes


def add_terms(connection: apsw.Connection, texts: Sequence[bytes]) -> bool:
    """Add the terms of a few new texts; after many, mark the vocabulary as outdated.

    Returns whether the terms were added.
    """
    if sum(map(len, texts)) >= _MANY:
        write_meta(connection, _STALE_KEY, "stale")
        return False
    terms = sorted({word for text in texts for word in re.findall(_WORD, text.decode().lower())})
    if terms:
        written = "".join(f"{term}\n" for term in terms).encode()
        _save(connection, _Piece(_CUTS[0], _CUTS[-1], written))
    return True


def is_rebuild_due(connection: apsw.Connection) -> bool:
    """Whether much was added since the list of terms was last copied."""
    rows = connection.execute("SELECT count(*) FROM vocabulary").get
    return not is_complete(connection) or rows > _MAX_ROWS


def rebuild_vocabulary(connection: apsw.Connection) -> None:
    """Copy the list of terms as it was at the beginning of this transaction."""
    from concurrent.futures import ThreadPoolExecutor  # loads logging; only indexing gets here

    read = partial(_read_piece, connection.filename)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        pieces = list(pool.map(read, _CUTS, _CUTS[1:]))
    connection.execute("DELETE FROM vocabulary")
    for piece in pieces:
        _save(connection, piece)
    write_meta(connection, _STALE_KEY, "gathered")


def is_complete(connection: apsw.Connection) -> bool:
    """Whether every term of the index is in the vocabulary."""
    return read_meta(connection, _STALE_KEY) != "stale"


class Vocabulary:
    """The current list of terms; parts that were read are cached."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._read_rows: dict[int, bytes] = {}

    @cached_property
    def is_complete(self) -> bool:
        """Whether every term of the index is in the vocabulary."""
        return is_complete(self._connection)

    def find_terms(self, part: str, limit: int, lengths: Container[int] | None = None) -> list[str]:
        """Find at most `limit` terms that contain `part`, shortest first.

        With `lengths`, only terms of these lengths in bytes.
        """
        needle = part.encode()
        found = {line for terms in self._pieces for line in _iter_lines(terms, needle, lengths)}
        return sorted((line.decode() for line in found), key=lambda term: (len(term), term))[:limit]

    def find_ending(self, ending: str, limit: int) -> list[str]:
        """Find terms that end with a text, shortest first; if more than `limit`, any of them."""
        # Every term is followed by a line end, which no term contains.
        needle = f"{ending}\n".encode()
        lines = (line for terms in self._pieces for line in _iter_lines(terms, needle, None))
        found: set[bytes] = set()
        while len(found) < limit and (line := next(lines, None)) is not None:
            found.add(line)
        return sorted((line.decode() for line in found), key=lambda term: (len(term), term))

    def find_beginning(self, beginning: str) -> set[str]:
        """Find all terms that begin with a text."""
        query = "SELECT id FROM vocabulary WHERE start <= ?1 AND ?1 < stop"
        rows: Any = self._connection.execute(query, (beginning,)).fetchall()
        return {term for (row,) in rows for term in _cut_beginning(self._read(row), beginning)}

    def find_forms(self, word: str) -> set[str]:
        """Find other English words with the same stem; none for a word in another script."""
        if not re.fullmatch(_ENGLISH, word):
            return set()
        stem = _find_stem(word)
        # The last letter of a stem may differ from that of its words: happi and happy.
        known = self.find_beginning(stem[:-1])
        max_length = len(word) + len("ization")
        return {
            each
            for each in known
            if each != word
            and len(each) <= max_length
            and re.fullmatch(_ENGLISH, each)
            and _find_stem(each) == stem
        }

    @property
    def _pieces(self) -> list[bytes]:
        return [self._read(row) for row in self._rows]

    @cached_property
    def _rows(self) -> list[int]:
        return [row for (row,) in self._connection.execute("SELECT id FROM vocabulary")]

    def _read(self, row: int) -> bytes:
        terms = self._read_rows.get(row)
        if terms is None:
            query = "SELECT terms FROM vocabulary WHERE id = ?"
            terms = self._read_rows[row] = _check_end(self._connection.execute(query, (row,)).get)
        return terms


def _find_stem(term: str) -> str:
    """Return the stem of an English word by SQLite's Porter stemmer."""
    (stem,) = _load_stemmer()(
        term.encode(), apsw.FTS5_TOKENIZE_QUERY, None,
        include_offsets=False, include_colocated=False,
    )  # fmt: skip
    return str(stem)


@cache
def _load_stemmer() -> apsw.FTS5Tokenizer:
    return apsw.Connection(":memory:").fts5_tokenizer("porter", ["unicode61"])


def _check_end(terms: bytes) -> bytes:
    """Check and return a list of terms; raises `DamagedIndex` if its end is missing.

    A page of zeros has a valid checksum. In a value that spans several pages, SQLite detects a zero
    page in the middle, but not one at the end.
    """
    if terms and not terms.endswith(b"\n"):
        raise DamagedIndex("The full-text index is damaged: its terms are not valid.")
    return terms


def _cut_beginning(terms: bytes, beginning: str) -> list[str]:
    """Return the lines that begin with a text, which are adjacent because all are sorted."""
    needle = beginning.encode()
    start = 0 if terms.startswith(needle) else terms.find(b"\n" + needle) + 1
    if not terms.startswith(needle, start):
        return []
    last = max(terms.rfind(b"\n" + needle), start)
    return terms[start : terms.find(b"\n", last + 1)].decode().split("\n")


def _iter_lines(terms: bytes, part: bytes, lengths: Container[int] | None) -> Iterator[bytes]:
    find, find_back = terms.find, terms.rfind
    at = find(part)
    while at >= 0:
        start, end = find_back(b"\n", 0, at) + 1, find(b"\n", at)
        if lengths is None or end - start in lengths:
            yield terms[start:end]
        at = find(part, end)


def _read_piece(filename: str, start: str, stop: str) -> _Piece:
    """Read the terms in a range, joined by SQLite, without blocking other threads.

    Uses its own connection, which sees what has been committed.
    """
    with closing(apsw.Connection(filename, flags=apsw.SQLITE_OPEN_READWRITE)) as connection:
        found: bytes | None = connection.execute(_GATHER, (start, stop)).get
    return _Piece(start, stop, found or b"")


def _save(connection: apsw.Connection, piece: _Piece) -> None:
    columns = ", ".join(_Piece._fields)
    connection.execute(f"INSERT INTO vocabulary ({columns}) VALUES (?, ?, ?)", piece)
