"""A cheap prefilter for raw JSON lines that may contain a secret.

A history has gigabytes and hardly any secrets, so lines are neither decoded nor copied. Keywords
are searched for in the raw bytes, in common spellings and in base64; around each match, a short
range is checked with the rules. The caller runs a full scan on the lines found here. Secrets
without a keyword are missed: definite ones always have one, some likely ones do not.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from recollect.lazy_patterns import compile_lazily
from recollect.redact import context_rules
from recollect.redact.assignments import QUOTE, is_near_token, may_be_assigned, may_be_password
from recollect.redact.context_rules import CONTEXT_RULES
from recollect.redact.findings import Rule
from recollect.redact.keyword_spellings import (
    find_cased,
    iter_cut,
    iter_encoded,
    iter_escaped,
    list_cased,
)
from recollect.redact.own_rules import find_own_places
from recollect.redact.plain_view import decode_view
from recollect.redact.scanner import ALPHANUMERIC, Detect, decode_base64, is_text, load_detectors
from recollect.redact.token_rules import HINTS, TOKEN_RULES, iter_generic

if TYPE_CHECKING:
    from ahocorasick_rs import BytesAhoCorasick

_RULES: Final = (*TOKEN_RULES, *CONTEXT_RULES)
_CONTEXT_KEYWORDS: Final = frozenset(keyword for rule in CONTEXT_RULES for keyword in rule.keywords)
_BEFORE: Final = 64
_SHORT_AFTER: Final = 160
_AFTER: Final = 320
_LONG_AFTER: Final = 1_200
_LONG_KINDS: Final = frozenset({"jwt", "cookie", "command-password", "1password-token"})
_CERTAIN: Final = frozenset({"-----begin", "putty-user-key-file"})
"""Keywords of multi-line keys, for which a short range is not enough."""
_MIN_FAST: Final = 3_000_000
"""Minimum number of bytes for which the fast search saves more time than it takes to load."""
_DISCORD_TOKEN: Final = rb"\.[A-Za-z0-9_\-]{6}\.[A-Za-z0-9_\-]{27}"
"""Within the only token without a keyword: Discord's."""
_LONGER_SPELLINGS: Final = (
    b"postgres",
    b"mongodb",
    b"mysql:/",
    b"redis",
    b"amqp:/",
    b"https:/",
    b"eyJhbGci",
    b"eyJ0eXAi",
)
"""Schemes of URLs with passwords, and beginnings of JWTs: `://` and `eyJ` are too short to be
recognised in base64."""
_ENCODED_SAMPLE: Final = 24

