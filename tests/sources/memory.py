"""A source that holds its files in memory, and the program with one instead of a directory."""

import io
import os
import stat
from pathlib import Path
from typing import NamedTuple

from recollect.cli import main as run
from recollect.errors import UnreadableInput
from recollect.sources.source import Entry, SourceFile, mount, refuse_unless_regular

VARIABLE = "RECOLLECT_TEST_MEMORY"
"""Environment variable: the directory to load and the path to mount it at, joined like a PATH."""


class MemoryFile(io.BytesIO):
    """An open file without a descriptor."""

    def __init__(self, data: bytes, status: os.stat_result) -> None:
        super().__init__(data)
        self._status = status

    def find_status(self) -> os.stat_result:
        """Its status when it was opened."""
        return self._status

    def fileno(self) -> int:
        """Nothing may ask the operating system about it."""
        raise AssertionError("there is no descriptor")


class MemoryEntry(NamedTuple):
    """A file or a directory, as a listing has it."""

    name: str
    path: str
    status: os.stat_result

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        """Return whether it is a file; there are no links to follow."""
        assert not follow_symlinks
        return stat.S_ISREG(self.status.st_mode)

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        """Whether it is a directory."""
        assert not follow_symlinks
        return stat.S_ISDIR(self.status.st_mode)

    def is_symlink(self) -> bool:
        """Never."""
        return False

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        """Return the status from loading or writing."""
        assert not follow_symlinks
        return self.status


class MemorySource:
    """The files below a directory, as they were when they were loaded, under other names."""

    def __init__(self, directory: Path, point: str) -> None:
        self.files: dict[str, bytes] = {}
        self.entries: dict[str, MemoryEntry] = {}
        for path in (directory, *directory.rglob("*")):
            name = str(Path(point, path.relative_to(directory)))
            self.entries[name] = MemoryEntry(path.name, name, _drop_blocks(path.lstat()))
            if path.is_file():
                self.files[name] = path.read_bytes()

    def open(self, name: str) -> SourceFile:
        """Open the current content of a file."""
        status = self.find_status(name)
        refuse_unless_regular(name, status)
        if name not in self.files:
            raise UnreadableInput(f"{name} has no bytes in memory.")
        return MemoryFile(self.files[name], status)

    def find_status(self, name: str) -> os.stat_result:
        """The status of an entry."""
        if name not in self.entries:
            raise FileNotFoundError(2, "No such file or directory", name)
        return self.entries[name].status

    def list_directory(self, name: str) -> list[Entry]:
        """The entries of a directory, in no order."""
        if not stat.S_ISDIR(self.find_status(name).st_mode):
            raise NotADirectoryError(20, "Not a directory", name)
        found = [each for path, each in self.entries.items() if str(Path(path).parent) == name]
        return [*reversed(found)]

    def write(self, name: str, data: bytes) -> None:
        """Replace the content of an existing file, as if a second later."""
        status = self.entries[name].status
        later = {"st_mtime_ns": status.st_mtime_ns + 10**9, "st_ino": status.st_ino}
        values = (*status[:6], len(data), *status[7:])
        self.files[name] = data
        changed = os.stat_result(values, later)
        self.entries[name] = self.entries[name]._replace(status=changed)


def _drop_blocks(status: os.stat_result) -> os.stat_result:
    """Return a status without block counts, as of a source that is not a disk."""
    return os.stat_result(tuple(status)[:10], {"st_mtime_ns": status.st_mtime_ns})


def main() -> None:
    """Run Recollect with a directory of the environment in memory."""
    directory, point = os.environ[VARIABLE].split(os.pathsep)
    mount(point, MemorySource(Path(directory), point))
    run()


if __name__ == "__main__":
    # By its importable name: what is sent to other processes must be found there.
    from tests.sources.memory import main as start

    start()
