"""The library benchmark runs on a corpus of a thousandth of its size."""

from pathlib import Path

from benchmarks.library import LISTED_BYTES, SESSION_BYTES, run


def test_both_looks_are_taken(tmp_path: Path) -> None:
    """One session is opened and a list is made; both take measurable time."""
    opened, listed = run(tmp_path, scale=0.002)
    assert (opened.name, listed.name) == ("open", "list")
    assert opened.items > 0
    assert opened.size > 0.5 * SESSION_BYTES * 0.002
    assert listed.items == 4
    assert listed.size > 2 * LISTED_BYTES
    assert min(opened.cpu_seconds, listed.cpu_seconds) > 0
    assert min(opened.peak_memory, listed.peak_memory) > 1_000_000