_UNUSUAL: Final = re.compile(
    rb"\x1b|%[2-7][0-9A-Fa-f]|&(?:#|quot|apos|amp|lt|gt)|\\u00|\\x1b|\\033|\[[0-9;]{1,20}m"
)
_ESCAPES: Final = frozenset(b"\\%\x1b[&")
_ESCAPE_LENGTH: Final = 8
_LEVELS: Final = 4
"""JSON within JSON: three levels in a text, and the line."""
_MIN_TOKEN: Final = 14
"""Minimum length of a token from its keyword on, without blanks and quotes."""
_MAX_START: Final = _ESCAPE_LENGTH + 12
"""An escape, and the part of a token before its keyword: `4333597200:AA…`."""
_BROKEN: Final = re.compile(rb"[A-Za-z0-9_\-./+=:]{3,400}(?:\\{1,4}[nru]|\x1b|\[[0-9]|%)")
_WRAPPED: Final = re.compile(rb"(?<=[A-Za-z0-9+/=_:@&?%\-])\r?\n(?=[A-Za-z0-9+/=_.:@&?%\-])")
_PASSWORD_PREFIXES: Final = ("pass", "pwd", "_pass", "pin=")
"""Prefixes of keywords for passwords; all other names need a longer value."""
_QUICK_PATTERNS: Final = {
    "cookie": (
        rb".{6}(?:" + QUOTE + rb"{0,40}+\s{0,3}(?:[:=,\x1b]|%3|u00|\[[0-9])|\s{1,2}" + QUOTE + rb")"
    ),
    **dict.fromkeys(
        ("hooks.", "/hook/", "/hooks/", "webhook/", "webhooks/"), rb"[^\s\"]{5,200}?[\w\-\\]{20}"
    ),
    "machine ": rb"machine\s+\S+(?:\s|\\n)+login",
    **dict.fromkeys(("basic", "bearer"), rb".{5,6}(?:\s|\\[nt]|%20|\+)+[\\\"'`]*[\w.~+/\-:|]{8}"),
    **dict.fromkeys(("curl", "wget", "http "), rb"[^\n]{4,440}?[\s\"'](?:-u|--user|-a|--auth)"),
    "pass:": rb".{5}\S",
    "-us": rb".{3}[0-9%&\\\x1b\[]",
    **dict.fromkeys(("mysql", "mariadb"), rb"[^\n]{5,260}?\s-p"),
}
"""Cheap patterns to try before the rules of keywords that are common in any text."""
_TOKEN: Final = b"token"
_PLURAL: Final = frozenset({b"s", b"S"})
"""Half of all keyword matches in a history are names of token counts, which end in `s`."""
_LOGIN_IN_URL: Final = re.compile(rb"[^\s\"'`<>]{3,300}?(?:@|%40)")
_MAX_LOGIN: Final = 303
"""Number of bytes that `_LOGIN_IN_URL` matches."""
_Check = Callable[[bytes, int], bool]


class _Search:
    """Searches for spellings, and for the one token without a keyword.

    A fast search takes time and memory to load, so a small one is used until there is much to
    search.
    """

    def __init__(self, spellings: Sequence[bytes]) -> None:
        self._spellings = spellings
        self._left = _MIN_FAST
        """Number of bytes to search before the fast search is loaded."""
        self._automaton: BytesAhoCorasick | None = None
        self._discord_token: Any = compile_lazily(_DISCORD_TOKEN)

    def make_fast(self) -> None:
        """Load the fast search."""
        import re2  # type: ignore[import-untyped]
        from ahocorasick_rs import BytesAhoCorasick, Implementation

        self._automaton = BytesAhoCorasick(self._spellings, implementation=Implementation.DFA)
        self._discord_token = re2.compile(_DISCORD_TOKEN)
        self._left = 0

    def find(self, data: bytes) -> list[tuple[int, int, int]]:
        """Return the number, the start and the end of each spelling."""
        if self._left:
            self._left = max(self._left - len(data), 0)
            if not self._left:
                self.make_fast()
        automaton = self._automaton or self._load_small()
        return automaton.find_matches_as_indexes(data, overlapping=True)

    def _load_small(self) -> "BytesAhoCorasick":
        from ahocorasick_rs import BytesAhoCorasick, Implementation

        self._automaton = BytesAhoCorasick(
            self._spellings, implementation=Implementation.ContiguousNFA
        )
        return self._automaton

    def find_discord_tokens(self, data: bytes) -> Iterator[int]:
        """Yield the possible positions of the token without a keyword."""
        return (match.start() for match in self._discord_token.finditer(data))


class _Engine(NamedTuple):
    search: _Search
    checks: tuple[_Check, ...]
    """Indexed by the number of the spelling, like the fields below."""
    standalone: frozenset[int]
    """Spellings to ignore in the middle of a word."""
    ignored_before_s: frozenset[int]
    """Spellings to ignore before an `s`."""


def prepare_scan() -> None:
    """Load in advance what makes scanning many lines fast."""
    _load_engine().search.make_fast()


