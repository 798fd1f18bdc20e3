"""Tests of recollect.launch.client_process: a real process, its pipes and its exit."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from recollect.launch.client_commands import Run, create_private_file
from recollect.launch.client_process import (
    ClientProcess,
    StderrLine,
    StdoutMessage,
    StopStep,
    start_client,
)
from recollect.library.processes import is_alive
from recollect.records.stream.stream_messages import Result
from tests.launch.fake_client import Step, make_client, needs_posix, read_call, result, text

pytestmark = needs_posix

PATIENT: tuple[StopStep, ...] = ((signal.SIGINT, 0.3), (signal.SIGTERM, 60.0))
"""Long enough for a client on a busy machine to follow SIGTERM."""

HASTY: tuple[StopStep, ...] = ((signal.SIGINT, 0.3), (signal.SIGTERM, 0.3))


@contextmanager
def running(
    directory: Path,
    *script: Step,
    kept: int | None = None,
    steps: tuple[StopStep, ...] = PATIENT,
) -> Iterator[ClientProcess]:
    """Start a client that plays `script`."""
    make_client(directory, script)
    run = Run(arguments=("claude", "--print", "--", "p"), directory=str(directory))
    with start_client(str(directory / "claude"), run, kept, steps) as process:
        yield process


def read_all(process: ClientProcess) -> list[StdoutMessage | StderrLine]:
    """Return all its output until it has exited."""
    return [each for each in process.iter_items(0.05) if each is not None]


def wait_for_call(directory: Path) -> None:
    """Wait until the client plays its script."""
    deadline = time.monotonic() + 60
    while not (directory / "called.json").exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_messages_come_while_it_runs(tmp_path: Path) -> None:
    """The first message arrives before the last; between them None signals silence."""
    script = (text("one", uuid="a"), ["until", "seen"], text("two", uuid="b"))
    with running(tmp_path, *script) as process:
        kinds: list[str] = []
        for each in process.iter_items(0.05):
            kinds.append("none" if each is None else "message")
            if kinds[-2:] == ["message", "none"]:
                (tmp_path / "seen").touch()
        assert process.code == 0
    assert "none" in kinds[kinds.index("message") : -1]
    assert kinds.count("message") == 2


def test_bytes_are_those_that_were_printed(tmp_path: Path) -> None:
    """The bytes of the items, joined, equal the saved copy and the output."""
    kept = tmp_path / "kept"
    descriptor = create_private_file(kept)
    script: list[Step] = [text("Grüße \u2028 😀", uuid="a"), "no message", "", result()]
    try:
        with running(tmp_path / "bin", *script, kept=descriptor) as process:
            results = [each for each in read_all(process) if isinstance(each, StdoutMessage)]
    finally:
        os.close(descriptor)
    assert b"".join(each.raw for each in results) == kept.read_bytes()
    assert [type(each.item).__name__ for each in results] == [
        "AssistantMessage",
        "Damaged",
        "Blank",
        "Result",
    ]


def test_stderr_lines_are_separate_items(tmp_path: Path) -> None:
    """Lines on stderr are items of their own, complete and without line ends."""
    with running(tmp_path, ["complain", "mind\nthe gap"], ["exit", 7]) as process:
        output = read_all(process)
        assert (output, process.code) == ([StderrLine("mind"), StderrLine("the gap")], 7)


def test_it_gets_its_arguments_and_directory(tmp_path: Path) -> None:
    """The client runs in the requested directory, with the planned arguments."""
    with running(tmp_path) as process:
        assert read_all(process) == []
    called = read_call(tmp_path)
    assert (called["arguments"], called["directory"]) == (["--print", "--", "p"], str(tmp_path))


def test_an_interrupt_stops_it_politely(tmp_path: Path) -> None:
    """It may print a last message, which is read, and exits by itself."""
    with running(tmp_path, text("one", uuid="a"), ["wait", 60]) as process:
        wait_for_call(tmp_path)
        process.interrupt()
        last = read_all(process)[-1]
        assert isinstance(last, StdoutMessage)
        assert isinstance(last.item, Result)
        assert process.code == 130


def test_a_client_that_ignores_sigint_is_terminated(tmp_path: Path) -> None:
    """A client that ignores SIGINT gets SIGTERM."""
    with running(tmp_path, ["ignore", "SIGINT"], "deaf", ["wait", 60]) as process:
        assert next(filter(None, process.iter_items(0.05)), None) is not None
        process.stop()
        assert process.code == 128 + signal.SIGTERM


def test_a_client_that_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    """A client that ignores both is killed."""
    script: list[Step] = [["ignore", "SIGINT"], ["ignore", "SIGTERM"], "deaf", ["wait", 60]]
    with running(tmp_path, *script, steps=HASTY) as process:
        assert next(filter(None, process.iter_items(0.05)), None) is not None
        process.stop()
        assert process.code == 128 + signal.SIGKILL


def test_leaving_the_context_stops_it(tmp_path: Path) -> None:
    """However the context is left, no client process remains."""

    def leave_early() -> None:
        with running(tmp_path, "here", ["wait", 60]) as process:
            assert next(filter(None, process.iter_items(0.05)), None) is not None
            raise KeyError

    with pytest.raises(KeyError):
        leave_early()
    assert not is_alive(int(read_call(tmp_path)["pid"]))


only_linux = pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux shows the environment of a process"
)


@pytest.mark.parametrize(
    "step", ["leave", "leave_apart", pytest.param("leave_late", marks=only_linux)]
)
def test_its_children_stop_with_it(tmp_path: Path, step: str) -> None:
    """A program does not outlive a stop, in the client's group or in one of its own.

    Neither does one that is started after the stop has begun, by a client that exits right away.
    """
    with running(tmp_path, [step, 600], "left", ["wait", 60]) as process:
        assert next(filter(None, process.iter_items(0.05)), None) is not None
        process.stop()
    left = int((tmp_path / "left.pid").read_text())
    deadline = time.monotonic() + 60
    while is_alive(left) and not is_zombie(left):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def is_zombie(pid: int) -> bool:
    """Return whether the process has exited but was not reaped."""
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z"


@pytest.mark.slow
def test_a_program_left_behind_does_not_block_us(tmp_path: Path) -> None:
    """After the client has exited, its output ends soon, even if a child keeps it open."""
    with running(tmp_path, ["leave", 600], text("one", uuid="a")) as process:
        assert len(read_all(process)) == 1
        assert is_alive(int((tmp_path / "left.pid").read_text()))
        process.stop()


KILLED = """
import os, signal, sys
from recollect.launch.client_process import start_client
from recollect.launch.client_commands import Run
run = Run(arguments=("claude", "--print", "--", "p"), directory=sys.argv[1])
with start_client(os.path.join(sys.argv[1], "claude"), run) as process:
    print(process.pid, flush=True)
    while not os.path.exists(os.path.join(sys.argv[1], "called.json")):
        pass
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of a parent's end")
def test_the_client_exits_when_we_are_killed(tmp_path: Path) -> None:
    """It is terminated although no process is left to pass on a signal."""
    make_client(tmp_path, [["wait", 600]])
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path)], stdout=subprocess.PIPE, check=False
    )
    assert killed.returncode == -signal.SIGKILL
    deadline = time.monotonic() + 60
    while is_alive(int(killed.stdout)):
        assert time.monotonic() < deadline
        time.sleep(0.02)
