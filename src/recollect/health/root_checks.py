"""Checks of Claude directories (permissions, expiring sessions, orphaned files) and of the index,
and the overview for the first run.

The overview uses names, sizes and modification times of files, so that it is fast however many
there are. Only the first records of each session are read for its start time, because files may
have been copied, and the few sessions that expire next are opened for their titles.

Orphaned files are those that Claude Code leaves behind when it deletes a transcript. They are
recognised by names that are session ids, and nothing is opened. Other names are ignored: tasks of a
team are in a directory named after the team, and notes of a project are next to its sessions.
"""

import os
import re
import stat
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from msgspec import Struct

from recollect import locations
from recollect.documents import health_report
from recollect.errors import IndexFailure, UnreadableInput
from recollect.health.file_checks import ReportNames, make_report_names
from recollect.health.retention import SOON, Expiry, list_expiries, read_retention, select_until
from recollect.library.listings import SessionContext, read_listing
from recollect.quantities import format_utc
from recollect.reader.transcript_reader import read_transcript
from recollect.render.terminal import display_path
from recollect.session.times import parse_time
from recollect.sources import safe_files
from recollect.store import IndexStatus, find_index_status, find_schema_version
from recollect.store.data_directory import INDEX_NAME, LOCK_NAME, hold_lock
from recollect.sync import is_current

INDEX_BYTES_PER_SECOND: Final = 30_000_000
"""Indexing speed, including texts; 38 MB/s were measured on two cores of a 2023 server."""

HEAD_BYTES: Final = 64 << 10
"""How far to look for the first timestamp of a session; the farthest one seen was at 41 KB."""

MAX_NAMED: Final = 3
"""Maximum number of expiring sessions that are named."""


class ExpiringSession(Struct, frozen=True, kw_only=True):
    """A session that Claude Code will delete soon."""

    id: str
    title: str | None
    at: datetime


class FirstRunOverview(Struct, frozen=True, kw_only=True):
    """Figures of all transcripts below all roots."""

    sessions: int
    projects: int
    bytes: int
    oldest: float | None
    """Start of the oldest session, in seconds since 1970."""
    index_seconds: float
    """Estimated time to index everything."""
    retention_days: float
    """Days without a change until Claude Code deletes a session; the shortest of all roots."""
    expiring: int
    """Number of sessions that will be deleted within `retention.SOON`."""
    next_expiring: tuple[ExpiringSession, ...]
    """The first `MAX_NAMED` of them."""


def build_first_run_overview(
    roots: Sequence[Path], transcripts: Sequence[locations.Transcript], now: datetime
) -> FirstRunOverview:
    """Return an overview of `transcripts`, which were found below `roots`."""
    sessions = [each for each in transcripts if each.kind is locations.TranscriptKind.SESSION]
    size = sum(each.size for each in transcripts)
    retentions = {root: read_retention(root) for root in roots}
    soon = [
        expiry
        for root, retention in retentions.items()
        for expiry in select_until(
            list_expiries([each for each in sessions if each.path.is_relative_to(root)], retention),
            now + SOON,
        )
    ]
    soon.sort(key=lambda expiry: expiry.at)
    return FirstRunOverview(
        sessions=len(sessions),
        projects=len({each.project_dir for each in sessions}),
        bytes=size,
        oldest=min(map(_find_start, sessions), default=None),
        index_seconds=size / INDEX_BYTES_PER_SECOND,
        retention_days=min((each.days for each in retentions.values()), default=0),
        expiring=len(soon),
        next_expiring=tuple(map(_describe_expiring, soon[:MAX_NAMED])),
    )


def _find_start(transcript: locations.Transcript) -> float:
    """Return the time of the first record that has one, else the modification time of the file."""
    modified = transcript.mtime_ns / 1e9
    try:
        for record in read_transcript(transcript.path, stop=HEAD_BYTES):
            moment = parse_time(getattr(record, "timestamp", None))
            if moment is not None:
                return min(moment.timestamp(), modified)
    except UnreadableInput:
        return modified
    return modified


def _describe_expiring(expiry: Expiry) -> ExpiringSession:
    listing = read_listing(expiry.transcript, SessionContext())
    title = listing.title if listing else None
    return ExpiringSession(id=expiry.transcript.name, title=title, at=expiry.at)


_ID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TODO: Final = re.compile(rf"({_ID.pattern})-agent-.*\.json")
_BY_SESSION: Final = ("tasks", "file-history")


def find_orphans(
    root: Path, session_ids: Container[str], report_names: ReportNames
) -> tuple[health_report.Orphan, ...]:
    """Return the files below `root` that belong to none of these sessions."""
    found = [
        *_iter_session_directories(root),
        *(entry for name in _BY_SESSION for entry in _iter_named(root / name, name, _ID)),
        *_iter_named(root / "todos", "todo", _TODO),
    ]
    orphans = (
        _describe(path, kind, report_names)
        for path, kind, owner in found
        if owner not in session_ids
    )
    return tuple(sorted(orphans, key=lambda orphan: orphan.file))


def find_timelines(
    root: Path, session_ids: Container[str], report_names: ReportNames
) -> tuple[health_report.OpcodeTimeline, ...]:
    """Return the checkpoints that opcode keeps beside the sessions of Claude Code."""
    return tuple(
        _describe_timeline(path, report_names, has_session=path.name in session_ids)
        for project in _list_names(root / locations.claude_directories.PROJECTS_DIRECTORY)
        for path, _, _ in _iter_named(
            project / locations.claude_directories.TIMELINES_DIRECTORY, "timeline", _ID
        )
    )


