"""Regular expressions of a query: compile them with RE2, and find the literals they require.

RE2 runs in linear time, whatever the pattern and the text. Every match of a pattern contains its
required literals, so the index can narrow down the texts to check. The parser for literals knows
only part of RE2's syntax and errs on the side of requiring too little; it never rejects a pattern.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final, Protocol, cast

import re2  # type: ignore[import-untyped]
from msgspec import Struct

from recollect.search.query_parser import QueryError
from recollect.search.query_tree import And, Node, Not, Or, Query, Regex


class Literal(Struct, frozen=True, tag=True):
    """A substring that must occur; what is next to it is not known."""

    text: str


class AllOf(Struct, frozen=True, tag=True):
    """Requirements that must all hold; none at all means that anything may match."""

    parts: tuple["Requirement", ...]


class AnyOf(Struct, frozen=True, tag=True):
    """Requirements of which at least one must hold."""

    parts: tuple["Requirement", ...]


Requirement = Literal | AllOf | AnyOf

NOTHING: Final = AllOf(())
_MAX_DEPTH: Final = 50
_REPEAT: Final = re.compile(r"(?:[*+?]|\{(\d+)(?:,\d*)?\})\??")
_OPENING: Final = re.compile(r"\((?:\?(?:P?<\w+>|[imsU-]*:))?(?!\?)")
_FLAGS: Final = re.compile(r"\(\?[imsU-]+\)")
_CLASS: Final = re.compile(r"\[\^?\]?(?:\[:\^?\w+:\]|\\[^pPQ]|[^\]\\])*\]")
_ANYTHING: Final = re.compile(
    r"\.|\\(?:[dDsSwWaftnrv]|x[0-9A-Fa-f]{2}|x\{[0-9A-Fa-f]+\}|[pP](?:[A-Z]|\{\^?\w+\}))"
)
_ASSERTION: Final = re.compile(r"[\^$]|\\[bBAz]")
_BRACES: Final = re.compile(r"\{\d*,?\d*\}")
_ESCAPED: Final = re.compile(r"\\([^\w\s])", re.ASCII)


class _Unsupported(Exception):
    """The pattern has syntax that this parser does not know."""


def find_required_literals(pattern: str) -> Requirement:
    """Return what every match of a pattern must contain; `NOTHING` if that is not clear."""
    reader = _Reader(pattern)
    try:
        requirement = reader.read_choice(_MAX_DEPTH)
    except _Unsupported:
        return NOTHING
    return requirement if reader.at == len(pattern) else NOTHING


class _Reader:
    """Recursive-descent parser for patterns."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self.at = 0

    def read_choice(self, levels: int) -> Requirement:
        """Parse alternatives up to the end or a closing parenthesis."""
        if not levels:
            raise _Unsupported
        branches = [self._read_sequence(levels)]
        while self._take("|"):
            branches.append(self._read_sequence(levels))
        if len(branches) == 1:
            return branches[0]
        # If one alternative requires nothing, so does the whole.
        return NOTHING if NOTHING in branches else AnyOf(tuple(branches))

    def _read_sequence(self, levels: int) -> Requirement:
        parts: list[Requirement] = []
        literal = ""
        while self.at < len(self._pattern) and self._pattern[self.at] not in "|)":
            character, requirement = self._read_atom(levels)
            minimum, is_repeated = self._read_repeat()
            literal += character if minimum else ""
            if not character or is_repeated:
                parts += [Literal(literal)] * bool(literal)
                literal = ""
            if minimum and requirement != NOTHING:
                parts.append(requirement)
        parts += [Literal(literal)] * bool(literal)
        return parts[0] if len(parts) == 1 else AllOf(tuple(parts))

    def _read_atom(self, levels: int) -> tuple[str, Requirement]:
        """Parse the next atom: return its literal character, or else what it requires."""
        if any(map(self._match, (_CLASS, _ANYTHING, _ASSERTION, _FLAGS))):
            return "", NOTHING
        if self._match(_OPENING):
            requirement = self.read_choice(levels - 1)
            if not self._take(")"):
                raise _Unsupported
            return "", requirement
        if escaped := self._match(_ESCAPED):
            return escaped[1], NOTHING
        character = self._pattern[self.at]
        if character in "\\[(*+?" or _BRACES.match(self._pattern, self.at):
            raise _Unsupported
        self.at += 1
        return character, NOTHING

    def _read_repeat(self) -> tuple[int, bool]:
        """Return the minimum count of the preceding atom, and whether it may occur more often."""
        match = self._match(_REPEAT)
        if match is None:
            return 1, False
        if match[1] is not None:
            return int(match[1]), True
        return int(match[0][0] == "+"), True

    def _match(self, expression: re.Pattern[str]) -> re.Match[str] | None:
        match = expression.match(self._pattern, self.at)
        if match is not None:
            self.at = match.end()
        return match

    def _take(self, character: str) -> bool:
        is_next = self._pattern.startswith(character, self.at)
        self.at += is_next
        return is_next


_MAX_MEMORY: Final = 16 << 20


class Match(Protocol):
    """A match of a pattern."""

    def span(self) -> tuple[int, int]:
        """Return start and end, in characters."""
        ...


class Pattern(Protocol):
    """A compiled regular expression."""

    def search(self, text: str) -> Match | None:
        """Return the first match."""
        ...

    def finditer(self, text: str) -> Iterable[Match]:
        """Iterate over all matches."""
        ...


def compile_regex(regex: Regex, query: str) -> Pattern:
    """Compile a regular expression; raises `QueryError` if RE2 rejects it."""
    options = re2.Options()
    options.case_sensitive = not regex.ignores_case
    options.log_errors = False
    options.max_mem = _MAX_MEMORY
    try:
        return cast(Pattern, re2.compile(regex.pattern, options))
    except re2.error as error:
        reason = error.args[0]
        text = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        message = f"invalid regular expression: {text}"
        raise QueryError(message, query, max(query.find(str(regex)), 0) + 1) from error


def check_regexes(query: Query) -> None:
    """Raise `QueryError` if a regular expression of the query is invalid."""
    for regex in iter_regexes(query.root, negated=True):
        compile_regex(regex, str(query))


def iter_regexes(node: Node, *, negated: bool = False) -> Iterator[Regex]:
    """Iterate over the regular expressions of a query, including negated ones if `negated`."""
    if isinstance(node, And | Or):
        for part in node.parts:
            yield from iter_regexes(part, negated=negated)
    elif isinstance(node, Regex):
        yield node
    elif negated and isinstance(node, Not):
        yield from iter_regexes(node.part, negated=negated)
