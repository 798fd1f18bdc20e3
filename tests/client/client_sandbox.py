"""A sandbox for the real client: its own home, its own data, and no network.

The client is on the PATH as `claude`, like a user's. That is a script that starts it with a clean
environment, a made-up key, and in a network namespace with nothing but the scripted API; however it
is started, it cannot reach anything else.
"""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

from recollect.launch.client_guard import MARK_VARIABLE
from recollect.library.listings import iter_sessions
from recollect.library.opening import open_session
from recollect.records.token_usage import Tokens
from recollect.session.session import Session
from tests.client.fake_api import REQUESTS_VARIABLE, SCENES_VARIABLE, STATES_VARIABLE
from tests.process import Finished

ROOT = Path(__file__).resolve().parents[2]
RECOLLECT = (sys.executable, "-m", "recollect")
SECONDS = 180.0
"""The time limit for a real client, which takes seconds to start on a busy machine."""
ALLOWED = "--allowedTools=Bash,Read,Agent,Task"
"""Permissions are never skipped: the tools of the scenes are allowed by name."""

STREAMING = ("claude", "-p", "--output-format", "stream-json", "--verbose", ALLOWED)
"""The command for a single prompt; options follow, then two dashes and the prompt."""

SWITCHES = {
    "ANTHROPIC_API_KEY": "sk-ant-made-up-for-tests",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1",
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
    "CLAUDE_CODE_MAX_RETRIES": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_TELEMETRY": "1",
    "ENABLE_CLAUDEAI_MCP_SERVERS": "false",
    "LANG": "C.UTF-8",
}


def find_isolation() -> list[str] | None:
    """Return the command prefix that isolates a program's network; None if that is not allowed."""
    for option in ("-n", "-rn"):
        words = [shutil.which("unshare") or "unshare", option]
        if shutil.which("unshare") and _succeeds([*words, "true"]):
            return words
    return None


def _succeeds(words: Sequence[str]) -> bool:
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


