"""`/api/history`: lists of sessions in the spelling that other programs for these files use."""

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct

from recollect.documents.session_documents import HistoryPage, HistorySession
from recollect.documents.session_listing import SessionListing
from recollect.library.session_filters import SessionQuery, find_start
from recollect.session.calendar import EXAMPLES
from recollect.web.parameters import read_range
from recollect.web.services import Services

ListOrder = Literal["activity", "created", "size", "cost", "tokens"]
PageNumber = Annotated[int, Meta(ge=1, le=1_000_000, description="Counted from 1.")]
PageSize = Annotated[int, Meta(ge=1, le=200)]
Text = Annotated[str, Meta(max_length=500)]
Date = Annotated[str, Meta(max_length=20)]


class HistoryParameters(
    Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True
):
    """Which sessions, and which page of them."""

    project_path: Annotated[
        str, Meta(max_length=4096, description="A work directory, or a project's directory name.")
    ] = ""
    page: PageNumber = 1
    page_size: PageSize = 20
    include_subagents: bool = False
    text: Annotated[str, Meta(max_length=500, description="In titles and first prompts.")] = ""
    branch: Text = ""
    model: Text = ""
    since: Annotated[Date, Meta(description=f"Active then or later: {EXAMPLES}.")] = ""
    until: Annotated[Date, Meta(description="Begun then or before.")] = ""
    live: Annotated[bool, Meta(description="Only those that a client has open.")] = False
    errors: Annotated[bool, Meta(description="Only those with errors.")] = False
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
        file_path=listing.path,
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
