"""`--review` asks in a terminal, and `--watch` keeps a file up to date."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from recollect.cli.follow_actions import write_on_change
from recollect.errors import NothingFound
from recollect.live.live_events import AnyEvent, CaughtUp
from tests.export.sessions import PROJECT, say, write_session
from tests.redact.made_up_secrets import FAMILIES

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal"),
]
LIMIT_SECONDS = 60
ID: Final = "a0000000-0000-4000-8000-000000000000"


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    deadline = time.monotonic() + LIMIT_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_review_leaves_what_the_user_says(tmp_path: Path, safe_environment: None) -> None:
    """One value is masked, the other is not; both were shown with their context."""
    family = FAMILIES["github"]
    first, second = (family.make(Random(seed)).secrets[0] for seed in (1, 2))
    prompts = (f"TOKEN={first}\nMODE=old", f"and {second} is new")
    path = write_session(tmp_path, [*map(say, prompts)])
    target = tmp_path / "x.md"
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "recollect", "export", str(path), "--review", "-o", str(target)],
        stdin=theirs,
        stderr=subprocess.PIPE,
    )
    os.close(theirs)
    os.write(ours, b"n\ny\n")
    _, errors = process.communicate(timeout=LIMIT_SECONDS)
    os.close(ours)
    assert process.returncode == 0, errors
    said = re.sub(r"\x1b\[[0-9;]*m", "", errors.decode()).splitlines()
    assert [f"  TOKEN={first}", "  MODE=old"] == said[2:4]
    assert f"  and {second} is new" in said
    written = target.read_text("utf-8")
    assert (first in written, second in written) == (True, False)


def test_a_change_during_the_last_write_is_written_too() -> None:
    """Also if the session ends before that write is done."""
    is_written = asyncio.Event()
    writes: list[bool] = []

    async def follow() -> AsyncGenerator[AnyEvent, None]:
        yield CaughtUp()
        await is_written.wait()
        yield CaughtUp()

    def write_again() -> None:
        is_written.set()
        writes.append(True)

    asyncio.run(write_on_change(follow(), write_again))
    assert writes == [True, True]


def test_a_missing_session_is_written_when_it_is_back() -> None:
    """It may be moved or replaced; it is an error only if it is still missing at the end."""
    answers = iter([NothingFound("before"), None, NothingFound("at the end")])
    has_written = asyncio.Event()

    async def follow() -> AsyncGenerator[AnyEvent, None]:
        for _ in range(3):
            yield CaughtUp()
            await has_written.wait()
            has_written.clear()

    def write_again() -> None:
        has_written.set()
        if error := next(answers):
            raise error

    with pytest.raises(NothingFound, match="at the end"):
        asyncio.run(write_on_change(follow(), write_again))


class WatchedSession:
    """A session of several prompts, and the process that keeps an export of it up to date."""

    def __init__(self, root: Path, name: str, target: str, prompts: int = 1) -> None:
        self.transcript = write_session(root, [*map(say, ["first" * prompts] * prompts)], ID)
        self._count = prompts
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", "recollect", "export", name, "--watch"),
                *("--claude-dir", str(root), "-o", target),
            ],
            stderr=subprocess.PIPE,
        )
        assert self.process.stderr is not None
        said = b""
        while b"Watching" not in said:
            line = self.process.stderr.readline()
            assert line, said
            said += line

    def add(self, record: dict[str, Any]) -> None:
        """Add a record, perhaps before the watcher has started, which then writes it first."""
        common = {"sessionId": ID, "timestamp": "2026-11-12T10:01:00.000Z", "cwd": f"/{PROJECT}"}
        links = {"uuid": f"u{self._count}", "parentUuid": f"u{self._count - 1}"}
        self._count += 1
        with self.transcript.open("a", encoding="utf-8") as file:
            file.write(json.dumps({**record, **common, **links}) + "\n")

    def end(self, number: int = signal.SIGINT) -> None:
        """Interrupt it, and check that it ends quietly."""
        self.process.send_signal(number)
        _, errors = self.process.communicate(timeout=LIMIT_SECONDS)
        assert (self.process.returncode, b"Traceback" in errors) == (130, False), errors


def test_a_watched_session_is_written_again(tmp_path: Path, safe_environment: None) -> None:
    """Until the user interrupts; the file is complete at any moment."""
    target = tmp_path / "x.md"
    watched = WatchedSession(tmp_path / "claude", ID, str(target))
    try:
        watched.add(say("second"))
        wait_for(lambda: "> second" in target.read_text("utf-8"))
    finally:
        watched.end()


def test_the_latest_session_stays_the_watched_one(tmp_path: Path, safe_environment: None) -> None:
    """A newer one is not exported instead, and a new title renames no file."""
    root, place = tmp_path / "claude", tmp_path / "place"
    place.mkdir()
    watched = WatchedSession(root, "latest", f"{place}/")
    try:
        (name,) = [each.name for each in place.iterdir()]
        other = {**say("another"), "timestamp": "2026-11-12T11:00:00.000Z"}
        write_session(root, [other], "b0000000-0000-4000-8000-000000000000")
        watched.add({"type": "ai-title", "aiTitle": "A new title"})
        watched.add(say("second"))
        wait_for(lambda: "second" in (place / name).read_text("utf-8"))
        assert [each.name for each in place.iterdir()] == [name]
        assert "A new title" in (place / name).read_text("utf-8")
    finally:
        watched.end()


def test_an_interrupt_stops_a_watched_write(tmp_path: Path, safe_environment: None) -> None:
    """Ctrl+C while the file is written again leaves the previous one, and no temporary file."""
    place = tmp_path / "place"
    place.mkdir()
    watched = WatchedSession(tmp_path / "claude", ID, str(place / "x.html"), prompts=300)
    before = (place / "x.html").stat()
    try:
        wait_for(lambda: len(list(place.iterdir())) == 2)
    finally:
        watched.end()
    assert [each.name for each in place.iterdir()] == ["x.html"]
    assert (place / "x.html").stat().st_ino == before.st_ino
