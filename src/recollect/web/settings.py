"""What a server is started with; it never changes while the server runs."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Final

from msgspec import Struct

LOOPBACK: Final = "127.0.0.1"


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
        names = (LOOPBACK, "localhost", "[::1]", self.host)
        return frozenset(f"{name}:{self.port}" for name in names)

    @property
    def origins(self) -> frozenset[str]:
        """The origins that our own pages have."""
        return frozenset(f"http://{host}" for host in self.hosts)
