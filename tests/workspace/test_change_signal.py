"""The signal that wakes the indexer process, and when it is unreliable."""

import time
from multiprocessing import Pipe
from pathlib import Path

import pytest

from recollect.live.watching import POLL_VARIABLE
from recollect.workspace.indexer_process import MAX_MISSES, ChangeSignal
from tests.web.running import copy_demo

TIMEOUT = 60.0


def _wait_until_reliable(change_signal: ChangeSignal) -> None:
    deadline = time.monotonic() + TIMEOUT
    while not change_signal.is_reliable:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_it_is_set_by_a_new_directory_and_by_writes_in_it(tmp_path: Path) -> None:
    """A project that is created later is watched like existing ones."""
    root = copy_demo(tmp_path)
    change_signal = ChangeSignal([root])
    _wait_until_reliable(change_signal)
    connection, other = Pipe()
    project = root / "projects" / "-new"
    rings = []
    with connection, other:
        for change in (project.mkdir, lambda: (project / "a.jsonl").write_bytes(b"{}\n")):
            time.sleep(2.5)
            change_signal.reset()
            change()
            rings.append(change_signal.wait(connection, TIMEOUT))
        time.sleep(0.5)
        change_signal.reset()
        rings.append(change_signal.wait(connection, 0.5))
    assert rings == [True, True, False]


def test_it_is_not_relied_on_after_a_silence_about_changes(tmp_path: Path) -> None:
    """After changes without events, the directory is polled."""
    change_signal = ChangeSignal([copy_demo(tmp_path)])
    _wait_until_reliable(change_signal)
    for _ in range(MAX_MISSES):
        change_signal.record_miss()
    assert not change_signal.is_reliable


def test_it_is_never_relied_on_where_polling_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """File-system events are not used if the user asks for polling."""
    monkeypatch.setenv(POLL_VARIABLE, "1")
    change_signal = ChangeSignal([copy_demo(tmp_path)])
    time.sleep(1.5)
    assert not change_signal.is_reliable
