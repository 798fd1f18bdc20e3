"""Archive maintenance: verify an archive, remove sessions from it, and encrypt or decrypt it, or
change its recipients.

A removal writes the shortened manifests first and deletes objects last. If it is interrupted, the
archive is intact, and the next run finishes the removal.

To encrypt, all objects and manifests are written again, because they are write-once, and the
earlier ones are deleted at the end. If this is interrupted, every file can be read with the earlier
or the new key, and the next run finishes it.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, structs

from recollect.archive import encryption
from recollect.archive.archive import Archive, Stored
from recollect.archive.archived_files import write_private
from recollect.archive.manifests import FileVersion, ManifestName, iter_checked, iter_objects
from recollect.archive.object_store import hash_bytes
from recollect.errors import UnreadableInput

OnProgress = Callable[[int, int], None]


class Damage(Struct, frozen=True):
    """A damaged object or manifest."""

    name: str
    """The name of the object, or of the manifest's file."""
    reason: str
    files: tuple[str, ...] = ()
    """Paths of archived files that need it."""


class Verification(Struct, frozen=True, kw_only=True):
    """The result of a check."""

    manifests: int
    objects: int
    bytes: int
    """Number of stored bytes that were read."""
    versions: int
    """Number of versions of files; a deep check has rebuilt and compared each."""
    damaged: tuple[Damage, ...]
    unused: int
    """Number of unused objects, left by an interrupted sync; harmless."""
    unused_bytes: int


class Removal(Struct, frozen=True, kw_only=True):
    """The result of a removal or its dry run."""

    versions: int
    objects: int
    bytes: int


def verify_archive(archive: Archive, *, deep: bool, on_progress: OnProgress) -> Verification:
    """Read every object and manifest; `deep` also rebuilds every version of every file."""
    with archive.lock() as lock:
        stored = archive.load()
        sizes = dict(archive.objects.iter_names())
        users = _find_users(stored)
        damaged = [Damage(name, reason) for name, reason in stored.damaged.items()]
        names = sorted({*users, *sizes})
        for number, name in enumerate(names, start=1):
            if reason := _find_damage(archive, name):
                damaged.append(Damage(name, reason, tuple(sorted(users.get(name, ())))))
            lock.signal_progress()
            on_progress(number, len(names))
        versions = list(stored.iter_versions())
        if deep:
            broken = frozenset(each.name for each in damaged)
            damaged += _rebuild_all(archive, versions, broken, lock.signal_progress)
    unused = [size for name, size in sizes.items() if name not in users]
    return Verification(
        manifests=len(stored.manifests) + len(stored.damaged),
        objects=len(names),
        bytes=sum(sizes.values()),
        versions=len(versions),
        damaged=tuple(damaged),
        unused=len(unused),
        unused_bytes=sum(unused),
    )


def remove_sessions(
    archive: Archive, wanted: Collection[tuple[str, str]], *, dry_run: bool = False
) -> Removal:
    """Remove all versions of sessions, given as Claude directory and id, and their objects.

    If there are none, only unused objects are removed.
    """
    return remove_versions(
        archive, lambda version: (version.root, version.session) in wanted, dry_run=dry_run
    )


def remove_versions(
    archive: Archive, is_removed: Callable[[FileVersion], bool], *, dry_run: bool = False
) -> Removal:
    """Remove versions of files, and the objects that no other version needs."""
    with archive.lock():
        stored = archive.load()
        if stored.damaged:
            raise UnreadableInput(
                f"The manifest {next(iter(stored.damaged))} is damaged, so it is unknown which "
                "objects it needs, and nothing was removed. Run `recollect archive verify`."
            )
        repeated = stored.find_repeated()
        kept = {
            name: tuple(each for each in versions if name not in repeated and not is_removed(each))
            for name, versions in stored.manifests.items()
        }
        needed = set(iter_objects(each for versions in kept.values() for each in versions))
        sizes = dict(archive.objects.iter_names())
        unused = [name for name in sizes if name not in needed]
        if not dry_run:
            known = [each for each in archive.load_known().values() if not is_removed(each.version)]
            _replace_manifests(archive, stored, kept)
            archive.save_known(known)
            for name in unused:
                archive.objects.remove(name)
    removed = sum(map(len, stored.manifests.values())) - sum(map(len, kept.values()))
    return Removal(versions=removed, objects=len(unused), bytes=sum(map(sizes.__getitem__, unused)))


def _find_users(stored: Stored) -> dict[str, set[str]]:
    users: dict[str, set[str]] = {}
    for version in stored.iter_versions():
        for piece in version.pieces:
            users.setdefault(piece.object, set()).add(version.path)
    return users


def _find_damage(archive: Archive, name: str) -> str | None:
    try:
        stored = archive.objects.read_stored(name)
    except (UnreadableInput, OSError) as error:
        return f"missing or unreadable: {error}"
    return None if hash_bytes(stored) == name else "damaged: its SHA-256 does not match its name"


