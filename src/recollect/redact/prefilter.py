"""A cheap prefilter for raw JSON lines that may contain a secret.

A history has gigabytes and hardly any secrets, so lines are neither decoded nor copied. Keywords
are searched for in the bytes as they are, in the spellings that people use and in base64; a rule
then looks at a short stretch around each. The caller scans properly what is suspected here. A
secret that no keyword gives away is not noticed: definite ones have one, some likely ones do not.
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
"""Keywords of keys of many lines, which no short stretch would show."""
_SHAPE: Final = rb"\.[A-Za-z0-9_\-]{6}\.[A-Za-z0-9_\-]{27}"
"""In the middle of the one token that has no keyword: Discord's."""
_SCHEMES: Final = (
    b"postgres",
    b"mongodb",
    b"mysql:/",
    b"redis",
    b"amqp:/",
    b"https:/",
)
"""Of addresses with passwords: `://` itself is too short to be recognised in base64."""
_MIN_CUT: Final = 6
_MIN_ENCODED: Final = 4
_MAX_ENCODED: Final = 6
"""What decides is that it is text; longer spellings make the search slower than that is."""
_ENCODED_SAMPLE: Final = 24

_EXOTIC: Final = re.compile(
    rb"\x1b|%[2-7][0-9A-Fa-f]|&(?:#|quot|apos|amp|lt|gt)|\\u00|\\x1b|\\033|\[[0-9;]{1,20}m"
)
_ESCAPES: Final = frozenset(b"\\%\x1b[&")
_ESCAPE_LENGTH: Final = 8
_MIN_TOKEN: Final = 14
"""Characters of the shortest token from its keyword on; neither blanks nor quotes."""
_MAX_START: Final = _ESCAPE_LENGTH + 12
"""An escape, and what a token may have before its keyword: `4333597200:AA…`."""
_ALNUM: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
_BROKEN: Final = re.compile(rb"[A-Za-z0-9_\-./+=:]{3,400}(?:\\{1,4}[nru]|\x1b|\[[0-9]|%)")
_WRAPPED: Final = re.compile(rb"(?<=[A-Za-z0-9+/=_:@&?%\-])\r?\n(?=[A-Za-z0-9+/=_.:@&?%\-])")
_SIGN: Final = (
    # The rest of the name, perhaps some words, then whatever closes them and an assignment.
    rb"[\w.\-]{0,44}+(?: {1,3}[\w.\-]{1,24}+){0,3}?[\\\"'`\])}\s]{0,16}+"
    rb"(?:[=:]|%3|u00|\x1b|\[[0-9]|&|value|(?:is|was|to|of|as)[ \t]|(?<=[\"'`]))"
    rb"[^A-Za-z0-9]{0,24}+"
)
_SHORT_VALUE: Final = re.compile(_SIGN + rb"([^\s\"'`,;<>]{5})")
_LONG_VALUE: Final = re.compile(_SIGN + rb"([^\s\"'`,;<>]{15})")
_VALUE_SAMPLE: Final = 24
_OF_PASSWORDS: Final = ("pass", "pwd", "_pass", "pin=")
"""What keywords of passwords begin with; all other names take a longer value."""
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
"""Cheap patterns to match before the rules of keywords that are frequent by themselves."""
_COUNTED: Final = b"token"
_PLURAL: Final = frozenset({b"s", b"S"})
"""Half of all keywords in a history are the names of token counts, which end in `s`."""
_OPTION: Final = re.compile(rb"-[\w.\-]*$")
_OPTION_REACH: Final = 40
_NAME_REACH: Final = 200
"""Where what is assigned to a name ends, or the part of it that is looked at."""
_IN_URL: Final = re.compile(rb"[^\s\"'`<>]{3,300}?(?:@|%40)")
_MAX_LOGIN: Final = 303
"""Bytes of what `_IN_URL` matches."""
_NEAR: Final = 96
_NEAR_WORD: Final = re.compile(rb"(?<![A-Za-z0-9_.~\-])[A-Za-z0-9_.~\-]{20,}")
_NEAR_MARKS: Final = make_marks(rb"[A-Za-z0-9_.~\-]")
_NEAR_RUN: Final = b"x" * 20
_DIGITS: Final = b"0123456789"
_MIN_DIGITS: Final = 3

_Detect = Callable[[bytes, int], Match | None]
_Judge = Callable[[bytes, int], bool]


class _Engine(NamedTuple):
    find: Callable[[bytes], Iterable[tuple[int, int, int]]]
    judges: tuple[_Judge, ...]
    """By number of the spelling that was found, as is what follows."""
    standalone: frozenset[int]
    """Spellings that mean nothing in the middle of a word."""
    counted: frozenset[int]
    """Spellings that mean nothing before an `s`."""
    find_shape: Callable[[bytes], Iterable[re.Match[bytes]]]


