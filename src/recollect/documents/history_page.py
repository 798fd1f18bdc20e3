"""Sessions as `/api/history` lists them: spelled as other programs for these files spell it."""

from msgspec import Struct


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
