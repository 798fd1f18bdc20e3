"""Unicode folding: ignore differences of case, accents, width and composition.

Characters are folded one by one, without context, so that the folding of a substring is a substring
of the folding; otherwise words could not be found inside a text. ASCII letters keep their case,
because `parseQuery` is split at its capitals later. Accents are removed only in Latin, Greek,
Cyrillic, Hebrew and Arabic: in other scripts marks are vowels or change the letter.
"""

import codecs
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Final

from msgspec import Struct

# Punctuation, arrows and box drawing, common in terminal output: never part of a term. Skipping
# them accounts for most of the speed on nearly-ASCII text.
_PLAIN: Final = r"\u2010-\u2027\u2030-\u205e\u2190-\u22ff\u2500-\u25ff"
BARRIER: Final = "\ue000"
SEPARATORS: Final = rf"\x00-/:-@\[-`{{-\x7f{BARRIER}{_PLAIN}"

# Thai to Burmese, Hangul, Khmer, the Tai scripts, Han and kana, Tangut and Nushu: scripts without
# spaces between words, or (Hangul) with endings attached to them.
UNSPACED: Final = (
    r"\u0e00-\u109f\u1100-\u11ff\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf\u2e80-\ua4cf\ua960-\ua97f"
    r"\ua9e0-\ua9ff\uaa60-\uaadf\uac00-\ud7ff\uf900-\ufaff\U00011700-\U0001174f"
    r"\U00016fe0-\U00018dff\U0001b000-\U0001b2ff\U00020000-\U0003ffff"
)

_NON_PLAIN: Final = re.compile(rf"[^\x00-\x7f{_PLAIN}]+")
_ARROW: Final = "\u2192"
_ALL_PLAIN: Final = re.compile(rf"[{_PLAIN}]*")
_ASCII: Final = bytes(range(0x80))
_TERM_CHARACTER: Final = re.compile(rf"[^{SEPARATORS}]")
_PICTOGRAPH: Final = re.compile(r"[\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]")
_SKIN_TONES: Final = range(0x1F3FB, 0x1F400)
# The tokenizer treats private-use characters as letters, so a pictograph becomes a one-letter word.
_PRIVATE_PLANE: Final = 0xF0000
PICTOGRAPHS: Final = r"\U000f0000-\U000fffff"
_ACCENTS: Final = re.compile(
    r"[\u0300-\u06ff\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe2f\U000e0100-\U000e01ef]"
)
_LAST_ACCENTED_BASE: Final = "\u052f"
# The last two code points of every plane, which the tokenizer replaces.
_NEVER_ASSIGNED: Final = 0xFFFE
_TATWEEL: Final = "\u0640"
# The only characters that normalise to letters which would combine with their neighbours.
_COMPATIBILITY_JAMO: Final = range(0x3131, 0x318F)
_STROKED: Final = {
    "ø": "o", "ł": "l", "đ": "d", "ħ": "h", "ŧ": "t", "\u0131": "i", "æ": "ae", "œ": "oe",
}  # fmt: skip
# Bounds the memory of the caches; other characters are folded each time.
_MAX_CACHED: Final = 1 << 14
_MAX_CACHED_RUN: Final = 32


class Folded(Struct, frozen=True):
    """A folded, lower-case text with a mapping back to the original.

    `anchors` divide the folded text into segments, and `sources` the original. Segments with an
    even index map character by character, odd ones only as a whole.
    """

    text: str
    anchors: tuple[int, ...]
    sources: tuple[int, ...]

    def find_source(self, start: int, end: int) -> tuple[int, int]:
        """Return the range in the original of a non-empty range of the folded text."""
        return self._find_source_of_character(start)[0], self._find_source_of_character(end - 1)[1]

    def _find_source_of_character(self, at: int) -> tuple[int, int]:
        segment = bisect_right(self.anchors, at) - 1
        if segment % 2:
            return self.sources[segment], self.sources[segment + 1]
        source = self.sources[segment] + at - self.anchors[segment]
        return source, source + 1


