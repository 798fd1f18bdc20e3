"""Encrypting a whole archive, for other recipients than before, or not any more.

Objects and manifests are write-once, so all of them are written again, and the earlier ones deleted
at the end. Interrupted anywhere, it leaves an archive whose every file can be read with the earlier
or the new key, and running it again finishes it.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec import structs

from recollect.archive.archive import Archive, Stored
from recollect.archive.encryption import (
    check_recipient,
    decrypt,
    encrypt,
    generate_identity,
    lock_with_passphrase,
)
from recollect.archive.keys import get_key_finder
from recollect.archive.manifests import FileVersion, iter_objects
from recollect.archive.restoring import write_private
from recollect.errors import NothingFound, UnreadableInput

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

    An archive that has a passphrase keeps its identity, so nothing else is written again.
    """
    own = get_key_finder().unlock_identity(archive.locked_identity)
    identity, recipient = (own[0], None) if own else generate_identity()
    locked = lock_with_passphrase(f"{identity}\n".encode(), passphrase)
    with archive.lock():
        archive.objects.write_file(archive.locked_identity, locked)
    if recipient:
        reencrypt_archive(Archive(archive.directory, [identity]), [recipient], watch)
    return (identity,)


def encrypt_to(archive: Archive, recipients: Sequence[str], watch: Watch) -> None:
    """Encrypt the archive to recipients, or decrypt it if there are none; ends a passphrase."""
    reencrypt_archive(archive, recipients, watch)
    archive.locked_identity.unlink(missing_ok=True)


def reencrypt_archive(archive: Archive, recipients: Sequence[str], watch: Watch) -> None:
    """Write every object and manifest again, encrypted to these recipients."""
    settings = archive.settings
    if settings is None:
        raise NothingFound("There is no archive. Run `recollect archive enable` first.")
    with archive.lock() as lock:
        stored = archive.load()
        _refuse_damage(stored)
        archive.save_settings(structs.replace(settings, recipients=tuple(recipients)))
        changed = archive.reopen()
        needed = sorted(set(iter_objects(stored.iter_versions())))
        names: dict[str, str] = {}
        for number, name in enumerate(needed, start=1):
            names[name] = changed.objects.put_compressed(archive.objects.read_compressed(name))[0]
            lock.show_life()
            watch(number, len(needed))
        known = [
            structs.replace(each, version=_rename(each.version, names))
            for each in archive.load_known().values()
        ]
        changed.drop_cache()
        _replace_manifests(changed, stored, names)
        kept = set(names.values())
        for name, _ in list(changed.objects.iter_names()):
            if name not in kept:
                changed.objects.remove(name)
        changed.save_known(known)


def _replace_manifests(archive: Archive, stored: Stored, names: Mapping[str, str]) -> None:
    for name, versions in stored.manifests.items():
        archive.add_manifest([_rename(each, names) for each in versions], name.taken)
        archive.remove_manifest(name)


def _rename(version: FileVersion, names: Mapping[str, str]) -> FileVersion:
    pieces = tuple(structs.replace(each, object=names[each.object]) for each in version.pieces)
    return structs.replace(version, pieces=pieces)


def _refuse_damage(stored: Stored) -> None:
    if stored.damaged:
        raise UnreadableInput(
            f"The manifest {next(iter(stored.damaged))} is damaged, and nothing was changed. "
            "Run `recollect archive verify`."
        )
