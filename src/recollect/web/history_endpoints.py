"""Queries over all sessions: `/api/history`, a list with the field names of other tools; search
with the query language of the command line; and usage by any group.

Usage has the same documents as `recollect usage --json`, typed so that their shape can be
published.
"""

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct

from recollect.documents.search_results import SNIPPET_WIDTH, SearchDocument
from recollect.documents.session_documents import HistoryPage, HistorySession
from recollect.documents.session_listing import SessionListing
from recollect.documents.usage_groups import Group
from recollect.documents.usage_report import CauseDocument, ExplainDocument, UsageDocument
from recollect.library.session_filters import SessionQuery, find_start
from recollect.redact.quick_masks import mask_path
from recollect.search.engine import SearchOptions
from recollect.search.query_parser import group_query, parse_query
from recollect.session.times import EXAMPLES, parse_day_range
from recollect.usage.causes import Cause
from recollect.usage.reports import ReportOrder, RowFilter
from recollect.usage.usage_documents import describe_explanation, describe_report
from recollect.usage.zones import load_zone
from recollect.web.http_messages import MAX_ID, Id, parameter_errors, read_range
from recollect.web.services import Services
from recollect.workspace.cost_causes import find_causes
from recollect.workspace.searching import SessionSearch, describe_search, use_local_time
from recollect.workspace.usage_requests import UsageFilters, UsageScope, UsageSummary

ListOrder = Literal["activity", "created", "size", "cost", "tokens"]
PageNumber = Annotated[int, Meta(ge=1, le=1_000_000, description="Counted from 1.")]
PageSize = Annotated[int, Meta(ge=1, le=200)]
Text = Annotated[str, Meta(max_length=500)]
Date = Annotated[str, Meta(max_length=20)]


class HistoryParameters(
    Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True
):
    """Parameters: a project, and a page of its sessions."""

    project_path: Annotated[
        str,
        Meta(max_length=4096, description="A working directory, or a project's directory name."),
    ] = ""
    page: PageNumber = 1
    page_size: PageSize = 20
    include_subagents: bool = False
    text: Annotated[str, Meta(max_length=500, description="Words of title or prompt.")] = ""
    branch: Text = ""
    model: Text = ""
    since: Annotated[Date, Meta(description=f"Active then or later: {EXAMPLES}.")] = ""
    until: Annotated[Date, Meta(description="Started then or earlier.")] = ""
    live: Annotated[bool, Meta(description="Only sessions that a client has open.")] = False
    errors: Annotated[bool, Meta(description="Only sessions with errors.")] = False
    order: ListOrder = "activity"


def list_history(services: Services, wanted: HistoryParameters) -> HistoryPage:
    """Return one page of the sessions that match."""
    workspace = services.workspace
    query = _make_query(wanted, workspace.now)
    found = workspace.sessions(query, page=wanted.page, page_size=wanted.page_size)
    return HistoryPage(
        sessions=list(map(_describe, found.sessions)),
        total=found.total,
        has_more=found.has_more,
        page=found.page,
        page_size=found.page_size,
        is_complete=workspace.catalog.snapshot.is_listed,
    )


def _make_query(wanted: HistoryParameters, now: datetime) -> SessionQuery:
    since, until = read_range(wanted.since, wanted.until, now)
    return SessionQuery(
        directory=wanted.project_path or None,
        text=wanted.text or None,
        branch=wanted.branch or None,
        model=wanted.model or None,
        since=since,
        until=until,
        include_subagents=wanted.include_subagents,
        is_live=wanted.live,
        has_errors=wanted.errors,
        order=wanted.order,
    )


def _describe(listing: SessionListing) -> HistorySession:
    return HistorySession(
        id=listing.id,
        project_id=listing.project,
        project_path=listing.cwd,
        title=listing.title,
        first_message=listing.first_prompt,
        first_message_timestamp=listing.first_prompt_time,
        created_at=_milliseconds(find_start(listing)),
        modified_at=_milliseconds(listing.modified),
        last_active_at=_milliseconds(listing.activity),
        message_count=listing.message_count,
        turn_count=listing.turn_count,
        error_count=listing.error_count,
        is_subagent=listing.is_subagent,
        parent_id=listing.parent_id,
        file_path=mask_path(listing.path),
        file_size=listing.size,
        version=listing.version,
        git_branch=listing.git_branch,
        is_live=listing.live is not None,
        total_tokens=listing.tokens,
        copied_tokens=listing.copied_tokens,
        cost_usd=listing.cost_usd,
        models=listing.models,
    )


def _milliseconds(seconds: float) -> int:
    return int(seconds * 1000)


class SearchParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The query, and how many results to return."""

    q: Annotated[str, Meta(max_length=1000, description="The query; see docs/search.md.")]
    limit: Annotated[int, Meta(ge=1, le=200, description="Maximum number of sessions.")] = 20
    per_session: Annotated[int, Meta(ge=1, le=500, description="Maximum hits per session.")] = 3
    offset: Annotated[int, Meta(ge=0, le=1_000_000, description="Sessions to skip.")] = 0
    recent: Annotated[bool, Meta(description="Sort by date instead of relevance.")] = False
    facets: Annotated[bool, Meta(description="Count hits by project, role, tool and so on.")] = (
        False
    )
    session: Annotated[Id, Meta(description="Only in this session.")] | None = None


def find_texts(services: Services, wanted: SearchParameters) -> SearchDocument:
    """Return the hits of a query."""
    return describe_search(run_search(services, wanted))


def run_search(
    services: Services, wanted: SearchParameters, *, is_quick: bool = False
) -> SessionSearch:
    """Run a query, or the quick part of it; raises QueryError if it is not valid."""
    options = use_local_time(
        SearchOptions(
            limit=wanted.limit,
            offset=wanted.offset,
            per_session=wanted.per_session,
            recent=wanted.recent,
            facets=wanted.facets,
            width=SNIPPET_WIDTH,
            quick=is_quick,
        )
    )
    # Parsed alone first, so that an error message quotes only the user's input.
    parse_query(wanted.q, timezone=options.timezone)
    text = f"session:{wanted.session} {group_query(wanted.q)}" if wanted.session else wanted.q
    return services.workspace.search(text, options)


Day = Annotated[str, Meta(max_length=20, description=f"{EXAMPLES}.")]
ZoneName = Annotated[str, Meta(max_length=100, description="Europe/Berlin, UTC, or local.")]


class UsageParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of a usage report."""

    group: Group = Group.DAY
    since: Day | None = None
    until: Day | None = None
    project: Text = ""
    model: Text = ""
    timezone: ZoneName | None = None
    order: ReportOrder | None = None
    breakdown: Annotated[bool, Meta(description="Split each row by model.")] = False
    only: (
        Annotated[Group, Meta(description="Count only one row of this other group; see `key`.")]
        | None
    ) = None
    key: Annotated[
        str, Meta(max_length=5000, description="The key of that row; empty if it has none.")
    ] = ""
    client_costs: Annotated[
        bool,
        Meta(description="For sessions: add Claude Code's own total. Reads every transcript."),
    ] = False
    limit: Annotated[int, Meta(ge=1, le=100_000, description="Maximum number of rows.")] = 1000


class ExplainParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The figure to explain."""

    target: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=MAX_ID,
            description="The id of a session, subagent or message, or a day.",
        ),
    ]
    timezone: ZoneName | None = None


def report_usage(services: Services, wanted: UsageParameters) -> UsageDocument:
    """Return the report."""
    check_filters(services, wanted)
    answer = services.workspace.usage(
        wanted.group,
        **_list_filters(wanted),
        order=wanted.order,
        breakdown=wanted.breakdown,
        client_costs=wanted.client_costs,
        limit=wanted.limit,
    )
    return describe_report(answer.report, answer.burn_rate, omitted_rows=answer.omitted_rows)


def summarize_usage(services: Services, wanted: UsageParameters) -> UsageSummary:
    """Return the figures of the same messages that do not depend on how they are grouped."""
    return services.workspace.summarize_usage(**_list_filters(wanted))


def _list_filters(wanted: UsageParameters) -> UsageScope:
    return {
        "since": wanted.since,
        "until": wanted.until,
        "project": wanted.project,
        "model": wanted.model,
        "timezone": wanted.timezone,
        "only": None if wanted.only is None else RowFilter(wanted.only, wanted.key or None),
    }


def check_filters(services: Services, wanted: "UsageParameters | CauseParameters") -> None:
    """Raise BadParameter with the name of a parameter that is not valid."""
    with parameter_errors("timezone"):
        zone = load_zone(wanted.timezone)
    now = services.workspace.now
    local = zone.find_local(int(now.timestamp())) or now
    with parameter_errors("since"):
        parse_day_range(wanted.since, None, local)
    with parameter_errors("until"):
        parse_day_range(wanted.since, wanted.until, local)


class CauseParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters: the usage to count, and the cause whose messages are listed."""

    since: Day | None = None
    until: Day | None = None
    project: Text = ""
    model: Text = ""
    timezone: ZoneName | None = None
    cause: Annotated[Cause, Meta(description="List the messages of this cause.")] | None = None


def report_causes(services: Services, wanted: CauseParameters) -> CauseDocument:
    """Return tokens and cost by cause."""
    check_filters(services, wanted)
    filters = UsageFilters(
        since=wanted.since,
        until=wanted.until,
        project=wanted.project,
        model=wanted.model,
        timezone=wanted.timezone,
    )
    return find_causes(services.workspace, filters, wanted.cause).document


def explain_usage(services: Services, wanted: ExplainParameters) -> ExplainDocument:
    """Break down a figure."""
    with parameter_errors("timezone"):
        load_zone(wanted.timezone)
    answer = services.workspace.explain(wanted.target, timezone=wanted.timezone)
    return describe_explanation(answer.explanation)
