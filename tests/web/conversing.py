"""A server that may run Claude Code, with a fake client, and the requests of a page."""

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.launch.conversing import install_client
from tests.web.running import Answer, RunningServer, collect_events, copy_demo, run_server


@dataclass(frozen=True)
class Talker:
    """A server with its fake client and a project."""

    server: RunningServer
    folder: Path

    @property
    def project(self) -> Path:
        """The directory in which conversations are started."""
        return self.folder / "work"

    @cached_property
    def cookie(self) -> str:
        """Return the cookie of a signed-in browser."""
        launched = self.server.ask("/api/launches", "POST", self.server.authority).json()
        body = json.dumps({"token": launched["token"]}).encode()
        answer = self.server.ask("/sign-in", "POST", {"Origin": self.server.origin}, body)
        return answer.headers["set-cookie"].partition(";")[0]

    def get(self, path: str) -> Answer:
        """Send a GET request as a page."""
        return self.server.ask(path, headers={"Cookie": self.cookie})

    def find_nonce(self, path: str) -> str:
        """Return the nonce of a page."""
        found = re.search(r'data-nonce="([^"]+)"', self.get(path).body.decode())
        assert found, path
        return found[1]

    def make_headers(self, nonce: str) -> dict[str, str]:
        """Return the headers of a page's request."""
        return {
            "Cookie": self.cookie,
            "Origin": self.server.origin,
            "Sec-Fetch-Site": "same-origin",
            "Content-Type": "application/json",
            "X-Recollect-Nonce": nonce,
        }

    def post(self, path: str, nonce: str, /, **body: Any) -> Answer:
        """Send a POST request as a page."""
        data = json.dumps(body).encode()
        return self.server.ask(path, "POST", self.make_headers(nonce), data)

    def start(self, **body: Any) -> str:
        """Start a conversation and return its id."""
        wanted = {"directory": str(self.project), **body}
        answer = self.post("/c", self.find_nonce("/new"), **wanted)
        assert answer.status == 200, answer.body
        found: str = answer.json()["id"]
        return found

    def act(self, conversation: str, action: str, /, **body: Any) -> Answer:
        """Send an action of a conversation's page."""
        nonce = self.find_nonce(f"/c/{conversation}")
        return self.post(f"/c/{conversation}/{action}", nonce, **body)

    def list_conversations(self) -> list[dict[str, Any]]:
        """Return the conversations of the server."""
        found: list[dict[str, Any]] = self.server.get("/api/conversations").json()["conversations"]
        return found

    def wait_for_status(self, conversation: str, status: str) -> dict[str, Any]:
        """Return the row of a conversation once it has this status."""
        rows: list[dict[str, Any]] = []

        def is_there() -> bool:
            rows[:] = [each for each in self.list_conversations() if each["id"] == conversation]
            return bool(rows) and rows[0]["status"] == status

        self.server.wait_for(is_there)
        return rows[0]

    def list_calls(self) -> list[dict[str, Any]]:
        """Return the arguments of each start of the client."""
        return self._read("called.jsonl")

    def list_received(self) -> list[dict[str, Any]]:
        """Return the frames that clients received."""
        return self._read("received.jsonl")

    def list_responses(self) -> list[dict[str, Any]]:
        """Return the answers that clients received to their requests."""
        frames = self.list_received()
        return [
            each["response"]["response"] for each in frames if each["type"] == "control_response"
        ]

    def read_log(self) -> list[dict[str, Any]]:
        """Return the lines of the audit log, which is created on first use."""
        path = self.server.data / "conversations.log"
        lines = path.read_text().splitlines() if path.exists() else []
        return [json.loads(line) for line in lines]

    def _read(self, name: str) -> list[dict[str, Any]]:
        path = self.folder / "bin" / name
        if not path.exists():
            return []
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@contextmanager
def run_talker(folder: Path, *options: str) -> Iterator[Talker]:
    """Run a server that may run the fake client, on a copy of the demo data."""
    install_client(folder / "bin")
    for name in ("work", "tmp"):
        (folder / name).mkdir(exist_ok=True)
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    root = folder / "claude"
    if not root.exists():
        copy_demo(folder)
    variables = {"PATH": path, "TMPDIR": str(folder / "tmp")}
    with run_server(folder, root, "--allow-run", *options, variables=variables) as server:
        yield Talker(server, folder)


@contextmanager
def listening(talker: Talker, path: str) -> Iterator[list[bytes]]:
    """Collect the events of a stream while the block runs."""
    with collect_events(talker.server, path, {"Cookie": talker.cookie}) as lines:
        yield lines
