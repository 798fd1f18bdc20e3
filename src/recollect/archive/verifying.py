"""Checking an archive, and removing what is no longer wanted from it.

A removal writes the shortened manifests first and deletes objects last: interrupted anywhere, it
leaves an archive that is whole, and running it again finishes it.
"""

from collections.abc import Callable, Collection, Iterable, Mapping

from msgspec import Struct, structs

from recollect.archive.archive import Archive, Stored
from recollect.archive.compressed import hash_bytes
from recollect.archive.manifests import FileVersion, ManifestName, iter_objects
from recollect.archive.reading import iter_checked
from recollect.errors import UnreadableInput

Watch = Callable[[int, int], None]


class Damage(Struct, frozen=True):
    """An object or manifest that is not what it should be."""

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
    """Stored bytes that were read."""
    versions: int
    """Versions of files; each was rebuilt and compared if the check was deep."""
    damaged: tuple[Damage, ...]
    unused: int
    """Objects that nothing needs, left by an interrupted sync; harmless."""
    unused_bytes: int


class Removal(Struct, frozen=True, kw_only=True):
    """What was removed, or would be."""

    versions: int
    objects: int
    bytes: int


def verify_archive(archive: Archive, *, deep: bool, watch: Watch) -> Verification:
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
            lock.show_life()
            watch(number, len(names))
        versions = list(stored.iter_versions())
        if deep:
            broken = frozenset(each.name for each in damaged)
            damaged += _rebuild_all(archive, versions, broken, lock.show_life)
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
    """Remove all versions of sessions, given by Claude directory and id, and their objects.

    Without sessions, only unused objects are removed.
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
    return None if hash_bytes(stored) == name else "damaged: its SHA-256 is not its name"


def _rebuild_all(
    archive: Archive,
    versions: Iterable[FileVersion],
    broken: frozenset[str],
    show_life: Callable[[], None],
) -> list[Damage]:
    """Return the versions that do not have the recorded content although their objects are sound.

    The content of two versions of a file mostly is the same bytes, which are compared only once.
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
                found.append(Damage(version.path, "its size is not the one listed"))
        show_life()
    return found


def _replace_manifests(
    archive: Archive, stored: Stored, kept: Mapping[ManifestName, tuple[FileVersion, ...]]
) -> None:
    for name, versions in kept.items():
        if len(versions) < len(stored.manifests[name]):
            if versions:
                archive.add_manifest(versions, name.taken)
            archive.remove_manifest(name)
    # It names files that are being removed, whatever comes next.
    archive.drop_cache()
