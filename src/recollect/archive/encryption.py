"""Encryption in the age format (age-encryption.org/v1), and the sources of keys: files, the
environment, or the user. The only module that uses pyrage.

`age -d` reads everything that is written here. Using a passphrase takes a second on purpose, so it
never protects the objects of an archive directly: it protects an identity, and the objects are
encrypted to that.

age hides content, but does not prove who wrote it. Anyone who knows a recipient can encrypt to it.

An archive with a passphrase has its own identity in `identity.age`, locked with that passphrase.
Otherwise the identity is in a file outside the archive.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import IO, Any, Final

from recollect.errors import ArchiveFailure, UnreadableInput, UsageError
from recollect.sources.safe_files import open_file

MAGIC: Final = b"age-encryption.org/v1\n"
_PASSPHRASE_STANZA: Final = b"-> scrypt "
_SECRET_KEY: Final = "AGE-SECRET-KEY-"
_SSH_KEY: Final = "-----BEGIN "
_NO_KEY: Final = "No matching keys found"
_OTHER_KEY: Final = (
    "The archive is encrypted for a different key. Check RECOLLECT_ARCHIVE_IDENTITY and "
    "`archive_identity` in the config file: the archive cannot be read without the right key."
)
_NO_IDENTITY: Final = (
    "The archive is encrypted. Set RECOLLECT_ARCHIVE_IDENTITY, or `archive_identity` in the config "
    "file, to the file with your age identity."
)


class KeyMissing(ArchiveFailure):
    """Raised if none of the available keys can decrypt a file."""


class Cipher:
    """Encrypts to recipients, and decrypts with identities that are loaded when needed.

    `sources` return identities, fastest first: each is called only if no earlier identity fits.
    """

    def __init__(
        self, recipients: Sequence[str], sources: Iterable[Callable[[], Sequence[str]]]
    ) -> None:
        self.recipients = tuple(recipients)
        self._sources = tuple(sources)

    def seal(self, data: bytes) -> bytes:
        """Return the data encrypted to the recipients; unchanged if there are none."""
        return encrypt(data, self.recipients) if self.recipients else data

    def unseal(self, data: bytes) -> bytes:
        """Decrypt data if it is encrypted; raise KeyMissing if its key is missing."""
        if not is_encrypted(data):
            return data
        is_tried = False
        for source in self._sources:
            if identities := source():
                is_tried = True
                try:
                    return decrypt(data, identities)
                except KeyMissing:
                    continue
        raise KeyMissing(_OTHER_KEY if is_tried else _NO_IDENTITY)

    def collect_identities(self) -> tuple[str, ...]:
        """Return the identities from the first source that has any, to pass to another process."""
        return next((tuple(found) for source in self._sources if (found := source())), ())


PLAIN: Final = Cipher((), ())


def is_encrypted(data: bytes) -> bool:
    """Return whether these bytes start like an age file."""
    return data.startswith(MAGIC)


def needs_passphrase(head: bytes) -> bool:
    """Return whether an age file with this start needs a passphrase instead of an identity."""
    return is_encrypted(head) and head[len(MAGIC) :].startswith(_PASSPHRASE_STANZA)


def generate_identity() -> tuple[str, str]:
    """Return a new identity and its recipient."""
    identity = _load().x25519.Identity.generate()
    return str(identity), str(identity.to_public())


def find_recipient(identity: str) -> str:
    """Return the recipient of an age identity."""
    return str(_parse_identity(identity).to_public())


def parse_identities(text: str) -> tuple[str, ...]:
    """Return the identities in a file's text: age identities by line, or one SSH key."""
    if text.lstrip().startswith(_SSH_KEY):
        return (text,)
    return tuple(
        line for each in text.splitlines() if (line := each.strip()).startswith(_SECRET_KEY)
    )


def check_recipient(text: str) -> str:
    """Return a recipient; raise UsageError if it is not one."""
    _parse_recipient(text)
    return text


def encrypt(data: bytes, recipients: Sequence[str]) -> bytes:
    """Return the data encrypted to all recipients."""
    return bytes(_load().encrypt(data, list(map(_parse_recipient, recipients))))


def decrypt(data: bytes, identities: Sequence[str]) -> bytes:
    """Return the content of an age file; raise KeyMissing if it is for another identity."""
    age = _load()
    try:
        return bytes(age.decrypt(data, list(map(_parse_identity, identities))))
    except age.DecryptError as error:
        raise _explain(error) from error


def encrypt_stream(reader: IO[bytes], writer: IO[bytes], recipients: Sequence[str]) -> None:
    """Encrypt everything from `reader` to all recipients, in constant memory."""
    _load().encrypt_io(reader, writer, list(map(_parse_recipient, recipients)))


