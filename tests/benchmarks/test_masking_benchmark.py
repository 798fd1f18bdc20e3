"""The benchmark of recording and masking secrets runs, and prints its figures."""

from pathlib import Path

import pytest

from benchmarks import masking


@pytest.mark.slow
def test_the_benchmark_runs(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """On little data, without public transcripts, where meeting the goals means nothing."""
    masking.main(["--bytes", "200000", "--rounds", "1", "--corpus", str(tmp_path)])
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines] == [
        f"{corpus}, {command}"
        for corpus in ("made up", "made up with secrets")
        for command in ("text pass", "found", "show", "search")
    ]
