"""The benchmark of redaction runs to its end, on a very small set."""

from pathlib import Path

import pytest

from benchmarks.redact import main


@pytest.mark.slow
def test_everything_is_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Recall, false positives and speed are printed, and missing measurements are explained."""
    main(["--repeats", "1", "--megabytes", "0.01", "--corpus", str(tmp_path)])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines[:3]] == [
        "recall, families with a rule",
        "recall, families that the general rules were tuned on",
        "recall, held-out families",
    ]
    assert "  public transcripts: skipped, there are none beside the project" in lines
    assert [line.split(":")[0].strip() for line in lines[-4:]] == [
        "find_secrets",
        "Redactor.redact",
        "",
        "detect-secrets",
    ]