def find_suspicious_lines(data: bytes) -> list[tuple[int, int]]:
    """Return the spans of the lines, without line ends, that may hold a secret, in order."""
    engine = _load_engine()
    judges, standalone, counted = engine.judges, engine.standalone, engine.counted
    found = {_find_line(data, match.start()) for match in engine.find_shape(data)}
    line_end = -1
    for number, start, end in engine.find(data):
        if start < line_end or (number in counted and data[end : end + 1] in _PLURAL):
            continue
        if (
            number in standalone
            and start
            and data[start - 1] in _ALNUM
            and not _has_escape(data, start - _ESCAPE_LENGTH, start)
        ):
            continue
        if judges[number](data, start):
            line = _find_line(data, start)
            line_end = line[1]
            found.add(line)
    return sorted(found)


def _has_escape(data: bytes, start: int, end: int) -> bool:
    """Return whether the letter before `end` may belong to an escape: `\\nAKIA…`."""
    return not _ESCAPES.isdisjoint(data[max(0, start) : end])


def _find_line(data: bytes, at: int) -> tuple[int, int]:
    end = data.find(b"\n", at)
    return data.rfind(b"\n", 0, at) + 1, len(data) if end < 0 else end


def _look(
    data: bytes, start: int, after: int, detectors: tuple[_Detect, ...], *, is_hint: bool
) -> bool:
    """Return whether a rule finds a secret in the stretch around a keyword."""
    before = data[max(0, start - _BEFORE) : start].rpartition(b"\n")[2]
    following = data[start : start + after].partition(b"\n")[0]
    return _has_match_near(before, following, detectors, is_hint)


@lru_cache(maxsize=4096)
def _has_match_near(
    raw_before: bytes, raw_following: bytes, detectors: tuple[_Detect, ...], is_hint: bool
) -> bool:
    """Return whether a rule finds a secret; cached, because most output is written down twice."""
    before, following = _read_plain(raw_before), _read_plain(raw_following)
    window, at = before + following, len(before)
    if any(detect(window, at) is not None for detect in detectors):
        return True
    if is_hint and next(iter_generic(window), None) is not None:
        return True
    if b"\n" not in following or _WRAPPED.search(following, 0, 120) is None:
        return False
    joined = before + _WRAPPED.sub(b"", following)
    return any(detect(joined, at) is not None for detect in detectors)


def _read_plain(piece: bytes) -> bytes:
    """Return a piece of a raw line about as a reader would see it."""
    if _EXOTIC.search(piece):
        return decode_view(piece).data
    for _ in range(3):
        if b"\\" not in piece:
            break
        piece = piece.replace(b"\\n", b"\n").replace(b'\\"', b'"').replace(b"\\t", b"\t")
        piece = piece.replace(b"\\\\", b"\\").replace(b"\\/", b"/")
    return piece


def _make_judge(keyword: str, detectors: tuple[_Detect, ...]) -> _Judge:
    rules = tuple(rule for rule in _RULES if keyword in rule.keywords)
    after = _LONG_AFTER if any(rule.kind in _LONG_KINDS for rule in rules) else _AFTER
    is_assigned = keyword in context_rules.KEYWORDS
    if keyword in _CERTAIN:
        return _always
    if keyword == "://":
        may_match: _Judge = _may_be_in_url
    elif is_assigned:
        is_password = keyword.startswith(_OF_PASSWORDS)
        may_match = _may_be_password if is_password else _may_be_assigned
        after = after if rules else _SHORT_AFTER
    elif keyword in _QUICK_PATTERNS or any(rule in CONTEXT_RULES for rule in rules):
        may_match = _make_prefilter(keyword)
    else:
        may_match = _make_token_check(detectors)
    return lambda data, start: (
        may_match(data, start) and _look(data, start, after, detectors, is_hint=is_assigned)
    )


def _always(_data: bytes, _start: int) -> bool:
    return True


def _make_cut_judge(detectors: tuple[_Detect, ...]) -> _Judge:
    return lambda data, start: _look(data, start, _AFTER, detectors, is_hint=False)


def _make_token_check(detectors: tuple[_Detect, ...]) -> _Judge:
    def may_match(data: bytes, start: int) -> bool:
        beginning = data[start : start + _MIN_TOKEN]
        if b" " in beginning or b'"' in beginning:
            return False
        if any(detect(data, start) is not None for detect in detectors):
            return True
        # An escape before it hides where it begins, and one within it where it goes on.
        is_hidden = _has_escape(data, start - _MAX_START, start)
        return is_hidden or _BROKEN.match(data, start) is not None

    return may_match


def _make_prefilter(keyword: str) -> _Judge:
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
    """Return whether a random value may belong to a name; cached like `_judge_stretch`."""
    found = _LONG_VALUE.match(around, start)
    if found is not None:
        value = around[found.start(1) : found.start(1) + _VALUE_SAMPLE]
        # A random value has digits or both cases.
        if _count_digits(value) or value != value.lower():
            return True
    return _may_be_argument(around, start)


def _may_be_argument(data: bytes, start: int) -> bool:
    """Return whether a name is an option, or a token is near."""
    first = max(0, start - _OPTION_REACH)
    if data.rfind(b"-", first, start) >= 0 and _OPTION.search(data, first, start):
        return True
    return _is_near_token(data, start)


