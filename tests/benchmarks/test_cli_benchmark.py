"""The benchmark of the command line runs on a very small history."""

from pathlib import Path

from benchmarks.cli import COMMANDS, PICKER, Measured, format_result, run


def test_every_command_is_measured(tmp_path: Path) -> None:
    """Each command runs to its end and takes some time."""
    results = run(tmp_path, sessions=3, runs=2)
    assert [result.command for result in results] == [*COMMANDS, PICKER]
    assert min(result.best for result in results) > 1
    assert [result for result in results if result.best > result.median] == []


def test_a_figure_comes_with_its_budget() -> None:
    """Each measurement is printed with its goal."""
    assert format_result(Measured("list", 91.2, 99.9, 150)) == (
        "recollect list: best 91 ms of CPU, median 100, budget 150"
    )
