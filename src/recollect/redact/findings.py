"""What a scan reports. A finding says where a secret is and never holds it: it is safe to log."""

from enum import StrEnum
from typing import Final, NamedTuple


class Confidence(StrEnum):
    """How sure a finding is."""

    DEFINITE = "definite"
    """The shape, a checksum or the name of the key leaves hardly any doubt."""
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
    """The more specific kind names the secret, the surer one says how sure it is."""
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
