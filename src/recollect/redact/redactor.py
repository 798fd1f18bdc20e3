"""Mask the secrets of one output: an export, a response of a server, a page. A secret that was
recognised once is masked everywhere, in any encoding.

`export TOKEN=…` identifies a value that could not be recognised alone in a log line. Escapes and
wrapped lines need no separate forms, because the search uses the same views as the rules.

One `Redactor` serves one output, so that the same secret has the same tag everywhere in it. Tags
are numbered in order of appearance and reveal nothing about the secret.
"""

import base64
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from msgspec.structs import replace

from recollect.redact.findings import (
    DEFAULT_POLICY,
    Finding,
    Match,
    RedactionPolicy,
    is_name,
    merge_matches,
)
from recollect.redact.plain_view import Text, read_text
from recollect.redact.policy import HOME, find_masked, to_findings

_MIN_VALUE: Final = 8
_MIN_FORM: Final = 8
_MIN_BUILT: Final = 2_000_000
"""Minimum number of comparisons for which building an automaton is faster."""
_GROUP: Final = 32
"""Maximum number of forms for which the search compares many bytes at once."""
_MAX_GROUPED: Final = 20 * _GROUP
"""Number of forms above which a byte-by-byte automaton is faster."""
_UNUSED: Final = tuple(bytes([code]) * 4 for code in range(1, 1 + _GROUP // 2))
"""Bytes that never occur in JSON. With few forms the library would compare single bytes instead."""
_MIN_LINE: Final = 24
"""Minimum length of the last line of a key; shorter ones could be anything."""


class _Batch(NamedTuple):
    """Forms that are searched for together, each with its secret."""

    forms: tuple[tuple[bytes, Match], ...]
    automaton: Any

    def search(self, data: bytes) -> Iterator[Match]:
        for number, start, end in self.automaton.find_matches_as_indexes(data, overlapping=True):
            yield self.forms[number][1]._replace(start=start, end=end)


class KnownSecrets:
    """The secrets of one output, and a search for all of them in all their forms at once.

    Secrets are added one by one while texts are masked. Batches of similar size are merged, so that
    there are few and none is rebuilt for every secret.
    """

    def __init__(self) -> None:
        """Start without secrets."""
        self._values: set[bytes] = set()
        self._fresh: list[tuple[bytes, Match]] = []
        self._batches: list[_Batch] = []
        self._compared = 0
        """Number of bytes that were compared with fresh forms."""
        self._raw_forms: list[bytes] = []
        self._raw_groups: list[Any] = []
        self._grouped = 0
        """Number of forms that are in groups."""

    def __bool__(self) -> bool:
        """Return whether there are any secrets."""
        return bool(self._values)

    def __contains__(self, value: object) -> bool:
        """Return whether a value is one of them."""
        return value in self._values

    def add(self, matches: Iterable[Match]) -> None:
        """Remember secrets, except words and short values, which occur by chance."""
        for match in matches:
            if match.value not in self._values and _is_distinctive(match.value):
                self._values.add(match.value)
                forms = list(_iter_forms(match.value))
                self._fresh += [(form, match) for form in forms]
                # Values in raw lines have no line ends; each line of a key has its own form.
                self._raw_forms += [form for form in forms if b"\n" not in form]

    def find(self, text: Text) -> list[Match]:
        """Return the matches of all known secrets in a text."""
        self._compared += len(text.data) * len(self._fresh)
        if self._compared >= _MIN_BUILT:
            self._build()
        if not self._values:
            return []
        as_written = self._search(text.data) if text.plain.data != text.data else ()
        return merge_matches(
            [*as_written, *text.search(self._search), *text.search_joined(self._search)]
        )

    def find_raw(self, data: bytes) -> Iterator[int]:
        """Yield the positions of known secrets in raw bytes; only one of overlapping secrets."""
        if len(self._raw_forms) > _MAX_GROUPED:
            self._build()
            yield from (match.start for match in self._search(data))
            return
        if len(data) * (len(self._raw_forms) - self._grouped) >= _MIN_BUILT:
            self._group()
        for group in self._raw_groups:
            yield from (start for _, start, _ in group.find_matches_as_indexes(data))
        for form in self._raw_forms[self._grouped :]:
            yield from _iter_places(data, form)

    def _group(self) -> None:
        """Divide all forms into groups; full groups stay unchanged."""
        from ahocorasick_rs import BytesAhoCorasick, Implementation, MatchKind

        full = self._grouped // _GROUP
        groups = [
            BytesAhoCorasick(
                (*self._raw_forms[first : first + _GROUP], *_UNUSED),
                matchkind=MatchKind.LeftmostFirst,
                implementation=Implementation.NoncontiguousNFA,
            )
            for first in range(full * _GROUP, len(self._raw_forms), _GROUP)
        ]
        self._raw_groups[full:] = groups
        self._grouped = len(self._raw_forms)

    def _search(self, data: bytes) -> Iterator[Match]:
        for batch in self._batches:
            yield from batch.search(data)
        for form, match in self._fresh:
            for at in _iter_places(data, form):
                yield match._replace(start=at, end=at + len(form))

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
        self._compared = 0


def _iter_places(data: bytes, form: bytes) -> Iterator[int]:
    at = data.find(form)
    while at >= 0:
        yield at
        at = data.find(form, at + 1)


def _is_distinctive(value: bytes) -> bool:
    if len(value) < _MIN_VALUE:
        return False
    has_digits = len(value.translate(None, b"0123456789")) < len(value)
    if has_digits and b"." not in value and b"/" not in value:
        return True
    return not is_name(value)


def _iter_forms(value: bytes) -> Iterator[bytes]:
    """Yield a value in all encodings: plain, base64, hexadecimal, percent-encoded."""
    yield value
    lines = [line.strip() for line in value.splitlines()]
    if len(lines) > 1:
        # A multi-line key is copied line by line, or encoded and then found by a rule.
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
    """Return the base64 digits that depend only on a value, `shift` bytes into a group."""
    encoded = base64.b64encode(bytes(shift) + value)
    return encoded[-(-shift * 8 // 6) : (shift + len(value)) * 8 // 6]


_MAX_ROUNDS: Final = 4
"""Masking may join separate parts into a secret, so the result is scanned until it is clean."""
_PERSONAL: Final = frozenset({HOME, "user", "host", "email"})


class Redactor:
    """Masks texts and remembers what it masked.

    If a secret may be recognisable only in a later text, call `collect_secrets` with all texts
    first. Call `verify` with the finished output before it leaves.
    """

    def __init__(self, policy: RedactionPolicy = DEFAULT_POLICY) -> None:
        """Start with nothing masked."""
        self.policy = policy
        self._known = KnownSecrets()
        self._numbers: dict[tuple[str, bytes], int] = {}
        self._last_number: Counter[str] = Counter()
        self._masked: Counter[str] = Counter()

    def without_personal_data(self) -> "Redactor":
        """Return a redactor that ignores personal data, with the same known secrets and tags."""
        other = copy(self)
        other.policy = self.policy.for_records
        return other

    def without_likely(self) -> "Redactor":
        """Return the same redactor, but with rules that only find definite secrets."""
        other = copy(self)
        other.policy = replace(self.policy, likely=False)
        return other

    @property
    def counts(self) -> Mapping[str, int]:
        """Number of masked places by kind."""
        return dict(self._masked)

    def value_of(self, kind: str, number: int) -> str | None:
        """Return the secret that a tag replaced; None if there is no such tag."""
        for (known_kind, value), known_number in self._numbers.items():
            if (known_kind, known_number) == (kind, number):
                return value.decode("utf-8", "replace")
        return None

    def add(self, matches: Iterable[Match]) -> None:
        """Remember secrets, numbered in this order."""
        found = list(matches)
        self.remember(found)
        for match in found:
            self._number(match)

    def find_known(self, data: bytes) -> Iterator[int]:
        """Yield the positions of known secrets in raw bytes of any kind."""
        return self._known.find_raw(data)

    def collect_secrets(self, text: str) -> tuple[Finding, ...]:
        """Remember the secrets of a text, so that they are masked in every other text too.

        Returns their positions. Does not search for known secrets.
        """
        data = _encode(text)
        matches = find_masked(read_text(data), self.policy)
        self.remember(matches)
        return to_findings(matches, data, text)

    @property
    def knows_any(self) -> bool:
        """Whether any known secret may also be in other texts."""
        return bool(self._known)

    def knows(self, value: str) -> bool:
        """Return whether a text as a whole is a secret that was found before."""
        return _encode(value) in self._known

    def has_known(self, text: str) -> bool:
        """Return whether a text contains a known secret, in any encoding."""
        return self.contains_known(_encode(text))

    def contains_known(self, data: bytes) -> bool:
        """Return whether UTF-8 bytes contain a known secret, in any encoding."""
        return bool(self._known) and bool(self._known.find(read_text(data)))

    def collect_secrets_in_bytes(self, data: bytes) -> bool:
        """Remember the secrets of UTF-8 bytes; return whether a rule found any."""
        matches = find_masked(read_text(data), self.policy)
        self.remember(matches)
        return bool(matches)

    def redact(self, text: str) -> str:
        """Return a text with every secret replaced by a tag."""
        return self.mask_bytes(_encode(text)).decode("utf-8", "surrogatepass")

    def mask_bytes(self, data: bytes) -> bytes:
        """Return bytes with every secret replaced by a tag."""
        for _ in range(_MAX_ROUNDS):
            matches = self.find(data)
            if not matches:
                break
            data = self._mask(data, matches)
        return data

    def verify(self, output: str) -> tuple[Finding, ...]:
        """Return the secrets that an output still contains; known ones in any encoding."""
        data = _encode(output)
        return to_findings(self.find(data), data, output)

    def find(self, data: bytes) -> list[Match]:
        """Return the secrets in UTF-8 bytes, both by rule and known ones."""
        text = read_text(data)
        matches = find_masked(text, self.policy)
        self.remember(matches)
        return merge_matches([*matches, *self._known.find(text)])

    def find_recorded(self, data: bytes, recorded: Iterable[Match]) -> list[Match]:
        """Return the secrets in UTF-8 bytes without running rules: recorded and known ones."""
        return merge_matches([*recorded, *self._known.find(read_text(data))])

    def remember(self, matches: Iterable[Match]) -> None:
        """Remember secrets that a rule found, so that they are masked everywhere."""
        self._known.add(match for match in matches if match.kind not in _PERSONAL)

    def _mask(self, data: bytes, matches: list[Match]) -> bytes:
        pieces: list[bytes] = []
        at = 0
        for match in matches:
            pieces += [data[at : match.start], self.tag(match)]
            at = match.end
        return b"".join([*pieces, data[at:]])

    def tag(self, match: Match) -> bytes:
        """Return the tag that replaces a secret."""
        self._masked[match.kind] += 1
        if match.kind == HOME:
            return b"~"
        return f"[redacted:{match.kind}#{self._number(match)}]".encode()

    def _number(self, match: Match) -> int:
        key = match.kind, match.value
        if key not in self._numbers:
            self._last_number[match.kind] += 1
            self._numbers[key] = self._last_number[match.kind]
        return self._numbers[key]


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
