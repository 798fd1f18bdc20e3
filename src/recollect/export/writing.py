"""Write the pieces of an export: rendered, scanned and encoded, in this process or on all cores,
and written to files atomically.

A piece that takes time to render is a function that renders it. Only a piece without secrets is
used as another process returns it, because tags are numbered in this process.

An existing file is replaced only with `force`. Files are readable only by the user, because a
conversation is private until its owner shares it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from msgspec import Struct, msgpack

from recollect.atomic_files import make_directories, open_atomic
from recollect.errors import RecollectError, UsageError
from recollect.export.masking import Mask
from recollect.worker_processes import count_cores, is_forking, run_in_order

Piece = str | Callable[[], str]

_MIN_BYTES: Final = 8_000_000
"""Minimum size of a transcript in bytes: less is exported faster without other processes."""
_BATCH: Final = 6
"""Number of functions that a worker calls before it sends their output."""


class _Checked(Struct, frozen=True, array_like=True):
    """A rendered piece from another process."""

    data: bytes
    is_clean: bool
    tags: dict[str, int]


def should_use_all_cores(size: int | None) -> bool:
    """Return whether using all cores is faster for a transcript of this size."""
    return (size or 0) >= _MIN_BYTES and count_cores() > 1 and is_forking()


def encode(pieces: Iterable[Piece], mask: Mask) -> Iterator[bytes]:
    """Yield the bytes of each piece after the second scan."""
    for piece in pieces:
        yield _write(mask.check(_render(piece)))


def encode_on_all_cores(pieces: Iterable[Piece], mask: Mask) -> Iterator[bytes]:
    """Yield the same bytes as `encode`; a piece must not have side effects."""
    if not is_forking():
        # A thread may have been started since `should_use_all_cores` was called.
        yield from encode(pieces, mask)
        return
    first, *batches = _make_batches(pieces)
    # Loads templates and lexers once for all processes.
    yield from encode(first, mask)

    def render_batch(number: int) -> bytes:
        return msgpack.encode([_check(_render(piece), mask) for piece in batches[number]])

    with closing(run_in_order(render_batch, len(batches))) as results:
        for result in results:
            for checked in msgpack.decode(result, type=list[_Checked]):
                if checked.is_clean:
                    mask.count(checked.tags)
                    yield checked.data
                else:
                    yield _write(mask.check(checked.data.decode("utf-8", "surrogatepass")))


def _make_batches(pieces: Iterable[Piece]) -> Iterator[Sequence[Piece]]:
    batch: list[Piece] = []
    for piece in pieces:
        batch.append(piece)
        if sum(map(callable, batch)) == _BATCH:
            yield batch
            batch = []
    yield batch


def _render(piece: Piece) -> str:
    return piece if isinstance(piece, str) else piece()


def _check(text: str, mask: Mask) -> _Checked:
    if mask.is_clean(text):
        return _Checked(_write(text), is_clean=True, tags=mask.find_tags(text))
    return _Checked(text.encode("utf-8", "surrogatepass"), is_clean=False, tags={})


def _write(text: str) -> bytes:
    # An unpaired surrogate cannot be written.
    return text.encode("utf-8", "replace")


@contextmanager
def create_file(target: Path, *, force: bool = False) -> Iterator[BinaryIO]:
    """Open a file that is moved into place when the block ends, and deleted if it fails."""
    refuse_existing(target, force=force)
    make_directory(target.parent)
    try:
        with open_atomic(target, overwrite=force) as file:
            yield file
    except FileExistsError:
        raise make_exists_error(target) from None
    except OSError as error:
        raise make_write_error(target, error) from error


def write_file(target: Path, chunks: Iterable[bytes], *, force: bool = False) -> int:
    """Write chunks as a file; return its size."""
    size = 0
    with create_file(target, force=force) as file:
        for chunk in chunks:
            size += file.write(chunk)
    return size


def refuse_existing(target: Path, *, force: bool) -> None:
    """Raise UsageError if the target exists and must not be replaced."""
    if is_directory(target):
        raise UsageError(f"{target} is a directory. Specify a file in it.")
    if _is_special(target):
        raise UsageError(f"{target} is not a regular file. Without -o, the export goes to stdout.")
    if os.path.lexists(target) and not force:
        raise make_exists_error(target)


def is_directory(target: Path) -> bool:
    """Return whether a directory exists."""
    return os.path.isdir(target)  # noqa: PTH112 - also for names that cannot be paths


def _is_special(target: Path) -> bool:
    """Return whether the target is a device, pipe or socket, which a file must not replace."""
    return os.path.exists(target) and not os.path.isfile(target)  # noqa: PTH110, PTH113 - as above


def measure_file(target: Path) -> int:
    """Return the size of a file that was written."""
    return target.stat().st_size


def make_exists_error(target: Path) -> UsageError:
    """Return the error for a file that must not be replaced."""
    return UsageError(f"{target} already exists. Use --force to overwrite it.")


def make_write_error(target: Path, error: OSError) -> RecollectError:
    """Return the error for a file that cannot be written."""
    return RecollectError(
        f"Cannot write {target}: {error.strerror or error}. No incomplete file was left behind."
    )


def make_directory(directory: Path) -> None:
    """Create a directory for exports, readable only by the user, unless it exists."""
    try:
        make_directories(directory)
    except OSError as error:
        raise RecollectError(f"Cannot create {directory}: {error.strerror or error}.") from error
