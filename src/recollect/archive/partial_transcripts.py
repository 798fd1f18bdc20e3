"""Collect leftovers of sessions whose transcripts Claude Code has deleted, and write partial
transcripts from them.

`history.jsonl` has every prompt that was typed, with its time and project, and from 2.0 on the id
of its session. Beside it there may be to-do lists, tasks, saved versions of files, plans and the
directory of the session. They are grouped by session.

All of it is untrusted: ids become file names, so an id that is not a plain name is left out.
Definite secrets are masked before anything is written, because no copy of a key may remain when the
original is gone.
"""

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple
from uuid import NAMESPACE_URL, uuid5

import msgspec

from recollect.archive.archived_files import HISTORY
from recollect.atomic_files import make_directories
from recollect.errors import UnreadableInput
from recollect.locations import claude_directories
from recollect.quantities import format_count
from recollect.redact.quick_masks import mask_path, mask_words
from recollect.sources.safe_files import list_readable, open_file
from recollect.sources.source import Entry, find_stamp

SAME_SESSION_MS: Final = 4 * 3600 * 1000
"""Prompts without a session id that are further apart belong to different sessions."""
_REPEATED_MS: Final = 1000
"""The client may write a prompt several times; nobody can type it again this fast."""
_PLAN_MS: Final = 3600 * 1000
"""Maximum time after the last prompt in which a plan belongs to the session."""
_MAX_TEXT: Final = 1 << 20
_MAX_TIME_MS: Final = 4_102_444_800_000
"""The year 2100."""
_HEAD: Final = 1 << 16
_TIMESTAMP: Final = re.compile(rb'"timestamp":"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)')
_PASTE: Final = re.compile(r"\[Pasted text #(\d+)[^\]\n]*\]")
_NOT_SESSIONS: Final = (claude_directories.SUBAGENTS_DIRECTORY, "memory")
_TODO_AGENT: Final = "-agent-"


class _Pasted(msgspec.Struct, frozen=True):
    content: str | None = None


class _HistoryLine(msgspec.Struct, frozen=True, rename="camel"):
    display: str
    timestamp: float
    project: str
    session_id: str | None = None
    pasted_contents: dict[str, _Pasted] = {}


class Prompt(NamedTuple):
    """A typed prompt."""

    time_ms: int
    text: str


class Leftover(NamedTuple):
    """A file or directory of a deleted session, described in words."""

    time_ms: int
    text: str


class Leftovers(msgspec.Struct, kw_only=True):
    """The leftovers of one session."""

    id: str
    project: str | None = None
    """Its working directory; None if unknown."""
    directory: str | None = None
    """The name of its project directory."""
    prompts: list[Prompt] = []
    others: list[Leftover] = []

    @property
    def times(self) -> tuple[int, int]:
        """Return when the first and the last prompt were typed, in milliseconds since 1970.

        The times of files are used only if there are no prompts: the client's cleanup, for example,
        may have changed them.
        """
        times = [each.time_ms for each in self.prompts] or [each.time_ms for each in self.others]
        return min(times), max(times)


def find_leftovers(root: Path) -> list[Leftovers]:
    """Return the leftovers of each session of a Claude directory that has no transcript."""
    transcripts = list_transcripts(root)
    present = {name for names in transcripts.values() for name in names}
    found: dict[str, Leftovers] = {}
    for line in _iter_history(root / HISTORY):
        name = line.session_id or _guess_session(line, found)
        if name in present or not claude_directories.is_plain_name(name):
            continue
        if line.session_id is None and _may_be_present(line, transcripts):
            continue
        session = found.setdefault(name, Leftovers(id=name, project=mask_path(line.project)))
        _add_prompt(session, line)
    for name, directory, other in _iter_others(root, transcripts):
        if name not in present and claude_directories.is_plain_name(name):
            session = found.setdefault(name, Leftovers(id=name))
            session.directory = directory or session.directory
            session.others.append(other)
    _add_plans(root, found)
    return list(found.values())


