"""What a server is started with; it never changes while the server runs.

Where a running server is written down, so that other commands of the same person find it.

The file holds the access key, so that nobody else may read it. It is written beside its place and
moved there, and removed by the server that wrote it and no other.
"""

import os
import tempfile
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import msgspec
from msgspec import Struct

from recollect.errors import IndexFailure
from recollect.launch.web_link import LOOPBACK, STATE_NAME, find_server, join_host
from recollect.store.data_directory import make_private_directory


class Settings(Struct, frozen=True, kw_only=True):
    """Which sessions are shown, where our own data lies, and what the server is called."""

    roots: tuple[Path, ...]
    """The Claude directories; none when there are none yet."""
    data_directory: Path
    now: Callable[[], datetime]
    host: str = LOOPBACK
    port: int = 0
    is_demo: bool = False
    """Whether the bundled sessions are shown instead of the person's own."""
    shows_errors: bool = False
    """Whether bugs may be told on stderr, where they may hold somebody's words."""

    @property
    def hosts(self) -> frozenset[str]:
        """The names, with the port, that a request may be addressed to."""
        names = (LOOPBACK, "localhost", "::1", self.host)
        return frozenset(join_host(name, self.port) for name in names)

    @property
    def origins(self) -> frozenset[str]:
        """The origins that our own pages have."""
        return frozenset(f"http://{host}" for host in self.hosts)


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
        return f"http://{join_host(self.host, self.port)}/"


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
