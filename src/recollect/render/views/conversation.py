"""The shape of a conversation to show: turns, and the steps in them, in the order they happened.

A subagent is not unfolded here: its step names it, and whoever draws decides whether to go in.
"""

from enum import StrEnum

from msgspec import Struct

from recollect.records.tokens import Tokens
from recollect.render.views.parts import Part
from recollect.session.contexts import Context
from recollect.session.outcomes import RejectedBy, ToolStatus
from recollect.session.prompts import InputKind
from recollect.session.session import Subagent


class Said(Struct, frozen=True, kw_only=True, tag=True):
    """What the model, or somebody in the middle of a turn, said."""

    uuid: str | None
    message_id: str
    role: str
    parts: tuple[Part, ...]
    model: str | None = None
    timestamp: str | None = None
    contexts: tuple[Context, ...] = ()
    """What was put beside the words of somebody who spoke in the middle of a turn."""


class Thought(Struct, frozen=True, kw_only=True, tag=True):
    """What the model thought before it spoke; without a text when only its signature was kept."""

    uuid: str | None
    message_id: str
    text: str
    timestamp: str | None = None


class Called(Struct, frozen=True, kw_only=True, tag=True):
    """A call of a tool: one line, and what opens behind it."""

    uuid: str | None
    message_id: str
    call_id: str
    tool: str
    """The tool's name; for MCP the part behind the server's."""
    mcp_server: str | None
    title: str
    """The one thing to know of its input: the command, the path, the pattern."""
    summary: str
    """The one thing to know of its answer; empty while there is none."""
    status: ToolStatus
    rejected_by: RejectedBy | None = None
    is_lost: bool = False
    duration_ms: float | None = None
    timestamp: str | None = None
    input: tuple[Part, ...] = ()
    output: tuple[Part, ...] = ()
    subagents: tuple[Subagent, ...] = ()
    result_uuid: str | None = None
    """The record that answers it: links to that one lead here."""


class NoticeKind(StrEnum):
    """What a notice is about."""

    API_ERROR = "api_error"
    RETRY = "retry"
    HOOK = "hook"
    COMPACTION = "compaction"
    INTERRUPTION = "interruption"
    MODEL = "model"
    INFORMATION = "information"
    COMMAND_OUTPUT = "command_output"
    DAMAGE = "damage"
    UNKNOWN = "unknown"


class Noted(Struct, frozen=True, kw_only=True, tag=True):
    """Something that happened around the conversation, in its place."""

    uuid: str | None
    kind: NoticeKind
    title: str
    parts: tuple[Part, ...] = ()
    timestamp: str | None = None
    is_routine: bool = False
    """Whether all went as usual and nothing was said: worth folding away."""


Step = Said | Thought | Called | Noted


class TurnView(Struct, frozen=True, kw_only=True):
    """One turn: what opened it, and what happened until the next."""

    index: int
    uuid: str | None
    """That of the prompt's record: the permanent link to it."""
    kind: InputKind | None
    is_by_person: bool
    is_on_main_path: bool
    segment: int
    """Which stretch between compactions it lies in, from 0."""
    words: str
    command: str | None
    contexts: tuple[Context, ...]
    media: tuple[Part, ...]
    steps: tuple[Step, ...]
    tokens: Tokens
    model: str | None
    start: str | None
    end: str | None
    active_ms: float | None
    permission_mode: str | None
    uuids: tuple[str, ...] = ()
    """All records of the turn, those that nothing shows included: links to any of them lead here.
    """
