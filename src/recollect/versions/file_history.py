"""The versions of one file over all sessions: which transcripts name it, and what they add up to.

Transcripts are searched for the bytes of the file's name first, and only those with a line about
such a file are opened. Without an index every transcript of the project is searched, at the speed
of reading it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from recollect.errors import UnreadableInput
from recollect.library.opening import open_transcript
from recollect.library.transcript_ends import find_session_id
from recollect.locations import Transcript, TranscriptKind, encode_project_path
from recollect.locations.project_names import encode_id, encode_without_limit
from recollect.locations.sidecars import find_root_of
from recollect.reader.marked_lines import iter_marked_lines
from recollect.session.session import Session
from recollect.session.times import merge_by_time
from recollect.sources.safe_files import list_directory, open_file
from recollect.versions.backups import BackupDirectory
from recollect.versions.evidence import Cause, Evidence, Rename
from recollect.versions.recorded_paths import (
    PathAliases,
    list_marks,
    normalize_path,
    relative_to,
)
from recollect.versions.replay import Check, FindBase, Version, replay
from recollect.versions.session_evidence import WantedFiles, collect_evidence

_MAX_NAMES: Final = 20
_ABOUT_FILES: Final = (b'"tool_use"', b'"file-history', b'"edited_text_file"')


class FileHistory(Struct, frozen=True, kw_only=True):
    """All versions of a file, oldest first, also those of its copies in worktrees."""

    path: str
    versions: tuple[Version, ...]
    checks: tuple[Check, ...] = ()
    sessions: tuple[str, ...] = ()
    """The sessions that name the file."""
    unreadable: tuple[str, ...] = ()
    roots: tuple[Path, ...] = ()
    """The Claude directories that were read."""

    def read_backup(self, version: Version) -> bytes | None:
        """Return the bytes of a version, if Claude Code kept a backup of it."""
        for root in self.roots if version.backup else ():
            data = BackupDirectory(root).read(version.origin.session_id, version.backup or "")
            if data is not None:
                return data
        return None

    @property
    def own(self) -> tuple[Version, ...]:
        """The versions of the file itself."""
        return tuple(each for each in self.versions if each.path == self.path)


def select_transcripts_of(
    aliases: PathAliases, transcripts: Iterable[Transcript]
) -> list[Transcript]:
    """Return the transcripts of projects that contain the file, by the names of directories."""
    names: set[str] = set()
    prefixes: list[str] = []
    for directory in (*aliases.roots, *aliases.moved_from, *aliases.worktrees):
        prefixes += [encode_without_limit(directory) + "-", encode_project_path(directory)]
    for path in (*aliases.paths, *aliases.moved_from, *aliases.worktrees):
        for parent in (path, *_iter_parents(path)):
            names |= {encode_project_path(parent), encode_without_limit(parent)}
    return [
        each
        for each in transcripts
        if each.project_dir.name in names or each.project_dir.name.startswith(tuple(prefixes))
    ]


def _iter_parents(path: str) -> Iterator[str]:
    while "/" in path.rstrip("/"):
        path = path.rstrip("/").rpartition("/")[0]
        yield path or "/"


def find_history(
    aliases: PathAliases,
    transcripts: Sequence[Transcript],
    find_base: FindBase | None = None,
) -> FileHistory:
    """Return the versions that these transcripts know of a file."""
    earlier: set[str] = set()
    while True:
        collected = _collect(aliases, earlier, transcripts)
        evidence = merge_sessions(collected.sessions)
        renames = [each for each in evidence if isinstance(each, Rename)]
        old = {each.old_path for each in renames} - earlier - {*aliases.paths}
        if not old or len(earlier) >= _MAX_NAMES:
            break
        earlier |= old
    return _replay_streams(aliases.path, evidence, earlier, find_base, collected)


class _Collected(NamedTuple):
    sessions: list[tuple[Evidence, ...]]
    ids: tuple[str, ...]
    unreadable: tuple[str, ...]
    roots: tuple[Path, ...]


def _collect(
    aliases: PathAliases, earlier: set[str], transcripts: Sequence[Transcript]
) -> _Collected:
    """Read the sessions that name the file, or one of the names that it had before."""
    roots = aliases.roots if aliases.is_repository or aliases.moved_from else ()
    marks = list_marks((*_spell(aliases), *earlier), roots)
    sessions: list[tuple[Evidence, ...]] = []
    found: list[str] = []
    unreadable: list[str] = []
    claude_dirs: dict[Path, None] = {}
    for transcript in find_mentions(transcripts, marks):
        try:
            session = open_transcript(transcript)
        except UnreadableInput as error:
            unreadable.append(str(error))
            continue
        wanted = WantedFiles(_extend(aliases, session, transcript).find_stream, marks, earlier)
        root = find_root_of(transcript)
        claude_dirs |= {root: None} if root else {}
        backups = BackupDirectory(root)
        evidence = collect_evidence(session, wanted, backups)
        if any(not isinstance(each, Cause) for each in evidence):
            sessions.append(evidence)
            found.append(session.id)
    return _Collected(sessions, tuple(found), tuple(unreadable), tuple(claude_dirs))


def _spell(aliases: PathAliases) -> set[str]:
    """Return the paths as given, and with the name as the directory lists it."""
    paths = {*aliases.paths}
    if not aliases.ignores_case:
        return paths
    directory, _, name = aliases.path.rpartition("/")
    try:
        entries = list_directory(Path(directory))
    except OSError:
        entries = []
    same = [entry.name for entry in entries if entry.name.casefold() == name.casefold()]
    return paths | {f"{directory}/{each}" for each in same}


def _extend(aliases: PathAliases, session: Session, transcript: Transcript) -> PathAliases:
    """Add the earlier places and worktrees that a session itself tells about."""
    cwds = [normalize_path(change.value) for change in session.facts.cwds]
    pairs = [tree for tree in session.facts.worktrees if tree is not None]
    worktrees = [
        normalize_path(tree.worktree_path)
        for tree in pairs
        if tree.worktree_path and normalize_path(tree.original_cwd or "") in aliases.roots
    ]
    is_here = any(
        transcript.project_dir.name in (encode_project_path(root), encode_without_limit(root))
        for root in aliases.roots
    )
    moved = [
        cwd
        for cwd in cwds
        if is_here and not any(cwd == root or relative_to(cwd, root) for root in aliases.roots)
    ]
    return replace(
        aliases,
        moved_from=tuple(dict.fromkeys((*aliases.moved_from, *moved))),
        worktrees=tuple(dict.fromkeys((*aliases.worktrees, *worktrees))),
    )


def find_mentions(transcripts: Iterable[Transcript], marks: Sequence[bytes]) -> list[Transcript]:
    """Return the sessions with a line about such a file, in their own or a subagent's transcript.

    A subagent whose session is gone stands for itself.
    """
    by_id: dict[tuple[Path, str], Transcript] = {}
    every = list(transcripts)
    for each in every:
        if each.kind is TranscriptKind.SESSION and each.session_id:
            by_id[each.project_dir, each.session_id] = each
    wanted: dict[str, Transcript] = {}
    for each in every:
        if not each.is_empty and names_file(each, marks):
            owner = each
            if each.kind is not TranscriptKind.SESSION:
                session_id = each.session_id
                if session_id is None:
                    session_id = encode_id(find_session_id(each.path) or "")
                owner = by_id.get((each.project_dir, session_id), each)
            wanted.setdefault(owner.file, owner)
    return list(wanted.values())


def names_file(transcript: Transcript, marks: Sequence[bytes]) -> bool:
    """Whether a line of a transcript is about a file whose name is one of the marks."""
    try:
        with open_file(transcript.file) as file:
            lines = iter_marked_lines(file, marks, 0, transcript.size)
            return any(any(word in line.data for word in _ABOUT_FILES) for line in lines)
    except (UnreadableInput, OSError):
        return False


def merge_sessions(sessions: Iterable[Iterable[Evidence]]) -> list[Evidence]:
    """Order what several sessions say by time, and leave out what one copied from another."""
    seen: set[object] = set()
    merged: list[Evidence] = []
    for each in merge_by_time(sessions, lambda found: found.origin.time):
        key = (type(each), each.path, each.origin.uuid, each.origin.call_id, _detail(each))
        if each.origin.uuid and key in seen:
            continue
        seen.add(key)
        merged.append(each)
    return merged


def _detail(evidence: Evidence) -> object:
    return evidence.kind if isinstance(evidence, Cause) else getattr(evidence, "backup", None)


def _replay_streams(
    path: str,
    evidence: Sequence[Evidence],
    earlier: set[str],
    find_base: FindBase | None,
    collected: _Collected,
) -> FileHistory:
    streams = dict.fromkeys(
        each.path for each in evidence if not isinstance(each, Cause) and each.path not in earlier
    )
    replays = [replay(stream, evidence, find_base) for stream in streams]
    return FileHistory(
        path=path,
        versions=_number(each.versions for each in replays),
        checks=tuple(check for each in replays for check in each.checks),
        sessions=collected.ids,
        unreadable=collected.unreadable,
        roots=collected.roots,
    )


def _number(streams: Iterable[Sequence[Version]]) -> tuple[Version, ...]:
    """Number the versions of several files in order of time."""
    # A backup may have the time of an earlier prompt, so the order of a file's versions counts.
    ordered = merge_by_time(streams, lambda version: version.origin.time)
    return tuple(replace(version, number=at) for at, version in enumerate(ordered, 1))
