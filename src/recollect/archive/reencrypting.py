"""Encrypting a whole archive, for other recipients than before, or not any more.

Objects and manifests are write-once, so all of them are written again, and the earlier ones deleted
at the end. Interrupted anywhere, it leaves an archive whose every file can be read with the earlier
or the new key, and running it again finishes it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import structs

from recollect.archive.archive import Archive, Stored
from recollect.archive.encryption import (
    check_recipient,
    decrypt,
    encrypt,
    find_recipient,
    generate_identity,
    lock_with_passphrase,
)
from recollect.archive.keys import get_key_finder
from recollect.archive.manifests import FileVersion, iter_objects
from recollect.archive.restoring import write_private
from recollect.errors import UnreadableInput

Watch = Callable[[int, int], None]


def make_identity_file(path: Path) -> str:
    """Write a new identity to a new file that only its owner can read; return its recipient."""
    identity, recipient = generate_identity()
    text = f"# public key: {recipient}\n{identity}\n"
    write_private(path, lambda file: file.write(text.encode()))
    return recipient


def require_matching_identity(recipients: Sequence[str], identities: Sequence[str]) -> None:
    """Raise KeyMissing unless what is encrypted to the recipients can be decrypted here."""
    probe = encrypt(b"recollect", list(map(check_recipient, recipients)))
    decrypt(probe, identities)


def protect_with_passphrase(archive: Archive, passphrase: str, watch: Watch) -> Sequence[str]:
    """Encrypt the archive with a passphrase, which replaces an earlier one; return its identity.

    An archive that has a passphrase keeps its identity, so nothing else is written again, unless
    that was interrupted.
    """
    own = get_key_finder().unlock_identity(archive.locked_identity)
    identity = own[0] if own else generate_identity()[0]
    recipients = (find_recipient(identity),)
    locked = lock_with_passphrase(f"{identity}\n".encode(), passphrase)
    with archive.lock():
        archive.objects.write_file(archive.locked_identity, locked)
    settings = archive.require_settings()
    if settings.is_rewriting or settings.recipients != recipients:
        reencrypt_archive(Archive(archive.directory, [identity]), recipients, watch)
    return (identity,)


def encrypt_to(archive: Archive, recipients: Sequence[str], watch: Watch) -> None:
    """Encrypt the archive to recipients, or decrypt it if there are none; ends a passphrase."""
    reencrypt_archive(archive, recipients, watch)
    archive.locked_identity.unlink(missing_ok=True)


def reencrypt_archive(archive: Archive, recipients: Sequence[str], watch: Watch) -> None:
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
            lock.show_life()
            watch(number, len(needed))
        known = archive.load_known().values()
        changed.drop_cache()
        written = {
            changed.add_manifest([_rename(each, names) for each in versions], manifest.taken)
            for manifest, versions in kept.items()
        }
        # Without encryption, what is written again may have the name that it had.
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
    """Return the archive as it is with these recipients."""
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
