"""Write the files of an export: each is complete or not there.

An existing file is replaced only if that is wanted. Files are readable only by the user, because a
conversation is private until its owner shares it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from recollect.atomic_files import make_directories, open_atomic
from recollect.errors import RecollectError, UsageError


@contextmanager
def open_new(target: Path, *, force: bool = False) -> Iterator[BinaryIO]:
    """Open a file that takes its place when the block ends, and vanishes if it fails."""
    refuse_existing(target, force=force)
    make_directory(target.parent)
    try:
        with open_atomic(target, overwrite=force) as file:
            yield file
    except FileExistsError:
        raise already_exists(target) from None
    except OSError as error:
        raise cannot_write(target, error) from error


def write_file(target: Path, chunks: Iterable[bytes], *, force: bool = False) -> int:
    """Write chunks as a file; return its size."""
    size = 0
    with open_new(target, force=force) as file:
        for chunk in chunks:
            size += file.write(chunk)
    return size


def refuse_existing(target: Path, *, force: bool) -> None:
    """Raise UsageError if a file is there and must not be replaced."""
    if is_directory(target):
        raise UsageError(f"{target} is a directory. Name a file in it.")
    if os.path.lexists(target) and not force:
        raise already_exists(target)


def is_directory(target: Path) -> bool:
    """Return whether a directory is there."""
    return os.path.isdir(target)  # noqa: PTH112 - also for names that cannot be paths


def measure_file(target: Path) -> int:
    """Return the size of a file that was written."""
    return target.stat().st_size


def already_exists(target: Path) -> UsageError:
    """Return the error for a file that must not be replaced."""
    return UsageError(f"{target} already exists. Use --force to overwrite it.")


def cannot_write(target: Path, error: OSError) -> RecollectError:
    """Return the error for a file that cannot be written."""
    return RecollectError(
        f"Cannot write {target}: {error.strerror or error}. No incomplete file was left behind."
    )


def make_directory(directory: Path) -> None:
    """Create a directory for exports, readable only by the user, unless it is there."""
    try:
        make_directories(directory)
    except OSError as error:
        raise RecollectError(f"Cannot create {directory}: {error.strerror or error}.") from error
