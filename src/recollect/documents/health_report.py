"""The report of a health check, as plain data; docs/doctor.md documents its JSON form.

A report contains names and counts but no content of sessions, so that it can be pasted into a
public issue. It does contain file names, relative to the checked directory.
"""

from typing import Literal

from msgspec import Struct, field

Counts = dict[str, int]


class FileLocation(Struct, frozen=True, kw_only=True):
    """A byte range in a file."""

    file: str
    offset: int
    length: int


class DamagedRange(Struct, frozen=True, kw_only=True):
    """A byte range that is not a complete record, and why."""

    file: str
    offset: int
    length: int
    reason: str


class RefusedFile(Struct, frozen=True, kw_only=True):
    """A file that was not read; `failed` if it should have been readable."""

    file: str
    reason: str
    failed: bool


class Expiring(Struct, frozen=True, kw_only=True):
    """A transcript that Claude Code deletes at its first start after this time."""

    file: str
    after: str


class Orphan(Struct, frozen=True, kw_only=True):
    """Files of a session whose transcript no longer exists."""

    file: str
    kind: str
    files: int
    byte_count: int = field(name="bytes")


class OpcodeTimeline(Struct, frozen=True, kw_only=True):
    """Checkpoints that opcode, a front end for Claude Code, made of a session."""

    file: str
    has_session: bool
    """Whether the session's transcript exists."""
    files: int
    byte_count: int = field(name="bytes")


class RootReport(Struct, frozen=True, kw_only=True):
    """A Claude directory: its permissions, expiring sessions and orphaned files."""

    path: str
    sessions: int
    permissions: str | None
    """In octal; None on systems without POSIX permissions."""
    is_private: bool
    retention_days: float
    retention_is_set: bool
    retention_problem: str | None
    expiring: tuple[Expiring, ...]
    """Sessions that expire within a week, earliest first."""
    overdue: int
    """Number of expiring sessions that Claude Code deletes at its next start."""
    next_expiry: str | None
    orphans: tuple[Orphan, ...]
    timelines: tuple[OpcodeTimeline, ...] = ()


class IndexReport(Struct, frozen=True, kw_only=True):
    """The status of the index on this machine."""

    path: str
    byte_count: int = field(name="bytes")
    is_sound: bool
    is_current: bool
    is_locked: bool
    schema_version: int | None
    files: int
    files_gone: int
    messages: int
    problems: int


class ArchiveReport(Struct, frozen=True, kw_only=True):
    """Summary of the archive."""

    path: str
    is_enabled: bool
    sessions: int = 0
    sessions_gone: int = 0
    files_behind: int = 0
    last_sync: str | None = None
    problem: str | None = None
    """Why it cannot be read, for example because it is encrypted and the key is missing."""


class HealthReport(Struct, frozen=True, kw_only=True):
    """The combined report of all checked files."""

    schema: Literal["recollect.doctor/2"] = "recollect.doctor/2"
    files: int = 0
    kinds: Counts = {}
    streams: int = 0
    empty_files: int = 0
    byte_count: int = field(default=0, name="bytes")
    accounted_bytes: int = 0
    records: int = 0
    salvaged: int = 0
    blank: int = 0
    oldest: str | None = None
    newest: str | None = None
    types: Counts = {}
    versions: Counts = {}
    unknown_types: Counts = {}
    unknown_fields: dict[str, Counts] = {}
    misfits: dict[str, Counts] = {}
    damaged: tuple[DamagedRange, ...] = ()
    damaged_omitted: int = 0
    torn: tuple[FileLocation, ...] = ()
    oversized: tuple[FileLocation, ...] = ()
    refused: tuple[RefusedFile, ...] = ()
    roots: tuple[RootReport, ...] = ()
    index: IndexReport | None = None
    sqlite: str | None = None
    archive: ArchiveReport | None = None

    @property
    def damaged_count(self) -> int:
        """Return the number of damaged regions, including those not listed."""
        return len(self.damaged) + self.damaged_omitted

    @property
    def has_drift(self) -> bool:
        """Whether anything is unknown to this version of Recollect."""
        return bool(self.unknown_types or self.unknown_fields or self.misfits)

    @property
    def is_complete(self) -> bool:
        """Whether everything that should be readable was read; a torn last line does not matter."""
        unread = any(refused.failed for refused in self.refused)
        return not (self.damaged_count or self.oversized or unread)
