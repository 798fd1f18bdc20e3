"""Links into the web app, if it is running.

A running server keeps a state file in the data directory, which counts only while its process is
alive.
"""

import re
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote

import msgspec
from msgspec import Struct

from recollect.errors import UsageError
from recollect.library.processes import is_alive, read_small

STATE_NAME: Final = "server.json"
LOOPBACK: Final = "127.0.0.1"
_LINK: Final = re.compile(r"https?://[^/]+/s/(?P<session>[^/#?]+)(?:#(?P<record>.*))?")
_RECORD: Final = re.compile("[0-9A-Za-z_-]{1,200}")


class Server(Struct, frozen=True):
    """The address and process of a running web app."""

    pid: int
    port: int
    host: str = LOOPBACK


def find_server(directory: Path) -> Server | None:
    """Return the web app whose state file is in the data directory, if it is still running."""
    data = read_small(directory / STATE_NAME)
    if data is None:
        return None
    try:
        server = msgspec.json.decode(data, type=Server)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return server if server.pid > 0 and is_alive(server.pid) else None


def make_path(session_id: str, record: str | None = None) -> str:
    """Return the path of a session, or of one of its records, in the web app."""
    return f"/s/{quote(session_id, safe='')}" + (f"#{record}" if record else "")


def make_link(server: Server, path: str) -> str:
    """Return the URL of `path` on a running web app."""
    return f"http://{join_host(server.host, server.port)}{path}"


def join_host(host: str, port: int) -> str:
    """Return host and port as in a URL, with IPv6 addresses in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def split_target(target: str) -> tuple[str, str | None]:
    """Return the session, and the record if any, that `SESSION#record` or a web app URL names."""
    link = _LINK.fullmatch(target)
    session, record = (unquote(link["session"]), link["record"]) if link else _split(target)
    if record and not _RECORD.fullmatch(record):
        raise UsageError(f"{record!r} is not a record id. Write SESSION#uuid.")
    return session, record or None


def _split(target: str) -> tuple[str, str]:
    """Split at the last `#`, unless what follows cannot be an id: titles may contain `#` too."""
    session, _, record = target.rpartition("#")
    return (session, record) if session and _RECORD.fullmatch(record) else (target, "")
