"""Find the sessions that running clients have open."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from recollect.documents.session_listing import LiveProcess
from recollect.library.listings import iter_sessions
from recollect.library.opening import open_session
from recollect.library.processes import find_live_processes, is_alive
from tests.library.claude_root import FIRST, SECOND, ClaudeRoot, prompt
from tests.locations.trees import needs_pipes


def start_time(pid: int) -> str:
    """Return the start time of a process in Linux's units."""
    return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[19]


def test_a_running_client_is_reported(root: ClaudeRoot, sleeper: subprocess.Popen[bytes]) -> None:
    """The file of a running process names the session that it has open."""
    stated = {"status": "busy", "version": "2.1.325", "name": "pond-1"}
    root.client(sleeper.pid, **stated, updatedAt=1_794_769_817_782)
    expected = LiveProcess(
        pid=sleeper.pid,
        status="busy",
        name="pond-1",
        version="2.1.325",
        updated_at=1_794_769_817.782,
    )
    assert find_live_processes(root.path) == {FIRST: expected}


def test_lists_and_sessions_agree_on_it(root: ClaudeRoot, sleeper: subprocess.Popen[bytes]) -> None:
    """A listing and the opened session have the same process, other sessions have none."""
    root.client(sleeper.pid)
    root.session(FIRST, prompt("a", seconds=2))
    root.session(SECOND, prompt("b", seconds=1))
    listed = {listing.id: listing.live for listing in iter_sessions(root=[root.path])}
    opened = {each: open_session(each, root=[root.path]).metadata.live for each in (FIRST, SECOND)}
    assert listed == opened
    assert [listed[FIRST] is None, listed[SECOND] is None] == [False, True]


def test_a_process_that_has_ended_is_not_reported(
    root: ClaudeRoot, sleeper: subprocess.Popen[bytes]
) -> None:
    """A file left by a crash is ignored."""
    root.client(sleeper.pid)
    sleeper.communicate(b"\n")
    assert (is_alive(sleeper.pid), find_live_processes(root.path)) == (False, {})


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux has /proc")
def test_a_number_given_to_another_process_is_not_believed(
    root: ClaudeRoot, sleeper: subprocess.Popen[bytes]
) -> None:
    """A running process counts only if its start time equals the one in the file."""
    root.client(sleeper.pid, procStart=start_time(sleeper.pid))
    assert list(find_live_processes(root.path)) == [FIRST]
    root.client(sleeper.pid, procStart="1")
    assert find_live_processes(root.path) == {}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux has /proc")
def test_a_zombie_process_is_not_reported(
    root: ClaudeRoot, sleeper: subprocess.Popen[bytes]
) -> None:
    """A client that has exited is not listed, even if its parent has not reaped it yet."""
    root.client(sleeper.pid)
    sleeper.kill()
    os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)
    assert (is_alive(sleeper.pid), find_live_processes(root.path)) == (True, {})


@pytest.mark.parametrize("pid", [0, -1, None, "x", True, 10**30, 2**31])
def test_an_impossible_number_is_nobody(root: ClaudeRoot, pid: object) -> None:
    """Impossible process ids are neither checked nor reported."""
    root.write("sessions/1.json", json.dumps({"pid": pid, "sessionId": FIRST}).encode())
    assert find_live_processes(root.path) == {}


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\0" * 10, b" " * 2_000_000])
def test_a_damaged_file_is_no_process(root: ClaudeRoot, content: bytes) -> None:
    """A file that is not valid is ignored."""
    root.write("sessions/1.json", content)
    assert find_live_processes(root.path) == {}


@needs_pipes
def test_the_secret_beside_it_is_left_alone(
    root: ClaudeRoot, sleeper: subprocess.Popen[bytes]
) -> None:
    """The key of a running process is not opened, whatever its name."""
    root.client(sleeper.pid)
    os.mkfifo(root.path / "sessions" / f"{sleeper.pid}.ab12.key")
    stated = json.dumps({"pid": sleeper.pid, "sessionId": SECOND}).encode()
    root.write("sessions/1.json.key", stated)
    assert list(find_live_processes(root.path)) == [FIRST]


def test_this_process_is_alive() -> None:
    """The current process counts as running."""
    assert is_alive(os.getpid())
