"""Query the up-to-date usage ledger: rows for a report, session titles, project paths, burn rate.

If no file changed, a query costs one `stat` per file: the modules that read transcripts are
imported only when one has to be read. If the index cannot be written, the files are counted in
memory by the same rules, and only transcripts that Claude Code has deleted are missing. Queries
are functions, because they are run again after a damaged index has been rebuilt.
"""

from __future__ import annotations

import os
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from msgspec import Struct, structs

from recollect.documents.usage_groups import Group
from recollect.errors import IndexFailure
from recollect.locations import Transcript, claude_directories
from recollect.locations.transcript_files import TranscriptKind
from recollect.sources.source import Stamp, find_stamp
from recollect.store import FileRow, NewerIndex
from recollect.store.data_directory import INDEX_NAME
from recollect.store.usage_queries import WEEK, Dimension, SumValues, UsageQueries
from recollect.sync import query_index
from recollect.usage import totals
from recollect.usage.reports import ReportRow, UsageQuery, UsageReport, make_report
from recollect.usage.zones import Zone

if TYPE_CHECKING:
    from recollect.sync import OnProgress

T = TypeVar("T")


class DirectoryUse(Struct, frozen=True):
    """The number of messages of a file that were written in a working directory."""

    file_id: int
    cwd: str
    messages: int


def find_project_paths(
    projects: Mapping[int, str], uses: Collection[DirectoryUse]
) -> dict[int, str]:
    """Return the working directory of each file's project.

    `projects` maps files to the names of their project directories below `projects/`. The work
    directory is the one that encodes to that name, wherever else the session went. Several
    directories may share an encoded name, so the file itself decides first, then other files of
    the project. If no directory matches, the most used one is taken.
    """
    names = claude_directories.list_project_names
    encoded = {cwd: names(cwd) for cwd in {use.cwd for use in uses}}
    matching = [use for use in uses if projects[use.file_id] in encoded[use.cwd]]
    by_file = _most_used((use.file_id, use) for use in matching)
    by_project = _most_used((projects[use.file_id], use) for use in matching)
    by_use = _most_used((projects[use.file_id], use) for use in uses)
    return {
        file_id: by_file.get(file_id) or by_project.get(project) or by_use.get(project) or project
        for file_id, project in projects.items()
    }


def _most_used(keyed: Iterable[tuple[int | str, DirectoryUse]]) -> dict[int | str, str]:
    used: Counter[tuple[int | str, str]] = Counter()
    for key, use in keyed:
        used[key, use.cwd] += use.messages
    # Ascending by use, then by name, so that the last one wins independently of the input order.
    ranked = sorted(used.items(), key=lambda item: (item[1], item[0][1]))
    return {key: cwd for (key, cwd), _ in ranked}


_INTERNED_DIMENSIONS: Final[tuple[Dimension, ...]] = (
    "model",
    "branch",
    "version",
    "entrypoint",
    "cwd",
    "tools",
)
_HOURLY_GROUPS: Final = (Group.SESSION, Group.BLOCK)
"""The groups that need hourly rows."""
_NUMERIC_DIMENSIONS: Final[tuple[Dimension, ...]] = ("moment", "is_sidechain")


class UsageLedger:
    """The ledger restricted to some roots; the index may contain files of others."""

    def __init__(
        self, queries: UsageQueries, roots: Iterable[Path], prices: Path | None = None
    ) -> None:
        self.queries = queries
        self.roots = tuple(roots)
        self.prices = prices
        """The user's own price file, if one is used."""
        self._prefixes = tuple(
            f"{path}{os.sep}{claude_directories.PROJECTS_DIRECTORY}{os.sep}"
            for root in self.roots
            for path in {os.fspath(root.absolute()), os.path.realpath(root)}
        )

    @cached_property
    def files(self) -> Mapping[int, FileRow]:
        """Return the transcripts below the roots by number, including deleted ones."""
        rows = self.queries.files.values()
        return {number: row for number, row in rows if row.path.startswith(self._prefixes)}

    @cached_property
    def problems(self) -> Mapping[str, str]:
        """Return the reasons why transcripts below the roots could not be read, by path."""
        problems = self.queries.problems.items()
        return {path: reason for path, reason in problems if path.startswith(self._prefixes)}

    @cached_property
    def is_partial(self) -> bool:
        """Whether the index also has files of other roots."""
        # The first check is cheap and usually False: it spares loading all files.
        may_be_partial = self.queries.has_files_elsewhere(self._prefixes)
        return may_be_partial and len(self.files) < len(self.queries.files)


