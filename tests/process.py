"""Run Python in a process of its own and return its output.

The environment is that of the test, which `conftest.py` has pointed to a temporary home.
"""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from tests.guard.home_guard import BREACH_EXIT_CODE
from tests.preloaded import find_program

TIMEOUT_SECONDS = 120


@dataclass(frozen=True)
class Finished:
    """The exit code and output of a process."""

    code: int
    stdout: str
    stderr: str


class RunRecollect(Protocol):
    """The type of the `run_recollect` fixture."""

    def __call__(
        self, *args: str, input: str | None = None, env: Mapping[str, str] | None = None
    ) -> Finished:
        """Run `python -m recollect` with these arguments."""


def run_python(
    *args: str, input: str | None = None, env: Mapping[str, str] | None = None
) -> Finished:
    """Run this interpreter with these arguments; fails if it accessed the real home."""
    done = subprocess.run(
        [sys.executable, *args],
        input="" if input is None else input,
        env={**os.environ, **(env or {})},
        capture_output=True,
        encoding="utf-8",
        timeout=TIMEOUT_SECONDS,
        check=False,
    )
    assert done.returncode != BREACH_EXIT_CODE, done.stderr
    return Finished(done.returncode, done.stdout, done.stderr)


def run_recollect(
    *args: str, input: str | None = None, env: Mapping[str, str] | None = None
) -> Finished:
    """Run `python -m recollect` with these arguments and return the result."""
    environment = {**os.environ, **(env or {})}
    program = find_program(environment)
    given = (input or "").encode()
    done = program.run([*args], given, environment, TIMEOUT_SECONDS) if program else None
    if done is None:
        return run_python("-m", "recollect", *args, input=input, env=env)
    assert done.code != BREACH_EXIT_CODE, done.stderr.decode()
    return Finished(done.code, done.stdout.decode(), done.stderr.decode())


_IN_TERMINAL = """
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0:
    exec(sys.argv[1])
    os._exit(0)
data = b""
while True:
    try:
        chunk = os.read(terminal, 1024)
    except OSError:
        break
    if not chunk:
        break
    data += chunk
print(ascii(data.decode()))
"""


def run_in_terminal(code: str, env: Mapping[str, str]) -> Finished:
    """Run code in a terminal of its own; the output is the repr of what the terminal was sent."""
    return run_python("-c", _IN_TERMINAL, code, env=env)
