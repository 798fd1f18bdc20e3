"""Tests of recollect.launch.client_process: a real process, its pipes and its end."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from recollect.launch.client_process import (
    LINGER_SECONDS,
    ClientProcess,
    Complaint,
    Rung,
    Told,
    start_client,
)
from recollect.launch.run import Run, open_kept
from recollect.library.processes import is_alive
from recollect.records.stream.result import Result
from tests.launch.fake_client import Step, make_client, needs_posix, read_call, result, text

pytestmark = needs_posix

QUICK: tuple[Rung, ...] = ((signal.SIGINT, 0.3), (signal.SIGTERM, 0.3))


@contextmanager
def running(directory: Path, *script: Step, kept: int | None = None) -> Iterator[ClientProcess]:
    """A client that plays `script`."""
    make_client(directory, script)
    run = Run(arguments=("claude", "--print", "--", "p"), directory=str(directory))
    with start_client(str(directory / "claude"), run, kept, QUICK) as process:
        yield process


def hear_all(process: ClientProcess) -> list[Told | Complaint]:
    """All that it says until it has ended."""
    return [each for each in process.iter_items(0.05) if each is not None]


def wait_for_call(directory: Path) -> None:
    """Wait until the client plays its script."""
    deadline = time.monotonic() + 20
    while not (directory / "called.json").exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_messages_come_while_it_runs(tmp_path: Path) -> None:
    """The first message is there long before the last; between them there are moments of none."""
    with running(tmp_path, text("one", uuid="a"), ["wait", 0.5], text("two", uuid="b")) as process:
        kinds = ["none" if each is None else "told" for each in process.iter_items(0.05)]
        assert process.code == 0
    assert "none" in kinds[kinds.index("told") : -1]
    assert kinds.count("told") == 2


def test_bytes_are_those_that_were_printed(tmp_path: Path) -> None:
    """What comes with the items, put together, and what was kept, is the output byte for byte."""
    kept = tmp_path / "kept"
    descriptor = open_kept(kept)
    script: list[Step] = [text("Grüße \u2028 😀", uuid="a"), "no message", "", result()]
    try:
        with running(tmp_path / "bin", *script, kept=descriptor) as process:
            told = [each for each in hear_all(process) if isinstance(each, Told)]
    finally:
        os.close(descriptor)
    assert b"".join(each.raw for each in told) == kept.read_bytes()
    assert [type(each.item).__name__ for each in told] == [
        "AssistantMessage",
        "Damaged",
        "Blank",
        "Result",
    ]


def test_complaints_are_kept_apart(tmp_path: Path) -> None:
    """Lines on standard error are items of their own, whole and without their ends."""
    with running(tmp_path, ["complain", "mind\nthe gap"], ["exit", 7]) as process:
        heard = hear_all(process)
        assert (heard, process.code) == ([Complaint("mind"), Complaint("the gap")], 7)


def test_it_gets_its_words_and_its_place(tmp_path: Path) -> None:
    """The client runs in the directory that was asked for, with the words of the vector."""
    with running(tmp_path) as process:
        assert hear_all(process) == []
    called = read_call(tmp_path)
    assert (called["arguments"], called["directory"]) == (["--print", "--", "p"], str(tmp_path))


def test_an_interrupt_ends_it_politely(tmp_path: Path) -> None:
    """It may say a last word, which is heard, and exits by itself."""
    with running(tmp_path, text("one", uuid="a"), ["wait", 60]) as process:
        wait_for_call(tmp_path)
        process.interrupt()
        last = hear_all(process)[-1]
        assert isinstance(last, Told)
        assert isinstance(last.item, Result)
        assert process.code == 130


def test_a_deaf_client_is_terminated(tmp_path: Path) -> None:
    """Who does not hear SIGINT gets SIGTERM."""
    with running(tmp_path, ["ignore", "SIGINT"], "deaf", ["wait", 60]) as process:
        assert next(filter(None, process.iter_items(0.05)), None) is not None
        process.stop()
        assert process.code == 128 + signal.SIGTERM


def test_a_stubborn_client_is_killed(tmp_path: Path) -> None:
    """Who hears neither is killed."""
    script: list[Step] = [["ignore", "SIGINT"], ["ignore", "SIGTERM"], "deaf", ["wait", 60]]
    with running(tmp_path, *script) as process:
        assert next(filter(None, process.iter_items(0.05)), None) is not None
        process.stop()
        assert process.code == 128 + signal.SIGKILL


def test_leaving_ends_it(tmp_path: Path) -> None:
    """However the block is left, no client is left behind."""

    def leave_early() -> None:
        with running(tmp_path, "here", ["wait", 60]) as process:
            assert next(filter(None, process.iter_items(0.05)), None) is not None
            raise KeyError

    with pytest.raises(KeyError):
        leave_early()
    assert not is_alive(int(read_call(tmp_path)["pid"]))


def test_what_it_started_ends_with_it(tmp_path: Path) -> None:
    """A program in the client's group does not outlive a stop."""
    with running(tmp_path, ["leave", 60], "left", ["wait", 60]) as process:
        assert next(filter(None, process.iter_items(0.05)), None) is not None
        process.stop()
    left = int((tmp_path / "left.pid").read_text())
    deadline = time.monotonic() + 5
    while is_alive(left) and not is_zombie(left):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def is_zombie(pid: int) -> bool:
    """Whether it has ended and only waits for somebody to notice."""
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z"


@pytest.mark.slow
def test_a_program_left_behind_does_not_hold_us_up(tmp_path: Path) -> None:
    """When the client has ended, its output is over soon, even if somebody holds it open."""
    with running(tmp_path, ["leave", 60], text("one", uuid="a")) as process:
        start = time.monotonic()
        assert len(hear_all(process)) == 1
        assert time.monotonic() - start < LINGER_SECONDS + 20
        process.stop()