def _describe_timeline(
    path: Path, report_names: ReportNames, *, has_session: bool
) -> health_report.OpcodeTimeline:
    size = _describe(path, "timeline", report_names)
    return health_report.OpcodeTimeline(
        file=size.file, has_session=has_session, files=size.files, byte_count=size.byte_count
    )


def _iter_session_directories(root: Path) -> Iterator[tuple[Path, str, str]]:
    for project in _list_names(root / locations.claude_directories.PROJECTS_DIRECTORY):
        for path, kind, owner in _iter_named(project, "session", _ID):
            status = safe_files.find_status(path)
            if isinstance(status, os.stat_result) and stat.S_ISDIR(status.st_mode):
                yield path, kind, owner


def _iter_named(
    directory: Path, kind: str, pattern: re.Pattern[str]
) -> Iterator[tuple[Path, str, str]]:
    """Iterate over entries named after a session, with the id of that session."""
    for path in _list_names(directory):
        if match := pattern.fullmatch(path.name):
            yield path, kind, match[match.lastindex or 0]


def _list_names(directory: Path) -> list[Path]:
    # `file_checks` reports unreadable directories; they just have no orphans here.
    return [directory / entry.name for entry in safe_files.list_readable(directory)]


def _describe(path: Path, kind: str, report_names: ReportNames) -> health_report.Orphan:
    files = [
        path.joinpath(*parts)
        for parts in safe_files.iter_tree(path)
        if not isinstance(parts, locations.Refused)
    ]
    sizes = [getattr(safe_files.find_status(file), "st_size", 0) for file in files or [path]]
    return health_report.Orphan(
        file=report_names.name(path), kind=kind, files=len(sizes), byte_count=sum(sizes)
    )


def examine_index(
    directory: Path,
    transcripts: Sequence[locations.Transcript],
    prices: Path | None = None,
    environment: Mapping[str, str] = os.environ,
) -> health_report.IndexReport:
    """Check the whole index in `directory`, without changing it."""
    status, is_up_to_date = _read_status(directory, transcripts, prices)
    return health_report.IndexReport(
        path=display_path(Path(status.path), environment),
        byte_count=status.bytes,
        is_sound=status.is_sound,
        is_current=is_up_to_date,
        is_locked=_is_locked(directory),
        schema_version=find_schema_version(directory),
        files=status.files,
        files_gone=status.files_gone,
        messages=status.messages,
        problems=len(status.problems),
    )


def _read_status(
    directory: Path, transcripts: Sequence[locations.Transcript], prices: Path | None
) -> tuple[IndexStatus, bool]:
    try:
        status = find_index_status(directory)
        return status, status.is_sound and is_current(directory, transcripts, prices=prices)
    except IndexFailure:
        # Written by a newer version, or not accessible now: a finding, not a reason to stop.
        path = directory / INDEX_NAME
        return IndexStatus(path=str(path), bytes=path.stat().st_size), False


def _is_locked(directory: Path) -> bool:
    """Whether another process is writing the index; False if we may not write it ourselves."""
    if not os.access(directory / LOCK_NAME, os.W_OK):
        return False
    try:
        with hold_lock(directory, patience=0):
            return False
    except IndexFailure:
        return True


_OTHERS_MASK = 0o077


def examine_roots(
    paths: Sequence[Path], now: datetime, environment: Mapping[str, str] = os.environ
) -> tuple[health_report.RootReport, ...]:
    """Check those of `paths` that are Claude directories."""
    home = locations.claude_directories.find_home(environment)
    roots = [
        path
        for path in paths
        if safe_files.is_directory(path / locations.claude_directories.PROJECTS_DIRECTORY)
    ]
    return tuple(
        _examine(root, make_report_names(root, home, is_one_of_many=len(paths) > 1), now)
        for root in roots
    )


def _examine(root: Path, report_names: ReportNames, now: datetime) -> health_report.RootReport:
    transcripts = locations.discover_root(root).transcripts
    retention = read_retention(root)
    expiries = list_expiries(transcripts, retention)
    mode = (
        stat.S_IMODE(safe_files.find_real_status(safe_files.resolve_links(root)).st_mode)
        if os.name == "posix"
        else None
    )
    owners = {each.session_id for each in transcripts if each.session_id}
    return health_report.RootReport(
        path=display_path(root),
        sessions=len(expiries),
        permissions=None if mode is None else f"{mode:04o}",
        is_private=not (mode or 0) & _OTHERS_MASK,
        retention_days=retention.days,
        retention_is_set=retention.is_set,
        retention_problem=retention.problem,
        expiring=tuple(_iter_expiring(select_until(expiries, now + SOON), report_names)),
        overdue=len(select_until(expiries, now)),
        next_expiry=format_utc(expiries[0].at) if expiries else None,
        orphans=find_orphans(root, owners, report_names),
        timelines=find_timelines(root, owners, report_names),
    )


def _iter_expiring(
    expiries: Iterable[Expiry], report_names: ReportNames
) -> Iterable[health_report.Expiring]:
    for expiry in expiries:
        yield health_report.Expiring(
            file=report_names.name(expiry.transcript.path), after=format_utc(expiry.at)
        )
