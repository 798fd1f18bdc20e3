"""Paths as text that can be stored: the bytes of some are no UTF-8, which SQLite and JSON need."""

import os
from collections.abc import Iterable
from typing import Final

import msgspec

from recollect.store.failures import DamagedIndex

ODD: Final = "\0"
"""Marks a path that is kept as numbers, because its bytes are no UTF-8; no path holds it."""


def encode_path(path: str) -> str:
    """A path whose bytes are no UTF-8 as text that is, with a mark before it."""
    if path.isascii():
        return path
    try:
        path.encode()
    except UnicodeEncodeError:
        return ODD + os.fsencode(path).hex()
    return path


def encode_paths(paths: Iterable[str]) -> str:
    """Paths for a query to compare with those that are stored: `value` of `json_each`."""
    return msgspec.json.encode([encode_path(path) for path in paths]).decode()


def decode_path(text: str) -> str:
    """The path that `encode_path` was given."""
    try:
        return os.fsdecode(bytes.fromhex(text[1:])) if text[:1] == ODD else text
    except (TypeError, ValueError) as error:
        raise DamagedIndex(f"The index is damaged where it keeps the path {text!r}.") from error
