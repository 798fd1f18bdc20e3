"""Writing the transcripts of partial sessions."""

import os
from collections.abc import Collection, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from uuid import NAMESPACE_URL, uuid5

import msgspec

from recollect.archive.leftovers import Leftovers, find_leftovers
from recollect.atomic_files import make_directories
from recollect.locations.project_names import (
    PROJECTS_DIRECTORY,
    TRANSCRIPT_SUFFIX,
    encode_project_path,
)
from recollect.quantities import format_count

UNKNOWN_PROJECT: Final = "unknown-project"
EXPLANATION: Final = (
    "Partial session. Claude Code has deleted the transcript; Recollect has put together what is "
    "left of it: {parts}. Replies, tool calls and usage are lost."
)


def write_transcripts(root: Path, directory: Path, forgotten: Collection[str] = ()) -> None:
    """Write a transcript for each deleted session of a Claude directory, and delete all others."""
    make_directories(directory)
    sessions = [each for each in find_leftovers(root) if each.id not in forgotten]
    _write_all(directory / PROJECTS_DIRECTORY, sessions)


def make_transcript(session: Leftovers) -> bytes:
    """Return a transcript with what is left of a session, in the order of time."""
    lines = [msgspec.json.encode(each) for each in _iter_records(session)]
    return b"\n".join([*lines, b""])


def _iter_records(session: Leftovers) -> Iterator[dict[str, object]]:
    first, last = session.times
    parts = [format_count(len(session.prompts), "prompt")] if session.prompts else []
    parts += ["other files"] if session.others else []
    notice = EXPLANATION.format(parts=" and ".join(parts))
    items = [(first, 0, "system", notice)]
    items += [(each.time_ms, 1, "user", each.text) for each in session.prompts]
    items += [
        (min(max(each.time_ms, first), last), 2, "system", each.text) for each in session.others
    ]
    parent: str | None = None
    for number, (time, _, kind, text) in enumerate(sorted(items, key=lambda each: each[:2])):
        record = _make_record(session, kind, text)
        record |= {
            "parentUuid": parent,
            "uuid": str(uuid5(NAMESPACE_URL, f"recollect:{session.id}:{number}")),
            "timestamp": _show(time),
        }
        parent = str(record["uuid"])
        yield record


def _make_record(session: Leftovers, kind: str, text: str) -> dict[str, object]:
    record: dict[str, object] = {"type": kind, "sessionId": session.id, "isSidechain": False}
    if session.project:
        record["cwd"] = session.project
    if kind == "user":
        return record | {"userType": "external", "message": {"role": "user", "content": text}}
    return record | {"subtype": "informational", "level": "info", "content": text}


def _write_all(projects: Path, sessions: Iterable[Leftovers]) -> None:
    """Write the transcripts of these sessions, and delete all others."""
    wanted = {_place(projects, each): each for each in sessions}
    for path in projects.glob(f"*/*{TRANSCRIPT_SUFFIX}"):
        if path not in wanted:
            path.unlink(missing_ok=True)
    for path, session in wanted.items():
        make_directories(path.parent)
        replace_file(path, make_transcript(session), session.times[1])


def _place(projects: Path, session: Leftovers) -> Path:
    directory = session.directory or (
        encode_project_path(session.project) if session.project else UNKNOWN_PROJECT
    )
    return projects / directory / f"{session.id}{TRANSCRIPT_SUFFIX}"


def replace_file(path: Path, data: bytes, time_ms: int | None = None) -> None:
    """Replace a file unless it has this content already; others may read it meanwhile."""
    if _has_content(path, data):
        return
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    if time_ms is not None:
        os.utime(temporary, ns=(time_ms * 10**6,) * 2)
    temporary.replace(path)


def _has_content(path: Path, data: bytes) -> bool:
    try:
        return path.read_bytes() == data
    except OSError:
        return False


def _show(time_ms: int) -> str:
    moment = datetime.fromtimestamp(time_ms / 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{time_ms % 1000:03}Z"
