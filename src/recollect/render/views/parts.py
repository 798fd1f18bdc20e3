"""The vocabulary of views: the few kinds of things that a conversation consists of.

A renderer is one function per kind. A tool never gets a kind of its own: whatever it did is said
with these, so that a new tool costs one view and no change to any renderer.

The shape of a conversation to show: turns, and the steps in them, in the order they happened.

A subagent is not unfolded here: its step names it, and whoever draws decides whether to go in.
"""

from enum import StrEnum

from msgspec import Struct

from recollect.records.tools.file_tools import PatchHunk
from recollect.records.usage import Tokens
from recollect.session.prompt_contexts import Context
from recollect.session.prompts import InputKind
from recollect.session.session import Subagent
from recollect.session.tool_calls import RejectedBy, ToolStatus


class Prose(Struct, frozen=True, tag=True):
    """Words in Markdown, by a person or a model."""

    text: str


class Plain(Struct, frozen=True, tag=True):
    """Words without markup; line ends count."""

    text: str


class Code(Struct, frozen=True, tag=True):
    """Source text; `path` and `language` are hints for its colours."""

    text: str
    path: str | None = None
    language: str | None = None
    first_line: int | None = None
    """The number of its first line, when lines are worth numbering."""


class Output(Struct, frozen=True, tag=True):
    """What a program printed, with its colours as escape sequences."""

    text: str
    is_error: bool = False


class Diff(Struct, frozen=True, tag=True):
    """A change of one file."""

    path: str | None
    hunks: tuple[PatchHunk, ...]
    is_new_file: bool = False
    is_fragment: bool = False
    """Whether its lines are counted within the edit, because its place in the file is unknown."""


class CheckState(StrEnum):
    """How far an item of a list is."""

    PENDING = "pending"
    ACTIVE = "in_progress"
    DONE = "completed"
    DROPPED = "cancelled"


class CheckItem(Struct, frozen=True):
    """One item of a todo or task list."""

    text: str
    state: CheckState
    note: str | None = None


class Checklist(Struct, frozen=True, tag=True):
    """A todo or task list."""

    items: tuple[CheckItem, ...]


class Entry(Struct, frozen=True):
    """A line of a listing: a path, a match, a search result."""

    text: str
    path: str | None = None
    line: int | None = None
    url: str | None = None
    note: str | None = None


class Entries(Struct, frozen=True, tag=True):
    """Paths, matches or links, one a line."""

    entries: tuple[Entry, ...]
    omitted: int = 0
    """How many more there were."""


class Fields(Struct, frozen=True, tag=True):
    """Named values, in order."""

    fields: tuple[tuple[str, str], ...]


class Choice(Struct, frozen=True):
    """One answer that was offered."""

    label: str
    description: str = ""
    is_chosen: bool = False


class Question(Struct, frozen=True, tag=True):
    """A question to the person, and what they chose or wrote."""

    text: str
    header: str = ""
    choices: tuple[Choice, ...] = ()
    answer: str | None = None
    """Their own words, when they chose none of those offered."""


class Picture(Struct, frozen=True, tag=True):
    """An image or document; `data` is base64 and empty when the transcript does not hold it."""

    media_type: str
    data: str
    name: str | None = None


class Json(Struct, frozen=True, tag=True):
    """A value that nothing is known about, as the bytes say it."""

    text: str


Part = (
    Prose | Plain | Code | Output | Diff | Checklist | Entries | Fields | Question | Picture | Json
)


class TextStep(Struct, frozen=True, kw_only=True, tag="Said"):
    """What the model, or somebody in the middle of a turn, said."""

    uuid: str | None
    message_id: str
    role: str
    parts: tuple[Part, ...]
    model: str | None = None
    timestamp: str | None = None
    contexts: tuple[Context, ...] = ()
    """What was put beside the words of somebody who spoke in the middle of a turn."""


class ThinkingStep(Struct, frozen=True, kw_only=True, tag="Thought"):
    """What the model thought before it spoke; without a text when only its signature was kept."""

    uuid: str | None
    message_id: str
    text: str
    timestamp: str | None = None


class ToolStep(Struct, frozen=True, kw_only=True, tag="Called"):
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
    GAP = "gap"
    DAMAGE = "damage"
    UNKNOWN = "unknown"


class NoticeStep(Struct, frozen=True, kw_only=True, tag="Noted"):
    """Something that happened around the conversation, in its place."""

    uuid: str | None
    kind: NoticeKind
    title: str
    parts: tuple[Part, ...] = ()
    timestamp: str | None = None
    is_routine: bool = False
    """Whether all went as usual and nothing was said: worth folding away."""


Step = TextStep | ThinkingStep | ToolStep | NoticeStep


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
