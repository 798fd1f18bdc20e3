"""Links into the web app, if it runs.

Knows the note that a running server keeps in the data directory; a number alone is not believed,
its process has to live.
"""

import re
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from recollect.errors import UsageError
from recollect.library.processes import is_alive
from recollect.library.small_files import read_small

STATE_NAME: Final = "server.json"
_LINK: Final = re.compile(r"https?://[^/]+/s/(?P<session>[^/#?]+)(?:#(?P<record>.*))?")
_RECORD: Final = re.compile("[0-9A-Za-z_-]{1,200}")


class Server(Struct, frozen=True):
    """A running web app."""

    pid: int
    port: int


def find_server(directory: Path) -> Server | None:
    """The web app whose note lies in the data directory, if it still runs."""
    data = read_small(directory / STATE_NAME)
    if data is None:
        return None
    try:
        server = msgspec.json.decode(data, type=Server)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return server if server.pid > 0 and is_alive(server.pid) else None


def make_path(session_id: str, record: str | None = None) -> str:
    """Where a session, or one record of it, is on every web app."""
    return f"/s/{session_id}" + (f"#{record}" if record else "")


def make_link(server: Server, path: str) -> str:
    """The address of `path` on this machine's web app."""
    return f"http://127.0.0.1:{server.port}{path}"


def split_target(target: str) -> tuple[str, str | None]:
    """What `SESSION#record`, or a link into a web app, names: a session, and maybe a record."""
    link = _LINK.fullmatch(target)
    session, record = (link["session"], link["record"]) if link else _split(target)
    if record and not _RECORD.fullmatch(record):
        raise UsageError(f"{record!r} is no id of a record. Write SESSION#uuid.")
    return session, record or None


def _split(target: str) -> tuple[str, str]:
    """The name before the last `#`, unless what follows could be no id: titles hold `#` too."""
    session, _, record = target.rpartition("#")
    return (session, record) if session and _RECORD.fullmatch(record) else (target, "")
