"""The order of the test files."""

from tests.slow_files import SLOW_FILES, TESTS, make_order


def test_slow_files_come_first() -> None:
    """The others keep their order, and a renamed file is reported."""
    paths = [TESTS / name for name in ("b.py", "a.py", "web/slow.py", "slowest.py")]
    ordered = sorted(paths, key=make_order(["slowest.py", "web/slow.py"]))
    assert [path.name for path in ordered] == ["slowest.py", "slow.py", "b.py", "a.py"]
    assert [name for name in SLOW_FILES if not (TESTS / name).is_file()] == []
    assert len(set(SLOW_FILES)) == len(SLOW_FILES)
