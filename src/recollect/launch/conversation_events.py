"""The numbered events of a conversation, and the requests that the user answers.

Plain frozen data, independent of processes and of how an event is shown. A finished record has the
same type as in a transcript. The parts streamed before it name their message and block, so that the
record can replace them.
"""

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Raw, Struct

from recollect.records.envelope import Record
from recollect.records.stream.stream_messages import Result
from recollect.records.tools.planning_tools import Question


class ConversationStatus(StrEnum):
    """The status of a conversation."""

    STARTING = "starting"
    IDLE = "idle"
    WORKING = "working"
    WAITING = "waiting"
    """A request waits for the user."""
    ENDED = "ended"
    """The client has exited; unless the conversation was ended, the next prompt starts it again."""


class PromptImage(Struct, frozen=True):
    """An image to send with a prompt."""

    media_type: str
    data: bytes


class Suggestion(Struct, frozen=True, kw_only=True):
    """A permission that the client suggests to save."""

    kind: str
    """`addRules`, `addDirectories`, `setMode` or another kind of update."""
    text: str
    """The permission, for example `Bash(mkdir:*)`."""
    destination: str
    """Where to save it: `session`, `localSettings`, `projectSettings` or `userSettings`."""
    raw: Raw


class ClientRequest(Struct, frozen=True, kw_only=True, tag_field="kind"):
    """A request to the user; it has no timeout."""

    id: str
    agent_id: str | None = None
    """The subagent that sent it; None for the main conversation."""


class ToolRequest(ClientRequest, frozen=True, tag="tool"):
    """A request to run a tool."""

    tool: str
    input: Raw
    call_id: str | None = None
    description: str | None = None
    reason: str | None = None
    blocked_path: str | None = None
    suggestions: tuple[Suggestion, ...] = ()


class QuestionRequest(ClientRequest, frozen=True, tag="question"):
    """A question of the model with choices for the user."""

    questions: tuple[Question, ...]
    input: Raw
    call_id: str | None = None


class PlanRequest(ClientRequest, frozen=True, tag="plan"):
    """A plan of the model, with a request to leave plan mode."""

    plan: str
    input: Raw
    path: str | None = None
    """The file of the plan, written by the client."""
    call_id: str | None = None


class ElicitationRequest(ClientRequest, frozen=True, tag="elicitation"):
    """A request of an MCP server for input: in a form, given as a JSON schema, or on a web page."""

    server: str
    message: str
    mode: str = "form"
    url: str | None = None
    form: Raw = Raw()


ConversationRequest = ToolRequest | QuestionRequest | PlanRequest | ElicitationRequest


class Allow(Struct, frozen=True, kw_only=True):
    """Let the tool run, with another input if `updated_input` is set."""

    updated_input: Mapping[str, object] | None = None
    remember: Suggestion | None = None
    """The suggestion of the request to save, which allows this from now on."""


class Deny(Struct, frozen=True, kw_only=True):
    """Refuse; the model reads `message` and continues, unless the turn is interrupted."""

    message: str = ""
    interrupt: bool = False


class Answers(Struct, frozen=True):
    """Answers by the text of the question; several choices are a tuple; free text is allowed."""

    answers: Mapping[str, str | tuple[str, ...]]


class ApprovePlan(Struct, frozen=True, kw_only=True):
    """Leave plan mode, with a changed plan if `plan` is set."""

    plan: str | None = None
    accept_edits: bool = False
    """Allow all edits in this session."""


class KeepPlanning(Struct, frozen=True):
    """Stay in plan mode; the model reads `message`."""

    message: str = ""


class AnswerElicitation(Struct, frozen=True, kw_only=True):
    """Answer an MCP server: `accept` with the content of the form, `decline` or `cancel`."""

    action: str
    content: Mapping[str, object] | None = None


RequestAnswer = Allow | Deny | Answers | ApprovePlan | KeepPlanning | AnswerElicitation


class NumberedEvent(Struct, frozen=True, kw_only=True, tag_field="event"):
    """An event; `number` counts from 1, and dropped events leave gaps."""

    number: int = 0
    time: float = 0.0
    """Seconds since 1970."""


class StatusChanged(NumberedEvent, frozen=True, tag="status"):
    """The status of the conversation changed."""

    status: ConversationStatus
    detail: str | None = None
    """The client's own word for the status, for example `requesting` or `compacting`."""


