"""The benchmark of exports runs, and prints its figures."""

from pathlib import Path

import pytest

from benchmarks import export


@pytest.mark.slow
def test_the_benchmark_runs(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """On little data, without another program, where meeting the goals means nothing."""
    export.main(["--bytes", "200000", "--sessions", "2", "--peer", str(tmp_path)])
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines] == [
        "recollect, one page",
        "recollect, one page",
        "claude-code-log is left out",
        "recollect, 2 sessions",
    ]
