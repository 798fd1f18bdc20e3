"""A secret that was recognised once is masked wherever else it occurs, however it is encoded there.

`export TOKEN=…` gives a value away; the same value alone in a log line would not. Escapes and
wrapped lines need no forms of their own, because the search runs over the same views as the rules.
"""

import base64
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from recollect.redact.findings import Match, merge_matches
from recollect.redact.known_values import is_name
from recollect.redact.plain_view import Text

_MIN_VALUE: Final = 8
_MIN_FORM: Final = 8
_MIN_LINE: Final = 24
"""The last line of a key is shorter than the others; still shorter ones say nothing."""


class _Batch(NamedTuple):
    """Forms that are searched for together, and the secret that each stands for."""

    forms: tuple[tuple[bytes, Match], ...]
    automaton: Any

    def search(self, data: bytes) -> Iterator[Match]:
        for number, start, end in self.automaton.find_matches_as_indexes(data, overlapping=True):
            yield self.forms[number][1]._replace(start=start, end=end)


class KnownSecrets:
    """The secrets of one output, and a search for all of them in all their forms at once.

    Secrets come one by one while texts are masked. Batches are merged when they are of similar
    size, so that there are few of them and none is rebuilt for every secret.
    """

    def __init__(self) -> None:
        """Start without any."""
        self._values: set[bytes] = set()
        self._fresh: list[tuple[bytes, Match]] = []
        self._batches: list[_Batch] = []

    def __bool__(self) -> bool:
        """Return whether there are any."""
        return bool(self._values)

    def add(self, matches: Iterable[Match]) -> None:
        """Remember secrets, except words and short values: those occur by chance."""
        for match in matches:
            if match.value not in self._values and _is_telling(match.value):
                self._values.add(match.value)
                self._fresh += [(form, match) for form in _iter_forms(match.value)]

    def find(self, text: Text) -> list[Match]:
        """Return the places of all known secrets in a text."""
        self._build()
        if not self._batches:
            return []
        as_written = self._search(text.data) if text.plain.data != text.data else ()
        return merge_matches(
            [*as_written, *text.search(self._search), *text.search_joined(self._search)]
        )

    def find_raw(self, data: bytes) -> Iterator[int]:
        """Yield the positions of all known secrets in bytes that are searched as they are."""
        self._build()
        return (match.start for match in self._search(data))

    def _search(self, data: bytes) -> Iterator[Match]:
        for batch in self._batches:
            yield from batch.search(data)

    def _build(self) -> None:
        from ahocorasick_rs import BytesAhoCorasick

        if not self._fresh:
            return
        forms = tuple(self._fresh)
        while self._batches and len(self._batches[-1].forms) <= 2 * len(forms):
            forms = (*self._batches.pop().forms, *forms)
        automaton = BytesAhoCorasick([form for form, _ in forms])
        self._batches.append(_Batch(forms, automaton))
        self._fresh = []


def _is_telling(value: bytes) -> bool:
    return len(value) >= _MIN_VALUE and not is_name(value)


def _iter_forms(value: bytes) -> Iterator[bytes]:
    """Yield the ways to write a value: as it is, in base64, in hexadecimal, percent-encoded."""
    yield value
    lines = [line.strip() for line in value.splitlines()]
    if len(lines) > 1:
        # A key of many lines is copied line by line, or encoded and then found by itself.
        yield from (
            line for line in lines if len(line) >= _MIN_LINE and not line.startswith(b"-----")
        )
        return
    quoted = quote(value, safe="").encode()
    if quoted != value:
        yield quoted
    yield value.hex().encode()
    for shift in range(3):
        form = _encode_shifted(value, shift)
        if len(form) >= _MIN_FORM:
            yield form
            url_safe = form.replace(b"+", b"-").replace(b"/", b"_")
            if url_safe != form:
                yield url_safe


def _encode_shifted(value: bytes, shift: int) -> bytes:
    """Return the base64 that a value determines when it begins `shift` bytes into a group."""
    encoded = base64.b64encode(bytes(shift) + value)
    return encoded[-(-shift * 8 // 6) : (shift + len(value)) * 8 // 6]
