"""Write files so that there is never half of one: beside their place first, then in one step.

An existing file is replaced only if that is wanted. Files are readable only by the user, because a
conversation is private until its owner shares it.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from recollect.errors import RecollectError, UsageError

_MAX_NAME: Final = 50


@contextmanager
def open_new(target: Path, *, force: bool = False) -> Iterator[BinaryIO]:
    """Open a file that takes its place when the block ends, and vanishes if it fails."""
    refuse_existing(target, force=force)
    try:
        descriptor, name = tempfile.mkstemp(
            prefix=f".{target.name[:_MAX_NAME]}.", dir=target.parent
        )
    except OSError as error:
        raise cannot_write(target, error) from error
    temporary = Path(name)
    try:
        try:
            with os.fdopen(descriptor, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            _put(temporary, target, force=force)
        except OSError as error:
            raise cannot_write(target, error) from error
    finally:
        temporary.unlink(missing_ok=True)


def write_file(target: Path, chunks: Iterable[bytes], *, force: bool = False) -> int:
    """Write chunks as a file; return its size."""
    size = 0
    with open_new(target, force=force) as file:
        for chunk in chunks:
            size += file.write(chunk)
    return size


def _put(temporary: Path, target: Path, *, force: bool) -> None:
    if force:
        temporary.replace(target)
        return
    try:
        # Unlike a rename, a link fails if somebody has made the file meanwhile.
        os.link(temporary, target)
    except FileExistsError:
        raise already_exists(target) from None
    except OSError:
        # Some file systems have no links.
        refuse_existing(target, force=False)
        temporary.replace(target)


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
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise RecollectError(f"Cannot create {directory}: {error.strerror or error}.") from error
