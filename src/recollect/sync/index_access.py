"""Query the index: updated first, and rebuilt if it turns out to be damaged.

When nothing changed this costs one look at each file. The reader and the prices are imported only
when something has to be read.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from zlib import crc32

from recollect.errors import UnreadableInput, UsageError
from recollect.locations import Transcript, TranscriptKind, discover_root
from recollect.sources.safe_files import open_file
from recollect.sources.stamps import is_present
from recollect.store.catalog import load_problems, load_states
from recollect.store.data_directory import INDEX_NAME
from recollect.store.database import Connection, open_for_reading, set_aside_if_damaged, snapshot
from recollect.store.integrity import DamagedIndex, translate_errors
from recollect.store.schema import read_meta

if TYPE_CHECKING:
    from recollect.sync.sync_engine import OnProgress

_SUFFIXES = (".json", ".toml", ".py")
"""The tables, and the code that applies them."""


def find_price_fingerprint(user_file: Path | None = None) -> str:
    """Return a short text that changes whenever a price, or the way costs are computed, changes."""
    own = "" if user_file is None else f"-{_sum_user_file(user_file):08x}"
    return f"{_sum_bundled():08x}{own}"


@cache
def _sum_bundled() -> int:
    spec = find_spec("recollect.pricing")
    directories = spec.submodule_search_locations if spec else None
    files = sorted(
        path
        for directory in directories or ()
        for path in Path(directory).iterdir()
        if path.suffix in _SUFFIXES
    )
    total = 0
    for path in files:
        total = crc32(path.name.encode() + path.read_bytes(), total)
    return total


def _sum_user_file(path: Path) -> int:
    try:
        return crc32(path.read_bytes())
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageError(f"Cannot read the price file {path}: {reason}.") from error


PRICES_KEY = "prices"


def find_transcripts(roots: Iterable[Path], *, include_subagents: bool = True) -> list[Transcript]:
    """Return the non-empty transcripts below all roots."""
    found: dict[str, Transcript] = {}
    for root in roots:
        for transcript in discover_root(root, include_nested=include_subagents).transcripts:
            is_wanted = include_subagents or transcript.kind is TranscriptKind.SESSION
            if is_wanted and transcript.size:
                found.setdefault(transcript.file, transcript)
    return list(found.values())


def is_current(
    directory: Path, transcripts: Sequence[Transcript], *, prices: Path | None = None
) -> bool:
    """Return whether the index knows the files as they are; needs no lock."""
    connection = open_if_current(directory, transcripts, prices=prices)
    if connection is None:
        return False
    connection.close()
    return True


def open_if_current(
    directory: Path, transcripts: Sequence[Transcript], *, prices: Path | None = None
) -> Connection | None:
    """Open the index in `directory` for reading; None unless it is up to date with the files."""
    connection = open_for_reading(directory)
    if connection is None:
        return None
    fingerprint = find_price_fingerprint(prices)
    try:
        with translate_errors(directory / INDEX_NAME):
            if _matches_files(connection, transcripts, fingerprint):
                return connection
    except DamagedIndex:
        connection.close()
        return None
    connection.close()
    return None


def _matches_files(
    connection: Connection, transcripts: Iterable[Transcript], fingerprint: str
) -> bool:
    if read_meta(connection, PRICES_KEY) != fingerprint:
        return False
    known = load_states(connection)
    unread = load_problems(connection)
    for found in transcripts:
        path = found.file
        is_known = known.pop(path, None) == found.stamp
        was_unread = unread.pop(path, None) is not None
        # A file that still cannot be read is as up to date as it can be.
        is_settled = not was_unread if is_known else was_unread and not can_open(found)
        if not is_settled:
            return False
    return all(map(is_present, known)) and all(map(is_present, unread))


def can_open(transcript: Transcript) -> bool:
    """Whether the file can be read now."""
    try:
        open_file(transcript.path).close()
    except UnreadableInput:
        return False
    return True


T = TypeVar("T")


def ask_index(
    directory: Path,
    transcripts: Sequence[Transcript],
    question: Callable[[Connection], T],
    *,
    prices: Path | None = None,
    watch: "OnProgress | None" = None,
) -> T:
    """Answer `question` from the index in `directory`, up to date with `transcripts`.

    Read in one transaction: concurrent writes are not seen. Raises `IndexFailure` if the index can
    be neither read nor written.
    """

    def try_once() -> T:
        connection = open_if_current(directory, transcripts, prices=prices)
        if connection is None:
            connection = _sync(directory, transcripts, prices, watch)
        with translate_errors(directory / INDEX_NAME), closing(connection), snapshot(connection):
            return question(connection)

    try:
        return try_once()
    except DamagedIndex:
        # Opening checks what most questions need; this one needed something else.
        set_aside_if_damaged(directory)
        return try_once()


def _sync(
    directory: Path,
    transcripts: Sequence[Transcript],
    prices: Path | None,
    watch: "OnProgress | None",
) -> Connection:
    from recollect.sync.sync_engine import sync  # only when something has to be read

    sync(directory, transcripts, prices=prices, watch=watch)
    connection = open_for_reading(directory)
    if connection is None:
        raise DamagedIndex(f"The index in {directory} was written and cannot be read again.")
    return connection
