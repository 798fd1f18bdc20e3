"""Where a running server is written down, so that other commands of the same person find it.

The file holds the access key, so that nobody else may read it. It is written beside its place and
moved there, and removed by the server that wrote it and no other.
"""

import os
import tempfile
from pathlib import Path

import msgspec
from msgspec import Struct

from recollect.errors import IndexFailure
from recollect.launch.web_link import STATE_NAME, find_server
from recollect.store.place import make_private_directory


class ServerState(Struct, frozen=True, kw_only=True):
    """A server that runs."""

    host: str
    port: int
    pid: int
    started: str
    key: str
    """What a program shows as `Authorization: Bearer …`."""

    @property
    def address(self) -> str:
        """Where its pages are."""
        return f"http://{self.host}:{self.port}/"


def write_state(directory: Path, state: ServerState) -> None:
    """Write down a server; only the person who runs it can read that."""
    make_private_directory(directory)
    try:
        # A temporary file is readable by its owner only.
        descriptor, name = tempfile.mkstemp(prefix=STATE_NAME, dir=directory)
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(state), indent=2) + b"\n")
        Path(name).replace(directory / STATE_NAME)
    except OSError as error:
        raise IndexFailure(
            f"Cannot write {directory / STATE_NAME}: {error.strerror}. Check that there is room."
        ) from error


def remove_state(directory: Path, pid: int) -> None:
    """Forget the server of that process; another one may have written itself down since."""
    server = find_server(directory)
    if server is not None and server.pid == pid:
        (directory / STATE_NAME).unlink(missing_ok=True)
