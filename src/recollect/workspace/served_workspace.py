"""`ServedWorkspace`: a workspace that another process keeps up to date.

A server must not wait for files: it answers from an in-memory snapshot, from the index as it is,
and from sessions that it has opened before. Queries and results are the same as in any workspace;
only their source differs. A browser can only name sessions by id.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import date, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar
from weakref import WeakKeyDictionary

from msgspec.structs import replace

from recollect.documents.session_listing import SessionListing
from recollect.errors import IndexFailure, NothingFound
from recollect.library.session_filters import SessionPage, SessionQuery, make_page
from recollect.library.sidecar_files import load_clears
from recollect.locations import Transcript, TranscriptKind
from recollect.locations.claude_directories import AGENT_PREFIX
from recollect.locations.place_names import PlaceName
from recollect.redact.own_rules import LoadPolicy
from recollect.store import DamagedIndex, run_query
from recollect.workspace import (
    indexer_process,
    refresher,
    session_cache,
    session_catalog,
    session_marks,
    session_queries,
    session_selection,
    workspace,
)

if TYPE_CHECKING:
    from recollect.documents.health_report import HealthReport
    from recollect.documents.session_documents import Overview
    from recollect.lineage import Relatives
    from recollect.search.engine import SearchOptions, SearchResult
    from recollect.session.session import Session
    from recollect.session.turns import Turn
    from recollect.store.text_queries import TextIndexCache
    from recollect.usage.ledger_access import LedgerCache, UsageLedger
    from recollect.usage.reports import UsageReport
    from recollect.workspace.activity_overview import CallCounts, OverviewReports
    from recollect.workspace.searching import SessionSearch
    from recollect.workspace.turn_selection import TurnRange, TurnWindow

T = TypeVar("T")

LIST_SECONDS: Final = 3.0
"""How long the first request waits for the first sessions."""
ALL_SECONDS: Final = 5.0
"""How long a request that needs all sessions waits for the rest."""
AHEAD_SECONDS: Final = 0.3
REBUILD_SECONDS: Final = 2.0
"""How long a search waits for a damaged full-text index to be rebuilt."""


class ServedWorkspace(workspace.Workspace):
    """The sessions of a running server."""

    def __init__(
        self,
        roots: Sequence[Path],
        data_directory: Path,
        now: Callable[[], datetime],
        *,
        shows_errors: bool = False,
        is_demo: bool = False,
        load_rules: LoadPolicy | None = None,
    ) -> None:
        super().__init__(roots, data_directory, now=now)
        # A server without Claude directories explains what is missing instead of failing.
        self.roots = tuple(roots)
        self.catalog = session_catalog.SessionCatalog()
        self.changes = session_catalog.ChangeFeed()
        task = refresher.RefreshTask(
            self.roots, data_directory, shows_errors=shows_errors, load_rules=load_rules
        )
        self.indexer = indexer_process.IndexerProcess(self.catalog, task, self.changes.publish)
        self._cache = session_cache.SessionCache()
        self._choices = session_catalog.ChoiceCache()
        self._reports = session_cache.HealthCache(self, checks_this_machine=not is_demo)
        self._ahead = ThreadPoolExecutor(1, thread_name_prefix="ahead")
        self._outlining = ThreadPoolExecutor(1, thread_name_prefix="outlines")
        self._outlined: set[str] = set()
        self._totals: WeakKeyDictionary[Session, tuple[tuple[Turn, ...], list[int | None]]] = (
            WeakKeyDictionary()
        )
        self._overview: tuple[object, OverviewReports] | None = None
        self._calls: tuple[object, tuple[CallCounts, ...]] | None = None
        self._is_closed = False

    def close(self) -> None:
        """Stop reading ahead, and end the indexer."""
        self._is_closed = True
        self._ahead.shutdown(wait=False, cancel_futures=True)
        self._outlining.shutdown(wait=False, cancel_futures=True)
        self.indexer.stop()
        self._text_cache.close()
        super().close()

    @property
    def snapshot(self) -> session_catalog.Snapshot:
        """The current snapshot; briefly waits for the first one after start-up."""
        self.catalog.wait_for_list(LIST_SECONDS)
        return self.catalog.snapshot

    @property
    def present(self) -> session_queries.RuntimeState:
        """Running clients, usage and retention from the snapshot, and marks from their file."""
        return replace(
            self.catalog.snapshot.present, marks=session_marks.load_marks(self.data_directory)
        )

    @property
    def choices(self) -> session_catalog.FilterChoices:
        """The projects, branches and models that lists can be filtered by."""
        return self._choices.find(self.catalog.snapshot)

    def find_transcripts(self, *, include_subagents: bool = True) -> list[Transcript]:
        """Return the transcripts in the snapshot."""
        known = self.catalog.snapshot.transcripts.values()
        return [each for each in known if include_subagents or each.kind is TranscriptKind.SESSION]

    def sessions(
        self,
        query: SessionQuery | None = None,
        *,
        page: int = 1,
        page_size: int | None = None,
        with_usage: bool = True,
        as_tree: bool = False,
    ) -> SessionPage:
        """Return one page of the sessions that match `query`, with their usage."""
        if as_tree or not with_usage:
            return super().sessions(
                query, page=page, page_size=page_size, with_usage=with_usage, as_tree=as_tree
            )
        selection = self.select(query or SessionQuery())
        chosen = make_page(selection.sessions, page, page_size)
        return replace(chosen, sessions=selection.complete(chosen.sessions))

    def select(self, query: SessionQuery) -> session_selection.SessionSelection:
        """Return all sessions that match `query`, for pages that also show figures of the whole."""
        known, present = self.snapshot, self.present
        found = session_queries.choose_sessions(known.sessions, query, present)
        return session_selection.SessionSelection(found, present)

    def find(self, name: str) -> Transcript:
        """Return the transcript of the session with that id; paths and titles are not accepted."""
        return self.locate(name).transcript

    def find_place(self, name: str) -> session_queries.FoundPlace:
        """Return the session with that id, and no place in it."""
        return session_queries.FoundPlace(self.find(name), PlaceName(name))

    def locate(self, session_id: str, project: str | None = None) -> session_catalog.FoundSession:
        """Return a session and its files by id, and by project if several have the same id."""
        known = self.catalog.snapshot
        if not known.is_listed:
            # On a busy machine, listing may take longer than a user waits.
            with suppress(NothingFound):
                return session_catalog.find_session(known, session_id, project)
            with suppress(NothingFound):
                return session_catalog.find_on_disk(self.roots, session_id, project)
            # A partial session is known only to the indexer.
            self.catalog.wait_for_all(ALL_SECONDS)
        return session_catalog.find_session(self.catalog.snapshot, session_id, project)

    def complete_id(self, prefix: str) -> str | None:
        """Return the id of a session by its first characters; None if there is none."""
        if found := session_catalog.complete_id(self.snapshot, prefix):
            return found
        # The newest are listed first, so an older session may not be listed yet.
        self.catalog.wait_for_all(ALL_SECONDS)
        return session_catalog.complete_id(self.catalog.snapshot, prefix)

    def complete(self, listing: SessionListing) -> SessionListing:
        """Return a listing with its usage, its running client and its expiry."""
        return session_queries.complete_listing(listing, self.present)

    @contextmanager
    def use(self, found: session_catalog.FoundSession) -> Iterator[Session]:
        """Open a session, up to date with its files; nobody else changes it meanwhile."""
        with self._cache.use(found) as session:
            yield session

    def is_open(self, found: session_catalog.FoundSession) -> bool:
        """Return whether a session is already in memory."""
        return self._cache.is_open(found)

    def read_ahead(self, found: session_catalog.FoundSession) -> None:
        """Read a session in the background, because its beginning has just been shown."""
        self._ahead.submit(self._read, found)

    def _read(self, found: session_catalog.FoundSession) -> None:
        # The first screen is being rendered meanwhile, on the same processor.
        time.sleep(AHEAD_SECONDS)
        with self._cache.use(found) as session:
            _ = session.turns, session.tool_calls

    def outline_ahead(self, project: str) -> None:
        """Find the files that the sessions of a project mention, in the background."""
        if project not in self._outlined:
            self._outlined.add(project)
            self._outlining.submit(self._read_outlines, project)

    def _read_outlines(self, project: str) -> None:
        from recollect.workspace.file_queries import outline_sessions

        # On shutdown, the server waits for the current session.
        for _ in outline_sessions(self, project):
            if self._is_closed:
                return
        self._outlined.discard(project)

    def accumulate_costs(self, session: Session) -> list[int | None]:
        """Return the cumulative cost of a session's turns: of none, one, two and so on."""
        from recollect.workspace.turn_selection import accumulate_costs

        turns, totals = self._totals.get(session, ((), []))
        # A session that has grown has other turns.
        if not totals or turns is not session.turns:
            turns, totals = session.turns, accumulate_costs(session.turns, self.price_list)
            self._totals[session] = turns, totals
        return totals

    def turns(self, found: session_catalog.FoundSession, wanted: TurnWindow) -> TurnRange:
        """Return some turns of a session with their costs."""
        from recollect.workspace.turn_selection import load_turns

        return load_turns(self, found, wanted)

    def search(
        self, text: str, options: SearchOptions | None = None, *, seconds: float | None = None
    ) -> SessionSearch:
        """Search the full-text index as it is; wait at most `seconds` for it to be rebuilt."""
        from recollect.workspace.searching import SessionSearch, use_local_time

        options = use_local_time(options)
        result = self._search(text, options)
        if result is None:
            self.catalog.mark_text_index_lost()
            self.indexer.index_texts()
            self.catalog.wait_for_texts(REBUILD_SECONDS if seconds is None else seconds)
            result = self._search(text, options)
        if result is None:
            raise IndexFailure("The full-text index is being rebuilt. Try again in a moment.")
        ids = {hit.session_id for hit in result.hits}
        known, present = self.catalog.snapshot, self.present
        sessions = {
            each.id: session_queries.complete_listing(each, present)
            for each in reversed(known.sessions)
            if each.id in ids
        }
        return SessionSearch(result=result, sessions=sessions)

    def overview(self) -> Overview:
        """Return the overview; the slow parts are counted again only when the index has changed."""
        from recollect.workspace.activity_overview import load_reports, make_overview

        stamps = self._ledgers.find_state()
        state = (stamps, self.now.astimezone().date())
        kept = self._overview
        # Without an index, a change cannot be detected.
        if kept is None or kept[0] != state or not any(stamps):
            kept = self._overview = (state, load_reports(self))
        return make_overview(self, self.select(SessionQuery()), kept[1])

    def count_calls(self) -> tuple[CallCounts, ...]:
        """Return the tool calls of each day of last week and this one, and how many failed.

        Empty while transcripts are still being indexed. Counted again when a session has changed.
        """
        from recollect.workspace.activity_overview import count_calls, find_weeks

        known = self.catalog.snapshot
        first, last = find_weeks(self)
        if not known.is_searchable:
            return ()
        if self._calls is None or self._calls[0] != (known.version, first):
            counts = count_calls(self.data_directory, known.transcripts.values(), first, last)
            self._calls = ((known.version, first), counts)
        return self._calls[1]

    def find_relatives(self, listing: SessionListing) -> Relatives:
        """Return the sessions that one continues or was forked from, and those that continue it."""
        from recollect.lineage import find_relatives  # for the page of a session only

        return find_relatives(listing, self.list_related(listing), load_clears(self.roots))

    def list_related(self, listing: SessionListing) -> list[SessionListing]:
        """Return the sessions that may be related to one: those of its project, and those named."""
        named = {listing.forked_from, listing.continued_in}
        return [
            each
            for each in self.catalog.snapshot.sessions
            if each.project == listing.project
            or each.id in named
            or listing.id in (each.forked_from, each.continued_in)
        ]

    def _search(self, text: str, options: SearchOptions) -> SearchResult | None:
        """Return the result; None if the full-text index has been replaced."""
        from recollect.search.engine import search

        is_complete = self.catalog.snapshot.is_searchable
        try:
            result = search(
                self.data_directory,
                text,
                self.find_transcripts(),
                options,
                index_complete=is_complete,
                cache=self._text_cache,
            )
        except DamagedIndex:
            return None
        return result if result.index_complete == is_complete else None

    def health(self, paths: Sequence[Path] = ()) -> HealthReport:
        """Return the report on all files; made again only if a file has changed."""
        return super().health(paths) if paths else self._reports.find_report(self.snapshot)

    def find_health(self) -> HealthReport | None:
        """Return the report on all files if it was made before and is still current."""
        return self._reports.get_cached(self.snapshot)

    def query_ledger(
        self, query: Callable[[UsageLedger], T], about: Collection[str] = ()
    ) -> tuple[T, str | None]:
        """Query the ledger without updating it; without an index, count the files in memory."""
        from recollect.store.usage_queries import UsageQueries
        from recollect.usage.ledger_access import count_in_memory, open_ledger

        state = self._ledgers.find_state()
        found = run_query(
            self.data_directory,
            lambda connection: (self._ledgers.query(UsageQueries(connection), state, query),),
        )
        if found is None:
            queries = count_in_memory(self.find_transcripts())
            return query(open_ledger(queries, self.roots)), None
        return found[0], None

    @cached_property
    def _text_cache(self) -> TextIndexCache:
        from recollect.store.text_queries import TextIndexCache

        return TextIndexCache()

    @cached_property
    def _ledgers(self) -> LedgerCache:
        from recollect.usage.ledger_access import LedgerCache

        return LedgerCache(self.data_directory, self.roots)

    def add_titles(self, report: UsageReport, ledger: UsageLedger) -> UsageReport:
        """Add titles to a report, from the snapshot, or from the index for deleted sessions."""
        from recollect.usage.ledger_access import add_titles

        report = add_titles(report, ledger)
        self.catalog.wait_for_all(ALL_SECONDS)
        titles = {each.id: each.title for each in reversed(self.catalog.snapshot.sessions)}
        rows = (replace(row, title=titles.get(row.key or "", row.title)) for row in report.rows)
        return replace(report, rows=tuple(rows))

    def _check_target(self, ledger: UsageLedger, target: str, today: date) -> None:
        """Raise NothingFound unless the ledger itself knows `target`.

        Otherwise it could be a path or a title, and a browser must not name a file.
        """
        from recollect.session.times import find_day

        names = {name for row in ledger.files.values() for name in (row.session_id, row.agent_id)}
        entries = ledger.queries.select_of_message
        if (
            target not in names
            and target.removeprefix(AGENT_PREFIX) not in names
            and find_day(target, today) is None
            and not any(entry.file_id in ledger.files for entry in entries(target))
        ):
            raise NothingFound(
                f"{target!r} is not a session, subagent or message that was counted, nor a day "
                "such as 2026-11-15."
            )