def list_transcripts(root: Path) -> dict[str, dict[str, Entry]]:
    """Return the transcripts of sessions by project directory and id, including archived ones."""
    return {
        project.name: {
            entry.name.removesuffix(claude_directories.TRANSCRIPT_SUFFIX): entry
            for entry in list_readable(Path(project.path))
            if claude_directories.is_transcript_name(entry.name)
        }
        for project in list_readable(root / claude_directories.PROJECTS_DIRECTORY)
        if project.is_dir(follow_symlinks=False)
    }


def _iter_history(path: Path) -> Iterator[_HistoryLine]:
    try:
        with open_file(path) as file:
            data = file.read()
    except UnreadableInput:
        return
    for each in data.split(b"\n"):
        try:
            line = _DECODER.decode(each)
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue
        if 0 < line.timestamp < _MAX_TIME_MS:
            yield line


def _guess_session(line: _HistoryLine, found: dict[str, Leftovers]) -> str:
    """Return the session of the last prompt in the same project, or the id of a new one."""
    for each in reversed(found.values()):
        if each.project == line.project and each.prompts:
            if 0 <= line.timestamp - each.prompts[-1].time_ms <= SAME_SESSION_MS:
                return each.id
            break
    return str(uuid5(NAMESPACE_URL, f"recollect:{line.project}:{line.timestamp:.0f}"))


def _may_be_present(line: _HistoryLine, transcripts: Mapping[str, Mapping[str, Entry]]) -> bool:
    """Return whether a prompt without a session id may be in an existing transcript."""
    for entry in transcripts.get(claude_directories.encode_project_path(line.project), {}).values():
        try:
            ended = entry.stat(follow_symlinks=False).st_mtime * 1000
        except OSError:
            continue
        if line.timestamp <= ended + _REPEATED_MS and _find_start(entry.path) <= line.timestamp:
            return True
    return False


_starts: dict[str, float] = {}


def _find_start(path: str) -> float:
    """Return when a transcript starts, in milliseconds since 1970; 0 if unknown."""
    if path not in _starts:
        try:
            with open_file(path) as file:
                found = _TIMESTAMP.search(file.read(_HEAD))
        except UnreadableInput:
            found = None
        moment = datetime.fromisoformat(found[1].decode() + "+00:00") if found else None
        _starts[path] = moment.timestamp() * 1000 if moment else 0
    return _starts[path]


def _add_prompt(session: Leftovers, line: _HistoryLine) -> None:
    text = _PASTE.sub(lambda found: _expand(found, line.pasted_contents), line.display)
    prompt = Prompt(int(line.timestamp), text[:_MAX_TEXT])
    last = session.prompts[-1] if session.prompts else None
    if last and last.text == text and prompt.time_ms - last.time_ms < _REPEATED_MS:
        return
    session.prompts.append(prompt)


def _expand(found: re.Match[str], pasted: Mapping[str, _Pasted]) -> str:
    content = pasted.get(found[1], _Pasted()).content
    return found[0] if content is None else content


def _iter_others(
    root: Path, transcripts: Mapping[str, Mapping[str, Entry]]
) -> Iterator[tuple[str, str | None, Leftover]]:
    """Yield the session, its project directory if known, and the leftover."""
    for entry in list_readable(root / "todos"):
        if _TODO_AGENT in entry.name and (text := _describe_todos(entry)):
            yield entry.name.partition(_TODO_AGENT)[0], None, Leftover(_find_time(entry), text)
    for tree, describe in (("tasks", _describe_tasks), ("file-history", _describe_saved)):
        for entry in list_readable(root / tree):
            if entry.is_dir(follow_symlinks=False) and (text := describe(entry)):
                yield entry.name, None, Leftover(_find_time(entry), text)
    for project in transcripts:
        for entry in list_readable(root / claude_directories.PROJECTS_DIRECTORY / project):
            if entry.name not in _NOT_SESSIONS and (text := _describe_directory(entry)):
                yield entry.name, project, Leftover(_find_time(entry), text)


