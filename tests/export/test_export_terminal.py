"""`--review` asks in a terminal, and `--watch` keeps a file up to date."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from random import Random

import pytest

from recollect.cli.follow_actions import write_on_change
from recollect.live.live_events import AnyEvent, CaughtUp
from tests.export.sessions import PROJECT, say, write_session
from tests.redact.made_up_secrets import FAMILIES

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal"),
]
LIMIT_SECONDS = 60


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
    is_writing, has_ended = threading.Event(), threading.Event()
    writes: list[bool] = []

    async def follow() -> AsyncGenerator[AnyEvent, None]:
        yield CaughtUp()
        assert await asyncio.to_thread(is_writing.wait, LIMIT_SECONDS)
        yield CaughtUp()
        has_ended.set()

    def write_again() -> None:
        is_writing.set()
        assert has_ended.wait(LIMIT_SECONDS)
        writes.append(has_ended.is_set())

    asyncio.run(write_on_change(follow(), write_again))
    assert writes == [True, True]


def test_a_watched_session_is_written_again(tmp_path: Path, safe_environment: None) -> None:
    """Until the user interrupts; the file is complete at any moment."""
    root = tmp_path / "claude"
    session_id = "a0000000-0000-4000-8000-000000000000"
    path = write_session(root, [say("first")], session_id)
    target = tmp_path / "x.md"
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "recollect", "export", session_id, "--watch"),
            *("--claude-dir", str(root), "-o", str(target)),
        ],
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    try:
        said = b""
        while b"Watching" not in said:
            line = process.stderr.readline()
            assert line, said
            said += line
        record = {**say("second"), "uuid": "u9", "parentUuid": "u0", "sessionId": session_id}
        record |= {"timestamp": "2026-11-12T10:01:00.000Z", "cwd": f"/{PROJECT}"}
        # Perhaps before the watcher has started: then it is in what that writes first.
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
        wait_for(lambda: "> second" in target.read_text("utf-8"))
    finally:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=LIMIT_SECONDS)
    assert (process.returncode, b"Traceback" in errors) == (130, False), errors