def _rebuild_all(
    archive: Archive,
    versions: Iterable[FileVersion],
    broken: frozenset[str],
    signal_progress: Callable[[], None],
) -> list[Damage]:
    """Return the versions that differ from the recorded content although their objects are intact.

    Versions of a file mostly share the same bytes, which are compared only once.
    """
    found: list[Damage] = []
    checked: set[tuple[str, tuple[object, ...]]] = set()
    for version in versions:
        pieces = tuple(map(structs.astuple, version.pieces))
        if (version.sha256, pieces) in checked or not broken.isdisjoint(iter_objects([version])):
            continue
        checked.add((version.sha256, pieces))
        try:
            size = sum(map(len, iter_checked(archive.objects, version)))
        except UnreadableInput as error:
            found.append(Damage(version.path, str(error), (version.path,)))
        else:
            if size != version.size:
                found.append(Damage(version.path, "its size does not match the manifest"))
        signal_progress()
    return found


def _replace_manifests(
    archive: Archive, stored: Stored, kept: Mapping[ManifestName, tuple[FileVersion, ...]]
) -> None:
    for name, versions in kept.items():
        if len(versions) < len(stored.manifests[name]):
            if versions:
                archive.add_manifest(versions, name.taken)
            archive.remove_manifest(name)
    # It still lists the removed files.
    archive.drop_cache()


def make_identity_file(path: Path) -> str:
    """Create an identity in a new file that only its owner can read; return its recipient."""
    identity, recipient = encryption.generate_identity()
    text = f"# public key: {recipient}\n{identity}\n"
    write_private(path, lambda file: file.write(text.encode()))
    return recipient


def require_matching_identity(recipients: Sequence[str], identities: Sequence[str]) -> None:
    """Raise KeyMissing unless one of the identities can decrypt files for these recipients."""
    probe = encryption.encrypt(b"recollect", list(map(encryption.check_recipient, recipients)))
    encryption.decrypt(probe, identities)


def protect_with_passphrase(
    archive: Archive, passphrase: str, on_progress: OnProgress
) -> Sequence[str]:
    """Encrypt the archive with a passphrase, replacing an earlier one; return its identity.

    An archive with a passphrase keeps its identity, so nothing else is written again, unless an
    earlier run was interrupted.
    """
    own = encryption.get_key_finder().unlock_identity(archive.locked_identity)
    identity = own[0] if own else encryption.generate_identity()[0]
    recipients = (encryption.find_recipient(identity),)
    locked = encryption.lock_with_passphrase(f"{identity}\n".encode(), passphrase)
    with archive.lock():
        archive.objects.write_file(archive.locked_identity, locked)
    settings = archive.require_settings()
    if settings.is_rewriting or settings.recipients != recipients:
        reencrypt_archive(Archive(archive.directory, [identity]), recipients, on_progress)
    return (identity,)


def encrypt_to(archive: Archive, recipients: Sequence[str], on_progress: OnProgress) -> None:
    """Encrypt the archive to recipients, or decrypt it if there are none; removes a passphrase."""
    reencrypt_archive(archive, recipients, on_progress)
    archive.locked_identity.unlink(missing_ok=True)


def reencrypt_archive(archive: Archive, recipients: Sequence[str], on_progress: OnProgress) -> None:
    """Write every object and manifest again, encrypted to these recipients."""
    archive.require_settings()
    with archive.lock() as lock:
        stored = archive.load()
        _refuse_damage(stored)
        changed = _save_recipients(archive, recipients, is_rewriting=True)
        repeated = stored.find_repeated()
        kept = {name: each for name, each in stored.manifests.items() if name not in repeated}
        needed = sorted({name for versions in kept.values() for name in iter_objects(versions)})
        names: dict[str, str] = {}
        for number, name in enumerate(needed, start=1):
            names[name] = changed.objects.put_compressed(archive.objects.read_compressed(name))[0]
            lock.signal_progress()
            on_progress(number, len(needed))
        known = archive.load_known().values()
        changed.drop_cache()
        written = {
            changed.add_manifest([_rename(each, names) for each in versions], manifest.taken)
            for manifest, versions in kept.items()
        }
        # Without encryption, a rewritten object may have the same name as before.
        for manifest in stored.manifests.keys() - written:
            changed.remove_manifest(manifest)
        _remove_others(changed, names.values())
        changed.save_known(
            structs.replace(each, version=_rename(each.version, names))
            for each in known
            if names.keys() >= {*iter_objects([each.version])}
        )
        _save_recipients(changed, recipients, is_rewriting=False)


def _save_recipients(archive: Archive, recipients: Sequence[str], *, is_rewriting: bool) -> Archive:
    """Save the recipients, and return the archive with them."""
    settings = archive.require_settings()
    archive.save_settings(
        structs.replace(settings, recipients=tuple(recipients), is_rewriting=is_rewriting)
    )
    return archive.reopen()


def _remove_others(archive: Archive, kept: Iterable[str]) -> None:
    wanted = frozenset(kept)
    for name, _ in list(archive.objects.iter_names()):
        if name not in wanted:
            archive.objects.remove(name)


def _rename(version: FileVersion, names: Mapping[str, str]) -> FileVersion:
    pieces = tuple(structs.replace(each, object=names[each.object]) for each in version.pieces)
    return structs.replace(version, pieces=pieces)


def _refuse_damage(stored: Stored) -> None:
    if stored.damaged:
        raise UnreadableInput(
            f"The manifest {next(iter(stored.damaged))} is damaged, and nothing was changed. "
            "Run `recollect archive verify`."
        )