def _add_plans(root: Path, found: Mapping[str, Leftovers]) -> None:
    """Assign each plan to the deleted session active when it was saved, if there was only one."""
    spans = [(each, *each.times) for each in found.values() if each.prompts]
    for entry in list_readable(root / "plans"):
        time = _find_time(entry)
        matches = [each for each, first, last in spans if first <= time <= last + _PLAN_MS]
        if len(matches) == 1 and (text := _read(entry.path)):
            matches[0].others.append(
                Leftover(time, f"Plan saved at that time, {entry.name}:\n{text}")
            )


class _Todo(msgspec.Struct, frozen=True):
    content: str = ""
    subject: str = ""
    description: str = ""
    status: str = ""

    def describe(self) -> str:
        mark = "x" if self.status == "completed" else " "
        return f"- [{mark}] {self.content or self.subject or self.description}"


def _describe_todos(entry: Entry) -> str | None:
    try:
        todos = msgspec.json.decode(_read(entry.path).encode(), type=list[_Todo])
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return "To-do list:\n" + "\n".join(map(_Todo.describe, todos)) if todos else None


def _describe_tasks(directory: Entry) -> str | None:
    lines: list[str] = []
    for entry in list_readable(Path(directory.path)):
        try:
            lines.append(msgspec.json.decode(_read(entry.path).encode(), type=_Todo).describe())
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue
    return "Tasks:\n" + "\n".join(lines) if lines else None


def _describe_saved(directory: Entry) -> str | None:
    files = list_readable(Path(directory.path))
    count = (
        f"{len(files)} saved versions of files" if len(files) > 1 else "1 saved version of a file"
    )
    return f"{count} in {directory.path}" if files else None


def _describe_directory(directory: Entry) -> str | None:
    if not directory.is_dir(follow_symlinks=False):
        return None
    names = [entry.name for entry in list_readable(Path(directory.path))]
    return f"Other files in {directory.path}: {', '.join(names)}" if names else None


def _read(path: str) -> str:
    try:
        with open_file(path) as file:
            return file.read(_MAX_TEXT).decode(errors="replace")
    except UnreadableInput:
        return ""


def _find_time(entry: Entry) -> int:
    stamp = find_stamp(entry.path)
    return stamp[2] // 10**6 if stamp else int(datetime.now(UTC).timestamp() * 1000)


_DECODER: Final = msgspec.json.Decoder(_HistoryLine)


UNKNOWN_PROJECT: Final = "unknown-project"
EXPLANATION: Final = (
    "Partial session. Claude Code has deleted the transcript. Recovered: {parts}. Replies, tool "
    "calls and usage are lost."
)


def write_transcripts(root: Path, directory: Path, forgotten: Collection[str] = ()) -> None:
    """Write a transcript for each deleted session of a Claude directory, and delete all others."""
    make_directories(directory)
    sessions = [each for each in find_leftovers(root) if each.id not in forgotten]
    _write_all(directory / claude_directories.PROJECTS_DIRECTORY, sessions)


def make_transcript(session: Leftovers) -> bytes:
    """Return a transcript made from the leftovers of a session, in order of time."""
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
        record = _make_record(session, kind, mask_words(text))
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
    for path in projects.glob(f"*/*{claude_directories.TRANSCRIPT_SUFFIX}"):
        if path not in wanted:
            path.unlink(missing_ok=True)
    for path, session in wanted.items():
        make_directories(path.parent)
        replace_file(path, make_transcript(session), session.times[1])


def _place(projects: Path, session: Leftovers) -> Path:
    directory = session.directory or (
        claude_directories.encode_project_path(session.project)
        if session.project
        else UNKNOWN_PROJECT
    )
    return projects / directory / f"{session.id}{claude_directories.TRANSCRIPT_SUFFIX}"


def replace_file(path: Path, data: bytes, time_ms: int | None = None) -> None:
    """Replace a file atomically unless it already has this content."""
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
