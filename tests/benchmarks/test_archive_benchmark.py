"""The benchmark of the archive runs, and prints its figures."""

import pytest

from benchmarks import archive


@pytest.mark.slow
def test_the_benchmark_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """On little data, where meeting the goals means nothing."""
    archive.main(["--size", "300k", "--files", "5"])
    printed = capsys.readouterr().out
    assert "first sync, speed" in printed
    assert "sync with nothing new, 5 files" in printed