class SettingsChanged(NumberedEvent, frozen=True, tag="settings"):
    """Session, model, permission mode or effort has changed; None is unknown or the default."""

    session_id: str | None = None
    model: str | None = None
    permission_mode: str | None = None
    effort: str | None = None


class PromptQueued(NumberedEvent, frozen=True, tag="prompt_queued"):
    """A prompt was sent, and waits until the client picks it up."""

    uuid: str
    text: str
    images: int = 0


class PromptTaken(NumberedEvent, frozen=True, tag="prompt_taken"):
    """The client has picked up a prompt; its record follows."""

    uuid: str


class PromptWithdrawn(NumberedEvent, frozen=True, tag="prompt_withdrawn"):
    """A queued prompt was withdrawn."""

    uuid: str


class BlockEvent(NumberedEvent, frozen=True, kw_only=True):
    """An event about a block that is being written."""

    message_id: str
    index: int
    agent: str | None = None
    """The id of the tool call that started the subagent; None in the main conversation."""


class BlockStarted(BlockEvent, frozen=True, tag="block_started"):
    """The model has started a block: `text`, `thinking` or `tool`."""

    kind: str
    tool: str | None = None
    call_id: str | None = None


class TextStreamed(BlockEvent, frozen=True, tag="text"):
    """More text of a block."""

    text: str


class ThinkingStreamed(BlockEvent, frozen=True, tag="thinking"):
    """More thinking of a block."""

    text: str


class ToolInputStreamed(BlockEvent, frozen=True, tag="tool_input"):
    """More of the JSON of a tool's input."""

    text: str


class RecordReceived(NumberedEvent, frozen=True, tag="record"):
    """A finished record, as in the transcript; it replaces the streamed parts of its block."""

    record: Record
    agent: str | None = None
    message_id: str | None = None
    index: int | None = None
    """The block that it replaces; None if none of it was streamed."""


class NoticeReceived(NumberedEvent, frozen=True, tag="notice"):
    """A notice from the client or the conversation itself."""

    text: str


class TasksChanged(NumberedEvent, frozen=True, tag="tasks"):
    """The running background tasks by id, with their descriptions, have changed."""

    tasks: dict[str, str]


class RequestAsked(NumberedEvent, frozen=True, tag="request_asked"):
    """The client sent a request to the user and waits for the response."""

    request: ConversationRequest


class RequestSettled(NumberedEvent, frozen=True, tag="request_settled"):
    """A request is no longer open.

    `how` is `allowed`, `remembered`, `edited`, `denied`, `answered`, `approved`, `rejected`,
    `cancelled` (by the client) or `lost` (the client ended); `by` says who answered.
    """

    id: str
    how: str
    by: str = ""


class TurnFinished(NumberedEvent, frozen=True, tag="turn_finished"):
    """A turn has finished."""

    result: Result


class StderrPrinted(NumberedEvent, frozen=True, tag="stderr"):
    """The client wrote a line to stderr."""

    text: str


class LineUnparsed(NumberedEvent, frozen=True, tag="unparsed"):
    """The client printed a line that is not a message."""

    text: str


class ClientSilent(NumberedEvent, frozen=True, tag="silent"):
    """The client has printed nothing for this long, although it should be working."""

    seconds: float


class ClientStarted(NumberedEvent, frozen=True, tag="client_started"):
    """A client was started; `resumed` if it continues after an earlier one."""

    pid: int
    resumed: bool = False


class ClientEnded(NumberedEvent, frozen=True, tag="client_ended"):
    """The client has exited.

    `reason` is `idle` (the next prompt starts it again), `ended` (on request), `died` or `failed`
    (it never responded); `words` are its last lines on stderr.
    """

    code: int | None
    reason: str
    words: str = ""


class EventsDropped(NumberedEvent, frozen=True, tag="dropped"):
    """Events up to this number have been dropped: read the session again."""


ConversationEvent = (
    StatusChanged
    | SettingsChanged
    | PromptQueued
    | PromptTaken
    | PromptWithdrawn
    | BlockStarted
    | TextStreamed
    | ThinkingStreamed
    | ToolInputStreamed
    | RecordReceived
    | NoticeReceived
    | TasksChanged
    | RequestAsked
    | RequestSettled
    | TurnFinished
    | StderrPrinted
    | LineUnparsed
    | ClientSilent
    | ClientStarted
    | ClientEnded
    | EventsDropped
)
"""Any event."""