def open_ledger(
    queries: UsageQueries, roots: Iterable[Path], prices: Path | None = None
) -> UsageLedger:
    """Return the ledger of some roots, counted as if the index had no others."""
    ledger = UsageLedger(queries, roots, prices)
    if not ledger.is_partial or not queries.has_copies_elsewhere(ledger.files):
        return ledger
    # A message that was copied to another directory may count there, for the whole index.
    from recollect.sync import count_separately

    alone = count_separately(queries.connection, ledger.files, prices)
    return UsageLedger(UsageQueries(alone), ledger.roots, prices)


class LedgerCache:
    """Keeps the separately counted ledger of some roots, until the index changes.

    Counting it reads all messages of the roots, which is too slow for every request of a server.
    """

    def __init__(self, directory: Path, roots: Sequence[Path]) -> None:
        self._files = [str(directory / f"{INDEX_NAME}{suffix}") for suffix in ("", "-wal")]
        self._roots = tuple(roots)
        self._lock = threading.Lock()
        self._state: list[Stamp | None] = []
        self._apart: UsageLedger | None = None

    def find_state(self) -> list[Stamp | None]:
        """Return a value that changes with the index; call it before the index is opened."""
        return [find_stamp(name) for name in self._files]

    def query(
        self,
        queries: UsageQueries,
        state: list[Stamp | None],
        query: Callable[[UsageLedger], T],
    ) -> T:
        """Answer a query from the ledger, which is read by `queries` or was counted before."""
        ledger = UsageLedger(queries, self._roots)
        if not ledger.is_partial:
            return query(ledger)
        # An index in memory answers one query at a time.
        with self._lock:
            if self._state != state:
                found = open_ledger(queries, self._roots)
                self._apart = found if found.queries is not queries else None
                self._state = state
            if self._apart is not None:
                return query(self._apart)
        return query(ledger)


def load_report(ledger: UsageLedger, query: UsageQuery) -> UsageReport:
    """Return the report that answers a query."""
    return make_report(load_rows(ledger, query), query)


def load_rows(ledger: UsageLedger, query: UsageQuery) -> list[totals.LedgerRow]:
    """Return the counted rows for a report, split only as far as it needs."""
    queries = ledger.queries
    dimensions = _choose_dimensions(query, is_partial=ledger.is_partial)
    sources = describe_files(ledger, query) if "file_id" in dimensions else None
    from_messages = _needs_messages(queries, query, dimensions)
    found = queries.sum_up(dimensions, from_messages=from_messages)
    sums: Iterable[SumValues] = found.rows
    if "moment" in dimensions and not set(_HOURLY_GROUPS).intersection(query.groups):
        sums = _merge_days(sums, dimensions, query.zone)
    return list(_make_rows(found.names, sums, dimensions, sources))


def _merge_days(
    sums: Iterable[SumValues], dimensions: Sequence[Dimension], zone: Zone
) -> Iterator[SumValues]:
    """Merge the hours of each day, because creating rows is the slowest part of a query."""
    width, index = len(dimensions), dimensions.index("moment")
    days: dict[int | None, int | None] = {None: None}
    members: defaultdict[SumValues, list[SumValues]] = defaultdict(list)
    for values in sums:
        moment = values[index]
        if moment not in days:
            days[moment] = zone.find_day_number(moment)
        members[(*values[:index], days[moment], *values[index + 1 : width])].append(values)
    for same in members.values():
        figures = zip(*(values[width:] for values in same), strict=True)
        yield (*same[0][:width], *map(sum, figures))


