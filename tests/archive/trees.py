"""Claude directories on disk, their archives, and everything that a restore must reproduce."""

import hashlib
import os
import stat
from pathlib import Path
from typing import NamedTuple

from recollect.archive.archive import Archive, ArchiveSettings
from recollect.archive.archive_sync import SyncReport, sync_archive
from recollect.archive.archive_tasks import restore_files

SESSION = "11111111-1111-4111-8111-111111111111"
OTHER = "22222222-2222-4222-8222-222222222222"
PROJECT = "projects/-home-mina-pond"
TRANSCRIPT = f"{PROJECT}/{SESSION}.jsonl"
LINE = b'{"type":"user","sessionId":"%s","slug":"green-pond","message":{}}\n' % SESSION.encode()

SIDECARS = {
    f"{PROJECT}/{SESSION}/subagents/agent-a1.jsonl": LINE,
    f"{PROJECT}/{SESSION}/subagents/agent-a1.meta.json": b"{}",
    f"{PROJECT}/{SESSION}/tool-results/b1.txt": b"output\n" * 900,
    f"{PROJECT}/{SESSION}/workflows/w1.json": b"{}",
    f"{PROJECT}/{SESSION}/new-kind/of.file": b"\x00\xff",
    f"{PROJECT}/agent-flat.jsonl": LINE,
    f"todos/{SESSION}-agent-{SESSION}.json": b"[]",
    f"tasks/{SESSION}/1.json": b'{"id":"1"}',
    f"file-history/{SESSION}/0123456789abcdef@v1": b"old text\n",
    "plans/green-pond.md": b"# A plan\n",
}
"""A file of every kind that belongs to the session."""


class FileFacts(NamedTuple):
    """The properties of a file that must be equal after a restore."""

    sha256: str
    mtime_ns: int
    mode: int


class ArchivedRoot:
    """A Claude directory and its archive."""

    def __init__(self, base: Path) -> None:
        self.root = base / "claude"
        self.archive = Archive(base / "data" / "archive")
        self.root.mkdir(parents=True)
        self.enable()

    def enable(self) -> None:
        """Give consent."""
        self.archive.save_settings(ArchiveSettings(created="2026-11-01T00:00:00Z"))

    def write(self, path: str, data: bytes, *, mtime: int = 1_700_000_000) -> Path:
        """Write a file as if some time ago."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        os.utime(target, ns=(mtime * 10**9 + 123_456_789,) * 2)
        return target

    def write_session(self) -> None:
        """Write a session with everything that it may have, and the typed prompts."""
        for path, data in {TRANSCRIPT: LINE * 20, **SIDECARS, "history.jsonl": b"{}\n"}.items():
            self.write(path, data)

    def sync(self) -> SyncReport:
        """Bring the archive up to date."""
        return sync_archive(self.archive, [self.root])

    def restore_all(self, target: Path) -> dict[str, FileFacts]:
        """Restore the newest version of everything; return the resulting files."""
        newest = self.archive.load().newest().values()
        restore_files(self.archive, sorted(newest, key=lambda file: file.path), target)
        return read_facts(target)

    def stored_bytes(self) -> int:
        """Return the size of all objects."""
        return sum(size for _, size in self.archive.objects.iter_names())


def read_facts(root: Path) -> dict[str, FileFacts]:
    """Return the facts of every file below a directory, by relative path."""
    return {
        str(path.relative_to(root)): FileFacts(
            hashlib.sha256(path.read_bytes()).hexdigest(),
            path.stat().st_mtime_ns,
            stat.S_IMODE(path.stat().st_mode),
        )
        for path in sorted(root.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }
