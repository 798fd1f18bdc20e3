"""Query the index, after updating it and, if it is damaged, rebuilding it; and plan an update: the
files to read, and those that were moved or deleted.

An update compares directory listings with the index; how a changed file has changed is determined
when it is read. A file only counts as deleted if its path does not exist: files below other roots,
which were not listed, are left alone.

If nothing has changed, a query costs one `stat` per file. The reader and the prices are only
imported if something has to be read.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from zlib import crc32

from msgspec import Struct

from recollect.errors import UnreadableInput, UsageError
from recollect.locations import Transcript, TranscriptKind, discover_root
from recollect.sources import growth, safe_files, source
from recollect.store import catalog, data_directory, database, schema

if TYPE_CHECKING:
    from recollect.sync.sync_engine import OnProgress


T = TypeVar("T")


class ReadTask(Struct, frozen=True):
    """A file to read, its number if it has one, and its row if valid."""

    transcript: Transcript
    number: int | None = None
    known: catalog.FileRow | None = None


class SyncPlan(Struct, frozen=True):
    """The work of a sync."""

    tasks: tuple[ReadTask, ...] = ()
    moved: tuple[ReadTask, ...] = ()
    """Moved files; those that must also be read are in `tasks` too."""
    gone: tuple[int, ...] = ()
    returned: tuple[int, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether the index is up to date."""
        return not (self.tasks or self.moved or self.gone or self.returned)


def find_changed(
    transcripts: Iterable[Transcript], states: Mapping[str, source.Stamp]
) -> tuple[list[Transcript], list[str]]:
    """Return the transcripts that differ from `states`, and known paths without a transcript."""
    left = dict(states)
    changed = [found for found in transcripts if left.pop(found.file, None) != found.stamp]
    return changed, list(left)


def make_plan(
    transcripts: Iterable[Transcript],
    known: Mapping[str, tuple[int, catalog.FileRow]],
    *,
    rebuild: bool = False,
) -> SyncPlan:
    """Plan the update from `known` to `transcripts`; `rebuild` reads all of them again."""
    present = {transcript.file: transcript for transcript in transcripts}
    vanished = [
        entry
        for path, entry in known.items()
        if path not in present and not source.is_present(path)
    ]
    moves = _find_moves(present, known, vanished)
    moved_numbers = {number for number, _ in moves.values()}
    tasks: list[ReadTask] = []
    returned: list[int] = []
    for path, transcript in present.items():
        number, row = known.get(path) or moves.get(path) or (None, None)
        if rebuild:
            tasks.append(ReadTask(transcript, number))
        elif row is None or not to_state(row).is_current(transcript.stamp):
            tasks.append(ReadTask(transcript, number, row))
        elif row.is_gone and path in known and number is not None:
            returned.append(number)
    return SyncPlan(
        tasks=tuple(tasks),
        moved=tuple(ReadTask(present[path], *entry) for path, entry in moves.items()),
        gone=tuple(
            number for number, row in vanished if number not in moved_numbers and not row.is_gone
        ),
        returned=tuple(returned),
    )


def to_state(row: catalog.FileRow) -> growth.FileState:
    """Return the recorded state of a file."""
    return growth.FileState(
        row.position,
        row.device,
        row.inode,
        row.size,
        row.mtime_ns,
        row.head_hash,
        row.tail_hash,
        row.is_racy,
    )


def _find_moves(
    present: Mapping[str, Transcript],
    known: Mapping[str, tuple[int, catalog.FileRow]],
    vanished: Iterable[tuple[int, catalog.FileRow]],
) -> dict[str, tuple[int, catalog.FileRow]]:
    """Return the rows of moved files by their current path."""
    sources = {
        (row.device, (row.inode, row.size, row.mtime_ns)): (number, row)
        for number, row in vanished
        if row.inode
    }
    moves: dict[str, tuple[int, catalog.FileRow]] = {}
    for path, found in present.items():
        if sources and path not in known:
            state = (found.device, found.stamp)
            if state in sources:
                moves[path] = sources.pop(state)
    return moves


