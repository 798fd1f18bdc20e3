"""`Workspace`: query the sessions of some Claude directories, through the index.

Each query updates the index first, so its result never depends on earlier queries. A damaged index
is rebuilt and the query repeated; without a writable index, queries are slower and miss deleted
transcripts, but still work. Modules that only some queries need are imported by those: a warm
command should cost little more than its imports.
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from recollect.errors import NothingFound, UnreadableInput
from recollect.redact.own_rules import use_own_rules
from recollect.workspace.config_file import load_own_policy, load_policy
from recollect.workspace.resources import WorkspaceResources

if TYPE_CHECKING:
    from recollect.documents.command_reports import ExportDocument
    from recollect.documents.health_report import HealthReport
    from recollect.documents.session_documents import Overview, TokenShares
    from recollect.documents.session_listing import LiveProcess, SessionListing, SessionUsage
    from recollect.documents.usage_groups import Group
    from recollect.export.export_options import ExportOptions
    from recollect.health.retention import Retention
    from recollect.health.root_checks import FirstRunOverview
    from recollect.launch.client_commands import Resumption
    from recollect.library.session_filters import SessionPage, SessionQuery
    from recollect.live.follow import FollowOptions
    from recollect.live.live_events import AnyEvent
    from recollect.locations import Transcript
    from recollect.search.engine import SearchOptions
    from recollect.session.session import Session
    from recollect.usage.ledger_access import UsageLedger
    from recollect.usage.reports import UsageReport
    from recollect.usage.tool_usage import ToolQuery, ToolReport
    from recollect.workspace.maintenance import IndexUpdate, SyncOptions
    from recollect.workspace.searching import SessionSearch
    from recollect.workspace.session_marks import SessionMark
    from recollect.workspace.session_queries import FoundPlace
    from recollect.workspace.usage_requests import (
        ExplainResult,
        UsageFilters,
        UsageResult,
        UsageSummary,
    )

Roots = str | Path | Sequence[str | Path] | None
"""A Claude directory, several of them, or None for those of the environment."""


class Workspace(WorkspaceResources):
    """Claude directories, the index, and queries on them."""

    def sessions(
        self,
        query: SessionQuery | None = None,
        *,
        page: int = 1,
        page_size: int | None = None,
        with_usage: bool = False,
        as_tree: bool = False,
    ) -> SessionPage:
        """Return one page of the sessions that match `query`; all of them without `page_size`.

        With `with_usage` each session has its tokens and its cost. With `as_tree` forks,
        continuations and subagents are `children` of their session.
        """
        from recollect.workspace.session_queries import list_sessions

        return list_sessions(self, query, (page, page_size), with_usage=with_usage, as_tree=as_tree)

    def list_cached(
        self, matches: Callable[[SessionListing], bool], limit: int
    ) -> list[SessionListing]:
        """Return sessions from the index as it is, newest first; files are not read."""
        from recollect.workspace.session_queries import list_cached

        return list_cached(self, matches, limit)

    def find(self, name: str) -> Transcript:
        """Return the transcript for a path, an id or the start of one, a title, `latest` or `-1`.

        A place in a session works too, see `find_place`. Raises NothingFound if there is none and
        AmbiguousSession if there are several.
        """
        return self.find_place(name).transcript

    def find_place(self, name: str) -> FoundPlace:
        """Resolve `SESSION#UUID`, `SESSION:3` or a link to a session and a place in it.

        A name of a session is also accepted. Look up the place itself with
        `session_places.locate`, which needs the opened session.
        """
        from recollect.workspace.session_queries import find_place

        return find_place(self, name)

    def plan_resume(
        self, name: str, *, fork: bool = False, extra_arguments: Sequence[str] = ()
    ) -> Resumption:
        """Return how to resume a session in Claude Code; see `find` for `name`."""
        from recollect.workspace.session_queries import plan_session

        return plan_session(self, name, fork=fork, extra_arguments=extra_arguments)

    def find_process(self, name: str) -> LiveProcess | None:
        """Return the client that has a session open; see `find` for `name`."""
        from recollect.workspace.session_queries import find_session_process

        return find_session_process(self.find(name))

    def open(self, name: str, *, with_prices: bool = True) -> Session:
        """Open a session with its subagents; see `find` for `name`.

        Without prices, which take time to load, its metrics have no list price.
        """
        return self.open_found(self.find_place(name), with_prices=with_prices)

    def open_found(self, found: FoundPlace, *, with_prices: bool = True) -> Session:
        """Open the session of a place that was found; see `open`."""
        from recollect.workspace.session_queries import open_with_prices

        return open_with_prices(found.transcript, self if with_prices else None)

    def attribute_tokens(self, transcripts: Sequence[Transcript]) -> dict[str, TokenShares]:
        """Return the own tokens of some sessions by path, as counted by `usage`.

        Files outside the Claude directories are missing; without an index, all are.
        """
        from recollect.store import NewerIndex
        from recollect.usage.token_shares import attribute_tokens

        try:
            known = {name: each.file for each in transcripts if (name := self._find_name(each))}
            if not known:
                return {}
            found, _ = self.query_ledger(
                lambda ledger: attribute_tokens(ledger, known), about=tuple(known)
            )
            return {known[name]: shares for name, shares in found.items()}
        except (NewerIndex, NothingFound):
            return {}

    def find_matching(self, query: SessionQuery) -> list[Transcript]:
        """Return the sessions that match `query`, oldest first; raises NothingFound if none do."""
        from recollect.workspace.session_queries import find_matching

        return find_matching(self, query)

    def open_each(self, query: SessionQuery) -> Iterator[Session | UnreadableInput]:
        """Open the sessions that match `query`, oldest first; or yield why one is unreadable."""
        from recollect.workspace.session_queries import open_matching

        return open_matching(self, query)

    def export(
        self, names: str | Sequence[str], target: str | Path, options: ExportOptions | None = None
    ) -> ExportDocument:
        """Export one session to a file or several to a directory; see `find` for `names`.

        Unless `options` say otherwise, secrets are masked by the rules of the configuration, and
        the format is inferred from the suffix of the target.
        """
        from recollect.workspace.session_exports import export_sessions

        return export_sessions(self, names, Path(target), options)

    def search(
        self, text: str, options: SearchOptions | None = None, *, seconds: float | None = None
    ) -> SessionSearch:
        """Search all sessions, after indexing new texts for at most `seconds`.

        Raises UsageError for a query that is not valid.
        """
        from recollect.workspace.searching import search_workspace

        return search_workspace(self, text, options, seconds)

    def usage(self, group: Group | str = "day", **filters: Unpack[UsageFilters]) -> UsageResult:
        """Return tokens and cost by day, session, project, model, branch or another group."""
        from msgspec.structs import replace

        from recollect.workspace.usage_requests import complete_report, find_usage, make_usage_query

        now = self._now()
        query = make_usage_query(group, filters, now)

        def load(ledger: UsageLedger) -> UsageResult:
            answer = find_usage(ledger, query, now, filters.get("limit"))
            report = complete_report(self, answer.report, ledger, filters)
            return replace(answer, report=report)

        answer, failure = self.query_ledger(load)
        return replace(answer, failure=failure)

    def summarize_usage(self, **filters: Unpack[UsageFilters]) -> UsageSummary:
        """Return figures of a report that do not depend on how it is grouped."""
        from recollect.documents.usage_groups import Group
        from recollect.workspace.usage_requests import make_usage_query, summarize_usage

        now = self._now()
        query = make_usage_query(Group.DAY, filters, now)
        return self.query_ledger(lambda ledger: summarize_usage(ledger, query, now))[0]

    def explain(self, target: str, *, timezone: str | None = None) -> ExplainResult:
        """Break down the usage of a session, a subagent, a day or a message id to lines."""
        from msgspec.structs import replace

        from recollect.usage.explain import explain
        from recollect.usage.zones import load_zone
        from recollect.workspace.usage_requests import ExplainResult, find_today

        zone = load_zone(timezone)
        today = find_today(zone, self._now())

        def load(ledger: UsageLedger) -> ExplainResult:
            self._check_target(ledger, target, today)
            found = explain(ledger, target, zone, today, track=self.track_files)
            return ExplainResult(explanation=found, zone=zone, problems=ledger.problems)

        answer, failure = self.query_ledger(load)
        return replace(answer, failure=failure)

    def tools(self, query: ToolQuery) -> ToolReport:
        """Return the calls of each tool, with outcomes and durations."""
        from recollect.usage.tool_usage import report_tools

        return report_tools(self.data_directory, self.find_transcripts(), query, self.count_files)

    def follow(
        self,
        name: str | None = None,
        *,
        project: str | None = None,
        start: str | None = None,
        options: FollowOptions | None = None,
    ) -> AsyncGenerator[AnyEvent, None]:
        """Yield events as one session, those of a project, or all sessions grow.

        `start` is "start", "end" or the id of an event to resume after. By default one session is
        followed from its start, or from the place in it that `name` names, and all sessions from
        their end. Close the generator when done.
        """
        from recollect.live.follow import FollowOptions, follow
        from recollect.live.followed_files import FollowScope, RootScope, SessionScope

        if name is None:
            scope: FollowScope = RootScope(self.roots, project)
            return follow(scope, start or "end", options or FollowOptions())
        found = self.find_place(name)
        if start is None and found.place.anchor:
            from recollect.workspace.follow_starts import find_start  # opens the session

            start = find_start(found).encode()
        scope = SessionScope(found.transcript)
        return follow(scope, start or "start", options or FollowOptions())

    def overview(self) -> Overview:
        """Return activity, this week's figures, running and expiring sessions, and projects."""
        from recollect.workspace.activity_overview import load_reports, make_overview
        from recollect.workspace.session_queries import find_runtime_state
        from recollect.workspace.session_selection import SessionSelection

        found = self.sessions(with_usage=False).sessions
        selection = SessionSelection(found, find_runtime_state(self, self.read_usage()[0]))
        return make_overview(self, selection, load_reports(self))

    def mark(
        self, name: str, *, starred: bool | None = None, note: str | None = None
    ) -> SessionMark:
        """Star a session or set a note on it; None leaves either unchanged. See `find`."""
        from recollect.workspace.session_marks import change_mark

        found = self.find(name).name
        return change_mark(self.data_directory, found, starred=starred, note=note)

    def running(self) -> dict[str, LiveProcess]:
        """Return the running clients by the id of their open session."""
        from recollect.workspace.session_queries import find_running

        return find_running(self.roots)

    def retentions(self) -> dict[str, Retention]:
        """Return how long each Claude directory keeps transcripts, by its path."""
        from recollect.health.retention import read_retentions

        return read_retentions(self.roots)

    def health(self, paths: Sequence[Path] = ()) -> HealthReport:
        """Check the transcripts in `paths`, or everything: Claude directories and index too."""
        from recollect.workspace.maintenance import check_health

        return check_health(self, paths)

    def first_run_overview(self) -> FirstRunOverview:
        """Return an overview of all sessions from their files; raises NothingFound without any."""
        from recollect.health.root_checks import build_first_run_overview

        return build_first_run_overview(self.roots, self.require_sessions(), self._now())

    def index(self, options: SyncOptions | None = None) -> IndexUpdate:
        """Update the index if `options` are given, and return its status."""
        from recollect.workspace.maintenance import update_index

        return update_index(self, options)

    def read_usage(self) -> tuple[dict[str, SessionUsage], str | None]:
        """Return the usage of each session by id, and an error if the index could not be used."""
        from recollect.workspace.usage_requests import sum_by_session

        return self.query_ledger(sum_by_session)

    def add_titles(self, report: UsageReport, ledger: UsageLedger) -> UsageReport:
        """Return a report by session with titles."""
        from recollect.usage.ledger_access import add_titles

        return add_titles(report, ledger, self.find_transcripts(), self.data_directory)

    def _find_name(self, transcript: Transcript) -> str | None:
        """Return the path of a transcript in the index, which may lead through a symbolic link."""
        if transcript.root is None or transcript.root in self.roots:
            return transcript.file if transcript.root else None
        real = os.path.realpath(transcript.root)
        below = transcript.path.relative_to(transcript.root)
        linked = (str(root / below) for root in self.roots if os.path.realpath(root) == real)
        return next(linked, None)

    def _check_target(self, ledger: UsageLedger, target: str, today: date) -> None:
        """Raise NothingFound if `target` must not be looked up; here anything may be."""


def open_workspace(
    roots: Roots = None,
    data_directory: str | Path | None = None,
    prices: str | Path | None = None,
    *,
    temporary: bool = False,
) -> Workspace:
    """Open a workspace on the Claude directories in `roots`, or on those of the environment.

    The index is in `data_directory`, by default the one that the command line uses; with
    `temporary` it is deleted when the workspace is closed. `prices` is a price file that takes
    precedence over the bundled prices. Use it in a `with` statement, or call `close`.
    """
    given: Iterable[str | Path] = (
        () if roots is None else [roots] if isinstance(roots, str | Path) else roots
    )
    workspace = Workspace(
        tuple(map(Path, given)),
        Path(data_directory) if data_directory else None,
        Path(prices) if prices else None,
    )
    workspace.load_redaction = load_policy
    use_own_rules(load_own_policy)
    if temporary:
        workspace.use_temporary_index()
    return workspace
