"""Mask the secrets of one output: an export, an answer of a server, a page.

One `Redactor` serves one output, so that the same secret has the same tag everywhere in it. Tags
are numbered in order of appearance and say nothing about the secret.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from typing import Final

from recollect.redact.findings import Finding, Match, merge_matches
from recollect.redact.plain_view import read_text
from recollect.redact.policy import HOME, find_masked, to_findings
from recollect.redact.propagation import KnownSecrets
from recollect.redact.redaction_policy import DEFAULT_POLICY, RedactionPolicy

_MAX_ROUNDS: Final = 4
"""Masking may bring together what was apart, so the result is scanned again until it is clean."""
_PERSONAL: Final = frozenset({HOME, "user", "host", "email"})


class Redactor:
    """Masks texts and remembers what it masked.

    Call `learn` with all texts first if a secret may be recognisable only in a later one. `verify`
    the finished output before it leaves.
    """

    def __init__(self, policy: RedactionPolicy = DEFAULT_POLICY) -> None:
        """Start with nothing masked."""
        self._policy = policy
        self._known = KnownSecrets()
        self._numbers: dict[tuple[str, bytes], int] = {}
        self._last_number: Counter[str] = Counter()
        self._masked: Counter[str] = Counter()

    def without_personal_data(self) -> "Redactor":
        """Return one that masks only secrets, and shares what is known of them and their tags."""
        other = copy(self)
        other._policy = self._policy.for_records  # noqa: SLF001 - of the same class
        return other

    @property
    def counts(self) -> Mapping[str, int]:
        """How many places were masked, by kind."""
        return dict(self._masked)

    def value_of(self, kind: str, number: int) -> str | None:
        """Return the secret that a tag stands for; None if there is no such tag."""
        for (known_kind, value), known_number in self._numbers.items():
            if (known_kind, known_number) == (kind, number):
                return value.decode("utf-8", "replace")
        return None

    def add(self, matches: Iterable[Match]) -> None:
        """Remember secrets, which are numbered in this order."""
        found = list(matches)
        self._remember(found)
        for match in found:
            self._number(match)

    def find_known(self, data: bytes) -> Iterator[int]:
        """Yield where known secrets are in bytes as they are, whatever the bytes are."""
        return self._known.find_raw(data)

    def learn(self, text: str) -> tuple[Finding, ...]:
        """Remember the secrets of a text, so that they are masked in every other text too.

        Returns where they are; known secrets that no rule finds there are not looked for.
        """
        data = _encode(text)
        matches = find_masked(read_text(data), self._policy)
        self._remember(matches)
        return to_findings(matches, data, text)

    @property
    def is_aware(self) -> bool:
        """Whether any secret was found so far that may be in other texts, too."""
        return bool(self._known)

    def has_known(self, text: str) -> bool:
        """Return whether a text holds a secret that was found before, in any encoding."""
        return self.holds_known(_encode(text))

    def holds_known(self, data: bytes) -> bool:
        """Return whether UTF-8 holds a secret that was found before, in any encoding."""
        return bool(self._known) and bool(self._known.find(read_text(data)))

    def learn_bytes(self, data: bytes) -> bool:
        """Remember the secrets of UTF-8; return whether a rule found any."""
        matches = find_masked(read_text(data), self._policy)
        self._remember(matches)
        return bool(matches)

    def redact(self, text: str) -> str:
        """Return a text with a tag in the place of every secret."""
        return self.mask_bytes(_encode(text)).decode("utf-8", "surrogatepass")

    def mask_bytes(self, data: bytes) -> bytes:
        """Return bytes with a tag in the place of every secret."""
        for _ in range(_MAX_ROUNDS):
            matches = self.find(data)
            if not matches:
                break
            data = self._mask(data, matches)
        return data

    def verify(self, output: str) -> tuple[Finding, ...]:
        """Return the secrets that an output still holds, known ones in any encoding."""
        data = _encode(output)
        return to_findings(self.find(data), data, output)

    def find(self, data: bytes) -> list[Match]:
        """Return the secrets in UTF-8, those that a rule finds and those that are known."""
        text = read_text(data)
        matches = find_masked(text, self._policy)
        self._remember(matches)
        return merge_matches([*matches, *self._known.find(text)])

    def _remember(self, matches: list[Match]) -> None:
        self._known.add(match for match in matches if match.kind not in _PERSONAL)

    def _mask(self, data: bytes, matches: list[Match]) -> bytes:
        pieces: list[bytes] = []
        at = 0
        for match in matches:
            pieces += [data[at : match.start], self.tag(match)]
            at = match.end
        return b"".join([*pieces, data[at:]])

    def tag(self, match: Match) -> bytes:
        """Return what is written in the place of a secret."""
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
