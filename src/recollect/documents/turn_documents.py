"""A conversation as data: turns, their steps in order, and the parts of steps.

Terminal, pages and JSON all use these. There is no step type per tool: everything is shown with a
dozen kinds of parts, so a new tool needs one view and no change to any renderer. Nothing is escaped
here, because only the destination determines how. A subagent is a reference; its turns are
requested from the session.
"""

from enum import StrEnum

from msgspec import Struct

from recollect.documents import kinds
from recollect.records.token_usage import Tokens


class Prose(Struct, frozen=True, tag="prose"):
    """Markdown text by the user or a model."""

    text: str


class Plain(Struct, frozen=True, tag="plain"):
    """Plain text; line ends are significant."""

    text: str


class Code(Struct, frozen=True, tag="code"):
    """Source code; `path` and `language` are hints for highlighting."""

    text: str
    path: str | None = None
    language: str | None = None
    first_line: int | None = None
    """The number of its first line, if lines should be numbered."""


class Output(Struct, frozen=True, tag="output"):
    """Output of a program, with colours as escape sequences."""

    text: str
    is_error: bool = False
    """Whether it is the error of a failed call."""
    is_stderr: bool = False
    """Whether it was printed to standard error, which programs also use for progress."""


class Hunk(Struct, frozen=True, kw_only=True, gc=False):
    """A hunk of a patch; each line starts with a space, `+`, `-` or a backslash."""

    old_start: int = 0
    old_lines: int = 0
    new_start: int = 0
    new_lines: int = 0
    lines: tuple[str, ...] = ()


class Diff(Struct, frozen=True, tag="diff"):
    """A change to one file."""

    path: str | None
    hunks: tuple[Hunk, ...]
    is_new_file: bool = False
    is_fragment: bool = False
    """Whether line numbers are relative to the edited text, because its position is unknown."""


class CheckState(StrEnum):
    """The state of an item in a list."""

    PENDING = "pending"
    ACTIVE = "in_progress"
    DONE = "completed"
    DROPPED = "cancelled"


class CheckItem(Struct, frozen=True):
    """One item of a todo or task list."""

    text: str
    state: CheckState
    note: str | None = None


class Checklist(Struct, frozen=True, tag="checklist"):
    """A todo or task list."""

    items: tuple[CheckItem, ...]


class Entry(Struct, frozen=True):
    """A line of a listing: a path, a match, a search result."""

    text: str
    path: str | None = None
    line: int | None = None
    url: str | None = None
    note: str | None = None


class Entries(Struct, frozen=True, tag="entries"):
    """Paths, matches or links, one per line."""

    entries: tuple[Entry, ...]
    omitted: int = 0
    """Number of omitted entries."""


class Fields(Struct, frozen=True, tag="fields"):
    """Named values, in order."""

    fields: tuple[tuple[str, str], ...]


class Choice(Struct, frozen=True):
    """An offered answer."""

    label: str
    description: str = ""
    is_chosen: bool = False


class Question(Struct, frozen=True, tag="question"):
    """A question to the user, and what they chose or wrote."""

    text: str
    header: str = ""
    choices: tuple[Choice, ...] = ()
    answer: str | None = None
    """Free text, if they chose none of the offered answers."""


class Picture(Struct, frozen=True, tag="picture"):
    """An image or document; `data` is base64, and empty if the transcript does not contain it."""

    media_type: str
    data: str
    name: str | None = None


class Json(Struct, frozen=True, tag="json"):
    """A value of unknown structure, as JSON."""

    text: str


Part = (
    Prose | Plain | Code | Output | Diff | Checklist | Entries | Fields | Question | Picture | Json
)


class TaskReference(Struct, frozen=True, kw_only=True):
    """The call that started a task in the background, for a notification about it."""

    call_uuid: str
    turn: int
    """The number of its turn."""
    title: str
    agent_id: str | None = None
    """The subagent, if it was one; it has the reply."""


class TextStep(Struct, frozen=True, kw_only=True, tag="text"):
    """Text from the model, or from the user in the middle of a turn."""

    uuid: str | None
    message_id: str
    role: str
    parts: tuple[Part, ...]
    model: str | None = None
    timestamp: str | None = None
    contexts: tuple[kinds.Context, ...] = ()
    """Contexts attached to text in the middle of a turn."""
    kind: kinds.InputKind | None = None
    """The origin of text with the user role; not all of it is by the user."""
    tasks: tuple[TaskReference, ...] = ()
    """The tasks that it reports on."""

    @property
    def repeats_answers(self) -> bool:
        """Whether it only repeats what subagents show."""
        return bool(self.tasks) and all(task.agent_id for task in self.tasks)


