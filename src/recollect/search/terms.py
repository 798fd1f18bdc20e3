"""Text to the terms that the index holds, and what is searched for to the terms that find it.

The index tokenises in C (`TOKENIZER`); Python only prepares what it would get wrong: other
alphabets, scripts without spaces, pictographs, compound names, encoded data. Plain ASCII passes
untouched. A script without spaces is written as pairs, with the last character once more alone:
then every character begins a term and a single one is found as a prefix, at half the terms that
pairs and single characters would take.
"""

import re
from collections.abc import Iterator
from operator import add
from typing import Final

from msgspec import Struct

from recollect.search.folding import (
    BARRIER,
    SEPARATORS,
    UNSPACED,
    fold,
    fold_and_write,
    is_term_character,
    make_encoder,
)
from recollect.search.identifiers import find_names, split_identifier
from recollect.search.runs import cut_long_runs, may_have_long_runs

# The tokenizer of SQLite's FTS5 that `prepare_for_index` writes for. Marks are letters, because in
# many scripts they are vowels; accents are gone before it sees the text.
TOKENIZER: Final = "unicode61 remove_diacritics 0 categories 'L* N* Co Mn Mc'"

CUT: Final = BARRIER * 2
"""A term of texts with runs that the index holds only the head of; no query can have it."""

_ASCII_TERM: Final = re.compile("[a-z0-9]+")
_TERM: Final = re.compile(rf"[^{SEPARATORS}]+")
_UNSPACED_RUN: Final = re.compile(rf"[{UNSPACED}]+")
_REMEMBERED: Final = 1 << 15
_PIECE: Final = re.compile(rf"[{UNSPACED}]+|[^{SEPARATORS}{UNSPACED}]+")


class TermSequence(Struct, frozen=True):
    """Terms that must follow each other; the last may be the beginning of a longer one."""

    terms: tuple[str, ...]
    ends_open: bool = False


class _WrittenParts(dict[bytes, bytes]):
    """The parts of a name as they stand behind a text, kept for the names that are met first."""

    def __missing__(self, name: bytes) -> bytes:
        parts = split_identifier(name.decode())
        written = f" {BARRIER} {' '.join(parts)}".encode() if parts else b""
        if len(self) < _REMEMBERED:
            self[name] = written
        return written


_PARTS: Final = _WrittenParts()


def prepare_for_index(text: str) -> bytes:
    """The text as the tokenizer of the index should read it, in UTF-8.

    The parts of compound names follow at the end, each behind a barrier that no phrase can cross.
    """
    data = _encode(text)
    if may_have_long_runs(data):
        data = _cut(data)
    parts = dict.fromkeys(map(_PARTS.__getitem__, find_names(data)))
    return b"".join((data, *parts)) if parts else data


def _cut(data: bytes) -> bytes:
    text = data.decode()
    cut = cut_long_runs(text)
    return f"{cut} {CUT}".encode() if cut != text else data


def iter_terms(text: str) -> Iterator[str]:
    """Yield the terms under which the index can find a text, in the order it holds them."""
    prepared = cut_long_runs(fold_and_write(text, _write_pairs))
    term = _ASCII_TERM if prepared.isascii() else _TERM
    yield from term.findall(prepared.casefold())
    names = [name.decode() for name in find_names(prepared.encode())]
    for parts in dict.fromkeys(map(split_identifier, names)):
        yield from parts


def query_terms(text: str, *, prefix: bool = False) -> tuple[TermSequence, ...]:
    """The sequences that find a word or phrase, any of which is a hit; empty without a term.

    There are two when a compound name is in it: as it is written, and by its parts.
    """
    ends_open = prefix and is_term_character(text[-1:])
    return tuple(
        _make_sequence(spelling, ends_open) for spelling in spell(cut_long_runs(fold(text)))
    )


def spell(folded: str) -> tuple[tuple[str, ...], ...]:
    """The words and unspaced runs of a folded text, in lower case; none without any.

    There is a second spelling when a compound name is among them, with its parts in its place.
    """
    pieces = _PIECE.findall(folded)
    whole = tuple(piece.casefold() for piece in pieces)
    parts = tuple(
        part for piece in pieces for part in split_identifier(piece) or [piece.casefold()]
    )
    return tuple(dict.fromkeys((whole, parts))) if whole else ()


def _make_sequence(pieces: tuple[str, ...], ends_open: bool) -> TermSequence:
    terms = [term for piece in pieces[:-1] for term in _terms_of(piece)]
    last = pieces[-1]
    if not _UNSPACED_RUN.match(last):
        return TermSequence((*terms, last), ends_open)
    # The run may go on in the text, so its last character is not asked for alone.
    return TermSequence((*terms, *(_pairs(last) or [last])), len(last) == 1)


def _terms_of(piece: str) -> list[str]:
    return [*_pairs(piece), piece[-1]] if _UNSPACED_RUN.match(piece) else [piece]


def _write_pairs(folded: str) -> str:
    return _UNSPACED_RUN.sub(_write_run, folded)


def _write_run(match: re.Match[str]) -> str:
    return f" {' '.join(_terms_of(match[0]))} "


def _pairs(run: str) -> list[str]:
    return list(map(add, run, run[1:]))


_encode: Final = make_encoder("recollect.search", _write_pairs)
