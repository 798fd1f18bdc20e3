"""Types: the redaction policy of a user, rules, and findings.

A finding has the position of a secret and never its value, so it is safe to log. Rules are data;
`scanner` runs them. The command line and the web app create the policy from the configuration. The
rules are in other modules, because they take time to load and most sessions contain no secrets.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import Final, NamedTuple

from msgspec import Struct

from recollect.lazy_patterns import compile_lazily


class Confidence(StrEnum):
    """How certain a finding is."""

    DEFINITE = "definite"
    """Almost certain, by its format, a checksum or the name that it is assigned to."""
    LIKELY = "likely"
    """Should be masked before a text leaves the machine, but may be an id or a made-up value."""


GENERAL_KINDS: Final = frozenset(
    {"api-key", "authorization", "bearer-token", "password", "secret", "token"}
)
"""Kinds that only name what a value was assigned to; a vendor's kind is more specific."""


class Finding(NamedTuple):
    """A secret in a text, at `text[start:end]`, where it may be encoded."""

    kind: str
    confidence: Confidence
    start: int
    end: int


class Match(NamedTuple):
    """A secret in bytes, with its decoded value. Not used outside this package."""

    kind: str
    confidence: Confidence
    start: int
    end: int
    value: bytes

    @property
    def is_definite(self) -> bool:
        """Whether it is almost certainly a secret."""
        return self.confidence is Confidence.DEFINITE


def merge_matches(matches: list[Match]) -> list[Match]:
    """Return matches in order, with overlapping ones merged."""
    merged: list[Match] = []
    for match in sorted(matches, key=lambda match: (match.start, -match.end)):
        if merged and match.start < merged[-1].end:
            merged[-1] = _merge(merged[-1], match)
        else:
            merged.append(match)
    return merged


def _merge(first: Match, second: Match) -> Match:
    """Merge two matches: the more specific kind and the higher confidence win."""
    best = max(first, second, key=_rank)
    return best._replace(
        confidence=first.confidence if first.is_definite else second.confidence,
        start=min(first.start, second.start),
        end=max(first.end, second.end),
    )


def _rank(match: Match) -> tuple[bool, bool, int, str]:
    is_specific = match.kind not in GENERAL_KINDS
    return is_specific, match.is_definite, match.end - match.start, match.kind


TOKEN_REACH: Final = 4_000
"""Maximum number of bytes from the keyword to the end of a token; longer ones are cut off there."""

Check = Callable[[bytes], Confidence | None]
"""Returns the confidence that a value is a secret; None if it is not one."""


class Rule(Struct, frozen=True):
    """How to find a kind of secret: a keyword, and a pattern around it.

    The pattern is an RE2 expression for bytes. It has to match at the keyword, or up to `before`
    bytes earlier. Its first group is the secret; without a group, the whole match is.
    """

    kind: str
    keywords: tuple[str, ...]
    """In lower case. Every text that the rule matches contains one of them, in any case. A rule
    without keywords is run on the whole text.
    """
    pattern: str
    confidence: Confidence = Confidence.DEFINITE
    check: Check | None = None
    before: int = 0
    reach: int = TOKEN_REACH
    standalone: bool = True
    """Whether a match next to a letter or a digit is rejected as part of something longer."""


def token(kind: str, keywords: str, pattern: str, check: Check | None = None) -> Rule:
    """Return a rule for a token that begins with a keyword."""
    return Rule(kind, tuple(keywords.lower().split()), pattern, check=check)


class OwnPattern(Struct, frozen=True):
    """A kind of secret defined by the user. The first group of the pattern is the secret."""

    kind: str
    pattern: str


class RedactionPolicy(Struct, frozen=True):
    """What to mask; by default every secret, definite or likely, and no personal data."""

    likely: bool = True
    home: str | None = None
    """The home directory, which becomes `~`."""
    users: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    emails: bool = False
    patterns: tuple[OwnPattern, ...] = ()
    allow: tuple[str, ...] = ()
    """Patterns that match whole values that are not secrets."""

    @property
    def for_records(self) -> "RedactionPolicy":
        """The policy without personal data: definite and likely secrets."""
        return RedactionPolicy(likely=self.likely, patterns=self.patterns, allow=self.allow)

    @property
    def for_display(self) -> "RedactionPolicy":
        """The policy for display to the user: definite secrets, without personal data."""
        return RedactionPolicy(likely=False, patterns=self.patterns, allow=self.allow)


DEFAULT_POLICY: Final = RedactionPolicy()


_NAME: Final = compile_lazily(rb"^[A-Za-z_$][A-Za-z_$\-]*(?:[./][A-Za-z_$][\w$\-]*)*[;,]?$")


def is_name(value: bytes) -> bool:
    """Return whether a value consists of words only, as identifiers and attribute paths do."""
    return _NAME.match(value) is not None
