"""An archive on disk: its directory, its settings, its manifests and its write lock.

archive.json          format, consent, and the sessions that were forgotten on purpose
    snapshots/            manifests, one per sync that stored something
    objects/ab/abcd….zst  compressed content
    identity.age          the key of an encrypted archive, locked with a passphrase
    known.msgpack         cache of the newest version of each file; may be deleted
    tmp/                  files that are being written

With the cache, manifests and unchanged files need not be read again. It lists the manifests that it
was made from, and is ignored if there are others.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from recollect.archive import SETTINGS_NAME
from recollect.archive.encryption import LOCKED_IDENTITY, Cipher, get_key_finder
from recollect.archive.manifests import (
    FORMAT,
    FileVersion,
    ManifestName,
    check_manifest,
    decode_manifest,
    encode_manifest,
    make_time,
    parse_manifest_name,
)
from recollect.archive.object_store import ObjectStore, explain_failures, hash_bytes, sync_directory
from recollect.atomic_files import make_directories
from recollect.errors import ArchiveFailure, IndexFailure, NothingFound, UnreadableInput, UsageError
from recollect.sources.growth import FileState
from recollect.sources.safe_files import open_file
from recollect.store.data_directory import Lock, hold_lock

_CACHE: Final = "known.msgpack"
_SNAPSHOTS: Final = "snapshots"
_LOCK: Final = "archive.lock"
_DIRECTORIES: Final = ("objects", _SNAPSHOTS, "tmp")


class ArchiveSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The content of `archive.json`."""

    format: str = FORMAT
    created: str
    is_enabled: bool = True
    forgotten: tuple[str, ...] = ()
    """Sessions that must not be archived again."""
    forgotten_plans: tuple[str, ...] = ()
    """Paths of their plans, which only the deleted transcripts contain."""
    recipients: tuple[str, ...] = ()
    """The recipients who can decrypt the archive; without any it is not encrypted."""
    is_rewriting: bool = False
    """Whether encrypting or decrypting the archive is in progress or was interrupted."""


class KnownFile(msgspec.Struct, frozen=True, kw_only=True):
    """The newest version of a file, and the state of the file when it was read."""

    version: FileVersion
    state: FileState = FileState()
    slug: str | None = None
    """The name of the session's plan."""


class _Cache(msgspec.Struct, frozen=True):
    manifests: tuple[str, ...]
    files: tuple[KnownFile, ...]


class Stored(NamedTuple):
    """All versions of all files, oldest first, and the manifests that could not be read."""

    manifests: Mapping[ManifestName, tuple[FileVersion, ...]]
    damaged: Mapping[str, str]
    """The reason, by the file name of the manifest."""

    def iter_versions(self) -> Iterator[FileVersion]:
        """Yield all versions, oldest first."""
        for versions in self.manifests.values():
            yield from versions

    def newest(self) -> dict[tuple[str, str], FileVersion]:
        """Return the newest version of each file."""
        return {version.key: version for version in self.iter_versions()}

    def find_repeated(self) -> set[ManifestName]:
        """Return the manifests that repeat another one, because a rewrite was interrupted."""
        listed = {
            (name.taken, *((each.key, each.sha256, each.mtime_ns) for each in versions)): name
            for name, versions in self.manifests.items()
        }
        return self.manifests.keys() - listed.values()