def find_file_project_paths(ledger: UsageLedger) -> dict[int, str]:
    """Return the working directory of each file's project."""
    found = ledger.queries.sum_up(("file_id", "cwd"))
    uses = [
        DirectoryUse(file_id, found.names.get(cwd, ""), messages)
        for file_id, cwd, messages, *_ in found.rows
        if cwd is not None and file_id in ledger.files
    ]
    return find_project_paths({number: row.project for number, row in ledger.files.items()}, uses)


def _choose_dimensions(query: UsageQuery, *, is_partial: bool) -> tuple[Dimension, ...]:
    wanted = [name for group in query.groups for name in totals.DIMENSIONS[group]]
    wanted.append("model")
    if query.has_dates:
        wanted.append("moment")
    if query.project:
        wanted += ["file_id", "cwd"]
    if is_partial:
        wanted.append("file_id")
    return tuple(dict.fromkeys(wanted))


def _needs_messages(
    queries: UsageQueries, query: UsageQuery, dimensions: Sequence[Dimension]
) -> bool:
    """Whether hourly sums are too coarse for the time zone, or lack a dimension."""
    if "is_sidechain" in dimensions:
        return True
    if "moment" not in dimensions or (query.group is Group.BLOCK and not query.has_dates):
        return False
    weeks = queries.list_weeks()
    return not query.zone.has_whole_hour_offsets(
        edge for week in weeks for edge in (week, week + WEEK)
    )


def describe_files(ledger: UsageLedger, query: UsageQuery) -> dict[int, totals.SourceFile]:
    """Return what a report needs to know about each transcript, by number."""
    project_paths: dict[int, str] = {}
    if query.project or {Group.PROJECT, Group.SESSION}.intersection(query.groups):
        project_paths = find_file_project_paths(ledger)
    return {
        number: totals.SourceFile(
            path=row.path,
            project=row.project,
            session_id=row.session_id,
            kind=row.kind,
            project_path=project_paths.get(number),
            agent_type=row.agent_type,
        )
        for number, row in ledger.files.items()
    }


def _make_rows(
    names: Mapping[int, str],
    sums: Iterable[SumValues],
    dimensions: Sequence[Dimension],
    sources: Mapping[int, totals.SourceFile] | None,
) -> Iterator[totals.LedgerRow]:
    find_text = names.get
    width = len(dimensions)
    positions = {name: index for index, name in enumerate(dimensions)}
    interned = [(name, positions[name]) for name in _INTERNED_DIMENSIONS if name in positions]
    numeric = [(name, positions[name]) for name in _NUMERIC_DIMENSIONS if name in positions]
    for values in sums:
        fields: dict[str, Any] = {name: find_text(values[index]) for name, index in interned}
        for name, index in numeric:
            fields[name] = values[index]
        if sources is not None:
            fields["file"] = sources.get(values[positions["file_id"]])
            if fields["file"] is None:
                continue
        yield totals.LedgerRow(totals=totals.make_totals(values[width:]), **fields)


def add_titles(
    report: UsageReport,
    ledger: UsageLedger,
    transcripts: Sequence[Transcript] = (),
    directory: Path | None = None,
) -> UsageReport:
    """Return a report by session with the title of each session, None where it has none.

    Titles come from the cached listings. If one is missing or out of date, `transcripts` are listed
    first, using the index in `directory` if there is one, so that reports and lists agree.
    """
    shown = {row.key for row in report.rows}
    ids = {
        row.path: row.session_id
        for row in ledger.files.values()
        if row.kind == TranscriptKind.SESSION.value and row.session_id in shown
    }
    listed = ledger.queries.find_titles(ids)
    titles = {path: title for path, (_, title) in listed.items()}
    if any(_is_stale(each, listed) for each in transcripts if each.file in ids):
        titles |= _list_titles(transcripts, directory)
    by_session: dict[str | None, str] = {
        ids[path]: title for path, title in titles.items() if path in ids and title
    }
    return structs.replace(
        report,
        rows=tuple(structs.replace(row, title=by_session.get(row.key)) for row in report.rows),
    )


