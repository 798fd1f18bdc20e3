"""The index benchmark runs on a corpus of a thousandth of its size."""

import os
import sys
from pathlib import Path

import pytest

from benchmarks.index import (
    Figure,
    Sandbox,
    check_totals,
    compare,
    describe,
    make_sandbox,
    measure_long_line,
    take_turns,
)
from benchmarks.processes import Failed, run_program


@pytest.fixture
def sandbox(shared: Path, tmp_path: Path) -> Sandbox:
    """A small corpus by the generator beside the project."""
    if not (shared / "bench" / "gen_corpus.py").is_file():
        pytest.skip("no generator beside the project")
    found = make_sandbox(tmp_path, "2m")
    assert found is not None
    return found


@pytest.mark.slow
def test_all_kinds_of_runs_are_compared(sandbox: Sandbox) -> None:
    """With ratios to a peer, here a program that does nothing; files are unchanged."""
    before = {path: path.stat().st_mtime_ns for path in sandbox.root.rglob("*.jsonl")}
    runs = take_turns(sandbox, [sys.executable, "-c", ""], rounds=1)
    figures = {figure.name: figure for figure in compare("1g", runs)}
    assert set(runs) == {"cold", "warm", "appended", "peer"}
    assert figures["1g: cold, of the peer"].goal == 0.9
    assert figures["1g: cold, of the peer"].value > 1
    assert check_totals("1g", sandbox) == Figure("1g: wrong totals", 0, goal=0)
    assert {path: path.stat().st_mtime_ns for path in before} == before


@pytest.mark.slow
def test_memory_for_one_long_line_is_seen(tmp_path: Path) -> None:
    """The memory used is measured, and is less than the length of the line."""
    (figure,) = measure_long_line(tmp_path, 300_000_000)
    assert 10 < figure.value < 300


def test_a_missed_goal_is_marked() -> None:
    """A goal that is met is not marked."""
    assert describe(Figure("a", 2, "x", 1)) == "a: 2.000 x  (goal: at most 1 x)  MISSED"
    assert describe(Figure("a", 1, "x", 1)) == "a: 1.000 x  (goal: at most 1 x)"
    assert describe(Figure("a", 1)) == "a: 1.000"


def test_a_program_that_fails_is_no_measurement() -> None:
    """It would look fast."""
    run = run_program([sys.executable, "-c", "print('x' * 100_000)"], dict(os.environ))
    assert (len(run.output), run.seconds > 0, run.cpu_seconds > 0) == (100_001, True, True)
    command = [sys.executable, "-c", "import sys; print('oh', file=sys.stderr); sys.exit(3)"]
    with pytest.raises(Failed, match="ended with 3: oh"):
        run_program(command, dict(os.environ))