class Archive:
    """An archive; opening one that does not exist is not an error."""

    def __init__(self, directory: Path, identities: Sequence[str] = ()) -> None:
        self.directory = directory
        self._identities = tuple(identities)
        self.objects = ObjectStore(directory, lambda: self.cipher)

    @cached_property
    def cipher(self) -> Cipher:
        """Return the cipher for the files of the archive."""
        settings = self.settings
        sources = get_key_finder().list_sources(self.directory)
        return Cipher(settings.recipients if settings else (), (lambda: self._identities, *sources))

    @property
    def has_passphrase(self) -> bool:
        """Whether the key of the archive is protected with a passphrase."""
        return self.locked_identity.is_file()

    @property
    def locked_identity(self) -> Path:
        """Return the path of that key, which may not exist."""
        return self.directory / LOCKED_IDENTITY

    def reopen(self) -> "Archive":
        """Return the archive with its current settings and the same keys."""
        return Archive(self.directory, self._identities)

    def find_identities(self) -> tuple[str, ...]:
        """Return the keys of an encrypted archive, to pass to another process."""
        return self.cipher.collect_identities() if self.cipher.recipients else ()

    def require_keys(self) -> None:
        """Raise KeyMissing if the archive is encrypted and cannot be decrypted."""
        if self.cipher.recipients:
            self._read_cache()
            for name in self.list_manifests()[-1:]:
                self._read_manifest_data(name)

    @property
    def settings(self) -> ArchiveSettings | None:
        """Return the settings, including the user's consent; None if there is no archive."""
        path = self.directory / SETTINGS_NAME
        if not path.exists():
            return None
        try:
            with open_file(path) as file:
                found = msgspec.json.decode(file.read(), type=ArchiveSettings)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ArchiveFailure(
                f"{path} is damaged: {error}. Delete it and run `recollect archive enable`; "
                "no archived data is lost."
            ) from error
        if found.format != FORMAT:
            raise ArchiveFailure(
                f"The archive in {self.directory} has the format {found.format!r}. "
                "Install a newer version of Recollect to use it."
            )
        return found

    @property
    def is_enabled(self) -> bool:
        """Whether the user has agreed to archiving."""
        settings = self.settings
        return settings is not None and settings.is_enabled

    def require_enabled(self) -> ArchiveSettings:
        """Return the settings; raise UsageError if archiving is off."""
        settings = self.settings
        if settings is None or not settings.is_enabled:
            raise UsageError("The archive is not enabled. Run `recollect archive enable` first.")
        return settings

    def require_settings(self) -> ArchiveSettings:
        """Return the settings; raise NothingFound if there is no archive."""
        settings = self.settings
        if settings is None:
            raise NothingFound("There is no archive. Run `recollect archive enable` first.")
        return settings

    def save_settings(self, settings: ArchiveSettings) -> None:
        """Write the settings, and create missing directories."""
        with explain_failures(self.directory):
            make_directories(self.directory)
            for name in _DIRECTORIES:
                (self.directory / name).mkdir(mode=0o700, exist_ok=True)
        # The recipients may have changed.
        vars(self).pop("cipher", None)
        data = msgspec.json.format(msgspec.json.encode(settings), indent=2)
        self.objects.write_file(self.directory / SETTINGS_NAME, data + b"\n")

    @contextmanager
    def lock(self) -> Iterator[Lock]:
        """Hold the write lock of the archive; waits until it is free."""
        try:
            with hold_lock(self.directory, name=_LOCK) as lock:
                # The previous holder of the lock may have changed the recipients.
                vars(self).pop("cipher", None)
                self.objects.remove_temporary_files()
                yield lock
        except IndexFailure as error:
            raise ArchiveFailure(str(error)) from error

    def list_manifests(self) -> list[ManifestName]:
        """Return the names of all manifests, oldest first."""
        names = (path.name for path in (self.directory / _SNAPSHOTS).glob("*"))
        return sorted(found for name in names if (found := parse_manifest_name(name)))

    def find_stamp(self) -> int | None:
        """Return a number that changes with the list of manifests; None if there is no archive."""
        try:
            return (self.directory / _SNAPSHOTS).stat().st_mtime_ns
        except OSError:
            return None

    def load(self) -> Stored:
        """Read all manifests; damaged ones are reported and left out."""
        manifests: dict[ManifestName, tuple[FileVersion, ...]] = {}
        damaged: dict[str, str] = {}
        for name in self.list_manifests():
            try:
                manifests[name] = self.read_manifest(name)
            except UnreadableInput as error:
                damaged[str(name)] = str(error)
        return Stored(manifests, damaged)

    def read_manifest(self, name: ManifestName) -> tuple[FileVersion, ...]:
        """Return the files of a manifest; raise UnreadableInput if it is damaged."""
        return decode_manifest(name, self._read_manifest_data(name))

    def add_manifest(
        self, versions: Iterable[FileVersion], taken: str | None = None
    ) -> ManifestName:
        """Store a manifest, after flushing the objects that it needs to disk."""
        names = self.list_manifests()
        when = taken or make_time(datetime.now(UTC), names[-1].taken if names else None)
        data = self.cipher.seal(encode_manifest(when, versions))
        self.objects.flush()
        name = ManifestName(when, hash_bytes(data))
        path = self._manifest_path(name)
        self.objects.write_file(path, data)
        sync_directory(path.parent)
        return name

    def remove_manifest(self, name: ManifestName) -> None:
        """Delete a manifest that has been replaced or no longer lists any files."""
        path = self._manifest_path(name)
        with explain_failures(path):
            path.unlink(missing_ok=True)
        sync_directory(path.parent)

    def load_known(self) -> dict[tuple[str, str], KnownFile]:
        """Return the newest version of each file, from the cache if it is up to date."""
        cached = self._read_cache()
        if cached is None or cached.manifests != tuple(map(str, self.list_manifests())):
            return {key: KnownFile(version=each) for key, each in self.load().newest().items()}
        return {each.version.key: each for each in cached.files}

    def save_known(self, files: Iterable[KnownFile]) -> None:
        """Write the cache."""
        cache = _Cache(tuple(map(str, self.list_manifests())), tuple(files))
        data = self.cipher.seal(msgspec.msgpack.encode(cache))
        self.objects.write_file(self.directory / _CACHE, data)

    def drop_cache(self) -> None:
        """Delete the cache, which would still list forgotten files."""
        (self.directory / _CACHE).unlink(missing_ok=True)

    def _read_cache(self) -> _Cache | None:
        try:
            data = self.cipher.unseal((self.directory / _CACHE).read_bytes())
            return msgspec.msgpack.decode(data, type=_Cache)
        except (OSError, UnreadableInput, msgspec.DecodeError):
            return None

    def _read_manifest_data(self, name: ManifestName) -> bytes:
        with open_file(self._manifest_path(name)) as file:
            return self.cipher.unseal(check_manifest(name, file.read()))

    def _manifest_path(self, name: ManifestName) -> Path:
        return self.directory / _SNAPSHOTS / str(name)
