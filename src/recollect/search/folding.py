"""One spelling for all ways of writing a word: case, accents, widths and composition.

Folding is done character by character and knows no context, so that the folding of a part is a
part of the folding, which is what makes every word and every substring findable again. Letters of
ASCII keep their case, because the parts of `parseQuery` are read from it later. Accents are folded
in Latin, Greek, Cyrillic, Hebrew and Arabic only: elsewhere marks are vowels or change the letter.
"""

import codecs
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Final

from msgspec import Struct

# Punctuation, arrows and box drawing, which terminals print by the megabyte: never part of a term,
# and never looked at, which is most of the speed on text that is nearly ASCII.
_PLAIN: Final = r"\u2010-\u2027\u2030-\u205e\u2190-\u22ff\u2500-\u25ff"
BARRIER: Final = "\ue000"
SEPARATORS: Final = rf"\x00-/:-@\[-`{{-\x7f{BARRIER}{_PLAIN}"

# Thai to Burmese, Hangul, Khmer, the Tai scripts, Han and kana with their kin, Tangut and Nushu:
# scripts that put no space between words, or (Hangul) glue endings to them.
UNSPACED: Final = (
    r"\u0e00-\u109f\u1100-\u11ff\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf\u2e80-\ua4cf\ua960-\ua97f"
    r"\ua9e0-\ua9ff\uaa60-\uaadf\uac00-\ud7ff\uf900-\ufaff\U00011700-\U0001174f"
    r"\U00016fe0-\U00018dff\U0001b000-\U0001b2ff\U00020000-\U0003ffff"
)

_FOREIGN: Final = re.compile(rf"[^\x00-\x7f{_PLAIN}]+")
_ARROW: Final = "\u2192"
_ALL_PLAIN: Final = re.compile(rf"[{_PLAIN}]*")
_ASCII: Final = bytes(range(0x80))
_TERM_CHARACTER: Final = re.compile(rf"[^{SEPARATORS}]")
_PICTOGRAPH: Final = re.compile(r"[\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]")
_SKIN_TONES: Final = range(0x1F3FB, 0x1F400)
# The index takes a private character for a letter, so a pictograph becomes a one-letter word.
_PRIVATE_PLANE: Final = 0xF0000
PICTOGRAPHS: Final = r"\U000f0000-\U000fffff"
_ACCENTS: Final = re.compile(
    r"[\u0300-\u06ff\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe2f\U000e0100-\U000e01ef]"
)
_LAST_ACCENTED_BASE: Final = "\u052f"
# The last two of every plane, which the index replaces.
_NEVER_ASSIGNED: Final = 0xFFFE
_TATWEEL: Final = "\u0640"
# Alone in normalising to letters that would grow together with their neighbours.
_COMPATIBILITY_JAMO: Final = range(0x3131, 0x318F)
_STROKED: Final = {
    "ø": "o", "ł": "l", "đ": "d", "ħ": "h", "ŧ": "t", "\u0131": "i", "æ": "ae", "œ": "oe",
}  # fmt: skip
# Bounds the memory that a text with every character there is can take; the rest is folded anew.
_REMEMBERED: Final = 1 << 14
_SHORT_RUN: Final = 32


class Folded(Struct, frozen=True):
    """A folded text, lower case throughout, that knows where each character came from.

    The text is cut at the anchors into stretches, and the original at the sources. Even stretches
    were folded one to one, odd ones only as a whole.
    """

    text: str
    anchors: tuple[int, ...]
    sources: tuple[int, ...]

    def source_of(self, start: int, end: int) -> tuple[int, int]:
        """The stretch of the original that a non-empty stretch of the folded text stands for."""
        return self._source_of_one(start)[0], self._source_of_one(end - 1)[1]

    def _source_of_one(self, at: int) -> tuple[int, int]:
        stretch = bisect_right(self.anchors, at) - 1
        if stretch % 2:
            return self.sources[stretch], self.sources[stretch + 1]
        source = self.sources[stretch] + at - self.anchors[stretch]
        return source, source + 1


class _FoldTable(dict[int, str]):
    """What `str.translate` looks each character up in, filled as characters are met."""

    def __missing__(self, code: int) -> str:
        folded = _fold_character(chr(code))
        if len(self) < _REMEMBERED:
            self[code] = folded
        return folded


_TABLE: Final = _FoldTable()


def fold(text: str) -> str:
    """The text in its one spelling; ASCII is left as it is.

    Every other character that is no part of a term has become a space or vanished, and a
    pictograph stands alone between spaces, as a character of its own in the private plane.
    """
    return fold_and_write(text, str)


def fold_and_write(text: str, write: Callable[[str], str]) -> str:
    """The text with every run of other characters folded and then written by a function."""
    if text.isascii():
        return text
    return _FOREIGN.sub(lambda run: write(_fold_run(run[0])), text)


