"""Evidence from tool calls about the files that they read or changed, and from the file-history
backups of a Claude directory: plain copies, named by path hash and number.

The client's result object of a call is used instead of the input, because it has the content that
was read and written. Calls of subagents have none in newer clients; there only the input and the
numbered lines are available.

After a resume the backups may be in the directory of another session id, so a name is looked up in
all directories. Unrelated sessions may have backups of the same name, so a backup from another
directory is used only if it was written at the recorded time. Names come from transcripts and are
checked before they are used as paths.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from recollect.library.processes import read_small
from recollect.locations import is_plain_name
from recollect.locations.claude_directories import decode_id
from recollect.records.tools import PatchHunk, file_tools
from recollect.session.times import parse_time
from recollect.session.tool_calls import ToolCall
from recollect.sources.safe_files import find_directory, list_directory
from recollect.sources.source import Entry
from recollect.versions import evidence
from recollect.versions.file_texts import decode_file, normalize

_MAX_LINES: Final = 2_000
_MAX_LINE: Final = 2_000
"""Number of lines of a file, and of characters of a line, that clients show by default."""

_NUMBERED: Final = re.compile(r" *(\d+)(?:\t|→)(.*)")


def read_file_call(
    call: ToolCall, path: str, origin: evidence.Origin
) -> evidence.FileEvidence | None:
    """Return the evidence of a successful call about the file at `path`."""
    wanted, result = call.input, call.result
    match wanted:
        case file_tools.ReadInput():
            return _read_lines(call, wanted, path, origin)
        case file_tools.WriteInput():
            return _read_write(call, wanted, result, path, origin)
        case file_tools.EditInput() | file_tools.MultiEditInput():
            return _read_edit(wanted, result, path, origin)
        case file_tools.NotebookEditInput():
            has_result = isinstance(result, file_tools.NotebookEditResult)
            found = (
                result
                if isinstance(result, file_tools.NotebookEditResult)
                else file_tools.NotebookEditResult()
            )
            if found.error:
                return None
            return evidence.Change(
                path=path,
                origin=origin,
                before=_normal(found.original_file),
                after=_normal(found.updated_file),
                has_result=has_result,
                cell=wanted.new_source,
            )
    return None


def _normal(text: str | None) -> str | None:
    return None if text is None else normalize(text)


def _read_lines(
    call: ToolCall, wanted: file_tools.ReadInput, path: str, origin: evidence.Origin
) -> evidence.FileEvidence | None:
    if not isinstance(call.result, file_tools.ReadText):
        return _read_numbered(call.text, wanted, path, origin)
    file = call.result.file
    start = file.start_line or 1
    is_whole = (
        start == 1
        and file.num_lines is not None
        and file.num_lines == file.total_lines
        and not file.truncated_by_token_cap
    )
    text = normalize(file.content)
    if is_whole:
        return evidence.Sighting(
            path=path, origin=origin, kind=evidence.SightingKind.READ, text=text
        )
    lines = text.split("\n")
    return evidence.Window(
        path=path,
        origin=origin,
        start=start,
        # The last line may be truncated.
        lines=tuple(lines[: file.num_lines or len(lines)][:-1]),
        total=file.total_lines,
    )


def _read_numbered(
    text: str, wanted: file_tools.ReadInput, path: str, origin: evidence.Origin
) -> evidence.Sighting | evidence.Window | None:
    """Read the numbered lines that the model saw, for a call without a result object."""
    matches = [_NUMBERED.fullmatch(line) for line in text.split("\n")]
    found = [(int(match[1]), match[2]) for match in matches if match]
    if not found or found[0][0] < 1:
        return None
    start = found[0][0]
    lines = [line for at, (number, line) in enumerate(found) if number == start + at]
    if len(lines) == len(matches) and _is_whole(text, wanted, lines):
        shown = normalize("\n".join(lines))
        return evidence.Sighting(
            path=path, origin=origin, kind=evidence.SightingKind.READ, text=shown
        )
    return evidence.Window(path=path, origin=origin, start=start, lines=tuple(lines[:-1]))


def _is_whole(text: str, wanted: file_tools.ReadInput, lines: Sequence[str]) -> bool:
    """Return whether numbered lines, without a gap or a notice, are a whole file.

    Only clients that put a tab after the number show an empty line after a final line end.
    """
    is_cut = len(lines) >= _MAX_LINES or any(len(line) >= _MAX_LINE for line in lines)
    is_part = wanted.offset is not None or wanted.limit is not None
    return text.startswith("1\t") and not (is_part or is_cut)


def _read_write(
    call: ToolCall,
    wanted: file_tools.WriteInput,
    result: object,
    path: str,
    origin: evidence.Origin,
) -> evidence.Change:
    if not isinstance(result, file_tools.WriteResult) or result.type is None:
        return evidence.Change(
            path=path,
            origin=origin,
            after=normalize(wanted.content),
            is_new=call.text.startswith("File created"),
            has_result=False,
        )
    return evidence.Change(
        path=path,
        origin=origin,
        before=_normal(result.original_file),
        after=normalize(result.content),
        is_new=result.type == "create",
        hunks=_drop_carriage_returns(result.structured_patch),
        is_modified=result.user_modified,
    )


def _drop_carriage_returns(hunks: tuple[PatchHunk, ...]) -> tuple[PatchHunk, ...]:
    """Return no hunks for a patch in which `\\r\\n` on disk makes every line look changed."""
    has_any = any(line.endswith("\r") for hunk in hunks for line in hunk.lines)
    return () if has_any else hunks


def _read_edit(
    wanted: file_tools.EditInput | file_tools.MultiEditInput,
    result: object,
    path: str,
    origin: evidence.Origin,
) -> evidence.Change:
    steps: tuple[file_tools.EditStep, ...]
    match result:
        case file_tools.EditResult() if result.structured_patch or result.original_file is not None:
            steps = (
                file_tools.EditStep(
                    old_string=result.old_string,
                    new_string=result.new_string,
                    replace_all=result.replace_all,
                ),
            )
            before, is_stale = result.original_file, result.stale_recovered
        case file_tools.MultiEditResult() if result.structured_patch:
            steps, before, is_stale = result.edits, result.original_file_contents, False
        case _:
            return evidence.Change(
                path=path, origin=origin, steps=_plan_steps(wanted), has_result=False
            )
    return evidence.Change(
        path=path,
        origin=origin,
        before=_normal(before),
        is_new=before == "" and not steps[0].old_string,
        steps=steps,
        hunks=result.structured_patch,
        is_stale=is_stale,
        is_modified=result.user_modified,
    )


def _plan_steps(
    wanted: file_tools.EditInput | file_tools.MultiEditInput,
) -> tuple[file_tools.EditStep, ...]:
    if isinstance(wanted, file_tools.MultiEditInput):
        return wanted.edits
    # Without a result, the written text is unknown: the client strips trailing whitespace.
    is_markdown = wanted.file_path.lower().endswith((".md", ".mdx"))
    new = wanted.new_string
    stripped = "\n".join(line.rstrip(" \t\r") for line in new.split("\n"))
    return (
        file_tools.EditStep(
            old_string=wanted.old_string,
            new_string=new if is_markdown else stripped,
            replace_all=wanted.replace_all,
        ),
    )


DIRECTORY_NAME: Final = "file-history"
MAX_BACKUP: Final = 64 * 1024 * 1024
_TOLERANCE: Final = timedelta(seconds=2)
"""Maximum time between a recorded backup and its file: 0.3 seconds were measured."""
_NAME: Final = re.compile(r"([0-9a-f]{16})@v(\d{1,9})")


class Backups(Protocol):
    """The file-history backups of sessions."""

    def read(self, session_id: str, name: str, time: str | None = None) -> bytes | None:
        """Return the backup made at `time`; None if it no longer exists."""

    def list_unrecorded(self, session_id: str, recorded: Iterable[str]) -> Iterable[BackupFile]:
        """Return later, unrecorded versions of `recorded` backups, oldest first."""


class BackupFile(NamedTuple):
    """A backup in a session's directory, and when it was written."""

    name: str
    time: str


