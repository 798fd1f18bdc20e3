"""A conversation leaves nothing behind, however it ends."""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from recollect.launch.conversation import converse
from recollect.launch.conversation_events import TurnFinished
from tests.launch.conversing import (
    GUARD_SECONDS,
    is_running,
    list_descriptors,
    make_options,
    read_lines,
    wait_for,
)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")

STARTS = 100
AT_ONCE = 5
ABANDONED = """
import asyncio, sys
from pathlib import Path
from recollect.launch.conversation import converse
from recollect.launch.conversation_events import TextStreamed, TurnFinished
from tests.launch.conversing import make_options, wait_for

async def main():
    options = make_options(Path(sys.argv[1]))
    async with converse(options) as conversation:
        await conversation.send("task")
        await wait_for(conversation, TurnFinished)
        await conversation.send("slow word ")
        await wait_for(conversation, TextStreamed)
        print("ready", flush=True)
        await asyncio.sleep(600)

asyncio.run(main())
"""


def list_children() -> set[str]:
    """Return the processes that this one has started and not reaped."""
    found = Path("/proc/self/task").glob("*/children")
    return {pid for each in found for pid in each.read_text().split()}


@pytest.mark.slow
def test_a_hundred_starts_leave_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No process, no descriptor and no temporary file is left after many conversations."""
    options = make_options(tmp_path)
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", None)

    async def hold(gate: asyncio.Semaphore) -> None:
        async with gate, converse(options) as conversation:
            await conversation.send("say hello")
            await wait_for(conversation, TurnFinished)

    async def run(count: int) -> None:
        gate = asyncio.Semaphore(AT_ONCE)
        await asyncio.gather(*(hold(gate) for _ in range(count)))

    asyncio.run(run(1))
    before = (list_children(), len(list_descriptors()))
    asyncio.run(run(STARTS))
    assert (list_children(), len(list_descriptors())) == before
    assert list(temporary.iterdir()) == []
    pids = [each["pid"] for each in read_lines(tmp_path, "called.jsonl")]
    assert len(pids) == STARTS + 1
    assert [pid for pid in pids if is_running(pid)] == []


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_client_does_not_outlive_its_parent(tmp_path: Path, number: signal.Signals) -> None:
    """However the parent dies, the client and everything it started are ended."""
    parent = subprocess.Popen(
        [sys.executable, "-c", ABANDONED, str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    with parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"ready\n"
        parent.send_signal(number)
        parent.wait(GUARD_SECONDS)
    (called,) = read_lines(tmp_path, "called.jsonl")
    pids = [called["pid"], int((tmp_path / "bin" / "left.pid").read_text())]
    deadline = time.monotonic() + GUARD_SECONDS
    while any(map(is_running, pids)):
        assert time.monotonic() < deadline, "still running"
        time.sleep(0.05)