class _FoldTable(dict[int, str]):
    """A table for `str.translate`, filled lazily."""

    def __missing__(self, code: int) -> str:
        folded = _fold_character(chr(code))
        if len(self) < _MAX_CACHED:
            self[code] = folded
        return folded


_TABLE: Final = _FoldTable()


def fold(text: str) -> str:
    """Fold a text; ASCII is not changed.

    Other characters that cannot be part of a term become a space or are removed. A pictograph
    becomes a private-use character between spaces.
    """
    return fold_and_transform(text, str)


def fold_and_transform(text: str, transform: Callable[[str], str]) -> str:
    """Fold each run of non-ASCII characters, then pass it through `transform`."""
    if text.isascii():
        return text
    return _NON_PLAIN.sub(lambda run: transform(_fold_run(run[0])), text)


def make_encoder(name: str, transform: Callable[[str], str]) -> Callable[[str], bytes]:
    """Return a function like `fold_and_transform` that returns UTF-8 and is several times faster.

    It registers a codec error handler called `name`, so that the codec finds the runs in C.
    """
    cache: dict[str, bytes] = {}

    def handle(error: UnicodeError) -> tuple[bytes, int]:
        if not isinstance(error, UnicodeEncodeError):
            raise error
        run = error.object[error.start : error.end]
        folded = cache.get(run)
        if folded is None:
            folded = fold_and_transform(run, transform).encode()
            if len(run) <= _MAX_CACHED_RUN and len(cache) < _MAX_CACHED:
                cache[run] = folded
        return folded, error.end

    def encode(text: str) -> bytes:
        # Output of the Read tool has an arrow on every line, and often nothing else to fold. It is
        # a separator anyway; with a space instead, most texts are ASCII and take the fast path.
        text = text.replace(_ARROW, " ")
        if text.isascii():
            return text.encode()
        data = text.encode(errors="replace")
        if _ALL_PLAIN.fullmatch(data.translate(None, _ASCII).decode()):
            return data
        return text.encode("ascii", name)

    codecs.register_error(name, handle)
    return encode


def fold_with_offsets(text: str) -> Folded:
    """Fold a text to lower case, with a mapping back to the original."""
    pieces: list[str] = []
    anchors, sources = [0], [0]
    length = end = 0
    for start, stop in _iter_resized_ranges(text):
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
    """Whether a character can be part of a term, and so can be searched for."""
    return _TERM_CHARACTER.search(fold(character)) is not None


def is_ignorable(character: str) -> bool:
    """Whether folding removes a character: an accent, a joiner or a variation selector."""
    return not character.isascii() and fold(character) == ""


def _fold_run(run: str) -> str:
    # Compose what was stored decomposed: kana with voicing marks, Hangul syllables.
    return unicodedata.normalize("NFC", run.translate(_TABLE))


def _iter_resized_ranges(text: str) -> Iterator[tuple[int, int]]:
    """Iterate over ranges that folding may lengthen or shorten, each as small as possible."""
    for run in () if text.isascii() else _NON_PLAIN.finditer(text):
        if not _keeps_length(run[0]):
            yield from _iter_clusters(text, *run.span())


def _keeps_length(run: str) -> bool:
    """Whether each character of a run folds to exactly one, as nearly all do."""
    lengths = set(map(len, map(_TABLE.__getitem__, map(ord, run))))
    return lengths == {1} and unicodedata.is_normalized("NFC", run.translate(_TABLE))


def _iter_clusters(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for at in range(start + 1, end):
        if not _extends_previous(text[at]):
            yield start, at
            start = at
    yield start, end


def _extends_previous(character: str) -> bool:
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
    # `ÜBER` must become `UBER`, or the word would seem to change case in the middle.
    return folded.upper() if character.isupper() and folded.isascii() else folded


def _casefold_fully(text: str) -> str:
    """Repeat normalisation and case folding until stable, because each can undo the other."""
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
    """Whether it is a letter, digit or vowel mark; unassigned code points count as letters."""
    if category == "Cn":
        return ord(character) & _NEVER_ASSIGNED != _NEVER_ASSIGNED
    return category[0] in "LN" or category in {"Mn", "Mc"}
