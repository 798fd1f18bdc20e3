"""The syntax tree of a query, and its canonical text.

Independent of the index. The canonical text parses to the same tree, so it can be used in links,
saved searches and messages. Regular expressions are kept as typed and not checked: RE2 does that
when it compiles them.
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
# Fields with a fixed set of values.
CHOICES: Final = {
    "role": ("user", "assistant", "tool", "system"),
    "is": ("command", "error", "prompt", "subagent", "summary", "thinking"),
}

# Characters that always end a word.
DELIMITERS: Final = r'\s()|"“”'
KNOWN_FIELD: Final = rf"(?i:{'|'.join(FIELDS)}):"
_RESERVED: Final = re.compile(rf"OR$|AND$|{KNOWN_FIELD}")
_BARE_VALUE: Final = re.compile(rf"[^{DELIMITERS}]+")


class Word(Struct, frozen=True, tag=True):
    """A word, path or identifier; its parts must be adjacent and in this order."""

    text: str

    def __str__(self) -> str:
        """Return the word, after an apostrophe if it would parse as something else."""
        return f"'{self.text}" if _is_reserved(self.text) else self.text


class Prefix(Struct, frozen=True, tag=True):
    """The start of a word."""

    text: str

    def __str__(self) -> str:
        """Return the prefix followed by a star."""
        return f"'{self.text}*" if _is_reserved(f"{self.text}*") else f"{self.text}*"


class Inside(Struct, frozen=True, tag=True):
    """Any part of a word or name."""

    text: str

    def __str__(self) -> str:
        """Return the part between stars."""
        return f"*{self.text}*"


class NamePart(Struct, frozen=True, tag=True):
    """A part of a name across separators: several terms end like its first piece.

    Only widening makes it; the last piece is the start of a word.
    """

    text: str
    heads: tuple[str, ...]

    def __str__(self) -> str:
        """Return the part as it would be typed."""
        return f"*{self.text.replace(' ', '_')}*"


class Phrase(Struct, frozen=True, tag=True):
    """Words that must be adjacent and in this order."""

    text: str

    def __str__(self) -> str:
        """Return the words in quotes."""
        return quote(self.text)


class Regex(Struct, frozen=True, tag=True):
    """A regular expression as typed between the slashes, not yet checked."""

    pattern: str
    ignores_case: bool = False
    narrows: bool = True
    """Whether to search for its literals first, and to run it only on texts that contain them."""

    def __str__(self) -> str:
        """Return the expression between slashes."""
        return f"/{self.pattern}/{'i' if self.ignores_case else ''}"


class FieldTerm(Struct, frozen=True, tag=True):
    """A field that a message must match."""

    name: TextField
    value: str

    def __str__(self) -> str:
        """Return name and value, with quotes around the value if needed."""
        bare = _BARE_VALUE.fullmatch(self.value)
        return f"{self.name}:{self.value if bare else quote(self.value)}"


class Bound(Struct, frozen=True, tag=True):
    """A time limit: not before `moment` (since), or before it (until)."""

    name: BoundName
    value: str
    moment: datetime

    def __str__(self) -> str:
        """Return the date as typed, so that `7d` in a saved search stays relative."""
        return f"{self.name}:{self.value}"


class Not(Struct, frozen=True, tag=True):
    """Something that must not match."""

    part: "Node"

    def __str__(self) -> str:
        """Return the part after a minus."""
        return f"-{self.part}" if isinstance(self.part, Leaf) else f"-({self.part})"


class And(Struct, frozen=True, tag=True):
    """Two or more parts that must all match."""

    parts: tuple["Node", ...]

    def __str__(self) -> str:
        """Return the parts separated by spaces."""
        return " ".join(map(_grouped, self.parts))


class Or(Struct, frozen=True, tag=True):
    """Two or more parts of which at least one must match."""

    parts: tuple["Node", ...]

    def __str__(self) -> str:
        """Return the parts separated by OR."""
        return " OR ".join(map(_grouped, self.parts))


TextTerm: TypeAlias = Word | Prefix | Inside | NamePart | Phrase
Leaf: TypeAlias = TextTerm | Regex | FieldTerm | Bound
Node: TypeAlias = Leaf | Not | And | Or


class Query(Struct, frozen=True):
    """A parsed query."""

    root: Node

    def __str__(self) -> str:
        """Return the canonical text, which parses to the same query."""
        return str(self.root)


def iter_text_terms(node: Node) -> Iterator[TextTerm]:
    """Iterate over words, parts of words and phrases that are not negated."""
    if isinstance(node, And | Or):
        for part in node.parts:
            yield from iter_text_terms(part)
    elif isinstance(node, Word | Prefix | Inside | NamePart | Phrase):
        yield node


def has_positive_term(node: Node) -> bool:
    """Whether a query has anything but negated terms."""
    if isinstance(node, And):
        return any(map(has_positive_term, node.parts))
    if isinstance(node, Or):
        return all(map(has_positive_term, node.parts))
    return not isinstance(node, Not)


def quote(text: str) -> str:
    """Return the text in quotes, with quotes and backslashes escaped."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _is_reserved(text: str) -> bool:
    return bool(_RESERVED.match(text))


def _grouped(node: Node) -> str:
    return f"({node})" if isinstance(node, And | Or) else str(node)
