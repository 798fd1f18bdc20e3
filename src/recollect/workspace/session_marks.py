"""Stars and private notes of sessions.

They cannot be rebuilt from transcripts, so they are not in the index, which can be deleted at any
time. A file that cannot be read is never replaced.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

import msgspec

from recollect.errors import IndexFailure, UsageError
from recollect.store.data_directory import hold_lock, make_private_directory

MARKS_NAME: Final = "marks.json"
MAX_NOTE: Final = 10_000
_LOCK_NAME: Final = "marks.lock"


class SessionMark(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The star and the note of a session."""

    starred: bool = False
    note: str = ""


class MarksFile(msgspec.Struct, frozen=True, kw_only=True):
    """The file: marks by the id of their session."""

    version: Literal[1] = 1
    sessions: dict[str, SessionMark] = {}


NO_MARK: Final = SessionMark()


def load_marks(directory: Path) -> Mapping[str, SessionMark]:
    """Return the marks by session id; none if the file is missing or cannot be read."""
    try:
        return _read(directory).sessions
    except IndexFailure:
        return {}


def change_mark(
    directory: Path, session_id: str, *, starred: bool | None = None, note: str | None = None
) -> SessionMark:
    """Set or remove a star, a note or both, and return the mark; None leaves one as it is."""
    if note is not None and len(note) > MAX_NOTE:
        raise UsageError(f"A note has at most {MAX_NOTE:,} characters; this one has {len(note):,}.")
    if note is not None and not _is_unicode(note):
        raise UsageError("A note must be valid UTF-8.")
    if starred is None and note is None:
        return _read(directory).sessions.get(session_id, NO_MARK)
    make_private_directory(directory)
    with hold_lock(directory, name=_LOCK_NAME):
        kept = _read(directory)
        mark = kept.sessions.get(session_id, NO_MARK)
        mark = msgspec.structs.replace(
            mark,
            starred=mark.starred if starred is None else starred,
            note=mark.note if note is None else note.strip(),
        )
        others = {name: each for name, each in kept.sessions.items() if name != session_id}
        found = others if mark == NO_MARK else {**others, session_id: mark}
        _write(directory, MarksFile(sessions=found))
    return mark


def _is_unicode(text: str) -> bool:
    """Return whether `text` can be written: an argument may contain bytes that are not UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _read(directory: Path) -> MarksFile:
    path = directory / MARKS_NAME
    try:
        return msgspec.json.decode(path.read_bytes(), type=MarksFile)
    except FileNotFoundError:
        return MarksFile()
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise IndexFailure(
            f"Cannot read the stars and notes in {path}: {error}. Move or delete it to start over."
        ) from error


def _write(directory: Path, content: MarksFile) -> None:
    from recollect.atomic_files import open_atomic  # only to write

    data = msgspec.json.format(msgspec.json.encode(content), indent=2)
    try:
        with open_atomic(directory / MARKS_NAME, overwrite=True) as file:
            file.write(data)
    except OSError as error:
        raise IndexFailure(f"Cannot write {directory / MARKS_NAME}: {error.strerror}.") from error