_SUFFIXES = (".json", ".toml", ".py")
"""The suffixes of price tables, and of the code that applies them."""


def find_price_fingerprint(user_file: Path | None = None) -> str:
    """Return a hash that changes with any price, and with the code that computes costs."""
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


def find_transcripts(roots: Iterable[Path], *, include_subagents: bool = True) -> list[Transcript]:
    """Return the non-empty transcripts below all roots."""
    found: dict[str, Transcript] = {}
    for root in roots:
        for transcript in discover_root(root, include_nested=include_subagents).transcripts:
            is_wanted = include_subagents or transcript.kind is TranscriptKind.SESSION
            if is_wanted and transcript.size:
                found.setdefault(transcript.file, transcript)
    return list(found.values())


def has_counted_files(directory: Path) -> bool:
    """Return whether the index has counted files, or replaces one that may have deleted ones."""
    if database.find_predecessors(directory):
        return True
    if not (directory / data_directory.INDEX_NAME).exists():
        return False
    return database.load(directory, catalog.has_files) is not False


def is_current(
    directory: Path, transcripts: Sequence[Transcript], *, prices: Path | None = None
) -> bool:
    """Return whether the index is up to date with the files; needs no lock."""
    return query_if_current(directory, transcripts, lambda _: True, prices=prices) is not None


def query_if_current(
    directory: Path,
    transcripts: Sequence[Transcript],
    query: Callable[[database.Connection], T],
    *,
    prices: Path | None = None,
) -> tuple[T] | None:
    """Return the result of a query on the index in `directory`; None unless it is up to date.

    Raises `DamagedIndex` if the queried data is damaged.
    """
    fingerprint = find_price_fingerprint(prices)
    is_up_to_date = False

    def answer(connection: database.Connection) -> tuple[T] | None:
        nonlocal is_up_to_date
        is_up_to_date = _matches_files(catalog.load_known(connection), transcripts, fingerprint)
        return (query(connection),) if is_up_to_date else None

    try:
        return database.run_query(directory, answer)
    except schema.DamagedIndex:
        if is_up_to_date:
            raise
        return None


def _matches_files(
    index: catalog.KnownFiles, transcripts: Iterable[Transcript], fingerprint: str
) -> bool:
    if index.prices != fingerprint:
        return False
    known, unread = index.stamps, index.problems
    for found in transcripts:
        path = found.file
        is_known = known.pop(path, None) == found.stamp
        was_unread = unread.pop(path, None) is not None
        # A file that still cannot be read counts as up to date.
        is_settled = not was_unread if is_known else was_unread and not can_open(found)
        if not is_settled:
            return False
    return all(map(source.is_present, known)) and all(map(source.is_present, unread))


def can_open(transcript: Transcript) -> bool:
    """Whether the file can be read now."""
    try:
        safe_files.open_file(transcript.path).close()
    except UnreadableInput:
        return False
    return True


def query_index(
    directory: Path,
    transcripts: Sequence[Transcript],
    query: Callable[[database.Connection], T],
    *,
    prices: Path | None = None,
    on_progress: "OnProgress | None" = None,
) -> T:
    """Update the index in `directory` from `transcripts`, and return the result of `query`.

    Read in one transaction: concurrent writes are not seen. Raises `IndexFailure` if the index can
    be neither read nor written.
    """

    def try_once() -> T:
        found = query_if_current(directory, transcripts, query, prices=prices)
        if found is None:
            from recollect.sync.sync_engine import sync  # only when something has to be read

            sync(directory, transcripts, prices=prices, on_progress=on_progress)
            found = database.run_query(directory, lambda connection: (query(connection),))
        if found is None:
            raise schema.DamagedIndex(
                f"The index in {directory} was written but cannot be read back."
            )
        return found[0]

    try:
        return try_once()
    except schema.DamagedIndex:
        # Opening checks the data that most queries need; this one needed other data.
        database.set_aside_if_damaged(directory)
        return try_once()
