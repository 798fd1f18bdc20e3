"""What is known of a session as a whole, from its records and its file."""

from msgspec import Struct

from recollect.documents.session_listing import LiveProcess


class Metadata(Struct, frozen=True, kw_only=True):
    """The metadata of a session."""

    id: str
    project: str | None
    cwd: str | None
    title: str | None
    first_prompt: str | None
    first_prompt_time: str | None
    created: str | None
    last_active: str | None
    modified: float | None
    """When the file was last written, as a Unix timestamp."""
    message_count: int
    """User prompts and distinct replies."""
    is_subagent: bool
    agent_id: str | None
    path: str | None
    size: int | None
    version: str | None
    git_branch: str | None
    tag: str | None
    live: LiveProcess | None
