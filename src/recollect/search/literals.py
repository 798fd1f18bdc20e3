"""A regular expression → the literal text that every match of it must hold.

Reads the syntax of RE2 only as far as it has to, and errs to demanding too little: whatever it is
not sure of ends a literal, and an escape or a bracket that it cannot follow ends the search for
literals altogether. It never judges an expression: that is for the engine that runs it.
"""

import re
from typing import Final

from msgspec import Struct


class Literal(Struct, frozen=True, tag=True):
    """Characters that must follow each other; what stands around them is not known."""

    text: str


class Every(Struct, frozen=True, tag=True):
    """All of these; nothing is demanded if there are none."""

    parts: tuple["Demand", ...]


class Either(Struct, frozen=True, tag=True):
    """At least one of these."""

    parts: tuple["Demand", ...]


Demand = Literal | Every | Either

NOTHING: Final = Every(())
_DEEPEST: Final = 50
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


class _Unclear(Exception):
    """The expression has something that is not followed here."""


def demand_of(pattern: str) -> Demand:
    """What every match of an expression must hold; nothing where that is not clear."""
    reader = _Reader(pattern)
    try:
        demand = reader.read_choice(_DEEPEST)
    except _Unclear:
        return NOTHING
    return demand if reader.at == len(pattern) else NOTHING


class _Reader:
    """Reads an expression from left to right."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self.at = 0

    def read_choice(self, levels: int) -> Demand:
        """Alternatives up to the end or to a parenthesis that closes."""
        if not levels:
            raise _Unclear
        branches = [self._read_sequence(levels)]
        while self._take("|"):
            branches.append(self._read_sequence(levels))
        if len(branches) == 1:
            return branches[0]
        # One that demands nothing makes all the others pointless.
        return NOTHING if NOTHING in branches else Either(tuple(branches))

    def _read_sequence(self, levels: int) -> Demand:
        parts: list[Demand] = []
        literal = ""
        while self.at < len(self._pattern) and self._pattern[self.at] not in "|)":
            character, demand = self._read_atom(levels)
            least, is_repeated = self._read_repeat()
            literal += character if least else ""
            if not character or is_repeated:
                parts += [Literal(literal)] * bool(literal)
                literal = ""
            if least and demand != NOTHING:
                parts.append(demand)
        parts += [Literal(literal)] * bool(literal)
        return parts[0] if len(parts) == 1 else Every(tuple(parts))

    def _read_atom(self, levels: int) -> tuple[str, Demand]:
        """The next thing that can be repeated: a character, or what it demands otherwise."""
        if any(map(self._match, (_CLASS, _ANYTHING, _ASSERTION, _FLAGS))):
            return "", NOTHING
        if self._match(_OPENING):
            demand = self.read_choice(levels - 1)
            if not self._take(")"):
                raise _Unclear
            return "", demand
        if escaped := self._match(_ESCAPED):
            return escaped[1], NOTHING
        character = self._pattern[self.at]
        if character in "\\[(*+?" or _BRACES.match(self._pattern, self.at):
            raise _Unclear
        self.at += 1
        return character, NOTHING

    def _read_repeat(self) -> tuple[int, bool]:
        """How often the thing before must occur at least, and whether it may occur more often."""
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

    def _take(self, sign: str) -> bool:
        is_there = self._pattern.startswith(sign, self.at)
        self.at += is_there
        return is_there
