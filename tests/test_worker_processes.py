"""Tests of recollect.worker_processes."""

import os
from contextlib import closing
from functools import partial

import pytest

from recollect.worker_processes import run_in_order, run_on_all_cores

PARTS = 40


def write_number(number: int) -> bytes:
    """Return a number, with the process that wrote it."""
    return f"{number} {os.getpid()}".encode()


def die_early(parent: int, number: int) -> bytes:
    """Return a number; a process other than `parent` dies at every third."""
    if os.getpid() != parent and number % 3 == 0:
        os._exit(9)
    return str(number).encode()


def test_results_come_in_order() -> None:
    """Whichever finishes first, and from other processes than this one."""
    results = [found.decode().split() for found in run_in_order(write_number, PARTS)]
    assert [int(number) for number, _ in results] == list(range(PARTS))
    assert str(os.getpid()) not in {process for _, process in results}


def test_what_a_dead_worker_leaves_is_done_here() -> None:
    """No result is lost or repeated."""
    work = partial(die_early, os.getpid())
    assert list(run_in_order(work, PARTS)) == [str(each).encode() for each in range(PARTS)]


def test_no_worker_is_left_when_nobody_wants_more() -> None:
    """The processes have ended when the generator is closed."""
    results = run_on_all_cores(write_number, PARTS)
    with closing(results):
        process = int(next(results)[1].split()[1])
        os.kill(process, 0)
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_there_may_be_nothing_to_do() -> None:
    """No process is started for an empty list."""
    assert list(run_in_order(write_number, 0)) == []
