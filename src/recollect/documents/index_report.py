"""The status of the index, as `recollect index --json` prints it."""

from typing import Literal

from msgspec import Struct


class IndexProblem(Struct, frozen=True):
    """A transcript that could not be read."""

    file: str
    reason: str


class TextStatus(Struct, frozen=True, kw_only=True):
    """The status of the full-text index."""

    bytes: int = 0
    """Its size on disk; 0 if there is none yet."""
    is_current: bool = False
    files_behind: int = 0
    """Transcripts with texts still to be indexed, or that are deleted and still in the index."""


class IndexDocument(Struct, frozen=True, kw_only=True):
    """What was done, and the resulting status."""

    schema: Literal["recollect.index/2"] = "recollect.index/2"
    path: str
    bytes: int
    is_sound: bool
    is_current: bool
    files_read: int
    bytes_read: int
    files: int
    files_gone: int
    messages: int
    copies: int
    text: TextStatus
    problems: tuple[IndexProblem, ...]
