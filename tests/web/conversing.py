"""A server that may run Claude Code, with a stand-in for it, and what a page sends to it."""

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
from tests.web.running import Answer, RunningServer, copy_demo, hear_events, run_server


@dataclass(frozen=True)
class Talker:
    """A server with its stand-in client and a project to talk about."""

    server: RunningServer
    folder: Path

    @property
    def project(self) -> Path:
        """The directory in which conversations are started."""
        return self.folder / "work"

    @cached_property
    def cookie(self) -> str:
        """The cookie of a browser that is signed in."""
        launched = self.server.ask("/api/launches", "POST", self.server.authority).json()
        body = json.dumps({"token": launched["token"]}).encode()
        answer = self.server.ask("/sign-in", "POST", {"Origin": self.server.origin}, body)
        return answer.headers["set-cookie"].partition(";")[0]

    def get(self, path: str) -> Answer:
        """What a page gets."""
        return self.server.ask(path, headers={"Cookie": self.cookie})

    def find_nonce(self, path: str) -> str:
        """The nonce of a page."""
        found = re.search(r'data-nonce="([^"]+)"', self.get(path).body.decode())
        assert found, path
        return found[1]

    def make_headers(self, nonce: str) -> dict[str, str]:
        """The headers of a page's request."""
        return {
            "Cookie": self.cookie,
            "Origin": self.server.origin,
            "Sec-Fetch-Site": "same-origin",
            "Content-Type": "application/json",
            "X-Recollect-Nonce": nonce,
        }

    def post(self, path: str, nonce: str, /, **body: Any) -> Answer:
        """What a page gets that asks for something to be done."""
        data = json.dumps(body).encode()
        return self.server.ask(path, "POST", self.make_headers(nonce), data)

    def start(self, **body: Any) -> str:
        """The id of a new conversation."""
        wanted = {"directory": str(self.project), **body}
        answer = self.post("/c", self.find_nonce("/new"), **wanted)
        assert answer.status == 200, answer.body
        found: str = answer.json()["id"]
        return found

    def act(self, conversation: str, action: str, /, **body: Any) -> Answer:
        """What the page of a conversation gets that asks for something to be done."""
        nonce = self.find_nonce(f"/c/{conversation}")
        return self.post(f"/c/{conversation}/{action}", nonce, **body)

    def list_conversations(self) -> list[dict[str, Any]]:
        """The conversations of the server."""
        found: list[dict[str, Any]] = self.server.get("/api/conversations").json()["conversations"]
        return found

    def wait_for_status(self, conversation: str, status: str) -> dict[str, Any]:
        """The row of a conversation once it has this status."""
        rows: list[dict[str, Any]] = []

        def is_there() -> bool:
            rows[:] = [each for each in self.list_conversations() if each["id"] == conversation]
            return bool(rows) and rows[0]["status"] == status

        self.server.wait_for(is_there)
        return rows[0]

    def list_calls(self) -> list[dict[str, Any]]:
        """How the client was called, each time."""
        return self._read("called.jsonl")

    def list_received(self) -> list[dict[str, Any]]:
        """The frames that clients received."""
        return self._read("received.jsonl")

    def list_responses(self) -> list[dict[str, Any]]:
        """The answers that clients received to their requests."""
        frames = self.list_received()
        return [
            each["response"]["response"] for each in frames if each["type"] == "control_response"
        ]

    def read_log(self) -> list[dict[str, Any]]:
        """The lines of the audit log, which is made when it is needed."""
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
    """A server that may run the stand-in, on a copy of the demo data."""
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
    """Everything that a stream of events sends meanwhile."""
    with hear_events(talker.server, path, {"Cookie": talker.cookie}) as lines:
        yield lines
