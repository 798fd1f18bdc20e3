"""Where the keys of an encrypted archive come from: files, the environment, or a person.

An archive that a passphrase protects has an identity of its own in `identity.age`, locked with that
passphrase. Otherwise the identity is a file elsewhere, which the archive never contains.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from recollect.archive.encryption import (
    KeyMissing,
    is_encrypted,
    parse_identities,
    unlock_with_passphrase,
)
from recollect.errors import UnreadableInput, UsageError
from recollect.sources.safe_files import open_file

IDENTITY_VARIABLE: Final = "RECOLLECT_ARCHIVE_IDENTITY"
PASSPHRASE_VARIABLE: Final = "RECOLLECT_ARCHIVE_PASSPHRASE"
LOCKED_IDENTITY: Final = "identity.age"


class KeyFinder:
    """Knows where identities are; the command line replaces it by one that can ask a person."""

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
        """Return where to look for identities of an archive, in this order."""
        return (self.read_identity_file, lambda: self.unlock_identity(archive / LOCKED_IDENTITY))

    def read_identity_file(self) -> Sequence[str]:
        """Return the identities in the configured file; none if there is no such file."""
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
            raise UsageError(f"{path} is not an identity file: no line has AGE-SECRET-KEY-1….")
        return found

    def require_passphrase(self, prompt: str) -> str:
        """Return the passphrase; raise KeyMissing if nobody can be asked."""
        found = self._environment.get(PASSPHRASE_VARIABLE) or self._ask(prompt)
        if not found:
            raise KeyMissing(f"{prompt}: set {PASSPHRASE_VARIABLE}, or run this in a terminal.")
        return found

    def unlock_identity(self, path: Path) -> Sequence[str]:
        """Return the identity that a passphrase protects; none if there is no such file."""
        if not path.is_file():
            return ()
        passphrase = self.require_passphrase("Passphrase of the archive")
        data = unlock_with_passphrase(path.read_bytes(), passphrase)
        return parse_identities(data.decode())


_finder = [KeyFinder()]


def set_key_finder(finder: KeyFinder) -> None:
    """Let all archives of this process ask this one for keys."""
    _finder[0] = finder


def get_key_finder() -> KeyFinder:
    """Return the one that was set last."""
    return _finder[0]
