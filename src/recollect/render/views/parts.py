"""The vocabulary of views: the few kinds of things that a conversation consists of.

A renderer is one function per kind. A tool never gets a kind of its own: whatever it did is said
with these, so that a new tool costs one view and no change to any renderer.
"""

from enum import StrEnum

from msgspec import Struct

from recollect.records.tools.patch import PatchHunk


class Prose(Struct, frozen=True, tag=True):
    """Words in Markdown, by a person or a model."""

    text: str


class Plain(Struct, frozen=True, tag=True):
    """Words without markup; line ends count."""

    text: str


class Code(Struct, frozen=True, tag=True):
    """Source text; `path` and `language` are hints for its colours."""

    text: str
    path: str | None = None
    language: str | None = None
    first_line: int | None = None
    """The number of its first line, when lines are worth numbering."""


class Output(Struct, frozen=True, tag=True):
    """What a program printed, with its colours as escape sequences."""

    text: str
    is_error: bool = False


class Diff(Struct, frozen=True, tag=True):
    """A change of one file."""

    path: str | None
    hunks: tuple[PatchHunk, ...]
    is_new_file: bool = False
    is_fragment: bool = False
    """Whether its lines are counted within the edit, because its place in the file is unknown."""


class CheckState(StrEnum):
    """How far an item of a list is."""

    PENDING = "pending"
    ACTIVE = "in_progress"
    DONE = "completed"
    DROPPED = "cancelled"


class CheckItem(Struct, frozen=True):
    """One item of a todo or task list."""

    text: str
    state: CheckState
    note: str | None = None


class Checklist(Struct, frozen=True, tag=True):
    """A todo or task list."""

    items: tuple[CheckItem, ...]


class Entry(Struct, frozen=True):
    """A line of a listing: a path, a match, a search result."""

    text: str
    path: str | None = None
    line: int | None = None
    url: str | None = None
    note: str | None = None


class Entries(Struct, frozen=True, tag=True):
    """Paths, matches or links, one a line."""

    entries: tuple[Entry, ...]
    omitted: int = 0
    """How many more there were."""


class Fields(Struct, frozen=True, tag=True):
    """Named values, in order."""

    fields: tuple[tuple[str, str], ...]


class Choice(Struct, frozen=True):
    """One answer that was offered."""

    label: str
    description: str = ""
    is_chosen: bool = False


class Question(Struct, frozen=True, tag=True):
    """A question to the person, and what they chose or wrote."""

    text: str
    header: str = ""
    choices: tuple[Choice, ...] = ()
    answer: str | None = None
    """Their own words, when they chose none of those offered."""


class Picture(Struct, frozen=True, tag=True):
    """An image or document; `data` is base64 and empty when the transcript does not hold it."""

    media_type: str
    data: str
    name: str | None = None


class Json(Struct, frozen=True, tag=True):
    """A value that nothing is known about, as the bytes say it."""

    text: str


Part = (
    Prose | Plain | Code | Output | Diff | Checklist | Entries | Fields | Question | Picture | Json
)