def _is_near_token(data: bytes, start: int) -> bool:
    """Return whether a long word with digits follows, which a name nearby makes suspicious."""
    # Looking for a run of marks is faster than any expression.
    if _NEAR_RUN not in data[start : start + _NEAR].translate(_NEAR_MARKS):
        return False
    word = _NEAR_WORD.search(data, start, start + _NEAR)
    return word is not None and _count_digits(word[0]) >= _MIN_DIGITS


def _count_digits(data: bytes) -> int:
    return len(data) - len(data.translate(None, _DIGITS))


def _may_be_in_url(data: bytes, start: int) -> bool:
    end = start + _MAX_LOGIN
    has_host = data.find(b"@", start, end) >= 0 or data.find(b"%40", start, end) >= 0
    return has_host and _IN_URL.match(data, start) is not None


def _judge_hint(data: bytes, start: int) -> bool:
    return _is_near_token(data, start) and _look(data, start, _SHORT_AFTER, (), is_hint=True)


def _judge_encoded(shift: int) -> _Judge:
    """Return a judge of base64: an image may contain a keyword by chance, but is not text."""
    skipped = -(-shift * 8 // 6)

    def judge(data: bytes, start: int) -> bool:
        first = start - skipped
        return first >= 0 and is_text(decode_base64(data[first : first + _ENCODED_SAMPLE]))

    return judge


@cache
def _load_engine() -> _Engine:
    import re2  # type: ignore[import-untyped]
    from ahocorasick_rs import BytesAhoCorasick, Implementation

    judges: dict[bytes, _Judge] = {}
    for keyword, detectors in load_detectors().items():
        judge = _make_judge(keyword, detectors)
        cased = _list_cased(keyword)
        judges |= {spelling: judge for each in cased for spelling in _iter_escaped(each)}
        for each in cased:
            for shift, form in _iter_encoded(each.encode()):
                judges.setdefault(form, _judge_encoded(shift))
        judge_cut = _make_cut_judge(detectors)
        exact = {_find_cased(keyword, each.pattern) for each in _RULES if keyword in each.keywords}
        for each in cased if keyword in context_rules.KEYWORDS else exact:
            for form in _iter_cut(each):
                judges.setdefault(form, judge_cut)
    for scheme in _SCHEMES:
        for shift, form in _iter_encoded(scheme):
            judges.setdefault(form, _judge_encoded(shift))
    for hint in HINTS:
        for each in _list_cased(hint):
            judges.setdefault(each.encode(), _judge_hint)
    automaton = BytesAhoCorasick(list(judges), implementation=Implementation.DFA)
    standalone = {
        spelling
        for keyword in load_detectors()
        if _is_standalone(keyword)
        for each in _list_cased(keyword)
        for spelling in _iter_escaped(each)
    }
    return _Engine(
        lambda data: automaton.find_matches_as_indexes(data, overlapping=True),
        tuple(judges.values()),
        frozenset(number for number, spelling in enumerate(judges) if spelling in standalone),
        frozenset(number for number, spelling in enumerate(judges) if spelling.lower() == _COUNTED),
        re2.compile(_SHAPE).finditer,
    )


def _is_standalone(keyword: str) -> bool:
    rules = [rule for rule in _RULES if keyword in rule.keywords]
    is_assigned = keyword in context_rules.KEYWORDS
    return not is_assigned and all(rule.standalone and not rule.before for rule in rules)


def _list_cased(keyword: str) -> list[str]:
    """Return a keyword in the cases that are usual and that a rule matches."""
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
    """Return whether a pattern can match a keyword in this case: it has letters as they are."""
    letters = set(pattern.replace("a-f", "abcdef"))
    return "(?i)" in pattern or letters.issuperset(each for each in spelling if each.isalpha())


def _find_cased(keyword: str, pattern: str) -> str:
    """Return a keyword in the case that a pattern has."""
    plain = pattern.replace("\\", "")
    at = plain.lower().find(keyword)
    return plain[at : at + len(keyword)] if at >= 0 else keyword


def _iter_escaped(spelling: str) -> Iterator[bytes]:
    """Yield a spelling as it is written in raw lines, and percent-encoded."""
    yield spelling.encode()
    if '"' in spelling:
        yield spelling.replace('"', "\\").encode()
    if any(sign in spelling for sign in "=:/"):
        yield spelling.replace("/", "\\/").encode()
        yield re.sub("[=:/]", lambda sign: f"%{ord(sign[0]):02X}", spelling).encode()


def _iter_cut(spelling: str) -> Iterator[bytes]:
    """Yield a spelling as it is written if the end of a wrapped line is within it.

    Cut off where it cannot be anything else: the longer, the more time the search takes to build.
    """
    for at in range(1, len(spelling)):
        yield f"{spelling[:at]}\\n{spelling[at : max(at + 2, _MIN_CUT)]}".encode()


def _iter_encoded(spelling: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield what base64 makes of a spelling, wherever it begins in a group of three bytes."""
    for shift in range(3):
        encoded = base64.b64encode(bytes(shift) + spelling)
        form = encoded[-(-shift * 8 // 6) : (shift + len(spelling)) * 8 // 6]
        if len(form) >= _MIN_ENCODED:
            yield shift, form[:_MAX_ENCODED]