def find_suspicious_lines(data: bytes) -> list[tuple[int, int]]:
    """Return the spans of lines that may contain a secret, in order and without line ends."""
    engine = _load_engine()
    checks, standalone, ignored_before_s = engine.checks, engine.standalone, engine.ignored_before_s
    found = {_find_line(data, at) for at in engine.search.find_discord_tokens(data)}
    line_end = -1
    for number, start, end in engine.search.find(data):
        if start < line_end or (number in ignored_before_s and data[end : end + 1] in _PLURAL):
            continue
        if (
            number in standalone
            and start
            and data[start - 1] in ALPHANUMERIC
            and not _has_escape(data, start - _ESCAPE_LENGTH, start)
        ):
            continue
        if checks[number](data, start):
            line = _find_line(data, start)
            line_end = line[1]
            found.add(line)
    found |= {_find_line(data, at) for at in find_own_places(data)}
    return sorted(found)


def _has_escape(data: bytes, start: int, end: int) -> bool:
    """Return whether the letter before `end` may be part of an escape: `\\nAKIA…`."""
    return not _ESCAPES.isdisjoint(data[max(0, start) : end])


def _find_line(data: bytes, at: int) -> tuple[int, int]:
    end = data.find(b"\n", at)
    return data.rfind(b"\n", 0, at) + 1, len(data) if end < 0 else end


def _check_near(
    data: bytes, start: int, after: int, detectors: tuple[Detect, ...], *, is_hint: bool
) -> bool:
    """Return whether a rule matches in the range around a keyword."""
    before = data[max(0, start - _BEFORE) : start].rpartition(b"\n")[2]
    following = data[start : start + after].partition(b"\n")[0]
    return _has_match_near(before, following, detectors, is_hint)


@lru_cache(maxsize=4096)
def _has_match_near(
    raw_before: bytes, raw_following: bytes, detectors: tuple[Detect, ...], is_hint: bool
) -> bool:
    """Return whether a rule matches; cached, because transcripts contain most output twice."""
    before, following = _decode_piece(raw_before), _decode_piece(raw_following)
    window, at = before + following, len(before)
    if any(detect(window, at) is not None for detect in detectors):
        return True
    if is_hint and next(iter_generic(window), None) is not None:
        return True
    if b"\n" not in following or _WRAPPED.search(following, 0, 120) is None:
        return False
    joined = before + _WRAPPED.sub(b"", following)
    return any(detect(joined, at) is not None for detect in detectors)


def _decode_piece(piece: bytes) -> bytes:
    """Decode a piece of a raw line, approximately."""
    if _UNUSUAL.search(piece):
        # Decodes three levels; the line itself is one more.
        return decode_view(piece.replace(b"\\\\", b"\\")).data
    for _ in range(_LEVELS):
        if b"\\" not in piece:
            break
        piece = piece.replace(b"\\n", b"\n").replace(b'\\"', b'"').replace(b"\\t", b"\t")
        piece = piece.replace(b"\\\\", b"\\").replace(b"\\/", b"/")
    return piece


def _make_check(keyword: str, detectors: tuple[Detect, ...], rules: Sequence[Rule]) -> _Check:
    after = _LONG_AFTER if any(rule.kind in _LONG_KINDS for rule in rules) else _AFTER
    is_assigned = keyword in context_rules.KEYWORDS
    if keyword in _CERTAIN:
        return _always
    if keyword == "://":
        may_match: _Check = _may_be_in_url
    elif is_assigned:
        is_password = keyword.startswith(_PASSWORD_PREFIXES)
        may_match = may_be_password if is_password else may_be_assigned
        after = after if rules else _SHORT_AFTER
    elif keyword in _QUICK_PATTERNS or keyword in _CONTEXT_KEYWORDS:
        may_match = _make_prefilter(keyword)
    else:
        may_match = _make_token_check(detectors)
    return lambda data, start: (
        may_match(data, start) and _check_near(data, start, after, detectors, is_hint=is_assigned)
    )


def _always(_data: bytes, _start: int) -> bool:
    return True


def _make_cut_check(detectors: tuple[Detect, ...]) -> _Check:
    return lambda data, start: _check_near(data, start, _AFTER, detectors, is_hint=False)


