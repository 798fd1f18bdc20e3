"""Files are complete or not there, whatever happens while they are written."""

import os
import stat
import sys
from pathlib import Path

import pytest

from recollect.atomic_files import make_directories, open_atomic, remove_temporary_files


def list_names(directory: Path) -> list[str]:
    """Return the names in a directory."""
    return sorted(path.name for path in directory.iterdir())


def test_a_file_gets_its_name_last(tmp_path: Path) -> None:
    """It is not visible before it is complete, with its mode and its time."""
    target = tmp_path / "made"
    with open_atomic(target, overwrite=False, mode=0o640, mtime_ns=10**18) as file:
        file.write(b"whole")
        assert not target.exists()
    status = target.stat()
    assert target.read_bytes() == b"whole"
    assert (stat.S_IMODE(status.st_mode), status.st_mtime_ns) == (0o640, 10**18)
    assert list_names(tmp_path) == ["made"]


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_failure_leaves_nothing(tmp_path: Path, *, overwrite: bool) -> None:
    """The previous file stays, and no temporary file is left."""
    target = tmp_path / "made"
    target.write_bytes(b"before")

    def fail() -> None:
        with open_atomic(target, overwrite=overwrite) as file:
            file.write(b"half")
            raise OSError("full")

    with pytest.raises(OSError, match="full"):
        fail()
    assert (target.read_bytes(), list_names(tmp_path)) == (b"before", ["made"])


@pytest.mark.parametrize("has_links", [True, False])
def test_a_taken_name_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, has_links: bool
) -> None:
    """A file created in the meantime is not replaced, even without hard links."""
    target = tmp_path / "made"

    def refuse(*_: object) -> None:
        raise PermissionError

    if not has_links:
        monkeypatch.setattr(os, "link", refuse)

    def lose() -> None:
        with open_atomic(target, overwrite=False) as file:
            file.write(b"ours")
            target.write_bytes(b"theirs")

    with pytest.raises(FileExistsError):
        lose()
    assert (target.read_bytes(), list_names(tmp_path)) == (b"theirs", ["made"])
    target.unlink()
    with open_atomic(target, overwrite=False) as file:
        file.write(b"ours")
    assert (target.read_bytes(), list_names(tmp_path)) == (b"ours", ["made"])


def test_directories_are_private(tmp_path: Path) -> None:
    """Created directories are private; existing ones keep their mode."""
    (tmp_path / "there").mkdir(mode=0o755)
    make_directories(tmp_path / "there" / "above" / "below")
    modes = [
        stat.S_IMODE(path.stat().st_mode)
        for path in (tmp_path / "there", *sorted((tmp_path / "there").rglob("*")))
    ]
    assert modes == [0o755, 0o700, 0o700]


@pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be removed")
def test_files_of_another_process_stay(tmp_path: Path) -> None:
    """A worker that is ended does not remove what the process that forked it is writing."""
    target = tmp_path / "made"
    with open_atomic(target, overwrite=False) as file:
        file.write(b"whole")
        child = os.fork()
        if not child:
            remove_temporary_files()
            os._exit(0)
        os.waitpid(child, 0)
    assert target.read_bytes() == b"whole"
