"""Which files a sync has to read, and which were moved or deleted.

Compares listings with the index; what happened to a changed file is determined when it is read. A
file counts as deleted only if nothing is at its path: one below another root, which was not listed,
is left alone.
"""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from recollect.locations import Transcript
from recollect.sources.growth import FileState
from recollect.sources.stamps import Stamp, is_present
from recollect.store.catalog import FileRow


class ReadTask(Struct, frozen=True):
    """A file that must be read, its number if it has one, and what may be relied on."""

    transcript: Transcript
    number: int | None = None
    known: FileRow | None = None


class SyncPlan(Struct, frozen=True):
    """All that a sync has to do."""

    tasks: tuple[ReadTask, ...] = ()
    moved: tuple[ReadTask, ...] = ()
    """Files that are elsewhere now; those that must be read as well are in `tasks` too."""
    gone: tuple[int, ...] = ()
    returned: tuple[int, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether the index is up to date."""
        return not (self.tasks or self.moved or self.gone or self.returned)


def find_changed(
    transcripts: Iterable[Transcript], states: Mapping[str, Stamp]
) -> tuple[list[Transcript], list[str]]:
    """The transcripts that are not as `states` has them, and paths of known files without one."""
    left = dict(states)
    changed = [found for found in transcripts if left.pop(found.file, None) != found.stamp]
    return changed, list(left)


def make_plan(
    transcripts: Iterable[Transcript],
    known: Mapping[str, tuple[int, FileRow]],
    *,
    rebuild: bool = False,
) -> SyncPlan:
    """What has to be done to update `known` to `transcripts`; `rebuild` reads all of them again."""
    present = {transcript.file: transcript for transcript in transcripts}
    vanished = [
        entry for path, entry in known.items() if path not in present and not is_present(path)
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


def to_state(row: FileRow) -> FileState:
    """Return the state of a file as the index has it."""
    return FileState(
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
    known: Mapping[str, tuple[int, FileRow]],
    vanished: Iterable[tuple[int, FileRow]],
) -> dict[str, tuple[int, FileRow]]:
    """Return what is known of files that were moved, by the path where they are now."""
    sources = {
        (row.device, (row.inode, row.size, row.mtime_ns)): (number, row)
        for number, row in vanished
        if row.inode
    }
    moves: dict[str, tuple[int, FileRow]] = {}
    for path, found in present.items():
        if sources and path not in known:
            state = (found.device, found.stamp)
            if state in sources:
                moves[path] = sources.pop(state)
    return moves
