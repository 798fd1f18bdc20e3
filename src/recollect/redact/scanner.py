"""Find secrets in a text: search for keywords, run the rules there, and decode base64.

The keywords of all rules are searched for at once, and a rule runs only where one of its keywords
occurs. Texts without any are therefore nearly free. Everything works on UTF-8 bytes, because RE2
would count characters otherwise; positions are mapped back at the end.
"""

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from typing import Any, Final, NamedTuple

from recollect.redact import context_rules
from recollect.redact.context_rules import CONTEXT_RULES
from recollect.redact.findings import Match, Rule, merge_matches
from recollect.redact.plain_view import Text, iter_runs, make_marks, read_text
from recollect.redact.token_rules import TOKEN_RULES, iter_generic, iter_long_words
from recollect.redact.value_checks import is_placeholder

ALPHANUMERIC: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
_CONTINUATION: Final = bytes(range(0x80, 0xC0))
_BASE64_MARKS: Final = make_marks(rb"[A-Za-z0-9+/]")
_MIN_BASE64: Final = 40
_MIN_WITHOUT_KEYWORD: Final = 59
"""Minimum length of a value that a rule without keywords matches: a long word."""
_MAX_ENCODINGS: Final = 2
_SNIFFED: Final = 64
_MAX_DIRECTORIES: Final = 8
"""Limit to the names in a path that are tried as base64."""
_PRINTABLE: Final = bytes(range(0x20, 0x7F)) + b"\n\r\t\x1b"
_MIN_PRINTABLE: Final = 0.95

Detect = Callable[[bytes, int], Match | None]
"""Returns the match of a rule whose keyword is at a position."""


class _Engine(NamedTuple):
    """The compiled rules."""

    find_keywords: Callable[[bytes], Iterable[tuple[int, int, int]]]
    detectors: tuple[tuple[Detect, ...], ...]
    """Indexed by the number of the keyword."""
    by_keyword: Mapping[str, tuple[Detect, ...]]
    without_keyword: tuple[Rule, ...]


def find_matches(text: Text, encodings: int = _MAX_ENCODINGS) -> list[Match]:
    """Return the secrets in a text, decoding up to `encodings` layers of base64."""
    engine = _load_engine()
    run_rules = partial(_iter_matches, engine, encodings)
    found = [
        *text.search_lines(run_rules),
        # Not in wrapped lines: joining them may put any word next to any id.
        *text.search(iter_generic),
    ]
    return merge_matches([_snap(match, text.data) for match in found])


def load_detectors() -> Mapping[str, tuple[Detect, ...]]:
    """Return the functions that check the occurrences of each keyword."""
    return _load_engine().by_keyword


def make_locator(data: bytes, *, is_ascii: bool) -> Callable[[int], int]:
    """Return a function that converts positions in bytes to positions in the text."""
    if is_ascii:
        return lambda at: at
    known_byte = known_character = 0

    def locate(at: int) -> int:
        nonlocal known_byte, known_character
        if at < known_byte:
            known_byte = known_character = 0
        known_character += len(data[known_byte:at].translate(None, _CONTINUATION))
        known_byte = at
        return known_character

    return locate


def _snap(match: Match, data: bytes) -> Match:
    """Widen a match so that it does not begin or end inside a character."""
    start, end = match.start, match.end
    while start > 0 and data[start] in _CONTINUATION:
        start -= 1
    while end < len(data) and data[end] in _CONTINUATION:
        end += 1
    return match._replace(start=start, end=end)


def _iter_matches(engine: _Engine, encodings: int, data: bytes) -> Iterator[Match]:
    for number, start, _ in engine.find_keywords(data.lower()):
        for detect in engine.detectors[number]:
            match = detect(data, start)
            if match is not None:
                yield match
    for start, end in iter_long_words(data, _MIN_WITHOUT_KEYWORD):
        for rule in engine.without_keyword:
            for found in _compile(rule.pattern).finditer(data, start, end):
                match = _accept(rule, data, *found.span())
                if match is not None:
                    yield match
    if encodings:
        for start, run_end in iter_runs(data, _BASE64_MARKS, _MIN_BASE64):
            padding = data[run_end : run_end + 2]
            end = run_end + len(padding) - len(padding.lstrip(b"="))
            yield from _scan_base64(data, start, end, encodings - 1)


