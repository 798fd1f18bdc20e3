"""`recollect serve` as a command: what it rejects, and what it offers to new users."""

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from recollect.cli.program import COMMANDS
from recollect.web.settings import DEFAULT_PORT, load_last_port
from tests.cli.demo_home import GOLDEN
from tests.golden import check_golden
from tests.process import RunRecollect


def test_serve_is_a_command(run_recollect: RunRecollect) -> None:
    """It is in the help of the program and has help of its own."""
    assert "serve" in COMMANDS
    assert run_recollect("serve", "--help").code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--demo", "--claude-dir", "x"), "Use only one of --claude-dir and --demo"),
        (("--host", "0.0.0.0"), "--allow-remote"),
        (("--host", "0.0.0.0", "--allow-remote"), "Specify the address"),
        (("--port", "70000"), "--port"),
    ],
)
def test_wrong_requests_are_refused(
    run_recollect: RunRecollect, arguments: tuple[str, ...], words: str
) -> None:
    """Each with a message that names what to do."""
    result = run_recollect("serve", "--no-open", *arguments)
    assert (result.code, result.stdout, words in result.stderr) == (2, "", True)


@pytest.mark.slow
def test_serve_says_where_it_is(tmp_path: Path) -> None:
    """The URL is printed to stderr, without the key."""
    process = subprocess.Popen(
        [sys.executable, "-m", "recollect", "serve", "--demo", "--no-open", "--port", "0"],
        env={**os.environ, "RECOLLECT_DATA_DIR": str(tmp_path / "data")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        assert process.stderr is not None
        said = process.stderr.readline()
    finally:
        process.send_signal(signal.SIGINT)
        rest = process.communicate(timeout=60)
    assert (process.returncode, rest) == (0, ("", ""))
    check_golden(GOLDEN / "serve.txt", re.sub(r":\d+/", ":8123/", said))


@pytest.mark.slow
@pytest.mark.parametrize("options", [("--demo",), ("--demo-if-empty",), ()])
def test_serve_starts_without_any_sessions(tmp_path: Path, options: tuple[str, ...]) -> None:
    """With the demo, and without any sessions at all, there is something to look at."""
    process = subprocess.Popen(
        [sys.executable, "-m", "recollect", "serve", "--print-url", "--port", "0", *options],
        env={**os.environ, "RECOLLECT_DATA_DIR": str(tmp_path / "data")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip().partition("#")[0]
        with pytest.raises(urllib.error.HTTPError, match="401") as refused:
            urllib.request.urlopen(address, timeout=60)
        refused.value.close()
    finally:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")


class Started:
    """A server that chooses its port itself."""

    def __init__(self, data: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "recollect", "serve", "--print-url"],
            env={**os.environ, "RECOLLECT_DATA_DIR": str(data)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        assert self._process.stdout is not None
        address = self._process.stdout.readline().partition("#")[0]
        self.port = int(address.rstrip("/").rpartition(":")[2])

    def stop(self) -> str:
        """Stop the server and return its output."""
        self._process.send_signal(signal.SIGINT)
        return self._process.communicate(timeout=60)[1]


@pytest.mark.slow
def test_the_port_stays_the_same(tmp_path: Path) -> None:
    """The last port is used again, or the next free one if it is taken."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        noted = free.getsockname()[1]
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    (data / "web-port").write_text(f"{noted}\n")
    first = Started(data)
    second = Started(data)
    said = [second.stop(), first.stop()]
    third = Started(data)
    said.append(third.stop())
    warning = f"recollect: Port {noted} is in use, so earlier links will not work.\n"
    assert (first.port, third.port, said) == (noted, noted, [warning, "", ""])
    assert noted < second.port


@pytest.mark.parametrize("noted", [None, "", "x", "0", "99999", "1" * 50])
def test_a_port_that_makes_no_sense_is_not_remembered(tmp_path: Path, noted: str | None) -> None:
    """Without a valid saved port, links use the default port."""
    if noted is not None:
        (tmp_path / "web-port").write_text(noted)
    assert load_last_port(tmp_path) == DEFAULT_PORT
