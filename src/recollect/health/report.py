"""What a survey found, as plain data; its JSON form is documented in docs/doctor.md.

A report holds names and counts and nothing that anybody said, so that it can be pasted into a
public issue. File names are part of it; they are relative to what was surveyed.
"""

from msgspec import Struct, field

SCHEMA = "recollect.doctor/1"
"""Name and version of the JSON form; the number grows when a field changes its meaning."""

Counts = dict[str, int]


class Place(Struct, frozen=True, kw_only=True):
    """A stretch of bytes in a file."""

    file: str
    offset: int
    length: int


class DamagedPlace(Struct, frozen=True, kw_only=True):
    """Bytes that are no whole record, and what is wrong with them."""

    file: str
    offset: int
    length: int
    reason: str


class RefusedFile(Struct, frozen=True, kw_only=True):
    """An entry that was found and not read; `failed` when it should have been readable."""

    file: str
    reason: str
    failed: bool


class Expiring(Struct, frozen=True, kw_only=True):
    """A transcript that Claude Code deletes when it starts after this moment."""

    file: str
    after: str


class Orphan(Struct, frozen=True, kw_only=True):
    """What lies beside the transcripts and belongs to a session that has none."""

    file: str
    kind: str
    files: int
    byte_count: int = field(name="bytes")


class RootReport(Struct, frozen=True, kw_only=True):
    """A Claude directory: who may look into it, and what will go."""

    path: str
    sessions: int
    permissions: str | None
    """In octal digits; None where the system has none."""
    is_private: bool
    retention_days: float
    retention_is_set: bool
    retention_problem: str | None
    expiring: tuple[Expiring, ...]
    """Those that are due within a week, the first one first."""
    overdue: int
    """How many of them go as soon as Claude Code starts."""
    next_expiry: str | None
    orphans: tuple[Orphan, ...]


class IndexReport(Struct, frozen=True, kw_only=True):
    """The index on this machine."""

    path: str
    byte_count: int = field(name="bytes")
    is_sound: bool
    is_level: bool
    is_locked: bool
    schema_version: int | None
    files: int
    files_gone: int
    messages: int
    problems: int


class Report(Struct, frozen=True, kw_only=True):
    """The state of all files of a survey together."""

    schema: str = SCHEMA
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
    damaged: tuple[DamagedPlace, ...] = ()
    damaged_omitted: int = 0
    torn: tuple[Place, ...] = ()
    oversized: tuple[Place, ...] = ()
    refused: tuple[RefusedFile, ...] = ()
    roots: tuple[RootReport, ...] = ()
    index: IndexReport | None = None
    sqlite: str | None = None

    @property
    def damaged_count(self) -> int:
        """All damaged places, listed or not."""
        return len(self.damaged) + self.damaged_omitted

    @property
    def has_drift(self) -> bool:
        """Whether something was found that this version of Recollect does not know."""
        return bool(self.unknown_types or self.unknown_fields or self.misfits)

    @property
    def is_complete(self) -> bool:
        """Whether all that should be readable was read; a line in the making is none of it."""
        unread = any(refused.failed for refused in self.refused)
        return not (self.damaged_count or self.oversized or unread)
