"""Copy the first turns of a session to a new session, which Claude Code can continue.

The client can resume at a message only in its headless mode, so the copy is made here. It is the
only file that this program creates in a Claude directory, and only on request. Each copied line
names its origin, as in the client's own forks, so nothing is counted twice. No existing file is
changed.
"""

import json
import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from recollect.errors import NothingFound, RecollectError, UsageError
from recollect.locations import Transcript, TranscriptKind
from recollect.session.session import Session
from recollect.session.turns import Turn
from recollect.sources.safe_files import open_file
from recollect.sources.source import is_on_disk

_BACKUPS: Final = frozenset({"file-history-snapshot", "file-history-delta"})


class Fork(Struct, frozen=True):
    """A new session, and how many turns of the original it contains."""

    session_id: str
    path: Path
    turns: int


def fork_session(session: Session, transcript: Transcript, number: int) -> Fork:
    """Copy a session up to and including turn `number`, to a file beside it.

    Raises UsageError for a subagent or a session that is not on disk, NothingFound if there is no
    such turn on the main path.
    """
    if transcript.kind is not TranscriptKind.SESSION:
        raise UsageError("Only sessions can be resumed, and this is a subagent.")
    if not is_on_disk(transcript.file):
        raise UsageError("The session is only in the archive. Restore it first.")
    kept = _list_turns(session, number)
    new_id = str(uuid.uuid4())
    path = transcript.path.with_name(f"{new_id}.jsonl")
    lines = _iter_lines(transcript, _list_uuids(session, kept), new_id)
    _write(path, b"".join(lines))
    return Fork(new_id, path, len(kept))


def _list_turns(session: Session, number: int) -> list[Turn]:
    turns = [turn for turn in session.turns if turn.is_on_main_path]
    if number not in {turn.number for turn in turns}:
        last = turns[-1].number if turns else 0
        raise NothingFound(
            f"The conversation has no turn {number}; its last one is {last}. "
            "`recollect show` lists the turns."
        )
    return [turn for turn in turns if turn.number <= number]


def _list_uuids(session: Session, turns: list[Turn]) -> set[str]:
    """Return the uuids of the records of these turns, and of those between them."""
    uuids = [each for turn in turns for message in turn.messages for each in message.uuids]
    return {*uuids, *(session.tree.iter_ancestors(uuids[-1]) if uuids else ())}


def _iter_lines(transcript: Transcript, uuids: set[str], new_id: str) -> Iterator[bytes]:
    with open_file(transcript.file) as file:
        data = file.read()
    for line in data.split(b"\n"):
        record = _decode(line)
        if record is None:
            continue
        if record.get("uuid") in uuids:
            origin = {"sessionId": record.get("sessionId"), "messageUuid": record["uuid"]}
            yield _encode({**record, "sessionId": new_id, "forkedFrom": origin})
        elif record.get("type") in _BACKUPS and record.get("messageId") in uuids:
            yield _encode(record)


def _decode(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except ValueError:
        # Damaged lines, which the client could not read either.
        return None
    return found if isinstance(found, dict) else None


def _encode(record: dict[str, Any]) -> bytes:
    try:
        return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    except UnicodeEncodeError:
        # Half of a surrogate pair, which JSON can express and UTF-8 cannot.
        return json.dumps(record, separators=(",", ":")).encode() + b"\n"


def _write(path: Path, data: bytes) -> None:
    try:
        path.touch(0o600, exist_ok=False)
        with path.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        path.unlink(missing_ok=True)
        raise RecollectError(
            f"Cannot write a copy of the session to {path.parent}: {error.strerror}."
        ) from error