class NoBackups:
    """No backups, for sessions without a directory."""

    def read(self, session_id: str, name: str, time: str | None = None) -> bytes | None:
        """Return None."""
        return None

    def list_unrecorded(
        self,
        session_id: str,
        recorded: Iterable[str],
    ) -> Iterable[BackupFile]:
        """Return nothing."""
        return ()


class BackupDirectory:
    """The backups in `file-history` of one Claude directory."""

    def __init__(self, root: Path | None) -> None:
        found = find_directory(root, DIRECTORY_NAME) if root else None
        self._directory = found if isinstance(found, Path) else None

    def read(self, session_id: str, name: str, time: str | None = None) -> bytes | None:
        """Return a backup of the session, or one of another session made at `time`."""
        if self._directory is None or not _NAME.fullmatch(name):
            return None
        own = self._find_session(session_id)
        data = read_small(own / name, MAX_BACKUP) if own else None
        if data is not None:
            return data
        made = parse_time(time)
        same = (each for each in self._by_name.get(name, ()) if made and _is_from(each, made))
        found = (read_small(each.path, MAX_BACKUP) for each in same)
        return next((data for data in found if data is not None), None)

    def list_unrecorded(self, session_id: str, recorded: Iterable[str]) -> Iterable[BackupFile]:
        """Return the versions in the session's directory that are later than the recorded ones."""
        directory = self._find_session(session_id)
        if directory is None:
            return ()
        last: dict[str, int] = {}
        for named in filter(None, map(_NAME.fullmatch, recorded)):
            last[named[1]] = max(last.get(named[1], 0), int(named[2]))
        found = [
            (int(match[2]), entry)
            for entry in list_directory(directory)
            if (match := _NAME.fullmatch(entry.name)) and match[1] in last
            if int(match[2]) > last[match[1]]
        ]
        return [
            BackupFile(entry.name, _format_time(entry))
            for _, entry in sorted(found, key=lambda pair: pair[0])
        ]

    def _find_session(self, session_id: str) -> Path | None:
        name = decode_id(session_id)
        if self._directory is None or not is_plain_name(name):
            return None
        found = find_directory(self._directory, name)
        return found if isinstance(found, Path) else None

    @cached_property
    def _by_name(self) -> dict[str, list[Entry]]:
        places: dict[str, list[Entry]] = {}
        for session in list_directory(self._directory) if self._directory else ():
            if session.is_dir(follow_symlinks=False):
                for entry in list_directory(session.path):
                    places.setdefault(entry.name, []).append(entry)
        return places


def _is_from(entry: Entry, made: datetime) -> bool:
    """Return whether a backup was written at a time; copies keep their modification time."""
    written = datetime.fromtimestamp(entry.stat(follow_symlinks=False).st_mtime, UTC)
    return abs(written - made) <= _TOLERANCE


def _format_time(entry: Entry) -> str:
    seconds = entry.stat(follow_symlinks=False).st_mtime
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.000Z"


def read_backup(reference: evidence.BackupReference, backups: Backups) -> evidence.Sighting | None:
    """Return the content of a backup; None if it is missing or not text."""
    origin = reference.origin
    name = evidence.BackupName(origin.session_id, reference.name, reference.time)
    data = backups.read(*name)
    content = decode_file(data) if data is not None else None
    if content is None:
        return None
    return evidence.Sighting(
        path=reference.path,
        origin=origin,
        kind=reference.kind,
        text=content.text,
        backup=name,
    )


def read_unrecorded(
    session_id: str, named: Mapping[str, str], backups: Backups
) -> Iterator[evidence.Sighting]:
    """Yield the backups made after the last record; `named` has paths by backup."""
    paths = {name.partition("@")[0]: path for name, path in named.items()}
    for file in backups.list_unrecorded(session_id, named):
        reference = evidence.BackupReference(
            path=paths[file.name.partition("@")[0]],
            origin=evidence.Origin(session_id=session_id, time=file.time),
            kind=evidence.SightingKind.BACKUP,
            name=file.name,
            time=file.time,
        )
        found = read_backup(reference, backups)
        if found is not None:
            yield found