def _end(process: "subprocess.Popen[str]") -> None:
    """Kill a program before its pipes are closed, because a reader keeps them open."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)


class ClientSandbox:
    """One client with its own data, which Recollect reads."""

    def __init__(
        self,
        folder: Path,
        client: Sequence[str],
        isolation: Sequence[str],
        switches: Mapping[str, str] = SWITCHES,
    ) -> None:
        self.root = folder / "config"
        self.work = folder / "work"
        self._bin = folder / "bin"
        self._data = folder / "data"
        self._requests = folder / "requests.jsonl"
        self.states = folder / "states"
        self.scenes = folder / "scenes.json"
        for name in ("home", "tmp", "work", "bin", "states", "config/projects"):
            (folder / name).mkdir(parents=True)
        places = {
            "PATH": os.defpath + ":/usr/local/bin",
            "HOME": str(folder / "home"),
            "TMPDIR": str(folder / "tmp"),
            "CLAUDE_CODE_TMPDIR": str(folder / "tmp"),
            "CLAUDE_CONFIG_DIR": str(self.root),
            "PYTHONPATH": str(ROOT),
            REQUESTS_VARIABLE: str(self._requests),
            STATES_VARIABLE: str(self.states),
            SCENES_VARIABLE: str(self.scenes),
        }
        settings = [f"{name}={value}" for name, value in {**switches, **places}.items()]
        isolated = [sys.executable, "-m", "tests.client.isolated_command", *client]
        script = self._bin / "claude"
        # The mark by which Recollect recognises tools of a client.
        mark = f'{MARK_VARIABLE}="${MARK_VARIABLE}"'
        words = shlex.join([*isolation, *isolated])
        script.write_text(f'#!/bin/sh\nexec env -i {shlex.join(settings)} {mark} {words} "$@"\n')
        script.chmod(0o755)

    @property
    def client(self) -> str:
        """The path of the client."""
        return str(self._bin / "claude")

    @property
    def requests(self) -> list[dict[str, Any]]:
        """The API requests of conversations, which have tools, in order."""
        if not self._requests.exists():
            return []
        lines = self._requests.read_text(encoding="utf-8").splitlines()
        return [body for body in map(json.loads, lines) if body.get("tools")]

    @property
    def environment(self) -> dict[str, str]:
        """The environment of a user of this client."""
        return {
            **os.environ,
            "PATH": f"{self._bin}{os.pathsep}{os.environ['PATH']}",
            "CLAUDE_CONFIG_DIR": str(self.root),
            "RECOLLECT_DATA_DIR": str(self._data),
            "COLUMNS": "100",
            "TZ": "UTC",
        }

    def ask(self, prompt: str, *options: str) -> list[dict[str, Any]]:
        """Run a single prompt and return the client's messages; fails if the client does."""
        done = self._finish([*STREAMING, *options, "--", prompt])
        assert done.code == 0, done
        return [json.loads(line) for line in done.stdout.split("\n") if line]

    def rewind_files(self, session_id: str, uuid: str) -> None:
        """Have the client restore the files of a prompt; only newer versions support it."""
        done = self._finish(["claude", "-p", "--resume", session_id, "--rewind-files", uuid])
        assert done.code == 0, done

    def recollect(self, *arguments: str) -> Finished:
        """Run our own program to completion."""
        return self._finish([*RECOLLECT, *arguments])

    def _finish(self, words: list[str]) -> Finished:
        with self.start(words) as process:
            stdout, stderr = process.communicate(timeout=SECONDS)
        return Finished(process.returncode, stdout, stderr)

    @contextmanager
    def start(self, words: list[str]) -> Iterator["subprocess.Popen[str]"]:
        """Start a program; it is killed at the end if it is still running."""
        process = subprocess.Popen(
            words,
            cwd=self.work,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            process_group=0,
        )
        with process:
            try:
                yield process
            finally:
                _end(process)

    @contextmanager
    def follow(self, *arguments: str) -> Iterator["Follower"]:
        """Start `recollect follow` before the client."""
        with self.start([*RECOLLECT, "follow", *arguments]) as process:
            _wait_until_watching(process)
            yield Follower(process)

    @property
    def session_ids(self) -> list[str]:
        """Return the ids of the sessions that the library lists."""
        return sorted(each.id for each in iter_sessions(root=self.root))

    def open(self, session_id: str | None = None) -> Session:
        """Open a session with the library; without an id, the only one."""
        if session_id is None:
            (session_id,) = self.session_ids
        return open_session(session_id, root=self.root)

    def count_ledger(self) -> Tokens:
        """Return the tokens that the ledger counts in this root."""
        rows = json.loads(self.recollect("usage", "session", "--json").stdout)["rows"]
        names = ("input", "output", "cache_read", "cache_write_5m", "cache_write_1h")
        return Tokens(*(sum(row[f"{name}_tokens"] for row in rows) for name in names))

    def list_processes(self) -> dict[int, str]:
        """Return the running processes of this client, by the directory in their environment."""
        mark = f"CLAUDE_CONFIG_DIR={self.root}".encode()
        found = {}
        for place in Path("/proc").glob("[0-9]*"):
            try:
                is_ours = mark in (place / "environ").read_bytes()
                words = (place / "cmdline").read_bytes()
            except OSError:
                continue
            if is_ours and words:
                shown = words.rstrip(b"\0").replace(b"\0", b" ")
                found[int(place.name)] = shown.decode(errors="replace")
        return found


def _wait_until_watching(process: "subprocess.Popen[str]") -> None:
    """Wait until a program watches for changed files, so that it sees whatever is written next."""
    descriptors = Path(f"/proc/{process.pid}/fd")
    deadline = time.monotonic() + SECONDS
    while descriptors.exists() and process.poll() is None:
        # One may be closed in the meantime.
        with suppress(OSError):
            if any("inotify" in each.readlink().name for each in descriptors.iterdir()):
                return
        assert time.monotonic() < deadline, "it watches nothing"
        time.sleep(0.02)


class Follower:
    """The output of a running program, line by line."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self.lines: list[str] = []
        self._queue: SimpleQueue[str] = SimpleQueue()
        Thread(target=self._pump, daemon=True).start()

    def _pump(self) -> None:
        for line in self.process.stdout or ():
            self._queue.put(line.rstrip("\n"))

    def wait_for(self, *wanted: str) -> str:
        """Return the first line with all of these words; fails with the output so far."""
        deadline = time.monotonic() + SECONDS
        while True:
            found = [line for line in self.lines if all(word in line for word in wanted)]
            if found:
                return found[0]
            assert time.monotonic() < deadline, "\n".join([f"{wanted} never came:", *self.lines])
            self._read()

    def _read(self) -> None:
        try:
            self.lines.append(self._queue.get(timeout=0.2))
        except Empty:
            return
