"""What counts as a secret for one user, what a rule consists of, and what a scan reports. A finding
says where a secret is and never holds it: it is safe to log. Rules are data; `scanner` runs them.

The command line and the web app fill a policy from the configuration; this package only obeys it.
The rules themselves are elsewhere, because they take time to load and most sessions hold no
secrets.
"""

import re
from collections.abc import Callable
from enum import StrEnum
from typing import Final, NamedTuple

from msgspec import Struct


class Confidence(StrEnum):
    """How certain a finding is."""

    DEFINITE = "definite"
    """Almost certain, from its format, a checksum or the name of the key."""
    LIKELY = "likely"
    """Worth masking before a text leaves the machine, but may be an id or a made-up value."""


GENERAL_KINDS: Final = frozenset(
    {"api-key", "authorization", "bearer-token", "password", "secret", "token"}
)
"""Kinds that say where a value was assigned to; a vendor's kind says more."""


class Finding(NamedTuple):
    """A secret in a text: `text[start:end]` covers it, in whatever encoding it is written there."""

    kind: str
    confidence: Confidence
    start: int
    end: int


class Match(NamedTuple):
    """A secret in bytes, with its decoded value. Stays inside this package."""

    kind: str
    confidence: Confidence
    start: int
    end: int
    value: bytes


def merge_matches(matches: list[Match]) -> list[Match]:
    """Return matches in order, overlapping ones united into one."""
    merged: list[Match] = []
    for match in sorted(matches, key=lambda match: (match.start, -match.end)):
        if merged and match.start < merged[-1].end:
            merged[-1] = _unite(merged[-1], match)
        else:
            merged.append(match)
    return merged


def _unite(first: Match, second: Match) -> Match:
    """Use the more specific kind and the higher confidence of the two."""
    best = max(first, second, key=_rank)
    surest = max(first, second, key=_is_definite)
    return best._replace(
        confidence=surest.confidence,
        start=min(first.start, second.start),
        end=max(first.end, second.end),
    )


def _rank(match: Match) -> tuple[bool, bool, int, str]:
    is_specific = match.kind not in GENERAL_KINDS
    return is_specific, _is_definite(match), match.end - match.start, match.kind


def _is_definite(match: Match) -> bool:
    return match.confidence is Confidence.DEFINITE


TOKEN_REACH: Final = 4_000
"""Maximum number of bytes from the keyword to the end of a token; longer ones are cut off there."""

Check = Callable[[bytes], Confidence | None]
"""Returns how certain it is that a value is a secret; None if it is not one."""


class Rule(Struct, frozen=True):
    """A kind of secret and how to find it: a keyword, then a pattern around it.

    The pattern is an RE2 expression for bytes. It has to match where the keyword begins, or up to
    `before` bytes earlier. Its first group is the secret, the whole match if there is no group.
    """

    kind: str
    keywords: tuple[str, ...]
    """Lower case; one of them is in every text that the rule matches, in any case. A rule without
    keywords is run over the whole text."""
    pattern: str
    confidence: Confidence = Confidence.DEFINITE
    check: Check | None = None
    before: int = 0
    reach: int = TOKEN_REACH
    standalone: bool = True
    """Whether letters and digits next to a match mean that it is part of something longer."""


def token(kind: str, keywords: str, pattern: str, check: Check | None = None) -> Rule:
    """Return a rule for a token that begins with a keyword."""
    return Rule(kind, tuple(keywords.lower().split()), pattern, check=check)


class OwnPattern(Struct, frozen=True):
    """A kind of secret defined by the user. The first group of the pattern is the secret."""

    kind: str
    pattern: str


class RedactionPolicy(Struct, frozen=True):
    """What to mask. The default is every secret, definite or likely, and no personal data."""

    likely: bool = True
    home: str | None = None
    """The home directory, which becomes `~`."""
    users: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    emails: bool = False
    patterns: tuple[OwnPattern, ...] = ()
    allow: tuple[str, ...] = ()
    """Patterns for whole values that are not secrets."""

    @property
    def for_records(self) -> "RedactionPolicy":
        """The policy for secrets alone, definite and likely, without personal data."""
        return RedactionPolicy(likely=self.likely, patterns=self.patterns, allow=self.allow)

    @property
    def for_display(self) -> "RedactionPolicy":
        """The policy for what only the user sees: definite secrets, and no personal data."""
        return RedactionPolicy(likely=False, patterns=self.patterns, allow=self.allow)


DEFAULT_POLICY: Final = RedactionPolicy()


_NAME: Final = re.compile(rb"^[A-Za-z_$][A-Za-z_$\-]*(?:[./][A-Za-z_$][\w$\-]*)*[;,]?$")


def is_name(value: bytes) -> bool:
    """Return whether a value consists of words only, as identifiers and attribute paths do."""
    return _NAME.match(value) is not None
