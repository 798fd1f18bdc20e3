"""Notes of git-ai (`refs/notes/ai`, authorship 3.0.0): which session wrote which lines of a commit.

Lines of the form `  KEY RANGES` below the path of a file, then `---`, then JSON about the keys. A
session's key is a hash of its id; the second half of a key tells prompts apart.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec
from msgspec import Struct

SCHEMA_VERSION: Final = "authorship/3.0.0"
TOOL: Final = "claude"
_LENGTH: Final = 14
_SEPARATOR: Final = "---"
_RANGE: Final = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")
_MAX_NOTE: Final = 8 << 20


class NoteAgent(Struct, frozen=True):
    """Who wrote something: the tool, its session and its model."""

    tool: str = ""
    id: str = ""
    model: str = ""


class NoteSession(Struct, frozen=True):
    """A session that a note names."""

    agent_id: NoteAgent = NoteAgent()


class _NoteDetails(Struct, frozen=True):
    schema_version: str = ""
    base_commit_sha: str = ""
    prompts: dict[str, NoteSession] = {}
    sessions: dict[str, NoteSession] = {}


class NotedLines(Struct, frozen=True):
    """The lines of a file in the commit that one key stands for."""

    path: str
    key: str
    lines: frozenset[int]


class AuthorshipNote(Struct, frozen=True):
    """What a note says: lines by key, and the sessions of Claude Code behind the keys."""

    lines: tuple[NotedLines, ...] = ()
    sessions: tuple[NoteAgent, ...] = ()


def parse_note(text: str) -> AuthorshipNote | None:
    """Return what a note says; None if it is not one of git-ai."""
    head, separator, tail = text[:_MAX_NOTE].partition(f"\n{_SEPARATOR}\n")
    if not separator:
        head, tail = "", text.removeprefix(f"{_SEPARATOR}\n")
    try:
        details = msgspec.json.decode(tail, type=_NoteDetails)
    except msgspec.MsgspecError:
        return None
    agents = [each.agent_id for each in (*details.sessions.values(), *details.prompts.values())]
    return AuthorshipNote(
        lines=tuple(_iter_lines(head)),
        sessions=tuple(dict.fromkeys(each for each in agents if each.tool.startswith(TOOL))),
    )


def _iter_lines(head: str) -> Iterable[NotedLines]:
    path = ""
    for line in head.split("\n"):
        if line.startswith("  "):
            key, _, ranges = line.strip().partition(" ")
            yield NotedLines(path, key, frozenset(_parse_ranges(ranges)))
        elif line:
            path = line.strip('"')


def _parse_ranges(text: str) -> Iterable[int]:
    for part in text.split(","):
        match = _RANGE.fullmatch(part.strip())
        if match:
            first = int(match[1])
            yield from range(first, min(int(match[2] or first), first + _MAX_NOTE) + 1)


class WrittenLines(Struct, frozen=True):
    """Lines of a file in a commit that one turn of a session wrote."""

    path: str
    session_id: str
    turn: int | None
    model: str | None
    lines: tuple[int, ...]


def format_note(commit: str, written: Sequence[WrittenLines]) -> str:
    """Return a note that gives the lines of a commit to the sessions that wrote them."""
    by_path: dict[str, list[WrittenLines]] = {}
    for each in written:
        by_path.setdefault(each.path, []).append(each)
    head: list[str] = []
    for path, entries in sorted(by_path.items()):
        head.append(f'"{path}"' if re.search(r"\s", path) else path)
        head += [f"  {_make_key(each)} {_format_ranges(each.lines)}" for each in entries]
    sessions = {_hash("s", f"{TOOL}:{each.session_id}"): _describe(each) for each in written}
    details: Mapping[str, object] = {
        "schema_version": SCHEMA_VERSION,
        "base_commit_sha": commit,
        "prompts": {},
        "sessions": sessions,
    }
    body = msgspec.json.format(msgspec.json.encode(details), indent=2).decode()
    return "\n".join([*head, _SEPARATOR, body, ""])


def _describe(written: WrittenLines) -> Mapping[str, object]:
    agent = {"tool": TOOL, "id": written.session_id, "model": written.model or "unknown"}
    return {"agent_id": agent}


def _make_key(written: WrittenLines) -> str:
    session = _hash("s", f"{TOOL}:{written.session_id}")
    return f"{session}::{_hash('t', f'{written.session_id}:{written.turn}')}"


def _hash(kind: str, text: str) -> str:
    return f"{kind}_{hashlib.sha256(text.encode()).hexdigest()[:_LENGTH]}"


def _format_ranges(lines: Iterable[int]) -> str:
    ranges: list[list[int]] = []
    for line in sorted(lines):
        if ranges and ranges[-1][1] == line - 1:
            ranges[-1][1] = line
        else:
            ranges.append([line, line])
    return ",".join(f"{first}-{last}" if first != last else f"{first}" for first, last in ranges)