def decrypt_stream(reader: IO[bytes], writer: IO[bytes], identities: Sequence[str]) -> None:
    """Decrypt an age file in constant memory; on an error the output is incomplete."""
    age = _load()
    try:
        age.decrypt_io(reader, writer, list(map(_parse_identity, identities)))
    except age.DecryptError as error:
        raise _explain(error) from error
    except OSError as error:
        raise UnreadableInput("The file is damaged: it cannot be decrypted.") from error


def lock_with_passphrase(data: bytes, passphrase: str) -> bytes:
    """Encrypt data with a passphrase; takes a second on purpose."""
    return bytes(_load().passphrase.encrypt(data, passphrase))


@cache
def unlock_with_passphrase(data: bytes, passphrase: str) -> bytes:
    """Reverse `lock_with_passphrase`; raise KeyMissing if the passphrase is wrong."""
    age = _load()
    try:
        return bytes(age.passphrase.decrypt(data, passphrase))
    except age.DecryptError as error:
        raise KeyMissing("The passphrase is wrong.") from error


def _explain(error: Exception) -> KeyMissing | UnreadableInput:
    if str(error) == _NO_KEY:
        return KeyMissing("It is encrypted for a different key.")
    return UnreadableInput("The file is damaged: it cannot be decrypted.")


@cache
def _parse_recipient(text: str) -> Any:
    age = _load()
    kind = age.ssh if text.startswith("ssh-") else age.x25519
    try:
        return kind.Recipient.from_str(text)
    except age.RecipientError as error:
        raise UsageError(
            f"{text!r} is not a recipient: use an age1… key or an SSH public key ({error})."
        ) from error


@cache
def _parse_identity(text: str) -> Any:
    age = _load()
    try:
        if text.startswith(_SECRET_KEY):
            return age.x25519.Identity.from_str(text)
        return age.ssh.Identity.from_buffer(text.encode())
    except age.IdentityError as error:
        raise UsageError(f"The identity cannot be used: {error}.") from error


def _load() -> ModuleType:
    try:
        import pyrage  # an extra
    except ModuleNotFoundError as error:
        raise ArchiveFailure(
            "Encryption needs another package: pip install 'recollect[encryption]'"
        ) from error
    module: ModuleType = pyrage
    return module


IDENTITY_VARIABLE: Final = "RECOLLECT_ARCHIVE_IDENTITY"
PASSPHRASE_VARIABLE: Final = "RECOLLECT_ARCHIVE_PASSPHRASE"
LOCKED_IDENTITY: Final = "identity.age"


class KeyFinder:
    """Finds identities; the command line replaces it with one that can prompt the user."""

    def __init__(
        self,
        find_file: Callable[[], Path | None] = lambda: None,
        ask: Callable[[str], str | None] = lambda _prompt: None,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        self._find_file = find_file
        self._ask = ask
        self._environment = environment

    def list_sources(self, archive: Path) -> tuple[Callable[[], Sequence[str]], ...]:
        """Return functions that return identities for an archive, in the order to try them."""
        return (self.read_identity_file, lambda: self.unlock_identity(archive / LOCKED_IDENTITY))

    def read_identity_file(self) -> Sequence[str]:
        """Return the identities in the configured file; none if no file is configured."""
        chosen = self._environment.get(IDENTITY_VARIABLE)
        path = Path(chosen).expanduser().absolute() if chosen else self._find_file()
        return self.read_identities(path) if path else ()

    def read_identities(self, path: Path) -> Sequence[str]:
        """Return the identities in a file, which may be locked with a passphrase."""
        try:
            with open_file(path, resolve=True) as file:
                data = file.read()
        except UnreadableInput as error:
            raise KeyMissing(f"The identity file cannot be used. {error}") from error
        if is_encrypted(data):
            data = unlock_with_passphrase(data, self.require_passphrase(f"Passphrase of {path}"))
        found = parse_identities(data.decode(errors="replace"))
        if not found:
            raise UsageError(f"{path} is not an identity file: it has no AGE-SECRET-KEY-1… line.")
        return found

    def require_passphrase(self, prompt: str) -> str:
        """Return the passphrase; raise KeyMissing if nobody can be prompted."""
        found = self._environment.get(PASSPHRASE_VARIABLE) or self._ask(prompt)
        if not found:
            raise KeyMissing(f"{prompt}: set {PASSPHRASE_VARIABLE}, or run this in a terminal.")
        return found

    def unlock_identity(self, path: Path) -> Sequence[str]:
        """Return the identity that is locked with a passphrase; none if there is no such file."""
        if not path.is_file():
            return ()
        passphrase = self.require_passphrase("Passphrase of the archive")
        data = unlock_with_passphrase(path.read_bytes(), passphrase)
        return parse_identities(data.decode())


_finder = [KeyFinder()]


def set_key_finder(finder: KeyFinder) -> None:
    """Set the key finder for all archives of this process."""
    _finder[0] = finder


def get_key_finder() -> KeyFinder:
    """Return the current key finder."""
    return _finder[0]
