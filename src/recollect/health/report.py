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
