"""What all fuzzers share: options for the seed, processes, and the report of failures."""

import random
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TypeVar

T = TypeVar("T")


def add_seed(parser: ArgumentParser) -> None:
    """Add the option that repeats a run."""
    parser.add_argument(
        "--seed",
        type=int,
        default=random.SystemRandom().randrange(10**9),
        help="repeats a run; otherwise each run is new",
    )


def add_jobs(parser: ArgumentParser) -> None:
    """Add the option for the number of processes."""
    parser.add_argument("--jobs", type=int, default=2, help="processes (%(default)s)")


def split(fuzz: Callable[[int, str], T], count: int, seed: int, jobs: int) -> list[T]:
    """Split `count` attempts between processes, each with its own seed; return their results."""
    shares = [count // jobs + (number < count % jobs) for number in range(jobs)]
    seeds = [f"{seed}:{number}" for number in range(jobs)]
    if jobs == 1:
        return [fuzz(shares[0], seeds[0])]
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        return list(pool.map(fuzz, shares, seeds))


def report(failures: Iterable[str]) -> int:
    """Print failures, and return the exit code: 1 if there are any."""
    code = 0
    for failure in failures:
        print(failure, file=sys.stderr)
        code = 1
    return code
