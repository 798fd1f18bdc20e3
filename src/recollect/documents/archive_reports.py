"""JSON output of the commands for the archive and bundles."""

from msgspec import Struct


class ArchiveStatus(Struct, frozen=True, kw_only=True):
    """`archive status`, `archive enable` and `archive disable`: the state of the archive."""

    schema: str = "recollect.archive-status/1"
    path: str
    is_enabled: bool
    sessions: int
    """Number of archived sessions."""
    sessions_gone: int
    """Number of archived sessions that Claude Code has deleted."""
    files: int
    bytes: int
    """Total size of the archived files, each counted once."""
    stored_bytes: int
    """Size of the archive on disk, including all earlier versions."""
    last_sync: str | None
    """When data was last stored, in UTC."""
    files_behind: int
    """Number of files that are new or have changed since."""
    forgotten: int
    """Number of sessions that the user has removed, which are not archived again."""
    damaged_manifests: list[str]
    recipients: list[str]
    """Public keys that the archive is encrypted to; empty if it is not encrypted."""
    has_passphrase: bool
    """Whether it can be opened with a passphrase."""
    is_rewriting: bool
    """Whether `archive encrypt` or `decrypt` is running, or was interrupted."""


class ArchiveSync(Struct, frozen=True, kw_only=True):
    """`archive sync`: what was copied."""

    schema: str = "recollect.archive-sync/1"
    files: int
    added: int
    grown: int
    rewritten: int
    bytes_read: int
    bytes_stored: int
    skipped: list[str]
    """Links and special files, which are never copied."""
    vanished: list[str]
    """Files that were deleted before they could be copied."""
    unreadable: dict[str, str]


class ArchivedSessionRow(Struct, frozen=True, kw_only=True):
    """One session of `archive list`."""

    id: str
    project: str | None
    """The name of its directory below `projects`."""
    cwd: str | None = None
    """Its working directory; None if the index does not have it."""
    claude_dir: str
    files: int
    bytes: int
    stored_bytes: int
    modified: float
    """When its transcript was last written, in seconds since 1970."""
    activity: float
    """When it was last active; the same as `modified` if the index does not have it."""
    is_gone: bool
    """Whether Claude Code has deleted it."""


class ArchiveList(Struct, frozen=True, kw_only=True):
    """`archive list`: all archived sessions, most recently active first."""

    schema: str = "recollect.archive-list/1"
    sessions: list[ArchivedSessionRow]


class DamagedPart(Struct, frozen=True):
    """A damaged object, manifest or file of the archive."""

    name: str
    reason: str
    files: list[str]
    """Archived files that need it."""


class ArchiveVerification(Struct, frozen=True, kw_only=True):
    """`archive verify`: what was checked, and all damage."""

    schema: str = "recollect.archive-verify/1"
    is_deep: bool
    manifests: int
    objects: int
    bytes: int
    versions: int
    damaged: list[DamagedPart]
    unused: int
    unused_bytes: int


class WrittenFile(Struct, frozen=True):
    """A file of a restored or imported session."""

    path: str
    outcome: str
    """`restored`, or `present` if the same file already existed."""


class ArchiveRestore(Struct, frozen=True, kw_only=True):
    """`archive restore`: the files that were written."""

    schema: str = "recollect.archive-restore/1"
    directory: str
    sessions: list[str]
    files: list[WrittenFile]


class ArchiveExport(Struct, frozen=True, kw_only=True):
    """`archive export`: the content of the tar file."""

    schema: str = "recollect.archive-export/1"
    path: str
    sessions: list[str]
    files: int
    bytes: int
    stored_bytes: int
    is_encrypted: bool


class ArchiveRemoval(Struct, frozen=True, kw_only=True):
    """`archive forget` and `archive prune`: what was removed, or would be."""

    schema: str = "recollect.archive-removal/1"
    is_dry_run: bool
    sessions: list[str]
    kept: list[str]
    """Matching sessions that were kept because they are still in the Claude directory."""
    versions: int
    objects: int
    bytes: int


class BundleReport(Struct, frozen=True, kw_only=True):
    """`bundle`: what was packed."""

    schema: str = "recollect.bundle/1"
    path: str
    sessions: list[str]
    files: int
    bytes: int
    stored_bytes: int
    is_encrypted: bool
    secrets: dict[str, int]
    """Number of possible secrets by kind; they are not masked."""


class ImportReport(Struct, frozen=True, kw_only=True):
    """`import`: the files that were written, or would be."""

    schema: str = "recollect.import/1"
    is_dry_run: bool
    directory: str
    sessions: list[str]
    files: list[WrittenFile]
