"""A session in a list: one class for files, index, commands, pages and API.

The first fields come from the transcript and are kept in the index. The others are known only at
the moment of the question: who has the session open, what it cost, when it expires. A value that
is not known is None; nothing here finds one out.
"""

from bisect import bisect_right

from msgspec import Struct


class LiveProcess(Struct, frozen=True, kw_only=True):
    """The client that has a session open right now, as it describes itself."""

    pid: int
    status: str | None = None
    """What it is doing, such as `busy`."""
    name: str | None = None
    version: str | None = None
    updated_at: float | None = None
    """When it last reported that, in seconds since 1970."""


class SessionUsage(Struct, frozen=True, kw_only=True):
    """The usage of a session, including its subagents."""

    replies: int = 0
    tokens: int = 0
    copied_tokens: int = 0
    """Those of replies in its transcript that count in another session."""
    cost_usd: float | None = None
    client_priced: int = 0
    models: tuple[str, ...] = ()


class SessionListing(Struct, frozen=True):
    """A session in a list; None where no record says it.

    Counts are None until the whole file has been read: a list reads the head and the tail of a
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
    """When something last happened in the session, in seconds since 1970."""
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
    """For a subagent, the session that it worked for."""
    forked_from: str | None = None
    """The session that its first records were copied from: named in them, or found by the
    compaction that they begin with.
    """
    continued_in: str | None = None
    """The session that continues this one without a copy."""
    first_reply_id: str | None = None
    """Id of the first reply: two sessions with the same one began as the same conversation."""
    models: tuple[str, ...] = ()
    """The models that replied, in order; of a large file only those in its head and tail."""
    message_count: int | None = None
    """Prompts and distinct replies."""
    turn_count: int | None = None
    error_count: int | None = None
    """Failed tool calls and API errors."""
    compaction_count: int | None = None
    compaction_summary: str | None = None
    """Start of the summary of the last compaction."""
    copied_tokens: int | None = None
    """Tokens of replies copied from another session, which are counted there."""
    client_cost_usd: float | None = None
    """The cost that a client up to 1.0.2x recorded for its own replies (`costUSD`)."""
    trace: str | None = None
    """Its steps, two characters each: what it was, and how long it took from 0 to 9."""
    agent_id: str | None = None
    """For a subagent, its id."""
    duration_ms: float | None = None
    """From the first record to the last."""
    replies: int | None = None
    """Replies that were counted, including those of its subagents."""
    tokens: int | None = None
    """Tokens that were counted, including those of its subagents."""
    cost_usd: float | None = None
    """Cost at list prices, including its subagents; None if no price is known."""
    client_priced: int | None = None
    """Replies without token counts, whose cost is as recorded by the client."""
    live: LiveProcess | None = None
    """The client that has the session open right now."""
    expires: str | None = None
    """When Claude Code may delete the transcript; None if it never does or already has."""
    is_archived: bool = False
    """Whether Claude Code has deleted the transcript, so that it is read from the archive."""
    is_partial: bool = False
    """Whether it was made of what Claude Code left of a deleted session, such as its prompts."""
    starred: bool = False
    """Whether you starred it."""
    note: str | None = None
    """Your private note on it."""
    unreadable: str | None = None
    """Why the file could not be read."""
    relation: str | None = None
    """In a tree, the relation to its parent: subagent, fork, continuation or clear."""
    children: "tuple[SessionListing, ...]" = ()
    """In a tree, its subagents, forks, continuations and what follows a `/clear` in it."""


STORED_FIELDS = SessionListing.__struct_fields__[
    : SessionListing.__struct_fields__.index("agent_id")
]
"""The fields that come from the transcript and are kept in the index, in their order."""


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


class FileFigures(Struct, frozen=True, array_like=True):
    """What lists show of a transcript beyond what its head and tail say."""

    models: tuple[str, ...] = ()
    turns: int = 0
    messages: int = 0
    errors: int = 0
    compactions: int = 0
    summary: str = ""
    """How the summary of the last compaction begins."""
    copied_tokens: int = 0
    client_cost_usd: float | None = None
    trace: str = ""
    """Its steps, as `recollect.session.figures` writes them."""
    turn_starts: tuple[int, ...] = ()
    """Where its turns start, as `recollect.session.figures` finds them."""

    def find_turn(self, offset: int) -> int | None:
        """Return the number of the turn of the record at `offset`; None before the first one."""
        at = bisect_right(self.turn_starts[::2], offset)
        return self.turn_starts[2 * at - 1] if at else None


class CallSummary(Struct, frozen=True, array_like=True, gc=False):
    """One tool call: which tool, how it ended, when it began in seconds since 1970, how long.

    A copy of a call in another file has the same id.
    """

    id: str
    tool: str
    status: str
    started: float | None = None
    duration_ms: float | None = None
