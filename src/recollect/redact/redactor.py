"""Mask the secrets of one output: an export, an answer of a server, a page.

One `Redactor` serves one output, so that the same secret has the same tag everywhere in it. Tags
are numbered in order of appearance and say nothing about the secret.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Final

from recollect.redact.findings import Finding, Match, merge_matches
from recollect.redact.plain_view import read_text
from recollect.redact.policy import (
    DEFAULT_POLICY,
    HOME,
    RedactionPolicy,
    find_masked,
    to_findings,
)
from recollect.redact.propagation import KnownSecrets

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

    @property
    def counts(self) -> Mapping[str, int]:
        """How many places were masked, by kind."""
        return dict(self._masked)

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
        return bool(self._known) and bool(self._known.find(read_text(_encode(text))))

    def redact(self, text: str) -> str:
        """Return a text with a tag in the place of every secret."""
        data = _encode(text)
        for _ in range(_MAX_ROUNDS):
            matches = self._find(data)
            if not matches:
                break
            data = self._mask(data, matches)
        return data.decode("utf-8", "surrogatepass")

    def verify(self, output: str) -> tuple[Finding, ...]:
        """Return the secrets that an output still holds, known ones in any encoding."""
        data = _encode(output)
        return to_findings(self._find(data), data, output)

    def _find(self, data: bytes) -> list[Match]:
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
            pieces += [data[at : match.start], self._tag(match)]
            at = match.end
            self._masked[match.kind] += 1
        return b"".join([*pieces, data[at:]])

    def _tag(self, match: Match) -> bytes:
        if match.kind == HOME:
            return b"~"
        key = match.kind, match.value
        if key not in self._numbers:
            self._last_number[match.kind] += 1
            self._numbers[key] = self._last_number[match.kind]
        return f"[redacted:{match.kind}#{self._numbers[key]}]".encode()


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