def make_encoder(name: str, write: Callable[[str], str]) -> Callable[[str], bytes]:
    """A function that does what `fold_and_write` does and gives UTF-8, several times as fast.

    It registers a codec's error handler under the name: the codec finds the runs in C.
    """
    written: dict[str, bytes] = {}

    def handle(error: UnicodeError) -> tuple[bytes, int]:
        if not isinstance(error, UnicodeEncodeError):
            raise error
        run = error.object[error.start : error.end]
        folded = written.get(run)
        if folded is None:
            folded = fold_and_write(run, write).encode()
            if len(run) <= _SHORT_RUN and len(written) < _REMEMBERED:
                written[run] = folded
        return folded, error.end

    def encode(text: str) -> bytes:
        # Files that were read have an arrow on every line, and often nothing else to fold. To the
        # index it is the space that is written for it, and what is all ASCII is quick to the end.
        text = text.replace(_ARROW, " ")
        if text.isascii():
            return text.encode()
        data = text.encode(errors="replace")
        if _ALL_PLAIN.fullmatch(data.translate(None, _ASCII).decode()):
            return data
        return text.encode("ascii", name)

    codecs.register_error(name, handle)
    return encode


def fold_with_places(text: str) -> Folded:
    """The folded text in lower case, with the way back to the original."""
    pieces: list[str] = []
    anchors, sources = [0], [0]
    length = end = 0
    for start, stop in _iter_shifting_places(text):
        before, folded = fold(text[end:start]), _fold_run(text[start:stop])
        pieces += (before, folded)
        anchors += (length + len(before), length + len(before) + len(folded))
        sources += (start, stop)
        length, end = anchors[-1], stop
    pieces.append(fold(text[end:]))
    anchors.append(length + len(pieces[-1]))
    sources.append(len(text))
    return Folded("".join(pieces).casefold(), tuple(anchors), tuple(sources))


def is_term_character(character: str) -> bool:
    """Tell whether a character alone gives a term, and so can be searched for."""
    return _TERM_CHARACTER.search(fold(character)) is not None


def vanishes(character: str) -> bool:
    """Tell whether a character leaves no trace: an accent, a joiner, a variation selector."""
    return not character.isascii() and fold(character) == ""


def _fold_run(run: str) -> str:
    # What was stored in pieces is put together: kana with their voicing, Hangul syllables.
    return unicodedata.normalize("NFC", run.translate(_TABLE))


def _iter_shifting_places(text: str) -> Iterator[tuple[int, int]]:
    """The stretches that could change their length, as small as they can be folded alone."""
    for run in () if text.isascii() else _FOREIGN.finditer(text):
        if not _keeps_places(run[0]):
            yield from _iter_clusters(text, *run.span())


def _keeps_places(run: str) -> bool:
    """Tell whether each character of a run becomes just one, which nearly all do."""
    lengths = set(map(len, map(_TABLE.__getitem__, map(ord, run))))
    return lengths == {1} and unicodedata.is_normalized("NFC", run.translate(_TABLE))


def _iter_clusters(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for at in range(start + 1, end):
        if not _leans_on_the_one_before(text[at]):
            yield start, at
            start = at
    yield start, end


def _leans_on_the_one_before(character: str) -> bool:
    return (
        unicodedata.category(character)[0] == "M"
        or "\u1160" <= character <= "\u11ff"
        or character in "\uff9e\uff9f"
    )


def _fold_character(character: str) -> str:
    code = ord(character)
    if _PICTOGRAPH.match(character):
        return "" if code in _SKIN_TONES else f" {chr(_PRIVATE_PLANE | code & 0xFFFF)} "
    if code in _COMPATIBILITY_JAMO:
        return character
    folded = "".join(map(_fold_letter, _casefold_fully(character)))
    # `ÜBER` becomes `UBER`, or its case would seem to change inside the word.
    return folded.upper() if character.isupper() and folded.isascii() else folded


def _casefold_fully(text: str) -> str:
    """Case folding can undo normalisation and the other way round, so both are repeated."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return folded if folded == text else _casefold_fully(folded)


def _fold_letter(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Cf" or character == _TATWEEL:
        return ""
    if category in {"Mn", "Me"} and _ACCENTS.match(character):
        return ""
    if not _is_part_of_terms(character, category):
        return " "
    base = unicodedata.normalize("NFD", character)[0]
    return _STROKED.get(base, base) if base <= _LAST_ACCENTED_BASE else character


def _is_part_of_terms(character: str, category: str) -> bool:
    """Letters, digits and vowel marks; a character too new to have a category is a letter."""
    if category == "Cn":
        return ord(character) & _NEVER_ASSIGNED != _NEVER_ASSIGNED
    return category[0] in "LN" or category in {"Mn", "Mc"}
