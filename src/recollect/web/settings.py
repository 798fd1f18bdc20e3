"""Settings of a server, and the file that lets other commands find a running one.

The file contains the access key, so only its owner may read it. It is written to a temporary file
and moved into place, and only the server that wrote it removes it.
"""

import contextlib
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Final

import msgspec

from recollect.atomic_files import open_atomic
from recollect.errors import IndexFailure
from recollect.launch.web_link import LOOPBACK, STATE_NAME, find_server, join_host
from recollect.library.processes import read_small
from recollect.redact.findings import RedactionPolicy
from recollect.store.data_directory import make_private_directory

DEFAULT_PORT: Final = 8765
MAX_PORT: Final = 65535
PORT_NAME: Final = "web-port"


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Directories, URL and permissions of a server."""

    roots: tuple[Path, ...]
    """The Claude directories; empty if there are none yet."""
    data_directory: Path
    now: Callable[[], datetime]
    host: str = LOOPBACK
    port: int | None = 0
    """0 for any free port; None for the last one used, or the next free one."""
    is_demo: bool = False
    """Whether the sample sessions are shown instead of the user's own."""
    allow_run: bool = False
    """Whether pages may start and control Claude Code."""
    redaction: Callable[[], RedactionPolicy] | None = None
    """Reads the user's settings for masking."""
    shows_errors: bool = False
    """Whether internal errors are reported on stderr; they may contain transcript text."""

    @property
    def hosts(self) -> frozenset[str]:
        """The hosts, with port, that requests may name."""
        names = (LOOPBACK, "localhost", "::1", self.host)
        return frozenset(join_host(name, self.port or 0) for name in names)

    @property
    def origins(self) -> frozenset[str]:
        """The origins of our own pages."""
        return frozenset(f"http://{host}" for host in self.hosts)


class ServerState(msgspec.Struct, frozen=True, kw_only=True):
    """A running server."""

    host: str
    port: int
    pid: int
    started: str
    key: str
    """Sent by programs as `Authorization: Bearer …`."""

    @property
    def url(self) -> str:
        """The URL of its pages."""
        return f"http://{join_host(self.host, self.port)}/"


def write_state(directory: Path, state: ServerState) -> None:
    """Record a running server, readable only by its owner."""
    make_private_directory(directory)
    try:
        with open_atomic(directory / STATE_NAME, overwrite=True) as file:
            file.write(msgspec.json.format(msgspec.json.encode(state), indent=2) + b"\n")
    except OSError as error:
        raise IndexFailure(
            f"Cannot write {directory / STATE_NAME}: {error.strerror}. Is the disk full?"
        ) from error


def save_last_port(directory: Path, port: int) -> None:
    """Save the port, so that links still work after a restart."""
    # A lost port is an inconvenience, not a failure.
    with contextlib.suppress(OSError):
        (directory / PORT_NAME).write_text(f"{port}\n", encoding="ascii")


def load_last_port(directory: Path) -> int:
    """Return the port of the last server, or the default one."""
    noted = (read_small(directory / PORT_NAME) or b"").strip()
    is_port = noted.isdigit() and len(noted) <= len(str(MAX_PORT)) and 0 < int(noted) <= MAX_PORT
    return int(noted) if is_port else DEFAULT_PORT


def remove_state(directory: Path, pid: int) -> None:
    """Remove the record of that process; another server may have replaced it."""
    server = find_server(directory)
    if server is not None and server.pid == pid:
        (directory / STATE_NAME).unlink(missing_ok=True)
