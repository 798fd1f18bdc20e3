"""Random characters that no rule knows: behind a vendor's prefix, or next to a word like `token`.

This is what finds the token of a service that did not exist when the rules were written. Ids are
random too, so one of the two alone makes a finding likely only.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final, Protocol

from recollect.redact.findings import Confidence, Match
from recollect.redact.known_values import (
    has_uuid,
    is_dated_name,
    is_hash,
    is_id,
    is_placeholder,
)
from recollect.redact.randomness import looks_random, measure_changes

LONG_WORD: Final = rb"[A-Za-z0-9_.~\-]{22,}"
_PREFIXED: Final = re.compile(
    rb"((?:[a-z]{2,10}[0-9]?|[A-Z]{2,6}[0-9]?)(?:[_\-.](?:[a-z]{1,8}|v[0-9]))?[_\-.])([A-Za-z0-9_.\-]{20,})$"
)
HINTS: Final = ("auth", "bearer", "login with", "signed in")
"""Words near a token that are not also names that secrets are assigned to."""
_HINT: Final = re.compile(
    rb"(?i)token|secret|passw|credential|api.?key|access.?key|auth|bearer|login with|signed in"
)
_NOT_A_HINT: Final = re.compile(
    rb"(?i)\bauthor(?:s|ed)?\b|token(?:s|iz)|signature|integrity|sha\d|digest|checksum|etag|nonce|hash|uuid"
)
_HINT_REACH: Final = 48
_MIN_HINTED: Final = 24
_MAX_TOKEN: Final = 400
_MIN_CHANGES: Final = 0.34
_MIN_DIGITS: Final = 3
_DIGITS: Final = b"0123456789"
_GLUE: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=%@#\\")
_FILE: Final = re.compile(
    rb"(?i)\.(?:[cm]?[jt]sx?|css|map|py|md|json|jsonl|html?|png|jpe?g|svg|woff2?|whl|gz|zip|so|txt|ya?ml|toml|lock|log|dylib|wasm|sh|go|rs|java|php|rb|com|org|net|io|dev)$"
)


class _Found(Protocol):
    def span(self) -> tuple[int, int]: ...


def iter_generic(data: bytes, find_words: Callable[[bytes], Iterable[_Found]]) -> Iterator[Match]:
    """Yield long words that are random and that a prefix or a hint makes suspicious."""
    for found in find_words(data):
        start, end = found.span()
        word = data[start:end].rstrip(b".-_~")
        if _may_be_token(data, start, word):
            confidence = _judge(data, start, word)
            if confidence is not None:
                yield Match("token", confidence, start, start + len(word), word)


def _may_be_token(data: bytes, start: int, word: bytes) -> bool:
    """Reject most words by what is cheap to see: few digits, an id, part of something longer."""
    digits = len(word) - len(word.translate(None, _DIGITS))
    return (
        digits >= _MIN_DIGITS
        and digits * 4 < len(word) * 3
        and len(word) <= _MAX_TOKEN
        and (start == 0 or data[start - 1] not in _GLUE)
        and not (is_id(word) or has_uuid(word) or is_hash(word) or is_dated_name(word))
        and measure_changes(word) >= _MIN_CHANGES
    )


def _judge(data: bytes, start: int, word: bytes) -> Confidence | None:
    """A prefix or a hint alone makes it likely; both together leave hardly any doubt."""
    is_prefixed = _has_prefix(word)
    is_hinted = len(word) >= _MIN_HINTED and _has_hint(data, start)
    if not (is_prefixed or is_hinted):
        return None
    if is_placeholder(word) or _FILE.search(word) or not looks_random(word):
        return None
    return Confidence.DEFINITE if is_prefixed and is_hinted else Confidence.LIKELY


def _has_prefix(word: bytes) -> bool:
    prefixed = _PREFIXED.match(word)
    return prefixed is not None and looks_random(prefixed[2])


def _has_hint(data: bytes, start: int) -> bool:
    line = data[max(0, start - _HINT_REACH) : start].rsplit(b"\n", 1)[-1]
    return _HINT.search(line) is not None and _NOT_A_HINT.search(line) is None
