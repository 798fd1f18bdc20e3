"""Events of growing sessions and of conversations, from `recollect follow` and the API."""

from typing import Any, Final, Literal

from msgspec import Struct

from recollect.documents.kinds import StatusKind

EVENT_SCHEMA: Final = "recollect.event/2"

EventName = Literal[
    "found", "appended", "reset", "caught_up", "status", "continued", "ended", "watching"
]


class EventDocument(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One event; fields that do not apply to it are omitted."""

    schema: str
    event: EventName
    id: str
    session_id: str | None = None
    agent_id: str | None = None
    path: str | None = None
    project: str | None = None
    offset: int | None = None
    length: int | None = None
    uuid: str | None = None
    record: Any = None
    damage: str | None = None
    is_new: bool | None = None
    status: StatusKind | None = None
    pid: int | None = None
    next_id: str | None = None
    is_polling: bool | None = None
    reason: str | None = None


class SessionChange(Struct, frozen=True, kw_only=True):
    """Sessions that changed, in one update."""

    number: int
    sessions: tuple[str, ...]
    """Ids of new and changed sessions."""
    gone: tuple[str, ...] = ()
    """Paths of transcripts that no longer exist."""
    live: dict[str, str | None] | None = None
    """The status of running clients by session; None if unchanged."""
    is_searchable: bool | None = None


class ReloadEvent(Struct, frozen=True, kw_only=True):
    """Missed events cannot be sent again: reload everything."""


BlockKind = Literal["text", "thinking", "tool", "other"]
PromptState = Literal["queued", "taken", "withdrawn"]


class ConversationRow(Struct, frozen=True, kw_only=True):
    """A conversation with Claude Code that this server started."""

    id: str
    """The id on this server, not that of the session."""
    session_id: str | None
    title: str
    directory: str
    status: str
    """`starting`, `idle`, `working`, `waiting` (for the user) or `ended`."""
    waiting: tuple[str, ...]
    """The subjects of its open requests: tools, `question` or `plan`."""
    model: str | None
    permission_mode: str | None
    effort: str | None
    """The thinking effort: a level, `off`, or None for the default."""
    cost_usd: float | None
    """As reported by the client; None until its first turn is over."""
    started: float
    """Seconds since 1970."""
    active: float
    """Time of the last activity, in seconds since 1970."""
    waited_seconds: float
    """Total time that requests have waited for the user, until `waiting_since`."""
    waiting_since: float | None
    """Since when a request has been waiting, in seconds since 1970; None if none is."""


class ConversationsDocument(Struct, frozen=True, kw_only=True):
    """The conversations of a server, latest first."""

    conversations: tuple[ConversationRow, ...]
    max_running: int
    """Maximum number that may run at once."""


class BlockEvent(Struct, frozen=True, kw_only=True):
    """The model has started a block or written more of it; `text` is the new part."""

    message: str
    index: int
    agent: str | None
    kind: BlockKind
    tool: str | None = None
    text: str = ""


class RecordEvent(Struct, frozen=True, kw_only=True):
    """A record is complete: it replaces the streamed parts of its block."""

    uuid: str | None
    agent: str | None
    message: str | None
    index: int | None


class ConversationStatusEvent(Struct, frozen=True, kw_only=True):
    """The status of the conversation and its settings."""

    conversation: ConversationRow
    detail: str = ""
    """The status reported by the client, for example `requesting` or `compacting`."""


class PromptEvent(Struct, frozen=True, kw_only=True):
    """A prompt was queued, taken by the client, or withdrawn."""

    uuid: str
    state: PromptState
    text: str = ""
    images: int = 0


class RequestEvent(Struct, frozen=True, kw_only=True):
    """A request of the client to the user was opened or settled; `how` is "" while it is open."""

    id: str
    how: str = ""
    by: str = ""


class ConversationNotice(Struct, frozen=True, kw_only=True):
    """A notice, a line on stderr, a line that is not a message, or how the conversation ended."""

    kind: str
    text: str


class TasksEvent(Struct, frozen=True, kw_only=True):
    """The running background tasks by id, with their descriptions."""

    tasks: dict[str, str]
