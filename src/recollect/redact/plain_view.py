"""Views of a text as it would appear to a reader: colours removed, escapes decoded, wrapped lines
joined.

A secret in a transcript is often written in a way that no rule can match: right after the `m` of a
colour code, in JSON within JSON, or split by a terminal of 80 columns. A view is a copy of the
bytes without these, and maps every position back to the original.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from recollect.lazy_patterns import compile_lazily
from recollect.redact.findings import Match

_ESCAPE_CHARACTER: Final = rb"(?:\x1b|\\{1,8}(?:u001[bB]|x1[bB]|033|e(?=\[)))"
_ENCODED: Final = compile_lazily(
    rb"(?P<control>"
    + _ESCAPE_CHARACTER
    + rb"(?:\[[0-?]{0,32}[ -/]{0,4}[@-~]|\][^\x07\x1b\\]{0,200}(?:\x07|\x1b\\)?|[@-_])"
    # The rest of a colour code after a program has removed the escape character.
    rb"|\[[0-9]{1,3}(?:;[0-9]{1,3}){0,5}m)"
    # A run of backslashes: one to three levels of JSON escaping of one character.
    rb"|\\{1,8}(?:(?P<letter>[\"'nrt/])|u00(?P<unicode>[0-7][0-9a-fA-F]))"
    # Not %25 and %26: the characters that they encode may end a value.
    rb"|%(?P<percent>2[0-47-9A-Fa-f]|3[A-Fa-f]|40|5[B-Fb-f]|60|7[B-Eb-e]|0[AaDd])"
    rb"|&(?P<entity>quot|#34|#x22|#39|#x27|apos|lt|gt|amp);"
)
_DIGITS: Final = b"0123456789"
_MARK: Final = b"x"


def count_digits(value: bytes) -> int:
    """Return the number of decimal digits in a value."""
    return len(value) - len(value.translate(None, _DIGITS))


def make_marks(characters: bytes) -> bytes:
    """Return a table for `bytes.translate` that replaces each character of a class by a mark.

    Searching for marks is several times as fast as a regular expression.
    """
    is_meant = re.compile(characters).fullmatch
    return bytes(ord(_MARK if is_meant(bytes([code])) else " ") for code in range(256))


def iter_runs(data: bytes, marks: bytes, min_length: int) -> Iterator[tuple[int, int]]:
    """Yield the spans of runs of at least `min_length` marked characters."""
    marked, run = data.translate(marks), _MARK * min_length
    start = marked.find(run)
    while start >= 0:
        end = marked.find(b" ", start + min_length)
        if end < 0:
            end = len(data)
        yield start, end
        start = marked.find(run, end)


_FIRST_MARKS: Final = make_marks(rb"[\x1b\\%&\[]")
"""Marks the first characters of `_ENCODED`."""
_LETTERS: Final = {b"n": b"\n", b"r": b"\r", b"t": b"\t"}
_ENTITIES: Final = {
    b"quot": b'"', b"#34": b'"', b"#x22": b'"', b"#39": b"'", b"#x27": b"'", b"apos": b"'",
    b"lt": b"<", b"gt": b">", b"amp": b"&",
}  # fmt: skip

_MIN_COLUMNS: Final = 70
_MAX_COLUMNS: Final = 250
"""Length of wrapped lines: shorter ones end by intention, longer ones are not wrapped."""
_WRAP: Final = compile_lazily(
    rb"\n(?:(?<=[^\n]{%d}[A-Za-z0-9+/=_:@&?%%\-]\n)|(?<=[^\n]{%d}[A-Za-z0-9+/=_:@&?%%\-]\r\n))"
    rb"(?=[A-Za-z0-9+/=_.:@&?%%\-])" % (_MIN_COLUMNS - 1, _MIN_COLUMNS - 1)
)
_PIECE: Final = rb"(?:[A-Z]?[a-z]+[0-9]{0,2}|[A-Z]+[0-9]{0,2}|[0-9]{1,4})"
_OWN_LINE: Final = compile_lazily(
    # An assignment, or words and numbers, while what a terminal wraps inside a secret is random.
    rb"(?:export )?[A-Za-z_][A-Za-z0-9_.\-]*(?:=[^=\s]|:\s)"
    rb"|%b(?:[_\-./]%b)*+[.:]?(?=[\s,;!?()\"'`|]|$)" % (_PIECE, _PIECE)
)
_MIN_WRAPPED: Final = 3
"""Fewer characters of the next line are not taken for the rest of a secret."""


_LINE_ENDS: Final = (b"\n", b"\r")


class View(NamedTuple):
    """Decoded bytes; each piece starts at `starts` here and at `origins` in the original."""

    data: bytes
    starts: list[int]
    origins: list[int]

    def locate(self, start: int, end: int) -> tuple[int, int]:
        """Return the span in the original for a span of the view."""
        first = bisect_right(self.starts, start) - 1
        last = bisect_right(self.starts, end - 1) - 1
        origin_start = self.origins[first] + start - self.starts[first]
        origin_end = self.origins[last] + end - self.starts[last]
        if end == self._start_after(last):
            # The last piece may be an escape, which is longer than its decoded character.
            origin_end = max(origin_end, self._origin_after(last, origin_end))
        return origin_start, origin_end

    def _start_after(self, piece: int) -> int:
        return self.starts[piece + 1] if piece + 1 < len(self.starts) else -1

    def _origin_after(self, piece: int, otherwise: int) -> int:
        """Return the original offset after this piece if it is a single decoded character."""
        is_character = self._start_after(piece) - self.starts[piece] == 1
        return self.origins[piece + 1] if is_character else otherwise


class Text(NamedTuple):
    """UTF-8 bytes with their views, which are created once and searched several times."""

    data: bytes
    plain: View
    joined: View | None
    """The wrapped lines of `plain`."""

    def search(self, find: Callable[[bytes], Iterable[Match]]) -> Iterator[Match]:
        """Yield the results of a search in the plain view, with spans in the original."""
        return (_move(match, self.plain) for match in find(self.plain.data))

    def search_lines(self, find: Callable[[bytes], Iterable[Match]]) -> Iterator[Match]:
        """Yield the results of a search in the plain view and in wrapped lines.

        A secret at the end of a long line is not continued by the next line if that is one of its
        own, such as the next variable of an `.env` file.
        """
        data = self.plain.data
        ends: dict[int, int] = {}
        for match in find(data):
            yield _move(match, self.plain)
            if data[match.end : match.end + 1] in _LINE_ENDS:
                ends[match.start] = max(match.end, ends.get(match.start, 0))
        if self.joined is None:
            return
        for match in find(self.joined.data):
            moved = _move(match, self.joined)
            end = ends.get(moved.start, moved.end)
            if _adds_own_line(data, end, moved.end):
                moved = moved._replace(end=end, value=data[moved.start : end])
            yield _move(moved, self.plain)

    def search_joined(self, find: Callable[[bytes], Iterable[Match]]) -> Iterator[Match]:
        """Yield the results of a search in wrapped lines, with spans in the original."""
        if self.joined is not None:
            for match in find(self.joined.data):
                yield _move(_move(match, self.joined), self.plain)


def read_text(data: bytes) -> Text:
    """Return UTF-8 bytes with their views."""
    plain = decode_view(data)
    return Text(data, plain, join_wrapped(plain.data))


def _move(match: Match, view: View) -> Match:
    start, end = view.locate(match.start, match.end)
    return match._replace(start=start, end=end)


def _adds_own_line(data: bytes, line_end: int, end: int) -> bool:
    """Return whether all that a match has beyond the end of a line is the start of another line."""
    start = line_end + (2 if data[line_end : line_end + 2] == b"\r\n" else 1)
    return end > line_end and (
        end - start < _MIN_WRAPPED or _OWN_LINE.match(data, start) is not None
    )


def decode_view(data: bytes) -> View:
    """Return a view without control sequences, JSON escapes, percent-encoding and entities."""
    pieces: list[bytes] = []
    starts: list[int] = [0]
    origins: list[int] = [0]
    at = length = 0
    for match in _iter_encoded(data):
        begin, end = match.span()
        if begin > at:
            starts.append(length)
            origins.append(at)
            pieces.append(data[at:begin])
            length += begin - at
        starts.append(length)
        origins.append(begin)
        at = end
        decoded = _decode(match[0])
        if decoded:
            pieces.append(decoded)
            length += 1
    if at == 0:
        return View(data, starts, origins)
    starts.append(length)
    origins.append(at)
    pieces.append(data[at:])
    return View(b"".join(pieces), starts, origins)


def _iter_encoded(data: bytes) -> Iterator[re.Match[bytes]]:
    """Yield the matches of `_ENCODED`, ten times as fast as `finditer`."""
    marked = data.translate(_FIRST_MARKS)
    start = marked.find(_MARK)
    while start >= 0:
        match = _ENCODED.match(data, start)
        if match is None:
            start = marked.find(_MARK, start + 1)
        else:
            yield match
            start = marked.find(_MARK, match.end())


@lru_cache(maxsize=1024)
def _decode(encoded: bytes) -> bytes:
    """Return the character of an encoded sequence; nothing for a control sequence."""
    match = _ENCODED.match(encoded)
    group = match and match.lastgroup
    if match is None or group is None or group == "control":
        return b""
    text = match[group]
    if group == "letter":
        return _LETTERS.get(text, text)
    if group == "entity":
        return _ENTITIES[text]
    return bytes([int(text, 16)])


def join_wrapped(data: bytes) -> View | None:
    """Return a view of all wrapped lines, each run joined to one line; None if there are none."""
    pieces: list[bytes] = []
    starts: list[int] = []
    origins: list[int] = []
    length = 0
    for start, end, is_last in _iter_wrapped_lines(data):
        starts.append(length)
        origins.append(start)
        pieces.append(data[start:end])
        length += end - start
        if is_last:
            starts.append(length)
            origins.append(end)
            pieces.append(b"\n")
            length += 1
    return View(b"".join(pieces), starts, origins) if pieces else None


def _iter_wrapped_lines(data: bytes) -> Iterator[tuple[int, int, bool]]:
    """Yield the spans of wrapped lines without line ends, and whether each is the last of a run."""
    next_start = -1
    for wrap in _WRAP.finditer(data):
        newline = wrap.start()
        start = data.rfind(b"\n", max(0, newline - _MAX_COLUMNS - 1), newline) + 1
        if newline - start > _MAX_COLUMNS:
            continue
        if next_start not in {-1, start}:
            yield _last_line(data, next_start)
        yield start, newline - (data[newline - 1] == ord("\r")), False
        next_start = newline + 1
    if next_start >= 0:
        yield _last_line(data, next_start)


def _last_line(data: bytes, start: int) -> tuple[int, int, bool]:
    limit = min(start + _MAX_COLUMNS, len(data))
    newline = data.find(b"\n", start, limit)
    return start, limit if newline < 0 else newline, True
