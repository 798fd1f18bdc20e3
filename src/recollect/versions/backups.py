"""The file-history backups of a Claude directory: plain copies, named by path hash and number.

After a resume the copies may be in the directory of another id than the transcript's, so a name is
looked up in all of them. Names come from transcripts and must be plain before they become paths.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from recollect.library.processes import read_small
from recollect.locations import is_plain_name
from recollect.locations.project_names import decode_id
from recollect.sources.safe_files import find_directory, list_directory
from recollect.sources.source import Entry
from recollect.versions.evidence import BackupName, BackupReference, Origin, Sighting, SightingKind
from recollect.versions.file_texts import decode_file

DIRECTORY_NAME: Final = "file-history"
MAX_BACKUP: Final = 64 * 1024 * 1024
_NAME: Final = re.compile(r"([0-9a-f]{16})@v(\d{1,9})")


class Backups(Protocol):
    """The file-history backups of sessions."""

    def read(self, session_id: str, name: str) -> bytes | None:
        """Return a backup, from the directory of any session; None if it is gone."""

    def list_unrecorded(self, session_id: str, recorded: Iterable[str]) -> Iterable[BackupFile]:
        """Return later versions of `recorded` backups that no record names, oldest first."""


class BackupFile(NamedTuple):
    """A backup in a session's directory, and when it was written."""

    name: str
    time: str


class NoBackups:
    """For sessions that come from no directory."""

    def read(self, session_id: str, name: str) -> bytes | None:
        """Return None."""
        return None

    def list_unrecorded(
        self,
        session_id: str,
        recorded: Iterable[str],
    ) -> Iterable[BackupFile]:
        """Return nothing."""
        return ()


class BackupDirectory:
    """The backups below `file-history` of one Claude directory."""

    def __init__(self, root: Path | None) -> None:
        found = find_directory(root, DIRECTORY_NAME) if root else None
        self._directory = found if isinstance(found, Path) else None

    def read(self, session_id: str, name: str) -> bytes | None:
        """Return a backup, from the session's own directory or any other; None if it is gone."""
        if self._directory is None or not _NAME.fullmatch(name):
            return None
        own = self._find_session(session_id)
        places = [own / name] if own else []
        for path in (*places, *self._by_name.get(name, ())):
            data = read_small(path, MAX_BACKUP)
            if data is not None:
                return data
        return None

    def list_unrecorded(self, session_id: str, recorded: Iterable[str]) -> Iterable[BackupFile]:
        """Return versions in the session's directory after the last recorded one of each file."""
        directory = self._find_session(session_id)
        if directory is None:
            return ()
        last: dict[str, int] = {}
        for named in filter(None, map(_NAME.fullmatch, recorded)):
            last[named[1]] = max(last.get(named[1], 0), int(named[2]))
        found = [
            (int(match[2]), entry)
            for entry in list_directory(directory)
            if (match := _NAME.fullmatch(entry.name)) and match[1] in last
            if int(match[2]) > last[match[1]]
        ]
        return [
            BackupFile(entry.name, _format_time(entry))
            for _, entry in sorted(found, key=lambda pair: pair[0])
        ]

    def _find_session(self, session_id: str) -> Path | None:
        name = decode_id(session_id)
        if self._directory is None or not is_plain_name(name):
            return None
        found = find_directory(self._directory, name)
        return found if isinstance(found, Path) else None

    @cached_property
    def _by_name(self) -> dict[str, list[Path]]:
        places: dict[str, list[Path]] = {}
        for session in list_directory(self._directory) if self._directory else ():
            if session.is_dir(follow_symlinks=False):
                for entry in list_directory(session.path):
                    places.setdefault(entry.name, []).append(Path(entry.path))
        return places


def _format_time(entry: Entry) -> str:
    seconds = entry.stat(follow_symlinks=False).st_mtime
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.000Z"


def read_backup(reference: BackupReference, backups: Backups) -> Sighting | None:
    """Return the content of a backup; None if it is gone or not text."""
    origin = reference.origin
    data = backups.read(origin.session_id, reference.name)
    content = decode_file(data) if data is not None else None
    if content is None:
        return None
    return Sighting(
        path=reference.path,
        origin=origin,
        kind=reference.kind,
        text=content.text,
        backup=BackupName(origin.session_id, reference.name),
    )


def read_unrecorded(
    session_id: str, named: Mapping[str, str], backups: Backups
) -> Iterator[Sighting]:
    """Yield the backups that were made after the last record; `named` are paths by backup."""
    paths = {name.partition("@")[0]: path for name, path in named.items()}
    for file in backups.list_unrecorded(session_id, named):
        reference = BackupReference(
            path=paths[file.name.partition("@")[0]],
            origin=Origin(session_id=session_id, time=file.time),
            kind=SightingKind.BACKUP,
            name=file.name,
        )
        found = read_backup(reference, backups)
        if found is not None:
            yield found
