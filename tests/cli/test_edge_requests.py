"""Requests that are almost right work, or are refused with what to write instead."""

import os
import subprocess
import sys

import pytest

from tests.process import Finished, RunRecollect

REVERSED = ("--since", "2026-11-12", "--until", "2026-11-01")
CLOSED = "recollect: Standard output is closed. Use >/dev/null to discard output.\n"


@pytest.mark.skipif(os.name != "posix", reason="streams are closed by their numbers")
@pytest.mark.parametrize("closed", [(1,), (0, 1)], ids=["output", "input and output"])
def test_a_closed_output_is_reported(safe_environment: None, closed: tuple[int, ...]) -> None:
    """`list >&-` prints an error and exits with 1."""
    words = " ".join(f"{number}>&-" for number in closed)
    command = f'"$0" -m recollect list --demo {words}'
    done = subprocess.run(
        ["/bin/sh", "-c", command, sys.executable], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (1, CLOSED)


@pytest.mark.skipif(os.name != "posix", reason="streams are closed by their numbers")
def test_a_closed_error_stream_hinders_nothing(
    safe_environment: None, run_recollect: RunRecollect
) -> None:
    """`list 2>&-` prints the list."""
    command = '"$0" -m recollect demo list 2>&-'
    done = subprocess.run(
        ["/bin/sh", "-c", command, sys.executable], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, run_recollect("demo", "list").stdout)


def test_a_negative_limit_is_refused(run_recollect: RunRecollect) -> None:
    """A list has no rows or some, never fewer."""
    assert run_recollect("list", "-n", "-1") == Finished(
        2,
        "",
        "recollect: Invalid value for '-n' / '--limit': -1 is not in the range x>=0.\n"
        "Try `recollect list --help`.\n",
    )


@pytest.mark.parametrize("command", [("list",), ("usage",), ("tools",)])
def test_reversed_dates_are_refused(run_recollect: RunRecollect, command: tuple[str, ...]) -> None:
    """An empty result would hide the mistake."""
    done = run_recollect("demo", *command, *REVERSED)
    assert (done.code, done.stdout) == (2, "")
    assert done.stderr.startswith(
        "recollect: The range ends before it starts: since 2026-11-12 until 2026-11-01."
    )


def test_reversed_dates_in_a_query_are_refused(run_recollect: RunRecollect) -> None:
    """The message quotes the fields of the query."""
    done = run_recollect("demo", "search", "tide since:2026-11-12 until:2026-11-01")
    assert (done.code, done.stdout) == (2, "")
    assert done.stderr.startswith("recollect: The range ends before it starts: since")
