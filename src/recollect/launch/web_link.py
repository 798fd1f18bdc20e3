"""Links into the web app, if it is running.

A running server keeps a state file in the data directory, which counts only while its process is
alive.
"""

from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from recollect.library.processes import is_alive, read_small

STATE_NAME: Final = "server.json"
LOOPBACK: Final = "127.0.0.1"


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


def make_link(server: Server, path: str) -> str:
    """Return the URL of `path` on a running web app."""
    return f"http://{join_host(server.host, server.port)}{path}"


def join_host(host: str, port: int) -> str:
    """Return host and port as in a URL, with IPv6 addresses in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
