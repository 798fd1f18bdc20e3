"""The versions of one file across all sessions that changed or read it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from msgspec import Struct, structs

from recollect.locations import Transcript
from recollect.locations.claude_directories import list_project_names
from recollect.reader.line_blocks import masked_by
from recollect.session.times import merge_by_time
from recollect.sources.safe_files import list_readable
from recollect.versions import edit_index, file_paths, recorded_evidence, session_outline
from recollect.versions.evidence import Cause, Evidence, Rename
from recollect.versions.replay import CheckedPrediction, FindBase, Version, replay

_MAX_NAMES: Final = 20


class FileHistory(Struct, frozen=True, kw_only=True):
    """All versions of a file, oldest first, including those of its copies in worktrees."""

    path: str
    versions: tuple[Version, ...]
    checks: tuple[CheckedPrediction, ...] = ()
    sessions: tuple[str, ...] = ()
    """The ids of the sessions that mention the file."""
    unreadable: tuple[str, ...] = ()
    roots: tuple[Path, ...] = ()
    """The Claude directories that were read."""
    earlier_paths: tuple[str, ...] = ()
    """Paths that commands moved it from, newest first."""
    later_causes: tuple[Cause, ...] = ()
    """Possible causes of changes to the file itself after its last version."""

    def read_backup(self, version: Version) -> bytes | None:
        """Return the bytes of a version if Claude Code has a backup of it."""
        if version.backup is None:
            return None
        found = (
            recorded_evidence.BackupDirectory(root).read(*version.backup) for root in self.roots
        )
        return next((data for data in found if data is not None), None)

    @property
    def own(self) -> tuple[Version, ...]:
        """Return the versions of the file itself."""
        return tuple(each for each in self.versions if each.path == self.path)


def select_transcripts_of(
    aliases: file_paths.PathAliases, transcripts: Iterable[Transcript]
) -> list[Transcript]:
    """Return the transcripts of projects that contain the file, judging by directory names."""
    names: set[str] = set()
    prefixes: list[str] = []
    for directory in (*aliases.roots, *aliases.moved_from, *aliases.worktrees):
        current, old = list_project_names(directory)
        prefixes += [f"{old}-", current]
    for path in (*aliases.paths, *aliases.moved_from, *aliases.worktrees):
        for parent in (path, *_iter_parents(path)):
            names.update(list_project_names(parent))
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
    aliases: file_paths.PathAliases, index: edit_index.EditIndex, find_base: FindBase | None = None
) -> FileHistory:
    """Return the versions of a file that the sessions in the index recorded."""
    earlier: set[str] = set()
    while True:
        collected = _collect(aliases, earlier, index)
        evidence = merge_sessions(collected.sessions)
        renames = [each for each in evidence if isinstance(each, Rename)]
        old = {each.old_path for each in renames} - earlier - {*aliases.paths}
        if not old or len(earlier) >= _MAX_NAMES:
            break
        earlier |= old
    return _replay_streams(aliases.path, evidence, earlier, find_base, collected)


class _Collected(NamedTuple):
    sessions: list[Sequence[Evidence]]
    ids: tuple[str, ...]
    unreadable: tuple[str, ...]
    roots: tuple[Path, ...]


def _collect(
    aliases: file_paths.PathAliases, earlier: set[str], index: edit_index.EditIndex
) -> _Collected:
    """Collect the evidence of all sessions about the file or one of its earlier names."""
    names = {*_list_spellings(aliases), *earlier}
    sessions: list[Sequence[Evidence]] = []
    found: list[str] = []
    claude_dirs: dict[Path, None] = {}
    for transcript, outline in index.find(_list_names(aliases, names)):
        root = transcript.root
        claude_dirs |= {root: None} if root else {}
        extended = _extend(aliases, outline, transcript)
        find_stream = _add_names(extended.find_stream, earlier, names)
        evidence = _expand(
            transcript, outline, find_stream, recorded_evidence.BackupDirectory(root)
        )
        if any(not isinstance(each, Cause) for each in evidence):
            sessions.append(evidence)
            found.append(outline.session_id)
    unreadable = tuple(index.list_unreadable(names))
    return _Collected(sessions, tuple(found), unreadable, tuple(claude_dirs))


def _list_names(aliases: file_paths.PathAliases, paths: Iterable[str]) -> set[str]:
    """Return the names by which to find sessions about the file, wherever its project was."""
    tops = {*aliases.roots, *aliases.moved_from, *aliases.worktrees}
    is_top = any(path.rpartition("/")[0] in tops for path in aliases.paths)
    names = {session_outline.name_file(path) for path in paths}
    return names | (
        {file_paths.last_component(path) for path in aliases.paths} if is_top else set()
    )


def _add_names(
    find_stream: session_outline.FindStream, earlier: set[str], paths: Iterable[str]
) -> session_outline.FindStream:
    """Treat `earlier` names as separate files that were moved to this one."""
    names = {file_paths.last_component(path).casefold() for path in paths}

    def find(path: str) -> str | None:
        if path.rpartition("/")[2].casefold() not in names:
            return None
        return path if path in earlier else find_stream(path)

    return find


def _expand(
    transcript: Transcript,
    outline: session_outline.Outline,
    find_stream: session_outline.FindStream,
    backups: recorded_evidence.BackupDirectory,
) -> Sequence[Evidence]:
    try:
        return session_outline.expand_outline(outline, find_stream, backups)
    except session_outline.OutdatedOutline:
        # Records nested in other records have no separate line; this is rare.
        from recollect.library.opening import open_transcript
        from recollect.versions.session_evidence import collect_evidence

        with masked_by(None):
            every = collect_evidence(open_transcript(transcript), backups)
        streams = [(each, find_stream(each.path) if each.path else None) for each in every]
        return [
            structs.replace(each, path=stream) if stream else each
            for each, stream in streams
            if stream or (isinstance(each, Cause) and each.path is None)
        ]


def _list_spellings(aliases: file_paths.PathAliases) -> set[str]:
    """Return the paths as given, and with the name as the directory lists it."""
    paths = {*aliases.paths}
    if not aliases.ignores_case:
        return paths
    directory, _, name = aliases.path.rpartition("/")
    entries = list_readable(Path(directory))
    same = [entry.name for entry in entries if entry.name.casefold() == name.casefold()]
    return paths | {f"{directory}/{each}" for each in same}


def _extend(
    aliases: file_paths.PathAliases, outline: session_outline.Outline, transcript: Transcript
) -> file_paths.PathAliases:
    """Add the earlier directories and worktrees that a session records."""
    worktrees = [path for path, directory in outline.worktrees if directory in aliases.roots]
    is_here = any(transcript.project_dir.name in list_project_names(root) for root in aliases.roots)
    moved = [
        cwd
        for cwd in outline.cwds
        if is_here
        and not any(cwd == root or file_paths.relative_to(cwd, root) for root in aliases.roots)
    ]
    return structs.replace(
        aliases,
        moved_from=tuple(dict.fromkeys((*aliases.moved_from, *moved))),
        worktrees=tuple(dict.fromkeys((*aliases.worktrees, *worktrees))),
    )


def merge_sessions(sessions: Iterable[Iterable[Evidence]]) -> list[Evidence]:
    """Merge the evidence of several sessions by time, without repeated records."""
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
    by_stream = {stream: replay(stream, evidence, find_base) for stream in streams}
    replays = by_stream.values()
    return FileHistory(
        path=path,
        versions=_number(each.versions for each in replays),
        checks=tuple(check for each in replays for check in each.checks),
        later_causes=by_stream[path].later_causes if path in by_stream else (),
        sessions=collected.ids,
        unreadable=collected.unreadable,
        roots=collected.roots,
        earlier_paths=tuple(_iter_earlier_paths(path, evidence)),
    )


def _iter_earlier_paths(path: str, evidence: Sequence[Evidence]) -> Iterator[str]:
    for each in reversed(evidence):
        if isinstance(each, Rename) and each.path == path:
            path = each.old_path
            yield path


def _number(streams: Iterable[Sequence[Version]]) -> tuple[Version, ...]:
    """Number the versions of several files in order of time."""
    # A backup may have the time of an earlier prompt, so each file keeps its order of versions.
    ordered = merge_by_time(streams, lambda version: version.origin.time)
    return tuple(structs.replace(version, number=at) for at, version in enumerate(ordered, 1))
