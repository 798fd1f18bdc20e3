"""What happened to the files since they were last read.

A file is unchanged if its identity, size and time are. The device is not asked: its number may be
another one after each start of the machine. What became of a changed file, whoever reads it finds
out. A file counts as gone only when nothing is there any more: one that was not looked for, below
another root, is left alone.
"""

import os
from collections.abc import Iterable, Mapping

from msgspec import Struct

from recollect.locations import Transcript
from recollect.store.catalogue import FileRow


class Task(Struct, frozen=True):
    """A file that must be read, its number if it has one, and what may be relied on."""

    transcript: Transcript
    number: int | None = None
    known: FileRow | None = None


class Plan(Struct, frozen=True):
    """All that a sync has to do."""

    tasks: tuple[Task, ...] = ()
    moved: tuple[Task, ...] = ()
    """Files that are elsewhere now; those that must be read as well are in `tasks` too."""
    gone: tuple[int, ...] = ()
    returned: tuple[int, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether the index is level with the files."""
        return not (self.tasks or self.moved or self.gone or self.returned)


def find_changed(
    transcripts: Iterable[Transcript], states: Mapping[str, tuple[int, int, int]]
) -> tuple[list[Transcript], list[str]]:
    """The transcripts that are not as `states` has them, and paths of known files without one."""
    left = dict(states)
    changed = [found for found in transcripts if left.pop(found.file, None) != found.state]
    return changed, list(left)


def make_plan(
    transcripts: Iterable[Transcript],
    known: Mapping[str, tuple[int, FileRow]],
    *,
    anew: bool = False,
) -> Plan:
    """What has to be done to bring `known` level with `transcripts`; `anew` reads all of them."""
    present = {transcript.file: transcript for transcript in transcripts}
    vanished = [
        entry for path, entry in known.items() if path not in present and not is_there(path)
    ]
    moves = _find_moves(present, known, vanished)
    moved_numbers = {number for number, _ in moves.values()}
    tasks: list[Task] = []
    returned: list[int] = []
    for path, transcript in present.items():
        number, row = known.get(path) or moves.get(path) or (None, None)
        if anew:
            tasks.append(Task(transcript, number))
        elif row is None or not is_unchanged(transcript, row):
            tasks.append(Task(transcript, number, row))
        elif row.is_gone and path in known and number is not None:
            returned.append(number)
    return Plan(
        tasks=tuple(tasks),
        moved=tuple(Task(present[path], *entry) for path, entry in moves.items()),
        gone=tuple(
            number for number, row in vanished if number not in moved_numbers and not row.is_gone
        ),
        returned=tuple(returned),
    )


def is_unchanged(transcript: Transcript, row: FileRow) -> bool:
    """Whether the file is as it was when it was read."""
    return transcript.state == (row.inode, row.size, row.mtime_ns) and not row.is_racy


def is_there(path: str) -> bool:
    """Whether anything that holds a byte is at `path`, as far as one can tell."""
    try:
        return os.lstat(path).st_size > 0
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        # Where we may not look, nothing is known to have changed.
        return True


def _find_moves(
    present: Mapping[str, Transcript],
    known: Mapping[str, tuple[int, FileRow]],
    vanished: Iterable[tuple[int, FileRow]],
) -> dict[str, tuple[int, FileRow]]:
    """What is known of files at another place, by the path where they are now."""
    sources = {
        (row.device, (row.inode, row.size, row.mtime_ns)): (number, row)
        for number, row in vanished
        if row.inode
    }
    moves: dict[str, tuple[int, FileRow]] = {}
    for path, found in present.items():
        if sources and path not in known:
            state = (found.device, found.state)
            if state in sources:
                moves[path] = sources.pop(state)
    return moves
