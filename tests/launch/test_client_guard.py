"""Find the processes that belong to a client."""

import os
import signal
import subprocess
import sys
import time

import pytest

from recollect.launch.client_guard import list_process_tree, make_mark, read_settings

SPAWNED = 200

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


def test_a_process_is_not_judged_before_its_program_is_loaded() -> None:
    """For a moment, seen in one of thirty cases, a new process has no environment."""
    mark = make_mark()
    name, _, value = mark.partition("=")
    missed = 0
    for _ in range(SPAWNED):
        with subprocess.Popen(["/bin/sleep", "60"], env={name: value}) as tool:
            while (found := read_settings(tool.pid)) is None:
                time.sleep(0)
            missed += mark.encode() not in found
            tool.kill()
    assert missed == 0


def test_a_process_without_an_environment_is_nobodys() -> None:
    """It is skipped at once, and a marked process is found even after its parent has exited."""
    mark = make_mark()
    name, _, value = mark.partition("=")
    with (
        subprocess.Popen(["/bin/sleep", "60"], env={}) as bare,
        subprocess.Popen(
            ["/bin/sh", "-c", "sleep 60 & echo $!"],
            env={**os.environ, name: value},
            stdout=subprocess.PIPE,
        ) as client,
    ):
        assert client.stdout is not None
        tool = int(client.stdout.readline())
        client.wait()
        found = [pid for pid, _ in list_process_tree(client.pid, mark)]
        os.kill(tool, signal.SIGKILL)
        bare.kill()
    assert found == [tool]
