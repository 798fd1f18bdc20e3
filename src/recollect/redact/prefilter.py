"""A cheap prefilter for raw JSON lines that may contain a secret.

A history has gigabytes and hardly any secrets, so lines are neither decoded nor copied. Keywords
are searched for in the raw bytes, in common spellings and in base64; around each match, a short
stretch is checked with the rules. The caller runs a full scan on the lines found here. Secrets
without a keyword are missed: definite ones always have one, some likely ones do not.
"""

import base64
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from typing import Final, NamedTuple

from recollect.lazy_patterns import compile_lazily
from recollect.redact import context_rules
from recollect.redact.context_rules import CONTEXT_RULES
from recollect.redact.findings import Match
from recollect.redact.plain_view import decode_view, make_marks
from recollect.redact.scanner import decode_base64, is_text, load_detectors
from recollect.redact.token_rules import HINTS, TOKEN_RULES, iter_generic

_RULES: Final = (*TOKEN_RULES, *CONTEXT_RULES)
_BEFORE: Final = 64
_SHORT_AFTER: Final = 160
_AFTER: Final = 320
_LONG_AFTER: Final = 1_200
_LONG_KINDS: Final = frozenset({"jwt", "cookie", "command-password", "1password-token"})
_CERTAIN: Final = frozenset({"-----begin", "putty-user-key-file"})
"""Keywords of multi-line keys, for which a short stretch is not enough."""
_DISCORD_TOKEN: Final = rb"\.[A-Za-z0-9_\-]{6}\.[A-Za-z0-9_\-]{27}"
"""Within the only token without a keyword: Discord's."""
_SCHEMES: Final = (
    b"postgres",
    b"mongodb",
    b"mysql:/",
    b"redis",
    b"amqp:/",
    b"https:/",
)
"""Schemes of URLs with passwords: `://` itself is too short to be recognised in base64."""
_MIN_CUT: Final = 6
_MIN_ENCODED: Final = 4
_MAX_ENCODED: Final = 6
"""Maximum bytes of a keyword to match in base64. The result is checked; more would be slower."""
_ENCODED_SAMPLE: Final = 24

