"""Find secrets under a policy: by rule, personal data, and kinds defined by the user."""

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any, Final, NamedTuple

from recollect.errors import UsageError
from recollect.redact.findings import (
    DEFAULT_POLICY,
    Confidence,
    Finding,
    Match,
    RedactionPolicy,
    merge_matches,
)
from recollect.redact.plain_view import Text, read_text

_EMAIL: Final = rb"[A-Za-z0-9._%+\-]{1,64}@[A-Za-z0-9][A-Za-z0-9.\-]{0,200}\.[A-Za-z]{2,24}"
_MIN_NAME: Final = 3
"""Minimum length of user and host names; shorter ones are part of too many words."""
HOME: Final = "home"


_Find = Callable[[bytes], Iterable[Match]]


def find_secrets(text: str, policy: RedactionPolicy = DEFAULT_POLICY) -> tuple[Finding, ...]:
    """Return the secrets that a policy masks in a text, in order and without overlaps."""
    data = text.encode("utf-8", "surrogatepass")
    return to_findings(find_masked(read_text(data), policy), data, text)


def to_findings(matches: Iterable[Match], data: bytes, text: str) -> tuple[Finding, ...]:
    """Return matches in UTF-8 as findings in the text."""
    from recollect.redact.scanner import make_locator  # the rules

    locate = make_locator(data, is_ascii=len(data) == len(text))
    return tuple(
        Finding(match.kind, match.confidence, locate(match.start), locate(match.end))
        for match in matches
    )


def find_masked(text: Text, policy: RedactionPolicy) -> list[Match]:
    """Return what a policy masks in a text."""
    from recollect.redact.scanner import find_matches  # the rules: recorded secrets need none

    is_allowed = _compile(policy).is_allowed
    found = [
        match
        for match in find_matches(text)
        if (policy.likely or match.is_definite) and not is_allowed(match.value)
    ]
    own = find_own(text, policy)
    return merge_matches([*found, *own]) if own else found


def find_own(text: Text, policy: RedactionPolicy) -> list[Match]:
    """Return what the user's own rules find in a text, also if it is escaped or wrapped."""
    is_allowed, finders = _compile(policy)
    return [
        match
        for find in finders
        for match in (
            *(find(text.data) if text.plain.data != text.data else ()),
            *text.search_lines(find),
        )
        if not is_allowed(match.value)
    ]


class _OwnRules(NamedTuple):
    """The compiled rules of the user."""

    is_allowed: Callable[[bytes], bool]
    finders: tuple[_Find, ...]


@lru_cache(maxsize=8)
def _compile(policy: RedactionPolicy) -> _OwnRules:
    allowed = [compile_pattern(pattern) for pattern in policy.allow]
    finders = [_find_with(each.kind, compile_pattern(each.pattern)) for each in policy.patterns]
    if policy.emails:
        finders.append(_find_with("email", compile_pattern(_EMAIL.decode())))
    for kind, names in (("user", policy.users), ("host", policy.hosts)):
        finders += [_find_name(kind, name.encode()) for name in names if len(name) >= _MIN_NAME]
    if policy.home:
        finders.append(_find_name(HOME, policy.home.rstrip("/\\").encode()))
    return _OwnRules(lambda value: any(each.fullmatch(value) for each in allowed), tuple(finders))


def compile_pattern(pattern: str) -> Any:
    """Compile a user's pattern with RE2, which matches any pattern in linear time."""
    import re2  # type: ignore[import-untyped]

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0] if error.args else error
        text = reason.decode() if isinstance(reason, bytes) else str(reason)
        raise UsageError(f"{pattern!r} is not a valid regular expression: {text}.") from error


def _find_with(kind: str, pattern: Any) -> _Find:
    group = 1 if pattern.groups else 0

    def find(data: bytes) -> Iterator[Match]:
        for found in pattern.finditer(data):
            start, end = found.span(group)
            if start < end:
                yield Match(kind, Confidence.DEFINITE, start, end, data[start:end])

    return find


def _find_name(kind: str, name: bytes) -> _Find:
    """Find a name as a whole word."""

    def find(data: bytes) -> Iterator[Match]:
        start = data.find(name)
        while start >= 0:
            end = start + len(name)
            if not (_is_word(data[start - 1 : start]) or _is_word(data[end : end + 1])):
                yield Match(kind, Confidence.DEFINITE, start, end, name)
            start = data.find(name, end)

    return find


def _is_word(character: bytes) -> bool:
    return character.isalnum() or character == b"_" or character >= b"\x80"
