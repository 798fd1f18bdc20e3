"""`ArchiveSessionStore`: lets agents built with the Claude Agent SDK mirror into the archive.

It has the methods of the SDK's `SessionStore` protocol and does not import the SDK. A mirrored
session is like any other archived one: it can be listed, read, searched and restored.

An append is durable when it returns. Small batches would make many small objects, so the end of a
growing file is stored again with each batch until it has `MAX_TAIL` bytes, and the object that it
replaces is deleted; the manifest that the store writes is replaced in the same way.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, NotRequired, Protocol, TypedDict, TypeVar

import msgspec

from recollect.archive import (
    archive_maintenance,
    archive_sync,
    archived_files,
    find_archive_directory,
    manifests,
    object_store,
)
from recollect.archive.archive import Archive, ArchiveSettings
from recollect.errors import NothingFound, UsageError
from recollect.locations import claude_directories, resolve_roots
from recollect.quantities import format_utc

T = TypeVar("T")

MAX_TAIL: Final = 256 * 1024
"""Bytes at the end of a file that are stored again when something is appended."""


class SessionKey(TypedDict):
    """Identifies the transcript of a session or, with a subpath, one that belongs to it."""

    project_key: str
    session_id: str
    subpath: NotRequired[str]


class ListedSession(TypedDict):
    """A session of a project, and when it was last written, in milliseconds since 1970."""

    session_id: str
    mtime: int


class _Hash(Protocol):
    def update(self, data: bytes, /) -> None: ...
    def hexdigest(self) -> str: ...


class _OpenFile:
    """A file that is being appended to."""

    def __init__(self, version: manifests.FileVersion | None, content: bytes) -> None:
        self.version = version
        self.digest: _Hash = sha256(content)
        self.uuids = {found for line in content.splitlines() if (found := _find_uuid(line))}
        self.fixed = version.pieces if version else ()
        self.tail = b""


class ArchiveSessionStore:
    """A session store in the archive.

    Without arguments it uses the archive of the command line, and mirrored sessions count as those
    of the Claude directory in use. An archive that does not exist is created; that does not enable
    `recollect archive sync`.
    """

    def __init__(
        self, archive: str | Path | None = None, claude_dir: str | Path | None = None
    ) -> None:
        directory = Path(archive).absolute() if archive else find_archive_directory()
        self._archive = Archive(directory)
        self._root = archive_sync.identify_root(
            Path(claude_dir) if claude_dir else _find_claude_dir()
        )
        # One thread: batches are stored in the order of the calls.
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="session-store")
        self._open: dict[str, _OpenFile] = {}
        self._mine: manifests.ManifestName | None = None
        self._manifests: list[manifests.ManifestName] | None = None
        self._newest: dict[tuple[str, str], manifests.FileVersion] = {}

    async def append(self, key: SessionKey, entries: Sequence[Mapping[str, Any]]) -> None:
        """Add entries to a transcript; those whose `uuid` it has already are left out."""
        await self._run(lambda: self._append(_make_parts(key), entries))

    async def load(self, key: SessionKey) -> list[Any] | None:
        """Return all entries of a transcript; None if there is none."""
        return await self._run(lambda: self._load(manifests.encode_path(_make_parts(key))))

    async def list_sessions(self, project_key: str) -> list[ListedSession]:
        """Return the sessions of a project."""
        return await self._run(lambda: self._list_sessions(project_key))

    async def list_subkeys(self, key: SessionKey) -> list[str]:
        """Return the subpaths of a session, such as those of its subagents."""
        return await self._run(lambda: self._list_subkeys(key))

    async def delete(self, key: SessionKey) -> None:
        """Remove a transcript for good; without a subpath, the whole session."""
        await self._run(lambda: self._delete(key))

    async def _run(self, act: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, act)

    def _append(self, parts: tuple[str, ...], entries: Sequence[Mapping[str, Any]]) -> None:
        place = archived_files.describe_place(parts)
        if place is None:
            raise UsageError(f"{'/'.join(parts)!r} is not the path of a transcript.")
        if not entries:
            return
        self._prepare(place[0])
        with self._archive.lock():
            self._refresh()
            path = manifests.encode_path(parts)
            file = self._open_file(path)
            added = b"".join(map(_encode, _drop_known(entries, file.uuids)))
            if added:
                # Until it is stored: after a failure only the files on disk can be trusted.
                self._manifests = None
                self._store(file, path, place, added)

    def _prepare(self, session: str | None) -> None:
        settings = self._archive.settings
        if settings is None:
            created = format_utc(datetime.now(UTC))
            self._archive.save_settings(ArchiveSettings(created=created, is_enabled=False))
        elif session in settings.forgotten:
            raise UsageError(
                f"{session} was removed with `archive forget` and is not archived again."
            )

    def _refresh(self) -> None:
        """Read the manifests if another process has written any since the last read."""
        names = self._archive.list_manifests()
        if names != self._manifests:
            self._manifests, self._newest = names, self._archive.load().newest()
            # Others may refer to objects now that this store would replace.
            self._open, self._mine = {}, None

    def _open_file(self, path: str) -> _OpenFile:
        if path not in self._open:
            version = self._newest.get((self._root, path))
            content = (
                b"".join(manifests.iter_checked(self._archive.objects, version)) if version else b""
            )
            self._open[path] = _OpenFile(version, content)
        return self._open[path]

    def _store(
        self, file: _OpenFile, path: str, place: tuple[str | None, manifests.FileKind], added: bytes
    ) -> None:
        """Store the end of the file again with what was added, and list that in the manifest."""
        replaced = file.version.pieces[len(file.fixed) :] if file.version else ()
        file.digest.update(added)
        data = file.tail + added
        pieces = tuple(
            manifests.Piece(self._archive.objects.put(chunk)[0], 0, len(chunk))
            for start in range(0, len(data), object_store.MAX_CONTENT)
            for chunk in (data[start : start + object_store.MAX_CONTENT],)
        )
        file.version = manifests.FileVersion(
            root=self._root,
            path=path,
            session=place[0],
            kind=place[1],
            size=(file.version.size if file.version else 0) + len(added),
            mtime_ns=time.time_ns(),
            mode="600",
            sha256=file.digest.hexdigest(),
            pieces=file.fixed + pieces,
        )
        is_full = len(data) >= MAX_TAIL
        file.fixed, file.tail = (file.version.pieces, b"") if is_full else (file.fixed, data)
        self._newest[file.version.key] = file.version
        self._replace_manifest()
        for piece in replaced:
            if piece not in pieces:
                self._archive.objects.remove(piece.object)

    def _replace_manifest(self) -> None:
        """List the files of this store in one manifest, whose earlier state is deleted."""
        before = self._mine
        versions = [file.version for file in self._open.values() if file.version]
        self._mine = self._archive.add_manifest(versions)
        if before:
            self._archive.remove_manifest(before)
        self._manifests = self._archive.list_manifests()

    def _load(self, path: str) -> list[Any] | None:
        self._refresh()
        version = self._newest.get((self._root, path))
        if version is None:
            return None
        content = b"".join(manifests.iter_checked(self._archive.objects, version))
        return [msgspec.json.decode(line) for line in content.splitlines() if line]

    def _list_sessions(self, project: str) -> list[ListedSession]:
        self._refresh()
        place = manifests.encode_path((claude_directories.PROJECTS_DIRECTORY, project))
        return [
            ListedSession(session_id=version.session, mtime=version.mtime_ns // 10**6)
            for version in self._newest.values()
            if version.kind is manifests.FileKind.TRANSCRIPT
            and version.session is not None
            and (version.root, version.path.rpartition("/")[0]) == (self._root, place)
        ]

    def _list_subkeys(self, key: SessionKey) -> list[str]:
        self._refresh()
        place = manifests.encode_path(
            (claude_directories.PROJECTS_DIRECTORY, key["project_key"], key["session_id"], "")
        )
        return sorted(
            version.path.removeprefix(place).removesuffix(claude_directories.TRANSCRIPT_SUFFIX)
            for version in self._newest.values()
            if version.root == self._root
            and version.path.startswith(place)
            and version.path.endswith(claude_directories.TRANSCRIPT_SUFFIX)
        )

    def _delete(self, key: SessionKey) -> None:
        if self._archive.settings is None:
            return
        path = manifests.encode_path(_make_parts(key))
        below = (
            ""
            if key.get("subpath")
            else f"{path.removesuffix(claude_directories.TRANSCRIPT_SUFFIX)}/"
        )

        def is_deleted(version: manifests.FileVersion) -> bool:
            is_below = bool(below) and version.path.startswith(below)
            return version.root == self._root and (version.path == path or is_below)

        archive_maintenance.remove_versions(self._archive, is_deleted)
        self._open, self._mine, self._manifests = {}, None, None


def _make_parts(key: SessionKey) -> tuple[str, ...]:
    """Return the path of a transcript in a Claude directory; raise UsageError for odd names."""
    names = [key["project_key"], key["session_id"]]
    names += key["subpath"].split("/") if key.get("subpath") else []
    if not all(map(claude_directories.is_plain_name, names)):
        raise UsageError(f"{'/'.join(names)!r} cannot be stored: a part of it is not a plain name.")
    return (
        claude_directories.PROJECTS_DIRECTORY,
        *names[:-1],
        f"{names[-1]}{claude_directories.TRANSCRIPT_SUFFIX}",
    )


def _drop_known(entries: Sequence[Mapping[str, Any]], known: set[str]) -> list[Mapping[str, Any]]:
    fresh: list[Mapping[str, Any]] = []
    for entry in entries:
        uuid = entry.get("uuid")
        if isinstance(uuid, str):
            if uuid in known:
                continue
            known.add(uuid)
        fresh.append(entry)
    return fresh


def _encode(entry: Mapping[str, Any]) -> bytes:
    return msgspec.json.encode(entry) + b"\n"


class _Identified(msgspec.Struct):
    uuid: str | None = None


def _find_uuid(line: bytes) -> str | None:
    try:
        return _IDENTIFIED.decode(line).uuid
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _find_claude_dir() -> Path:
    try:
        return resolve_roots()[0]
    except NothingFound:
        return Path.home() / ".claude"


_IDENTIFIED: Final = msgspec.json.Decoder(_Identified)
