"""What `recollect export` has written."""

from typing import Literal

from msgspec import Struct


class ExportedFile(Struct, frozen=True, kw_only=True):
    """A file that was written."""

    path: str
    size: int
    session_id: str | None = None
    """The session in it; None for an index, an image, or a table of many sessions."""


class MaskedKind(Struct, frozen=True, kw_only=True):
    """How often secrets of one kind were masked."""

    kind: str
    count: int


class ExportDocument(Struct, frozen=True, kw_only=True):
    """The files of an export, and what was masked in them."""

    schema: Literal["recollect.export/1"] = "recollect.export/1"
    format: str
    sessions: int
    files: tuple[ExportedFile, ...]
    is_redacted: bool
    """Whether secrets were masked, if there were any."""
    masked: tuple[MaskedKind, ...]
    unread: tuple[str, ...] = ()
    """Transcripts that could not be read."""