def _scan_base64(data: bytes, start: int, end: int, encodings: int) -> Iterator[Match]:
    """Yield the groups of four characters that encode a secret of the decoded text."""
    starts = (each for each in _iter_starts(data, start, end) if _is_encoded_text(data, each, end))
    start = next(starts, end)
    decoded = decode_base64(data[start:end])
    if not is_text(decoded):
        return
    for inner in find_matches(read_text(decoded), encodings):
        inner_start = start + inner.start // 3 * 4
        inner_end = min(start + -(-inner.end // 3) * 4, end)
        yield inner._replace(start=inner_start, end=inner_end)


def _iter_starts(data: bytes, start: int, end: int) -> Iterator[int]:
    """Yield where base64 in a run of its characters may start: in a diff or a path, later."""
    yield start
    if data[start : start + 1] == b"+":
        yield start + 1
    for _ in range(_MAX_DIRECTORIES):
        start = data.find(b"/", start, end - _MIN_BASE64) + 1
        if start == 0:
            return
        # Names in a path are shorter, and encoded text has few slashes.
        if data.find(b"/", start, start + _MIN_BASE64) < 0:
            yield start


def _is_encoded_text(data: bytes, start: int, end: int) -> bool:
    return is_text(decode_base64(data[start : min(end, start + _SNIFFED)]))


def decode_base64(run: bytes) -> bytes:
    """Decode the complete groups of a run of base64."""
    run = run.rstrip(b"=")
    if len(run) % 4 == 1:
        run = run[:-1]
    try:
        return base64.b64decode(run + b"=" * (-len(run) % 4))
    except binascii.Error:
        return b""


def is_text(decoded: bytes) -> bool:
    """Return whether decoded bytes are printable text."""
    unprintable = len(decoded.translate(None, _PRINTABLE))
    return len(decoded) - unprintable >= _MIN_PRINTABLE * len(decoded) > 0


def _accept(rule: Rule, data: bytes, start: int, end: int) -> Match | None:
    """Return the match of a rule, unless its context or its value excludes it."""
    if rule.standalone and (
        (start > 0 and data[start - 1] in ALPHANUMERIC)
        or (end < len(data) and data[end] in ALPHANUMERIC and data[end - 1] in ALPHANUMERIC)
    ):
        return None
    value = data[start:end]
    if is_placeholder(value):
        return None
    confidence = rule.confidence if rule.check is None else rule.check(value)
    return None if confidence is None else Match(rule.kind, confidence, start, end, value)


@cache
def _compile(pattern: str) -> Any:
    """Compile a rule on first use: RE2 takes 2.5 MB, and few titles need any rule."""
    import re2  # type: ignore[import-untyped]

    return re2.compile(pattern.encode())


def _make_detector(rule: Rule) -> Detect:
    """Return a function that applies a rule to an occurrence."""

    @cache
    def load() -> tuple[Any, int]:
        pattern = _compile(rule.pattern)
        return pattern, 1 if pattern.groups else 0

    def detect_at(data: bytes, at: int) -> Match | None:
        if rule.standalone and at > 0 and data[at - 1] in ALPHANUMERIC:
            return None
        pattern, group = load()
        found = pattern.match(data, at, at + rule.reach)
        return None if found is None else _accept(rule, data, *found.span(group))

    def detect_around(data: bytes, at: int) -> Match | None:
        pattern, group = load()
        found = pattern.search(data, max(0, at - rule.before), at + rule.reach)
        return None if found is None else _accept(rule, data, *found.span(group))

    return detect_around if rule.before else detect_at


@cache
def _load_engine() -> _Engine:
    """Load the rules on first use, which takes a few milliseconds."""
    from ahocorasick_rs import BytesAhoCorasick, Implementation

    by_keyword: dict[str, list[Detect]] = {}
    without_keyword: list[Rule] = []
    for rule in (*TOKEN_RULES, *CONTEXT_RULES):
        if not rule.keywords:
            without_keyword.append(rule)
        detect = _make_detector(rule)
        for keyword in rule.keywords:
            by_keyword.setdefault(keyword, []).append(detect)
    # Faster than RE2 on such short pieces, which also bound its time.
    assigned = context_rules.make_detector(re.compile)
    for keyword in context_rules.KEYWORDS:
        by_keyword.setdefault(keyword, []).append(assigned)
    automaton = BytesAhoCorasick(
        [keyword.encode() for keyword in by_keyword], implementation=Implementation.DFA
    )
    return _Engine(
        lambda data: automaton.find_matches_as_indexes(data, overlapping=True),
        tuple(map(tuple, by_keyword.values())),
        {keyword: tuple(each) for keyword, each in by_keyword.items()},
        tuple(without_keyword),
    )
