"""Tests of recollect.sources.safe_files."""

import os
from pathlib import Path

import pytest

from recollect.sources.safe_files import (
    Refusal,
    Refused,
    describe_error,
    find_directory,
    find_status,
    is_directory,
    iter_tree,
    list_directory,
    refusal_of,
    resolve_links,
)
from recollect.sources.source import is_link
from tests.locations.trees import link, needs_permissions, needs_pipes, write


def test_refusal_reads_as_a_sentence() -> None:
    """A refused entry has its path, the reason and the system's message."""
    plain = Refused(Path("a"), Refusal.SPECIAL)
    detailed = Refused(Path("a"), Refusal.UNREADABLE, "Permission denied")
    assert (str(plain), str(detailed)) == (
        "a: neither a regular file nor a directory",
        "a: cannot be accessed (Permission denied)",
    )


def test_error_is_described_without_its_path() -> None:
    """The description of an error is the system's word alone."""
    error = FileNotFoundError(2, "No such file or directory", "a")
    assert describe_error(error) == "No such file or directory"
    assert describe_error(ValueError("embedded null byte")) == "embedded null byte"


def test_entries_come_by_name(tmp_path: Path) -> None:
    """A directory is listed in the order of its names."""
    for name in ("b", "a", "C"):
        write(tmp_path / name)
    assert [entry.name for entry in list_directory(tmp_path)] == ["C", "a", "b"]


def test_directory_that_is_gone_is_empty(tmp_path: Path) -> None:
    """A deleted directory, or a file in its place, has no entries and causes no error."""
    file = write(tmp_path / "file")
    assert (list_directory(tmp_path / "gone"), list_directory(file)) == ([], [])


def test_status_is_that_of_the_entry_itself(tmp_path: Path) -> None:
    """A link has its own status even if it is broken; a missing entry has none."""
    dangling = link(tmp_path / "dangling", "nowhere")
    status = find_status(dangling)
    assert isinstance(status, os.stat_result)
    assert is_link(status)
    assert find_status(tmp_path / "missing") is None
    assert find_status(write(tmp_path / "file") / "below") is None


def test_status_that_cannot_be_had_is_a_refusal(tmp_path: Path) -> None:
    """A name that the file system rejects is reported, not raised."""
    path = tmp_path / ("x" * 5000)
    assert find_status(path) == Refused(path, Refusal.UNREADABLE, "File name too long")


def test_files_and_directories_are_not_refused(tmp_path: Path) -> None:
    """Only links and special files have a reason against them."""
    file, shortcut = write(tmp_path / "file"), link(tmp_path / "link", "file")
    assert refusal_of(file, file.lstat()) is None
    assert refusal_of(tmp_path, tmp_path.lstat()) is None
    assert refusal_of(shortcut, shortcut.lstat()) == Refused(shortcut, Refusal.LINK)


@needs_pipes
def test_pipe_is_refused(tmp_path: Path) -> None:
    """A named pipe is special."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert refusal_of(pipe, pipe.lstat()) == Refused(pipe, Refusal.SPECIAL)


def test_loop_of_links_is_an_ordinary_error(tmp_path: Path) -> None:
    """Resolving a loop raises OSError on every version of Python."""
    loop = link(tmp_path / "loop", "loop")
    with pytest.raises(OSError, match="symbolic links"):
        resolve_links(loop)


def test_directory_is_seen_through_links(tmp_path: Path) -> None:
    """A link to a directory counts as one; files and invalid paths do not."""
    shortcut = link(tmp_path / "shortcut", tmp_path)
    seen = [is_directory(path) for path in (shortcut, write(tmp_path / "f"), Path("a\0b"))]
    assert seen == [True, False, False]


def test_directory_is_found_through_real_directories_only(tmp_path: Path) -> None:
    """Every step below the base must be there and be no link."""
    (tmp_path / "a" / "b").mkdir(parents=True)
    link(tmp_path / "shortcut", "a")
    assert find_directory(tmp_path) == tmp_path
    assert find_directory(tmp_path, "a", "b") == tmp_path / "a" / "b"
    assert find_directory(tmp_path, "a", "c") is None
    assert find_directory(tmp_path, "shortcut", "b") == Refused(tmp_path / "shortcut", Refusal.LINK)


def test_tree_is_listed_without_following_links(tmp_path: Path) -> None:
    """Everything below a directory is listed once; links are listed as links."""
    write(tmp_path / "a" / "b" / "deep")
    write(tmp_path / "top")
    link(tmp_path / "a" / "up", tmp_path)
    assert sorted(map(str, iter_tree(tmp_path))) == [
        "('a', 'b', 'deep')",
        "('a', 'up')",
        "('top',)",
    ]


@needs_permissions
def test_closed_directory_in_a_tree_is_reported(tmp_path: Path) -> None:
    """An unreadable directory is a refusal among the other results."""
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o000)
    write(tmp_path / "open")
    try:
        listed = list(iter_tree(tmp_path))
    finally:
        closed.chmod(0o700)
    assert listed == [("open",), Refused(closed, Refusal.UNREADABLE, "Permission denied")]
