"""Select a version of a file (by number, by time, or by session and turn), and write it back to
disk without losing the current content.

The new content is written beside the file and then moved into place atomically, and the previous
content is kept as a separate file. Links are not followed, because a transcript can contain any
path.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple

from recollect.atomic_files import open_atomic
from recollect.errors import NothingFound, RecollectError, UnreadableInput, UsageError
from recollect.locations import is_plain_name
from recollect.session.times import find_period, parse_time
from recollect.sources.safe_files import Refused, find_status
from recollect.versions import file_paths, file_texts, replay

HINT = "Use a number from the list, a time such as 2026-11-15T10:30 or 2h, or SESSION:TURN."
_MIN_PREFIX = 4


def find_version(
    name: str,
    versions: Sequence[replay.Version],
    now: datetime,
    check_turn: Callable[[str, int], None],
) -> replay.Version:
    """Return the version for `name`: a number, or the newest one at a time or after a turn.

    Raise NothingFound if there is none, and UsageError if `name` is invalid. `check_turn` raises
    NothingFound if a session has no such turn: it may have turns after the last version.
    """
    if name.isdecimal() and len(name) < len("2026"):
        found = [each for each in versions if each.number == int(name)]
    elif (moment := _find_moment(name, now)) is not None:
        found = [each for each in versions if _is_by(each, moment)]
    else:
        session, separator, turn = name.rpartition(":")
        if not separator or not turn.isdecimal() or len(session) < _MIN_PREFIX:
            raise UsageError(f"{name!r} is not a version. {HINT}")
        found = _find_after(session, int(turn), versions, check_turn)
    if not found:
        raise NothingFound(f"There is no version {name!r}. {HINT}")
    return found[-1]


def _find_after(
    prefix: str,
    turn: int,
    versions: Sequence[replay.Version],
    check_turn: Callable[[str, int], None],
) -> list[replay.Version]:
    of_session = [each for each in versions if each.origin.session_id.startswith(prefix)]
    ids = {each.origin.session_id for each in of_session}
    if len(ids) > 1:
        raise UsageError(f"{prefix} matches several sessions: {', '.join(sorted(ids))}.")
    found = [each for each in of_session if (each.origin.turn or 0) <= turn]
    if found and found[-1] is of_session[-1]:
        check_turn(found[-1].origin.session_id, turn)
    return found


def _find_moment(name: str, now: datetime) -> datetime | None:
    """Return the given time; a date is the end of that day."""
    moment = parse_time(name) if "T" in name or " " in name else None
    if moment is not None:
        has_zone = datetime.fromisoformat(name).tzinfo is not None
        return moment if has_zone else datetime.fromisoformat(name).astimezone()
    period = find_period(name, now)
    return period.end if period else None


def _is_by(version: replay.Version, moment: datetime) -> bool:
    time = parse_time(version.origin.time)
    return time is not None and time <= moment


_MAX_BACKUPS: Final = 1000
_NEW_MODE: Final = 0o644
_GIT: Final = ".git"


class RestorePlan(NamedTuple):
    """The result of planning a restore."""

    target: Path
    data: bytes
    present: bytes | None
    """The current content; None if there is no file."""
    grade: replay.Grade

    @property
    def changes_nothing(self) -> bool:
        """Whether the file already has this content."""
        return self.data == self.present


def plan_restore(
    version: replay.Version,
    target: Path,
    backup: bytes | None = None,
    committed: bytes | None = None,
) -> RestorePlan:
    """Plan restoring a version to `target`; raise UsageError if that must not be done.

    Line ends, byte order mark and encoding are taken from the version's `backup`, the current file,
    or the `committed` file, in this order.
    """
    _refuse_unrestorable(version)
    text = version.text or ""
    present = _read_target(target)
    stored = file_texts.decode_file(backup) if backup is not None else None
    if backup is not None and stored is not None and stored.text == text:
        return RestorePlan(target, backup, present, version.known)
    form = file_texts.TextForm()
    for data in (present, committed):
        found = file_texts.decode_file(data) if data is not None else None
        if found is not None:
            form = found.form
            break
    return RestorePlan(target, file_texts.encode_file(text, form), present, version.known)


def is_partial(version: replay.Version) -> bool:
    """Return whether too little of a version is known to restore it."""
    return version.known is replay.Grade.PARTIAL or (version.text is None and version.exists)


def _refuse_unrestorable(version: replay.Version) -> None:
    if is_partial(version):
        raise UsageError(
            f"Version {version.number} is only known in part and cannot be restored. "
            "Choose one that is exact or replayed."
        )
    if version.text is None:
        raise UsageError(f"The file did not exist at version {version.number}.")
    if file_texts.REPLACEMENT in version.text:
        raise UsageError(
            f"Version {version.number} contains characters that the transcript lost (U+FFFD), so "
            "restoring it would damage the file. Look at it with `recollect file PATH --at`."
        )


def _read_target(target: Path) -> bytes | None:
    status = find_status(target)
    if isinstance(status, Refused):
        raise UnreadableInput(f"Cannot access {target}: {status.detail}.")
    if status is None:
        return None
    if stat.S_ISLNK(status.st_mode):
        raise UsageError(f"{target} is a symbolic link. Specify the file it points to.")
    if not stat.S_ISREG(status.st_mode):
        raise UsageError(f"{target} is not a regular file.")
    return file_paths.read_present(target)


def find_target(recorded: str, root: str, directory: Path) -> Path | None:
    """Return the path below `directory` for a recorded file of the project in `root`.

    None if the path leads outside, through a link or into the git directory, or has a special
    meaning on some file system.
    """
    inside = file_paths.relative_to(recorded, root)
    parts = inside.split("/") if inside else []
    if not parts or not all(map(is_plain_name, parts)) or _GIT in map(str.casefold, parts):
        return None
    path = directory
    for part in parts[:-1]:
        path = path / part
        status = find_status(path)
        if isinstance(status, Refused) or (status and not stat.S_ISDIR(status.st_mode)):
            return None
    target = path / parts[-1]
    status = find_status(target)
    is_free = status is None
    is_file = isinstance(status, os.stat_result) and stat.S_ISREG(status.st_mode)
    return target if is_free or is_file else None


def write_restored(plan: RestorePlan) -> Path | None:
    """Write the planned content; return the copy of the replaced file, None if there was none.

    Raise RecollectError, with nothing changed, if that is impossible.
    """
    try:
        if _read_target(plan.target) != plan.present:
            raise UsageError(f"{plan.target} has changed in the meantime. Try again.")
        plan.target.parent.mkdir(parents=True, exist_ok=True)
        with open_atomic(plan.target, overwrite=True, mode=_find_mode(plan.target)) as file:
            file.write(plan.data)
            # A full disk is detected before the copy is made.
            file.flush()
            copy = _keep_present(plan)
    except OSError as error:
        raise RecollectError(
            f"Cannot write {plan.target}: {error.strerror or error}. Nothing was changed."
        ) from error
    return copy


def _find_mode(target: Path) -> int:
    status = find_status(target)
    return stat.S_IMODE(status.st_mode) if isinstance(status, os.stat_result) else _NEW_MODE


def _keep_present(plan: RestorePlan) -> Path | None:
    """Copy the current file to a free name: `NAME.before-restore`, `NAME.before-restore-2`."""
    if plan.present is None:
        return None
    mode = _find_mode(plan.target)
    for number in range(1, _MAX_BACKUPS):
        suffix = f".before-restore{'' if number == 1 else f'-{number}'}"
        copy = plan.target.with_name(plan.target.name + suffix)
        try:
            with open_atomic(copy, overwrite=False, mode=mode) as file:
                file.write(plan.present)
        except FileExistsError:
            continue
        return copy
    raise RecollectError(f"There are too many backup copies of {plan.target}. Remove some.")