def _make_token_check(detectors: tuple[Detect, ...]) -> _Check:
    def may_match(data: bytes, start: int) -> bool:
        beginning = data[start : start + _MIN_TOKEN]
        if b" " in beginning or b'"' in beginning:
            return False
        if any(detect(data, start) is not None for detect in detectors):
            return True
        # Escapes hide where a secret begins and continues.
        is_hidden = _has_escape(data, start - _MAX_START, start)
        return is_hidden or _BROKEN.match(data, start) is not None

    return may_match


def _make_prefilter(keyword: str) -> _Check:
    if keyword not in _QUICK_PATTERNS:
        return _always
    pattern = compile_lazily(_QUICK_PATTERNS[keyword])
    return lambda data, start: pattern.match(data, start) is not None


def _may_be_in_url(data: bytes, start: int) -> bool:
    end = start + _MAX_LOGIN
    has_host = data.find(b"@", start, end) >= 0 or data.find(b"%40", start, end) >= 0
    return has_host and _LOGIN_IN_URL.match(data, start) is not None


def _check_hint(data: bytes, start: int) -> bool:
    return is_near_token(data, start) and _check_near(data, start, _SHORT_AFTER, (), is_hint=True)


@cache
def _make_encoded_check(shift: int) -> _Check:
    """Return a check for base64-encoded text: an image may contain a keyword by chance."""
    skipped = -(-shift * 8 // 6)

    def check(data: bytes, start: int) -> bool:
        first = start - skipped
        return first >= 0 and is_text(decode_base64(data[first : first + _ENCODED_SAMPLE]))

    return check


@cache
def _load_engine() -> _Engine:
    checks: dict[bytes, _Check] = {}
    standalone: set[bytes] = set()
    rules_of = _list_rules()
    for keyword, detectors in load_detectors().items():
        rules = rules_of.get(keyword, [])
        check = _make_check(keyword, detectors, rules)
        cased = list_cased(keyword, rules)
        spellings = [spelling for each in cased for spelling in iter_escaped(each)]
        checks |= dict.fromkeys(spellings, check)
        if _is_standalone(keyword, rules):
            standalone.update(spellings)
        for form, other in _iter_other_forms(keyword, cased, detectors, rules):
            checks.setdefault(form, other)
    for spelling in _LONGER_SPELLINGS:
        for shift, form in iter_encoded(spelling):
            checks.setdefault(form, _make_encoded_check(shift))
    for hint in HINTS:
        for each in list_cased(hint, rules_of.get(hint, [])):
            checks.setdefault(each.encode(), _check_hint)
    return _Engine(
        _Search(list(checks)),
        tuple(checks.values()),
        frozenset(number for number, spelling in enumerate(checks) if spelling in standalone),
        frozenset(number for number, spelling in enumerate(checks) if spelling.lower() == _TOKEN),
    )


def _iter_other_forms(
    keyword: str, cased: Sequence[str], detectors: tuple[Detect, ...], rules: Sequence[Rule]
) -> Iterator[tuple[bytes, _Check]]:
    """Yield a keyword in base64 and split by the end of a line, with the checks."""
    for each in cased:
        for shift, form in iter_encoded(each.encode()):
            yield form, _make_encoded_check(shift)
    check_cut = _make_cut_check(detectors)
    exact = {find_cased(keyword, each.pattern) for each in rules}
    for each in cased if keyword in context_rules.KEYWORDS else exact:
        for form in iter_cut(each):
            yield form, check_cut


def _list_rules() -> dict[str, list[Rule]]:
    """Return the rules of each keyword."""
    rules: dict[str, list[Rule]] = {}
    for rule in _RULES:
        for keyword in rule.keywords:
            rules.setdefault(keyword, []).append(rule)
    return rules


def _is_standalone(keyword: str, rules: Iterable[Rule]) -> bool:
    is_assigned = keyword in context_rules.KEYWORDS
    return not is_assigned and all(rule.standalone and not rule.before for rule in rules)
