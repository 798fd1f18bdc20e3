"""Tests of recollect.store.data_directory: where our own files are, and who may see them."""

import stat
import sys
from pathlib import Path

import platformdirs
import pytest

from recollect.errors import IndexFailure, UsageError
from recollect.store.data_directory import (
    find_data_directory,
    is_on_network,
    make_private_directory,
    refuse_claude_directory,
)

MOUNTS = """\
/dev/sda1 / ext4 rw 0 0
server:/export /home/me nfs4 rw 0 0
//server/share /mnt/a\\040share cifs rw 0 0
tmpfs /home/me/local tmpfs rw 0 0
broken line
"""


def test_the_user_may_choose(tmp_path: Path) -> None:
    """By a variable, which wins over everything else."""
    assert find_data_directory({"RECOLLECT_DATA_DIR": str(tmp_path)}) == tmp_path


def test_a_choice_within_a_claude_directory_is_refused(tmp_path: Path) -> None:
    """Recollect writes nothing there, whatever is configured."""
    claude = tmp_path / "home" / ".claude"
    (claude / "projects").mkdir(parents=True)
    chosen = {"RECOLLECT_DATA_DIR": str(claude / "recollect")}
    for environment in ({"HOME": str(tmp_path / "home")}, {"CLAUDE_CONFIG_DIR": str(claude)}):
        with pytest.raises(UsageError, match=r"belongs to Claude Code\. Set RECOLLECT_DATA_DIR"):
            find_data_directory(chosen | environment)


@pytest.mark.skipif(sys.platform != "linux", reason="asks the library elsewhere")
@pytest.mark.parametrize("base", [None, "", " ", "/somewhere/data"])
def test_the_default_is_that_of_the_system(
    monkeypatch: pytest.MonkeyPatch, base: str | None
) -> None:
    """The library that knows it agrees; it only takes too long to load."""
    monkeypatch.delenv("XDG_DATA_HOME")
    if base is not None:
        monkeypatch.setenv("XDG_DATA_HOME", base)
    monkeypatch.delenv("RECOLLECT_DATA_DIR", raising=False)
    assert str(find_data_directory()) == platformdirs.user_data_dir("recollect", appauthor=False)


def test_directories_are_private_from_the_first_that_is_made(tmp_path: Path) -> None:
    """Those that were there before are left alone."""
    tmp_path.chmod(0o755)
    make_private_directory(tmp_path / "a" / "b")
    modes = [
        stat.S_IMODE(path.stat().st_mode) for path in (tmp_path, tmp_path / "a", tmp_path / "a/b")
    ]
    assert modes == [0o755, 0o700, 0o700]
    make_private_directory(tmp_path / "a" / "b")


def test_a_file_is_no_directory(tmp_path: Path) -> None:
    """The error says what to do."""
    (tmp_path / "file").touch()
    with pytest.raises(IndexFailure) as told:
        make_private_directory(tmp_path / "file")
    assert str(told.value) == (
        f"Cannot create the data directory {tmp_path / 'file'}: it is a file. "
        "Set RECOLLECT_DATA_DIR to a directory that you can write to."
    )


def test_claude_directories_are_refused(tmp_path: Path) -> None:
    """By any way that leads there."""
    claude = tmp_path / ".claude"
    (claude / "deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to(claude / "deep")
    for place in (claude, claude / "new", tmp_path / "link" / "new"):
        with pytest.raises(UsageError, match=r"belongs to Claude Code\. Set RECOLLECT_DATA_DIR"):
            refuse_claude_directory(place, [claude])
    refuse_claude_directory(tmp_path / ".claude-data", [claude])


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/home/me/data", True),
        ("/home/me", True),
        ("/home/melissa", False),
        ("/home/me/local/data", False),
        ("/mnt/a share/data", True),
        ("/var/lib", False),
    ],
)
def test_network_file_systems_are_known(tmp_path: Path, path: str, expected: bool) -> None:
    """Recognised by the mount that contains the path."""
    mounts = tmp_path / "mounts"
    mounts.write_text(MOUNTS, encoding="utf-8")
    assert is_on_network(Path(path), mounts) is expected


def test_without_a_list_of_mounts_a_disk_is_taken_for_local(tmp_path: Path) -> None:
    """Most are."""
    assert is_on_network(Path("/home/me"), tmp_path / "missing") is False
