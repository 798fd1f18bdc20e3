"""Runs Python in a process of its own and hands back everything it said.

The environment is the test's own, which `conftest.py` has already pointed at a temporary home.
"""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from tests.guard.home_guard import BREACH_EXIT_CODE

TIMEOUT_SECONDS = 120


@dataclass(frozen=True)
class Finished:
    """What a process left behind."""

    code: int
    stdout: str
    stderr: str


class RunRecollect(Protocol):
    """The type of the `run_recollect` fixture."""

    def __call__(
        self, *args: str, input: str | None = None, env: Mapping[str, str] | None = None
    ) -> Finished:
        """Run `python -m recollect` with these arguments to its end."""


def run_python(
    *args: str, input: str | None = None, env: Mapping[str, str] | None = None
) -> Finished:
    """The result of this interpreter run with these arguments; fails when it touched the home."""
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
    """The result of `python -m recollect` run with these arguments."""
    return run_python("-m", "recollect", *args, input=input, env=env)