_UNUSUAL: Final = re.compile(
    rb"\x1b|%[2-7][0-9A-Fa-f]|&(?:#|quot|apos|amp|lt|gt)|\\u00|\\x1b|\\033|\[[0-9;]{1,20}m"
)
_ESCAPES: Final = frozenset(b"\\%\x1b[&")
_ESCAPE_LENGTH: Final = 8
_MIN_TOKEN: Final = 14
"""Minimum length of a token from its keyword on, without blanks and quotes."""
_MAX_START: Final = _ESCAPE_LENGTH + 12
"""An escape, and the part of a token before its keyword: `4333597200:AA…`."""
_ALNUM: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
_BROKEN: Final = re.compile(rb"[A-Za-z0-9_\-./+=:]{3,400}(?:\\{1,4}[nru]|\x1b|\[[0-9]|%)")
_WRAPPED: Final = re.compile(rb"(?<=[A-Za-z0-9+/=_:@&?%\-])\r?\n(?=[A-Za-z0-9+/=_.:@&?%\-])")
_ASSIGNMENT: Final = (
    # The rest of a name, optional words, closing characters and an assignment.
    rb"[\w.\-]{0,44}+(?: {1,3}[\w.\-]{1,24}+){0,3}?[\\\"'`\])}\s]{0,16}+"
    rb"(?:[=:]|%3|u00|\x1b|\[[0-9]|&|value|(?:is|was|to|of|as)[ \t]|(?<=[\"'`]))"
    rb"[^A-Za-z0-9]{0,24}+"
)
_SHORT_VALUE: Final = re.compile(_ASSIGNMENT + rb"([^\s\"'`,;<>]{5})")
_LONG_VALUE: Final = re.compile(_ASSIGNMENT + rb"([^\s\"'`,;<>]{15})")
_VALUE_SAMPLE: Final = 24
_PASSWORD_PREFIXES: Final = ("pass", "pwd", "_pass", "pin=")
"""Prefixes of keywords for passwords; all other names need a longer value."""
_QUICK_PATTERNS: Final = {
    "cookie": rb".{6}(?:[\\\"'`]{0,8}\s{0,3}(?:[:=,\x1b]|%3|u00|\[[0-9])|\s{1,2}[\\\"'`])",
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
_OPTION: Final = re.compile(rb"-[\w.\-]*$")
_OPTION_REACH: Final = 40
_NAME_REACH: Final = 200
"""Bytes after a name in which its value is searched for."""
_LOGIN_IN_URL: Final = re.compile(rb"[^\s\"'`<>]{3,300}?(?:@|%40)")
_MAX_LOGIN: Final = 303
"""Number of bytes that `_LOGIN_IN_URL` matches."""
_NEAR: Final = 96
_NEAR_WORD: Final = re.compile(rb"(?<![A-Za-z0-9_.~\-])[A-Za-z0-9_.~\-]{20,}")
_NEAR_MARKS: Final = make_marks(rb"[A-Za-z0-9_.~\-]")
_NEAR_RUN: Final = b"x" * 20
_DIGITS: Final = b"0123456789"
_MIN_DIGITS: Final = 3

_Detect = Callable[[bytes, int], Match | None]
_Check = Callable[[bytes, int], bool]


class _Engine(NamedTuple):
    find: Callable[[bytes], Iterable[tuple[int, int, int]]]
    checks: tuple[_Check, ...]
    """Indexed by the number of the spelling, like the fields below."""
    standalone: frozenset[int]
    """Spellings to ignore in the middle of a word."""
    ignored_before_s: frozenset[int]
    """Spellings to ignore before an `s`."""
    find_discord_tokens: Callable[[bytes], Iterable[re.Match[bytes]]]


def find_suspicious_lines(data: bytes) -> list[tuple[int, int]]:
    """Return the spans of lines that may contain a secret, in order and without line ends."""
    engine = _load_engine()
    checks, standalone, ignored_before_s = engine.checks, engine.standalone, engine.ignored_before_s
    found = {_find_line(data, match.start()) for match in engine.find_discord_tokens(data)}
    line_end = -1
    for number, start, end in engine.find(data):
        if start < line_end or (number in ignored_before_s and data[end : end + 1] in _PLURAL):
            continue
        if (
            number in standalone
            and start
            and data[start - 1] in _ALNUM
            and not _has_escape(data, start - _ESCAPE_LENGTH, start)
        ):
            continue
        if checks[number](data, start):
            line = _find_line(data, start)
            line_end = line[1]
            found.add(line)
    return sorted(found)


def _has_escape(data: bytes, start: int, end: int) -> bool:
    """Return whether the letter before `end` may be part of an escape: `\\nAKIA…`."""
    return not _ESCAPES.isdisjoint(data[max(0, start) : end])


def _find_line(data: bytes, at: int) -> tuple[int, int]:
    end = data.find(b"\n", at)
    return data.rfind(b"\n", 0, at) + 1, len(data) if end < 0 else end


def _check_near(
    data: bytes, start: int, after: int, detectors: tuple[_Detect, ...], *, is_hint: bool
) -> bool:
    """Return whether a rule matches in the stretch around a keyword."""
    before = data[max(0, start - _BEFORE) : start].rpartition(b"\n")[2]
    following = data[start : start + after].partition(b"\n")[0]
    return _has_match_near(before, following, detectors, is_hint)


@lru_cache(maxsize=4096)
def _has_match_near(
    raw_before: bytes, raw_following: bytes, detectors: tuple[_Detect, ...], is_hint: bool
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
        return decode_view(piece).data
    for _ in range(3):
        if b"\\" not in piece:
            break
        piece = piece.replace(b"\\n", b"\n").replace(b'\\"', b'"').replace(b"\\t", b"\t")
        piece = piece.replace(b"\\\\", b"\\").replace(b"\\/", b"/")
    return piece


def _make_check(keyword: str, detectors: tuple[_Detect, ...]) -> _Check:
    rules = tuple(rule for rule in _RULES if keyword in rule.keywords)
    after = _LONG_AFTER if any(rule.kind in _LONG_KINDS for rule in rules) else _AFTER
    is_assigned = keyword in context_rules.KEYWORDS
    if keyword in _CERTAIN:
        return _always
    if keyword == "://":
        may_match: _Check = _may_be_in_url
    elif is_assigned:
        is_password = keyword.startswith(_PASSWORD_PREFIXES)
        may_match = _may_be_password if is_password else _may_be_assigned
        after = after if rules else _SHORT_AFTER
    elif keyword in _QUICK_PATTERNS or any(rule in CONTEXT_RULES for rule in rules):
        may_match = _make_prefilter(keyword)
    else:
        may_match = _make_token_check(detectors)
    return lambda data, start: (
        may_match(data, start) and _check_near(data, start, after, detectors, is_hint=is_assigned)
    )


def _always(_data: bytes, _start: int) -> bool:
    return True


def _make_cut_check(detectors: tuple[_Detect, ...]) -> _Check:
    return lambda data, start: _check_near(data, start, _AFTER, detectors, is_hint=False)


def _make_token_check(detectors: tuple[_Detect, ...]) -> _Check:
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


def _may_be_password(data: bytes, start: int) -> bool:
    return _SHORT_VALUE.match(data, start) is not None or _may_be_argument(data, start)


def _may_be_assigned(data: bytes, start: int) -> bool:
    first = max(0, start - _OPTION_REACH)
    return _is_assigned(data[first : start + _NAME_REACH], start - first)


@lru_cache(maxsize=4096)
def _is_assigned(around: bytes, start: int) -> bool:
    """Return whether a random value may be assigned to a name; cached, as above."""
    found = _LONG_VALUE.match(around, start)
    if found is not None:
        value = around[found.start(1) : found.start(1) + _VALUE_SAMPLE]
        # A random value has digits or both cases.
        if _count_digits(value) or value != value.lower():
            return True
    return _may_be_argument(around, start)


def _may_be_argument(data: bytes, start: int) -> bool:
    """Return whether a name is a command-line option, or a token is near."""
    first = max(0, start - _OPTION_REACH)
    if data.rfind(b"-", first, start) >= 0 and _OPTION.search(data, first, start):
        return True
    return _is_near_token(data, start)


def _is_near_token(data: bytes, start: int) -> bool:
    """Return whether a long word with digits follows, which is suspicious near such a name."""
    # Searching for a run of marks is faster than any expression.
    if _NEAR_RUN not in data[start : start + _NEAR].translate(_NEAR_MARKS):
        return False
    word = _NEAR_WORD.search(data, start, start + _NEAR)
    return word is not None and _count_digits(word[0]) >= _MIN_DIGITS


def _count_digits(data: bytes) -> int:
    return len(data) - len(data.translate(None, _DIGITS))


def _may_be_in_url(data: bytes, start: int) -> bool:
    end = start + _MAX_LOGIN
    has_host = data.find(b"@", start, end) >= 0 or data.find(b"%40", start, end) >= 0
    return has_host and _LOGIN_IN_URL.match(data, start) is not None


def _check_hint(data: bytes, start: int) -> bool:
    return _is_near_token(data, start) and _check_near(data, start, _SHORT_AFTER, (), is_hint=True)


def _make_encoded_check(shift: int) -> _Check:
    """Return a check for base64-encoded text: an image may contain a keyword by chance."""
    skipped = -(-shift * 8 // 6)

    def check(data: bytes, start: int) -> bool:
        first = start - skipped
        return first >= 0 and is_text(decode_base64(data[first : first + _ENCODED_SAMPLE]))

    return check


@cache
def _load_engine() -> _Engine:
    import re2  # type: ignore[import-untyped]
    from ahocorasick_rs import BytesAhoCorasick, Implementation

    checks: dict[bytes, _Check] = {}
    for keyword, detectors in load_detectors().items():
        check = _make_check(keyword, detectors)
        cased = _list_cased(keyword)
        checks |= {spelling: check for each in cased for spelling in _iter_escaped(each)}
        for each in cased:
            for shift, form in _iter_encoded(each.encode()):
                checks.setdefault(form, _make_encoded_check(shift))
        check_cut = _make_cut_check(detectors)
        exact = {_find_cased(keyword, each.pattern) for each in _RULES if keyword in each.keywords}
        for each in cased if keyword in context_rules.KEYWORDS else exact:
            for form in _iter_cut(each):
                checks.setdefault(form, check_cut)
    for scheme in _SCHEMES:
        for shift, form in _iter_encoded(scheme):
            checks.setdefault(form, _make_encoded_check(shift))
    for hint in HINTS:
        for each in _list_cased(hint):
            checks.setdefault(each.encode(), _check_hint)
    automaton = BytesAhoCorasick(list(checks), implementation=Implementation.DFA)
    standalone = {
        spelling
        for keyword in load_detectors()
        if _is_standalone(keyword)
        for each in _list_cased(keyword)
        for spelling in _iter_escaped(each)
    }
    return _Engine(
        lambda data: automaton.find_matches_as_indexes(data, overlapping=True),
        tuple(checks.values()),
        frozenset(number for number, spelling in enumerate(checks) if spelling in standalone),
        frozenset(number for number, spelling in enumerate(checks) if spelling.lower() == _TOKEN),
        re2.compile(_DISCORD_TOKEN).finditer,
    )


def _is_standalone(keyword: str) -> bool:
    rules = [rule for rule in _RULES if keyword in rule.keywords]
    is_assigned = keyword in context_rules.KEYWORDS
    return not is_assigned and all(rule.standalone and not rule.before for rule in rules)


def _list_cased(keyword: str) -> list[str]:
    """Return the common spellings of a keyword, by case, that a rule can match."""
    patterns = [rule.pattern for rule in _RULES if keyword in rule.keywords]
    cased = {keyword, keyword.upper(), keyword.title()}
    for suffix in ("key", "string", "url"):
        if keyword.endswith(suffix) and keyword.isalpha():
            camel = keyword.removesuffix(suffix) + suffix.title()
            cased |= {camel, camel[:1].upper() + camel[1:]}
    cased |= {_find_cased(keyword, pattern) for pattern in patterns}
    if keyword in context_rules.KEYWORDS or keyword in HINTS:
        return sorted(cased)
    cased.add(keyword[:2].upper() + keyword[2:])
    return sorted(each for each in cased if any(_may_spell(each, other) for other in patterns))


def _may_spell(spelling: str, pattern: str) -> bool:
    """Return whether a pattern can match a keyword in this case: patterns are case-sensitive."""
    letters = set(pattern.replace("a-f", "abcdef"))
    return "(?i)" in pattern or letters.issuperset(each for each in spelling if each.isalpha())


def _find_cased(keyword: str, pattern: str) -> str:
    """Return a keyword in the case in which a pattern has it."""
    plain = pattern.replace("\\", "")
    at = plain.lower().find(keyword)
    return plain[at : at + len(keyword)] if at >= 0 else keyword


def _iter_escaped(spelling: str) -> Iterator[bytes]:
    """Yield a spelling as in raw lines, and percent-encoded."""
    yield spelling.encode()
    if '"' in spelling:
        yield spelling.replace('"', "\\").encode()
    if any(sign in spelling for sign in "=:/"):
        yield spelling.replace("/", "\\/").encode()
        yield re.sub("[=:/]", lambda sign: f"%{ord(sign[0]):02X}", spelling).encode()


def _iter_cut(spelling: str) -> Iterator[bytes]:
    """Yield a spelling split by the end of a wrapped line.

    Truncated once it is unambiguous: longer ones make the search take longer to build.
    """
    for at in range(1, len(spelling)):
        yield f"{spelling[:at]}\\n{spelling[at : max(at + 2, _MIN_CUT)]}".encode()


def _iter_encoded(spelling: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield a spelling in base64, for each position in a group of three bytes."""
    for shift in range(3):
        encoded = base64.b64encode(bytes(shift) + spelling)
        form = encoded[-(-shift * 8 // 6) : (shift + len(spelling)) * 8 // 6]
        if len(form) >= _MIN_ENCODED:
            yield shift, form[:_MAX_ENCODED]
