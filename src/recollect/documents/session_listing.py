"""A session in a list: one class for files, index, commands, pages and API.

The first fields come from the transcript and are stored in the index. The others are only known at
query time: the running client, the usage and the expiry. Unknown values are None; nothing is
computed here.
"""

from bisect import bisect_right

from msgspec import Struct


class LiveProcess(Struct, frozen=True, kw_only=True):
    """The client that has a session open, as reported by the client."""

    pid: int
    status: str | None = None
    """Its status, such as `busy`."""
    name: str | None = None
    version: str | None = None
    updated_at: float | None = None
    """When it last reported its status, in seconds since 1970."""


class SessionUsage(Struct, frozen=True, kw_only=True):
    """The usage of a session, including its subagents."""

    replies: int = 0
    tokens: int = 0
    copied_tokens: int = 0
    """Tokens of replies in its transcript that are counted in another session."""
    cost_usd: float | None = None
    client_priced: int = 0
    models: tuple[str, ...] = ()


class SessionListing(Struct, frozen=True):
    """A session in a list; values that no record contains are None.

    Counts are None until the whole file has been read: a list reads only the head and the tail of a
    large file.
    """

    id: str
    """The session's id; for a subagent the name of its file, `agent-…`."""
    project: str
    """Name of the project's directory below `projects/`."""
    path: str
    size: int
    modified: float
    """When the file was last written, in seconds since 1970."""
    activity: float
    """Time of the last activity, in seconds since 1970."""
    created: str | None = None
    """Time of the first record."""
    last_active: str | None = None
    """Time of the last record."""
    cwd: str | None = None
    title: str | None = None
    first_prompt: str | None = None
    first_prompt_time: str | None = None
    git_branch: str | None = None
    version: str | None = None
    tag: str | None = None
    is_subagent: bool = False
    parent_id: str | None = None
    """For a subagent, the session that started it."""
    forked_from: str | None = None
    """The session that its first records were copied from: named in them, or found by the
    compaction that they begin with.
    """
    continued_in: str | None = None
    """The session that continues this one without a copy."""
    first_reply_id: str | None = None
    """Id of the first reply; sessions with the same one started as the same conversation."""
    models: tuple[str, ...] = ()
    """The models that replied, in order; for a large file only those in its head and tail."""
    message_count: int | None = None
    """Number of prompts and distinct replies."""
    turn_count: int | None = None
    error_count: int | None = None
    """Number of failed tool calls and API errors."""
    compaction_count: int | None = None
    compaction_summary: str | None = None
    """Start of the summary of the last compaction."""
    copied_tokens: int | None = None
    """Tokens of replies copied from another session, which are counted there."""
    client_cost_usd: float | None = None
    """The cost that a client up to 1.0.2x recorded for its own replies (`costUSD`)."""
    trace: str | None = None
    """Its steps, two characters each: the kind, and the duration from 0 to 9."""
    agent_id: str | None = None
    """For a subagent, its id."""
    duration_ms: float | None = None
    """From the first record to the last."""
    replies: int | None = None
    """Number of counted replies, including those of its subagents."""
    tokens: int | None = None
    """Counted tokens, including those of its subagents."""
    cost_usd: float | None = None
    """Cost at list prices, including its subagents; None if no price is known."""
    client_priced: int | None = None
    """Number of replies without token counts, whose cost is the one recorded by the client."""
    live: LiveProcess | None = None
    """The client that has the session open right now."""
    expires: str | None = None
    """When Claude Code may delete the transcript; None if it never does or already has."""
    is_archived: bool = False
    """Whether Claude Code has deleted the transcript, so that it is read from the archive."""
    is_partial: bool = False
    """Whether it was reconstructed from leftovers of a deleted session, such as its prompts."""
    starred: bool = False
    """Whether you starred it."""
    note: str | None = None
    """Your private note on it."""
    unreadable: str | None = None
    """Why the file could not be read."""
    relation: str | None = None
    """In a tree, the relation to its parent: subagent, fork, continuation or clear."""
    children: "tuple[SessionListing, ...]" = ()
    """In a tree, its subagents, forks, continuations and sessions after a `/clear`."""


STORED_FIELDS = SessionListing.__struct_fields__[
    : SessionListing.__struct_fields__.index("agent_id")
]
"""The fields that come from the transcript and are stored in the index, in order."""


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
    """Number of user prompts and distinct replies."""
    is_subagent: bool
    agent_id: str | None
    path: str | None
    size: int | None
    version: str | None
    git_branch: str | None
    tag: str | None
    live: LiveProcess | None


class FileFigures(Struct, frozen=True, array_like=True):
    """Values that lists show and that require reading the whole transcript."""

    models: tuple[str, ...] = ()
    turns: int = 0
    messages: int = 0
    errors: int = 0
    compactions: int = 0
    summary: str = ""
    """Start of the summary of the last compaction."""
    copied_tokens: int = 0
    client_cost_usd: float | None = None
    trace: str = ""
    """Its steps, encoded by `recollect.session.figures`."""
    turn_starts: tuple[int, ...] = ()
    """Where its turns start, from `recollect.session.figures`."""

    def find_turn(self, offset: int) -> int | None:
        """Return the number of the turn of the record at `offset`; None before the first one."""
        at = bisect_right(self.turn_starts[::2], offset)
        return self.turn_starts[2 * at - 1] if at else None


class CallSummary(Struct, frozen=True, array_like=True, gc=False):
    """One tool call: tool, status, start in seconds since 1970, and duration.

    A copy of a call in another file has the same id.
    """

    id: str
    tool: str
    status: str
    started: float | None = None
    duration_ms: float | None = None
