"""The syntax tree of a query, and its one canonical text.

It knows what may stand in a query and how each thing is written, nothing of where it is looked up.
The canonical text of a tree reads back as the same tree, so it can go into links, saved searches
and messages. Regular expressions are carried as they were typed: the one engine that may run them
(linear in time) is also the one that may judge them.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Final, Literal, TypeAlias

from msgspec import Struct

TextField: TypeAlias = Literal[
    "project", "session", "role", "tool", "file", "model", "branch", "is"
]
TEXT_FIELDS: Final[tuple[TextField, ...]] = (
    "project", "session", "role", "tool", "file", "model", "branch", "is",
)  # fmt: skip
BoundName: TypeAlias = Literal["since", "until"]
FIELDS: Final = (*TEXT_FIELDS, "since", "until")
# Fields that take one of a few words only.
CHOICES: Final = {
    "role": ("user", "assistant", "tool", "system"),
    "is": ("command", "error", "prompt", "subagent", "summary", "thinking"),
}

# What ends a word wherever it stands.
DELIMITERS: Final = r'\s()|"“”'
KNOWN_FIELD: Final = rf"(?i:{'|'.join(FIELDS)}):"
# Lower-case letters, a colon and a value: someone expects a field. Links, ports, drive letters,
# `std::vector` and `TypeError:` look different and are words.
UNKNOWN_FIELD: Final = re.compile(rf'([a-z]{{3,16}}):(?:["“]|(?![0-9]+$)\w[^{DELIMITERS}]*$)')
_RESERVED: Final = re.compile(rf"OR$|AND$|{KNOWN_FIELD}")
_BARE_VALUE: Final = re.compile(rf"[^{DELIMITERS}]+")


class Word(Struct, frozen=True, tag=True):
    """A word, path or identifier; what it consists of must stand together, in this order."""

    text: str

    def __str__(self) -> str:
        """The word; one that would read as something else is set off by an apostrophe."""
        return f"'{self.text}" if _is_reserved(self.text) else self.text


class Prefix(Struct, frozen=True, tag=True):
    """The beginning of a word."""

    text: str

    def __str__(self) -> str:
        """The beginning with a star behind it."""
        return f"'{self.text}*" if _is_reserved(f"{self.text}*") else f"{self.text}*"


class Phrase(Struct, frozen=True, tag=True):
    """Words that must follow each other."""

    text: str

    def __str__(self) -> str:
        """The words in quotes."""
        return quote(self.text)


class Regex(Struct, frozen=True, tag=True):
    """A regular expression as it was typed between the slashes, not yet checked."""

    pattern: str
    ignores_case: bool = False

    def __str__(self) -> str:
        """The expression between slashes."""
        return f"/{self.pattern}/{'i' if self.ignores_case else ''}"


class Field(Struct, frozen=True, tag=True):
    """A property that a message must have."""

    name: TextField
    value: str

    def __str__(self) -> str:
        """Name and value; the value in quotes where it needs them."""
        bare = _BARE_VALUE.fullmatch(self.value)
        return f"{self.name}:{self.value if bare else quote(self.value)}"


class Bound(Struct, frozen=True, tag=True):
    """A limit in time: nothing before the moment (since), or nothing from it on (until)."""

    name: BoundName
    value: str
    moment: datetime

    def __str__(self) -> str:
        """The date as it was written, so that `7d` in a saved search stays relative."""
        return f"{self.name}:{self.value}"


class Not(Struct, frozen=True, tag=True):
    """What must not be there."""

    part: "Node"

    def __str__(self) -> str:
        """A minus before the part."""
        return f"-{self.part}" if isinstance(self.part, Leaf) else f"-({self.part})"


class And(Struct, frozen=True, tag=True):
    """All of two or more parts."""

    parts: tuple["Node", ...]

    def __str__(self) -> str:
        """The parts with spaces between them."""
        return " ".join(map(_grouped, self.parts))


class Or(Struct, frozen=True, tag=True):
    """At least one of two or more parts."""

    parts: tuple["Node", ...]

    def __str__(self) -> str:
        """The parts with OR between them."""
        return " OR ".join(map(_grouped, self.parts))


Sought: TypeAlias = Word | Prefix | Phrase
Leaf: TypeAlias = Sought | Regex | Field | Bound
Node: TypeAlias = Leaf | Not | And | Or


class Query(Struct, frozen=True):
    """A whole query; its `str` is the canonical text."""

    root: Node

    def __str__(self) -> str:
        """The canonical text, which reads back as the same query."""
        return str(self.root)


def iter_sought(node: Node) -> Iterator[Sought]:
    """Yield the words and phrases that a hit may hold, leaving out what is negated."""
    if isinstance(node, And | Or):
        for part in node.parts:
            yield from iter_sought(part)
    elif isinstance(node, Word | Prefix | Phrase):
        yield node


def names_something(node: Node) -> bool:
    """Tell whether a query says what to find, and not only what to leave out."""
    if isinstance(node, And):
        return any(map(names_something, node.parts))
    if isinstance(node, Or):
        return all(map(names_something, node.parts))
    return not isinstance(node, Not)


def quote(text: str) -> str:
    """The text in quotes, with quotes and backslashes in it escaped."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _is_reserved(text: str) -> bool:
    return bool(_RESERVED.match(text) or UNKNOWN_FIELD.match(text))


def _grouped(node: Node) -> str:
    return f"({node})" if isinstance(node, And | Or) else str(node)
