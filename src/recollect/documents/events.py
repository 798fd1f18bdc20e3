"""Events of growing sessions and of conversations, as `recollect follow` and the API send them."""

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
    """What running clients are doing, by session; None if that has not changed."""
    is_searchable: bool | None = None


class ReloadEvent(Struct, frozen=True, kw_only=True):
    """Missed events cannot be sent again: reload everything."""


BlockKind = Literal["text", "thinking", "tool", "other"]
PromptState = Literal["queued", "taken", "withdrawn"]


class ConversationRow(Struct, frozen=True, kw_only=True):
    """A conversation with Claude Code that this server started."""

    id: str
    """The server's own id, not that of the session."""
    session_id: str | None
    title: str
    directory: str
    status: str
    """`starting`, `idle`, `working`, `waiting` (for a person) or `ended`."""
    waiting: tuple[str, ...]
    """What its open requests are about: the tools, `question` or `plan`."""
    model: str | None
    permission_mode: str | None
    effort: str | None
    """How much the model thinks: a level, `off`, or None for the default."""
    cost_usd: float | None
    """As the client counts it; None until its first turn is over."""
    started: float
    """Seconds since 1970."""
    active: float
    """When something last happened, in seconds since 1970."""
    waited_seconds: float
    """How long requests have waited for a person, up to `waiting_since`."""
    waiting_since: float | None
    """From when on a request is still waiting, in seconds since 1970."""


class ConversationsDocument(Struct, frozen=True, kw_only=True):
    """The conversations of a server, latest first."""

    conversations: tuple[ConversationRow, ...]
    max_running: int
    """How many may run at once."""


class BlockEvent(Struct, frozen=True, kw_only=True):
    """The model starts to write a block, or writes more of it: `text` is what is new."""

    message: str
    index: int
    agent: str | None
    kind: BlockKind
    tool: str | None = None
    text: str = ""


class RecordEvent(Struct, frozen=True, kw_only=True):
    """A record is complete: it replaces what was streamed of its block."""

    uuid: str | None
    agent: str | None
    message: str | None
    index: int | None


class ConversationStatusEvent(Struct, frozen=True, kw_only=True):
    """What the conversation is doing now, and its settings."""

    conversation: ConversationRow
    detail: str = ""
    """The client's own word for it, for example `requesting` or `compacting`."""


class PromptEvent(Struct, frozen=True, kw_only=True):
    """A prompt waits, was taken by the client, or was withdrawn."""

    uuid: str
    state: PromptState
    text: str = ""
    images: int = 0


class RequestEvent(Struct, frozen=True, kw_only=True):
    """The client asks the user, or the request is settled: `how` says how, and is "" before."""

    id: str
    how: str = ""
    by: str = ""


class ConversationNotice(Struct, frozen=True, kw_only=True):
    """A notice, a line on stderr, a line that is not a message, or how the conversation ended."""

    kind: str
    text: str


class TasksEvent(Struct, frozen=True, kw_only=True):
    """The background tasks that run, by id, with their descriptions."""

    tasks: dict[str, str]
