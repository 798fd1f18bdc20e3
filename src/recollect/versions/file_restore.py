"""Write a version of a file back to disk, and never lose what is there.

The new content is complete beside the file before it takes its place in one step, and what it
replaces is kept under a name of its own. Links are not followed: a transcript can name any path.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final, NamedTuple

from recollect.atomic_files import open_atomic
from recollect.errors import RecollectError, UnreadableInput, UsageError
from recollect.locations import is_plain_name
from recollect.sources.safe_files import Refused, find_status
from recollect.versions.file_texts import REPLACEMENT, TextForm, decode_file, encode_file
from recollect.versions.recorded_paths import relative_to
from recollect.versions.replay import Grade, Version
from recollect.versions.target_files import read_present

_MAX_BACKUPS: Final = 1000
_NEW_MODE: Final = 0o644
_GIT: Final = ".git"


class RestorePlan(NamedTuple):
    """What will be written where."""

    target: Path
    data: bytes
    present: bytes | None
    """What is there now; None if there is no file."""
    grade: Grade

    @property
    def changes_nothing(self) -> bool:
        """Whether the file already has this content."""
        return self.data == self.present


def plan_restore(
    version: Version, target: Path, backup: bytes | None = None, committed: bytes | None = None
) -> RestorePlan:
    """Return what restoring a version to `target` would write; raise UsageError if it must not be.

    Line ends, byte order mark and encoding are those of the version's own `backup`, of the present
    file, or of the `committed` one, in this order.
    """
    _refuse_unrestorable(version)
    text = version.text or ""
    present = _read_target(target)
    stored = decode_file(backup) if backup is not None else None
    if backup is not None and stored is not None and stored.text == text:
        return RestorePlan(target, backup, present, version.known)
    form = TextForm()
    for data in (present, committed):
        found = decode_file(data) if data is not None else None
        if found is not None:
            form = found.form
            break
    return RestorePlan(target, encode_file(text, form), present, version.known)


def _refuse_unrestorable(version: Version) -> None:
    if version.known is Grade.PARTIAL or (version.text is None and version.exists):
        raise UsageError(
            f"Version {version.number} is only known in part and cannot be restored. "
            "Choose one that is exact or replayed."
        )
    if version.text is None:
        raise UsageError(f"The file did not exist at version {version.number}.")
    if REPLACEMENT in version.text:
        raise UsageError(
            f"Version {version.number} contains characters that the transcript lost (U+FFFD), so "
            "restoring it would damage the file. Look at it with `recollect file PATH --at`."
        )


def _read_target(target: Path) -> bytes | None:
    status = find_status(target)
    if isinstance(status, Refused):
        raise UnreadableInput(f"Cannot look at {target}: {status.detail}.")
    if status is None:
        return None
    if stat.S_ISLNK(status.st_mode):
        raise UsageError(f"{target} is a symbolic link. Name the file that it leads to.")
    if not stat.S_ISREG(status.st_mode):
        raise UsageError(f"{target} is not a regular file.")
    return read_present(target)


def find_target(recorded: str, root: str, directory: Path) -> Path | None:
    """Return where a recorded file of the project in `root` belongs below `directory`.

    None if its path leads outside, through a link, into the repository itself, or is one that a
    file system may take for something else.
    """
    inside = relative_to(recorded, root)
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
    """Write what was planned; return the copy of what it replaced, None if there was nothing.

    Raise RecollectError, with everything as it was, if that is impossible.
    """
    try:
        if _read_target(plan.target) != plan.present:
            raise UsageError(f"{plan.target} has changed meanwhile. Try again.")
        plan.target.parent.mkdir(parents=True, exist_ok=True)
        with open_atomic(plan.target, overwrite=True, mode=_find_mode(plan.target)) as file:
            file.write(plan.data)
            # A full disk is noticed before there is a copy.
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
    """Copy what is there to a name that is free: `NAME.before-restore`, `NAME.before-restore-2`."""
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
    raise RecollectError(f"There are too many copies beside {plan.target}. Remove some.")
