"""The benchmark of versions of files runs, and prints its figures."""

import pytest

from benchmarks import versions


@pytest.mark.slow
def test_the_benchmark_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """On little data, where meeting the goals means nothing."""
    versions.main(["--size", "300k", "--sessions", "2", "--rounds", "1"])
    printed = capsys.readouterr().out
    assert "blame, many versions: " in printed
    assert "growth of the index: " in printed
