"""Paths in records: spellings, projects that moved, worktrees, and the bytes to search for."""

import pytest

from recollect.versions.file_paths import PathAliases, normalize_path

ALIASES = PathAliases(
    ("/p/src/a.py",), ("/p",), moved_from=("/old",), worktrees=("/p/.claude/worktrees/x", "/w")
)


@pytest.mark.parametrize(
    ("path", "directory", "normal"),
    [
        ("/p/a.py", None, "/p/a.py"),
        ("/p/./b/../a.py", None, "/p/a.py"),
        ("src/a.py", "/p", "/p/src/a.py"),
        ("C:\\p\\a.py", None, "C:/p/a.py"),
        ("src\\a.py", "C:\\p", "C:/p/src/a.py"),
        ("", None, ""),
    ],
)
def test_paths_have_one_spelling(path: str, directory: str | None, normal: str) -> None:
    """Paths of either system are absolute, without dots, and with slashes."""
    assert normalize_path(path, directory) == normal


@pytest.mark.parametrize(
    ("recorded", "stream"),
    [
        ("/p/src/a.py", "/p/src/a.py"),
        ("/old/src/a.py", "/p/src/a.py"),
        ("/w/src/a.py", "/w/src/a.py"),
        ("/p/.claude/worktrees/x/src/a.py", "/p/.claude/worktrees/x/src/a.py"),
        ("/old/a.py", None),
        ("/other/src/a.py", None),
        ("/p/SRC/a.py", None),
    ],
)
def test_a_file_is_known_under_all_its_names(recorded: str, stream: str | None) -> None:
    """Earlier paths are the same file, each worktree has its own, and other paths do not match."""
    assert ALIASES.find_stream(recorded) == stream


def test_case_counts_only_where_the_disk_says_so() -> None:
    """Paths are case-insensitive where file names are."""
    aliases = PathAliases(("/p/a.py",), ("/p",), ignores_case=True)
    assert aliases.find_stream("/P/A.py") == "/p/a.py"
