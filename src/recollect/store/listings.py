"""What lists show of a session, in the form in which the index keeps it."""

from typing import Final

from msgspec import Struct

KIND: Final = "listing/2"
"""Its number rises when a listing holds something else than before."""


class Listing(Struct, frozen=True, kw_only=True):
    """A session in a list; None where its records do not tell."""

    id: str
    project: str
    path: str
    size: int
    modified: float
    activity: float
    """When something last happened in it, in seconds since 1970."""
    created: str | None = None
    last_active: str | None = None
    cwd: str | None = None
    title: str | None = None
    first_prompt: str | None = None
    first_prompt_time: str | None = None
    git_branch: str | None = None
    version: str | None = None
    tag: str | None = None
    is_subagent: bool = False
    parent_id: str | None = None
    """For a subagent, the session that it worked for."""
    forked_from: str | None = None
    """The session that its first records were copied from, where they say so."""
    continued_in: str | None = None
    first_reply_id: str | None = None
    """Id of the first reply: two sessions with the same one began as the same conversation."""
    models: tuple[str, ...] = ()
    """In order of appearance; of a large file only those at its ends, until it was read whole."""
    message_count: int | None = None
    """Prompts of a person and replies; None until the file was read as a whole, like the rest."""
    turn_count: int | None = None
    error_count: int | None = None
    """Failed tool calls and API failures."""
    compaction_count: int | None = None
    compaction_summary: str | None = None
    """How the summary of the last compaction begins."""