class ThinkingStep(Struct, frozen=True, kw_only=True, tag="thinking"):
    """Thinking of the model; empty if the transcript has only its signature."""

    uuid: str | None
    message_id: str
    text: str
    timestamp: str | None = None


class SubagentReference(Struct, frozen=True, kw_only=True):
    """A subagent that a tool call started; its turns are requested by its id."""

    agent_id: str
    kind: kinds.SubagentKind
    agent_type: str | None
    description: str | None
    turn_count: int = 0
    tool_calls: int = 0
    tokens: int = 0
    """Its own tokens, without those of its subagents."""
    duration_ms: float | None = None
    model: str | None = None
    outcome: kinds.SubagentOutcome | None = None
    turns: "tuple[TurnView, ...] | None" = None
    """Its turns, if the output expands subagents."""


class ToolStep(Struct, frozen=True, kw_only=True, tag="tool"):
    """A tool call: one line about it, its input and its output."""

    uuid: str | None
    message_id: str
    call_id: str
    tool: str
    """The name of the tool; for MCP, without that of the server."""
    mcp_server: str | None
    title: str
    """The most important part of its input: the command, the path, the pattern."""
    summary: str
    """The most important part of its result; empty while there is none."""
    status: kinds.ToolStatus
    rejected_by: kinds.RejectedBy | None = None
    is_lost: bool = False
    duration_ms: float | None = None
    timestamp: str | None = None
    input: tuple[Part, ...] = ()
    output: tuple[Part, ...] = ()
    subagents: tuple[SubagentReference, ...] = ()
    result_uuid: str | None = None
    """The record with its result: links to that record lead here."""
    description: str = ""
    """The model's description of the call."""
    hooks: "tuple[NoticeStep, ...]" = ()
    """The hooks that ran for it without failing; a failed one is a separate step."""


class NoticeKind(StrEnum):
    """The kind of a notice."""

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


class NoticeStep(Struct, frozen=True, kw_only=True, tag="notice"):
    """An event outside the messages of the conversation."""

    uuid: str | None
    kind: NoticeKind
    title: str
    parts: tuple[Part, ...] = ()
    timestamp: str | None = None
    is_routine: bool = False
    """Whether it is routine, so that it can be collapsed."""


Step = TextStep | ThinkingStep | ToolStep | NoticeStep


class BranchPlace(Struct, frozen=True):
    """The position of a prompt among several after the same record, because of a rewind."""

    number: int
    """Its number among them, counted from 1 in file order."""
    prompts: tuple[str, ...]
    """The uuids of all of them."""


class ContextPart(Struct, frozen=True, kw_only=True):
    """A part that a turn added to the context or removed from it."""

    kind: kinds.ContextPartKind
    tokens: int
    """Negative if removed."""
    name: str = ""
    """The tool, for results of a tool."""
    is_estimate: bool = False
    """Whether a known number of tokens was divided by the size of texts."""


class ContextGrowth(Struct, frozen=True, kw_only=True):
    """The growth of the context from the last request before a turn to the last one in it."""

    tokens: int
    """The sum of the parts."""
    before: int | None
    """Tokens in the context before; None for the first request of a session."""
    parts: tuple[ContextPart, ...]
    """Largest first."""


class TurnView(Struct, frozen=True, kw_only=True):
    """One turn: the prompt and everything until the next one."""

    number: int
    """Counted from 1 through the whole transcript."""
    uuid: str | None
    """The uuid of the prompt's record, for permanent links."""
    kind: kinds.InputKind | None
    is_by_person: bool
    is_on_main_path: bool
    segment: int
    """Number of compactions before it."""
    words: str
    command: str | None
    contexts: tuple[kinds.Context, ...]
    media: tuple[Part, ...]
    steps: tuple[Step, ...]
    tokens: Tokens
    model: str | None
    start: str | None
    end: str | None
    active_ms: float | None
    permission_mode: str | None
    context_tokens: int = 0
    """Tokens that the model read for its last reply: the size of the conversation at that time."""
    context_growth: ContextGrowth | None = None
    """What the turn added to the context, as far as recorded."""
    uuids: tuple[str, ...] = ()
    """All records of the turn, including hidden ones; links to any of them lead here.
    """
    branch: BranchPlace | None = None
    """The branch that starts here, if the conversation was rewound to before the prompt."""
