"""Links to the web app, if it is running.

A running server has a state file in the data directory, which is valid only while its process is
alive.
"""

from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Final

import msgspec

from recollect.errors import NothingFound
from recollect.library.processes import is_alive, read_small

STATE_NAME: Final = "server.json"
LOOPBACK: Final = "127.0.0.1"
_SECONDS: Final = 10.0


class Server(msgspec.Struct, frozen=True):
    """The URL and process of a running web app."""

    pid: int
    port: int
    host: str = LOOPBACK
    key: str = ""
    """The key for programs to authenticate with."""


class _Launch(msgspec.Struct, frozen=True):
    token: str


def find_server(directory: Path) -> Server | None:
    """Return the web app that is running for a data directory; None if there is none."""
    data = read_small(directory / STATE_NAME)
    if data is None:
        return None
    try:
        server = msgspec.json.decode(data, type=Server)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return server if server.pid > 0 and is_alive(server.pid) else None


def make_link(server: Server, path: str) -> str:
    """Return the URL of `path` in a running web app."""
    return f"http://{join_host(server.host, server.port)}{path}"


def make_sign_in_link(server: Server, path: str) -> str:
    """Return a URL of `path` that signs in one browser, once; raises NothingFound if refused."""
    connection = HTTPConnection(server.host, server.port, timeout=_SECONDS)
    try:
        headers = {"Authorization": f"Bearer {server.key}"}
        connection.request("POST", "/api/launches", headers=headers)
        answer = connection.getresponse()
        token = msgspec.json.decode(answer.read(), type=_Launch).token
    except (OSError, HTTPException, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise NothingFound(
            "The web app does not respond. Restart it with `recollect serve`."
        ) from error
    finally:
        connection.close()
    # The link has this fragment instead of the path's, which the page takes as a parameter too.
    plain, _, anchor = path.partition("#")
    return f"{make_link(server, plain)}{f'?at={anchor}' if anchor else ''}#t={token}"


def join_host(host: str, port: int) -> str:
    """Return host and port as in a URL, with IPv6 addresses in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