def _is_stale(transcript: Transcript, listed: Mapping[str, tuple[Stamp, str | None]]) -> bool:
    stamp, _ = listed.get(transcript.file, (None, None))
    return stamp != transcript.stamp


def _list_titles(
    transcripts: Iterable[Transcript], directory: Path | None
) -> dict[str, str | None]:
    # Imported here because it loads the session model, which most reports do not need.
    from recollect.sync import list_current, list_unsaved

    # All of them: a title may be in another file, and lists look for it in the changed ones.
    sessions = [each for each in transcripts if each.kind is TranscriptKind.SESSION]
    found = list_unsaved(sessions) if directory is None else list_current(directory, sessions)
    return {each.path: each.title for each in found}


def query_ledger(
    directory: Path,
    transcripts: Sequence[Transcript],
    query: Callable[[UsageQueries], T],
    *,
    prices: Path | None = None,
    on_progress: OnProgress | None = None,
) -> tuple[T, str | None]:
    """Update the index in `directory` and return the result, with an error if it could not be used.

    If the index cannot be used, the existing files are counted in memory. Raises `NewerIndex` if
    the index was written by a newer version: deleted transcripts that it still has must not be
    left out silently.
    """
    try:
        answer = query_index(
            directory,
            transcripts,
            lambda connection: query(UsageQueries(connection)),
            prices=prices,
            on_progress=on_progress,
        )
    except NewerIndex:
        raise
    except IndexFailure as error:
        queries = count_in_memory(transcripts, prices=prices, on_progress=on_progress)
        return query(queries), str(error)
    return answer, None


def query_ledger_of(
    roots: Sequence[Path],
    directory: Path,
    transcripts: Sequence[Transcript],
    query: Callable[[UsageLedger], T],
    *,
    prices: Path | None = None,
    on_progress: OnProgress | None = None,
) -> tuple[T, str | None]:
    """Query the ledger of some roots, counted as if the index had no others, as `query_ledger`."""
    return query_ledger(
        directory,
        transcripts,
        lambda queries: query(open_ledger(queries, roots, prices)),
        prices=prices,
        on_progress=on_progress,
    )


def count_in_memory(
    transcripts: Sequence[Transcript],
    *,
    prices: Path | None = None,
    on_progress: OnProgress | None = None,
) -> UsageQueries:
    """Count `transcripts` in memory, without an index."""
    # Loads the reader, which queries of a current index do not need.
    from recollect.sync import sync_in_memory

    return UsageQueries(sync_in_memory(transcripts, prices=prices, on_progress=on_progress))


def find_current(report: UsageReport, now: float) -> ReportRow | None:
    """Return the row of the block that contains `now`, in seconds since 1970."""
    return next((row for row in report.rows if row.block and row.block.contains(int(now))), None)


class UsageFigures(NamedTuple):
    """A report, the burn rate of the current block in it, and what could not be counted."""

    report: UsageReport
    burn_rate: totals.BurnRate | None
    problems: Mapping[str, str]


def load_figures(ledger: UsageLedger, query: UsageQuery, now: float) -> UsageFigures:
    """Return the report that answers a query, and what belongs to it."""
    report = load_report(ledger, query)
    return UsageFigures(report, find_burn_rate(report, ledger, now), ledger.problems)


def find_burn_rate(report: UsageReport, ledger: UsageLedger, now: float) -> totals.BurnRate | None:
    """Return the burn rate of the current block; None if there is none."""
    row = find_current(report, now)
    if row is None or row.block is None:
        return None
    first = ledger.queries.find_first_time(row.block.start, ledger.files)
    start = row.block.start if first is None else first / 1000
    return totals.measure_burn_rate(row.block, row.totals, start, now)
