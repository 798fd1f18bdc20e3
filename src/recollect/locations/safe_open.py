"""Opening a file that may have been put there to trap the reader.

Knows how to get a descriptor of a regular file and of nothing else; refuses to know the content.
The entry is looked at before it is opened, since opening alone can hang (a pipe) or act (a device),
and again afterwards through the descriptor, since it may have been exchanged in between.
"""

import io
import os
import stat
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Final

from recollect.errors import UnreadableInput
from recollect.locations.entries import describe_error, is_link, resolve_links
from recollect.locations.names import is_key_name

# What a system does not have counts as 0: Windows has neither pipes in directories nor O_NOFOLLOW.
_WANTED: Final = (
    "O_NONBLOCK",
    "O_NOFOLLOW",
    "O_CLOEXEC",
    "O_NOCTTY",
    "O_BINARY",
    "O_NOINHERIT",
)
_FLAGS: Final = reduce(or_, (getattr(os, name, 0) for name in _WANTED))


def open_regular(path: Path | str, *, resolve: bool = False) -> io.FileIO:
    """Open a regular file for reading, unbuffered; raise UnreadableInput for anything else.

    `resolve` is for a path that the user gave: there a symbolic link is a wish, not a trap.
    """
    try:
        target = resolve_links(Path(path)) if resolve else path
        # As text where it is text: there are thousands of files, and a path is slow to make.
        _refuse_unless_regular(target, os.lstat(target))
        return open(target, "rb", buffering=0, opener=_open_descriptor)
    except (OSError, ValueError) as error:
        raise UnreadableInput(
            f"Cannot read {path}: {describe_error(error)}. "
            "Check that the file is still there and that you may read it."
        ) from error


def _open_descriptor(path: str, flags: int) -> int:
    descriptor = os.open(path, flags | _FLAGS)
    try:
        _refuse_unless_regular(path, os.fstat(descriptor))
    except UnreadableInput:
        os.close(descriptor)
        raise
    return descriptor


def _refuse_unless_regular(path: Path | str, status: os.stat_result) -> None:
    if is_key_name(str(path)):
        raise UnreadableInput(f"Not reading {path}: it is the secret of a running process.")
    if is_link(status):
        raise UnreadableInput(
            f"Not reading {path}: it is a symbolic link. Name the file that it leads to."
        )
    if not stat.S_ISREG(status.st_mode):
        raise UnreadableInput(
            f"Not reading {path}: it is not a regular file. Give a transcript, a .jsonl file."
        )
