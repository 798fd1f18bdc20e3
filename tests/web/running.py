"""The real server in a separate process, on made-up sessions, and a plain client for it."""

import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any

from recollect.demo import CLAUDE_DIRECTORY
from recollect.launch.web_link import join_host

NOW = "2026-11-13T12:00:00Z"
TIMEOUT = 60


@dataclass(frozen=True)
class Answer:
    """A response; header names are in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        """The body as a value."""
        return json.loads(self.body)


@dataclass(frozen=True)
class RunningServer:
    """A running server."""

    port: int
    key: str
    token: str
    """The one-time token in the URL that it printed."""
    root: Path
    data: Path
    process: "subprocess.Popen[str]"

    def ask(
        self,
        path: str,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
    ) -> Answer:
        """Send a request without a key; of an endless stream, return the beginning."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)
        try:
            connection.request(method, path, body, dict(headers or {}))
            response = connection.getresponse()
            found = {name.lower(): value for name, value in response.getheaders()}
            is_stream = found.get("content-type", "").startswith("text/event-stream")
            body_read = response.readline() if is_stream else response.read()
            return Answer(response.status, found, body_read)
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Answer:
        """The response to a request with the key."""
        return self.ask(path, headers={**self.authority, **headers})

    def read(self, path: str) -> str:
        """The text of a page that exists."""
        answer = self.get(path)
        assert answer.status == 200
        return answer.body.decode()

    @property
    def authority(self) -> dict[str, str]:
        """The header with the key."""
        return {"Authorization": f"Bearer {self.key}"}

    @property
    def origin(self) -> str:
        """The origin of its pages."""
        return f"http://127.0.0.1:{self.port}"

    def sign_in(self) -> str:
        """The cookie of a browser that is signed in."""
        launched = self.ask("/api/launches", "POST", self.authority).json()
        body = b'{"token": "%s"}' % launched["token"].encode()
        answer = self.ask("/sign-in", "POST", {"Origin": self.origin}, body)
        return answer.headers["set-cookie"].partition(";")[0]

    def wait_for(self, is_there: Callable[[], object]) -> None:
        """Wait until the server has found something."""
        end = time.monotonic() + TIMEOUT
        while not is_there():
            assert time.monotonic() < end, "the server does not find what it should"
            time.sleep(0.1)

    def wait_until_current(self) -> None:
        """Wait until it has listed, counted and indexed all sessions."""
        self.wait_for(lambda: self.get("/api/search?q=a").json().get("index_complete"))

    def wait_for_figures(self) -> None:
        """Wait until all sessions have the figures that come from reading them whole."""
        self.wait_for(self._has_figures)

    def _has_figures(self) -> bool:
        path = "/api/history/sessions?pageSize=200&includeSubagents=true"
        page = self.get(path).json()
        has_all = all(each["turnCount"] is not None for each in page["sessions"])
        return has_all and bool(page["isComplete"])

    def send_raw(self, data: bytes) -> bytes:
        """Return the response on a raw socket until it is closed."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=TIMEOUT) as connection:
            connection.sendall(data)
            received = b""
            while chunk := connection.recv(65536):
                received += chunk
            return received


def copy_demo(folder: Path) -> Path:
    """Copy the made-up sessions to a Claude directory that a test may change."""
    root = folder / "claude"
    shutil.copytree(CLAUDE_DIRECTORY, root)
    return root


@contextmanager
def run_server(
    folder: Path,
    root: Path,
    *options: str,
    module: str = "recollect",
    variables: Mapping[str, str] | None = None,
) -> Iterator[RunningServer]:
    """Run a server on the sessions of `root` while the block runs.

    `module` is the program, or one that runs and observes it; `variables` are added to its
    environment.
    """
    data = folder / "data"
    home = folder / "home"
    home.mkdir(exist_ok=True)
    environment = {
        **os.environ,
        "HOME": str(home),
        "CLAUDE_CONFIG_DIR": str(home / ".claude"),
        "RECOLLECT_DATA_DIR": str(data),
        "RECOLLECT_NOW": NOW,
        "XDG_CONFIG_HOME": str(home / ".config"),
        **(variables or {}),
    }
    port = () if "--port" in options else ("--port", "0")
    command = ["-m", module, "serve", "--print-url", "--claude-dir", str(root), *port, *options]
    process = subprocess.Popen(
        [sys.executable, *command],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        assert process.stdout is not None
        address, _, token = process.stdout.readline().strip().partition("#t=")
        state = json.loads((data / "server.json").read_bytes())
        assert address == f"http://{join_host(state['host'], state['port'])}/"
        yield RunningServer(state["port"], state["key"], token, root, data, process)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            _, errors = process.communicate(timeout=TIMEOUT)
        finally:
            # A server that does not end fails the test, and is not left running.
            process.kill()
        assert (process.returncode, errors) == (0, ""), (process.returncode, errors)


@contextmanager
def collect_events(
    server: RunningServer, path: str, headers: Mapping[str, str] | None = None
) -> Iterator[list[bytes]]:
    """Collect the events of a stream while the block runs; with the key, or other headers."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=TIMEOUT)
    connection.request("GET", path, headers=dict(headers or server.authority))
    response = connection.getresponse()
    assert response.status == 200
    lines: list[bytes] = []

    def read() -> None:
        try:
            lines.extend(iter(response.readline, b""))
        except (OSError, ValueError, AttributeError):
            return

    reader = Thread(target=read, daemon=True)
    reader.start()
    try:
        yield lines
    finally:
        if connection.sock is not None:
            # Wakes the reader, which would otherwise wait for the next keep-alive.
            connection.sock.shutdown(socket.SHUT_RDWR)
            connection.sock.close()
        reader.join(TIMEOUT)
        response.close()
