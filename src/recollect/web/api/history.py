"""`/api/history`: lists of sessions in the spelling that other programs for these files use."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct

from recollect.documents.session_listing import SessionListing
from recollect.library.session_filters import find_beginning
from recollect.session.calendar import EXAMPLES
from recollect.web.api.session_rows import (
    SessionOrder,
    SessionSelection,
    make_row,
    read_range,
    select_sessions,
)
from recollect.web.services import Services
from recollect.web.session_catalog import Snapshot

FIRST_WAIT = 3.0
"""Seconds that a first request waits for the first list."""

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
    order: SessionOrder = SessionOrder.ACTIVITY


class HistorySession(Struct, frozen=True, kw_only=True, rename="camel"):
    """The metadata of a session; times in milliseconds since 1970 unless they are texts."""

    id: str
    project_id: str
    """Name of the project's directory below `projects/`."""
    project_path: str | None
    """The work directory."""
    title: str | None
    first_message: str | None
    """What the person wrote first."""
    first_message_timestamp: str | None
    created_at: int
    modified_at: int
    """When its file was last written."""
    last_active_at: int
    """When something last happened in it."""
    message_count: int | None
    """Prompts of a person and distinct replies; null while a large file was not read whole."""
    turn_count: int | None
    error_count: int | None
    is_subagent: bool
    parent_id: str | None
    file_path: str
    file_size: int
    version: str | None
    git_branch: str | None
    is_live: bool
    total_tokens: int | None
    """Its own, with those of its subagents."""
    copied_tokens: int | None
    """Those of replies that were copied from another session, where they count."""
    cost_usd: float | None
    """At list prices, with its subagents; null when no price is known."""
    models: tuple[str, ...]


class HistoryPage(Struct, frozen=True, kw_only=True, rename="camel"):
    """One page of sessions."""

    sessions: list[HistorySession]
    total: int
    """Sessions on all pages."""
    has_more: bool
    page: int
    page_size: int
    is_complete: bool
    """False while the first look at the files is still going on."""


def list_history(services: Services, wanted: HistoryParameters) -> HistoryPage:
    """One page of the sessions that are wanted."""
    services.catalog.wait_for_list(FIRST_WAIT)
    known = services.catalog.snapshot
    found = select_sessions(known, _make_selection(wanted, services.settings.now()))
    start = (wanted.page - 1) * wanted.page_size
    end = start + wanted.page_size
    return HistoryPage(
        sessions=[_describe(known, each) for each in found[start:end]],
        total=len(found),
        has_more=end < len(found),
        page=wanted.page,
        page_size=wanted.page_size,
        is_complete=known.is_listed,
    )


def _make_selection(wanted: HistoryParameters, now: datetime) -> SessionSelection:
    since, until = read_range(wanted.since, wanted.until, now)
    return SessionSelection(
        project=wanted.project_path,
        text=wanted.text,
        branch=wanted.branch,
        model=wanted.model,
        since=since,
        until=until,
        subagents=wanted.include_subagents,
        is_live=wanted.live,
        has_errors=wanted.errors,
        order=wanted.order,
    )


def _describe(known: Snapshot, listing: SessionListing) -> HistorySession:
    row: SessionListing = make_row(known, listing)
    return HistorySession(
        id=row.id,
        project_id=row.project,
        project_path=row.cwd,
        title=row.title,
        first_message=row.first_prompt,
        first_message_timestamp=listing.first_prompt_time,
        created_at=_milliseconds(find_beginning(row.created, row.modified)),
        modified_at=_milliseconds(row.modified),
        last_active_at=_milliseconds(row.activity),
        message_count=row.message_count,
        turn_count=row.turn_count,
        error_count=row.error_count,
        is_subagent=row.is_subagent,
        parent_id=row.parent_id,
        file_path=row.path,
        file_size=row.size,
        version=row.version,
        git_branch=row.git_branch,
        is_live=row.live is not None,
        total_tokens=row.tokens,
        copied_tokens=row.copied_tokens,
        cost_usd=row.cost_usd,
        models=row.models,
    )


def _milliseconds(seconds: float) -> int:
    return int(seconds * 1000)
