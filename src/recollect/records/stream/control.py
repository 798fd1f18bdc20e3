"""Control messages between the client and its host program.

Requests that concern the conversation have classes; others are kept in `OtherRequest`. Responses
are opaque, because their meaning depends on the request.
"""

from msgspec import Raw, Struct, field

from recollect.records.stream.stream_messages import Message


class Request(Struct, frozen=True, kw_only=True, tag_field="subtype", gc=False):
    """A control request."""


class OtherRequest(Request, frozen=True, tag="<other>"):
    """A request without its own class."""

    kind: str | None = None
    raw: Raw = Raw()


class CanUseTool(Request, frozen=True, tag="can_use_tool"):
    """The client asks whether a tool may run; also used for the model's questions to the user."""

    tool_name: str | None = None
    input: Raw = Raw()
    tool_use_id: str | None = None
    agent_id: str | None = None
    title: str | None = None
    display_name: str | None = None
    description: str | None = None
    blocked_path: str | None = None
    decision_reason: str | None = None
    decision_reason_type: str | None = None
    permission_suggestions: Raw = Raw()
    matched_ask_rule: Raw = Raw()
    mcp_server: Raw = Raw()
    classifier_approvable: bool | None = None
    suppress_always_allow_rule: bool | None = None
    default_to_no: bool | None = None
    requires_user_interaction: bool | None = None
    server_policy_ask_only: bool | None = None


class HookCallback(Request, frozen=True, tag="hook_callback"):
    """The client calls a hook that the host program registered."""

    callback_id: str | None = None
    input: Raw = Raw()
    tool_use_id: str | None = None


class McpMessage(Request, frozen=True, tag="mcp_message"):
    """A message to or from an MCP server that runs in the host program."""

    server_name: str | None = None
    message: Raw = Raw()


class Elicitation(Request, frozen=True, tag="elicitation"):
    """An MCP server asks the user for input."""

    mcp_server_name: str | None = None
    message: str | None = None
    mode: str | None = None
    url: str | None = None
    elicitation_id: str | None = None
    requested_schema: Raw = Raw()
    title: str | None = None
    display_name: str | None = None
    description: str | None = None


class RequestUserDialog(Request, frozen=True, tag="request_user_dialog"):
    """The client asks for a dialog to be shown."""

    dialog_kind: str | None = None
    payload: Raw = Raw()
    tool_use_id: str | None = None


class Initialize(Request, frozen=True, tag="initialize"):
    """The host program describes its capabilities."""

    hooks: Raw = Raw()
    agents: Raw = Raw()
    sdk_mcp_servers: tuple[str, ...] | None = field(default=None, name="sdkMcpServers")
    system_prompt: Raw = field(default=Raw(), name="systemPrompt")
    append_system_prompt: str | None = field(default=None, name="appendSystemPrompt")
    json_schema: Raw = field(default=Raw(), name="jsonSchema")
    title: str | None = None
    skills: Raw = Raw()
    plugins: Raw = Raw()


class Interrupt(Request, frozen=True, tag="interrupt"):
    """Interrupt the turn."""

    cancel_queued: bool | None = None


class SetPermissionMode(Request, frozen=True, tag="set_permission_mode"):
    """Set the permission mode."""

    mode: str | None = None


class SetModel(Request, frozen=True, tag="set_model"):
    """Set the model; null means the default one."""

    model: str | None = None


class SetMaxThinkingTokens(Request, frozen=True, tag="set_max_thinking_tokens"):
    """Set the thinking budget."""

    max_thinking_tokens: int | None = None
    thinking_display: str | None = None


class RewindFiles(Request, frozen=True, tag="rewind_files"):
    """Restore files to their state at a prompt."""

    user_message_id: str | None = None
    dry_run: bool | None = None


class RenameSession(Request, frozen=True, tag="rename_session"):
    """Set the title of the session."""

    title: str | None = None
    source: str | None = None
    session_id: str | None = None


class StopTask(Request, frozen=True, tag="stop_task"):
    """Stop a background task."""

    task_id: str | None = None


AnyRequest = (
    CanUseTool
    | HookCallback
    | McpMessage
    | Elicitation
    | RequestUserDialog
    | Initialize
    | Interrupt
    | SetPermissionMode
    | SetModel
    | SetMaxThinkingTokens
    | RewindFiles
    | RenameSession
    | StopTask
    | OtherRequest
)
"""All requests that have a class."""


class ControlRequest(Message, frozen=True, tag="control_request"):
    """A request, to be answered with the same `request_id`."""

    request_id: str | None = None
    request: AnyRequest | None = None


class Answer(Struct, frozen=True, kw_only=True, gc=False):
    """The response to a request: `response` on success, otherwise `error`."""

    subtype: str | None = None
    request_id: str | None = None
    response: Raw = Raw()
    error: str | None = None
    pending_permission_requests: Raw = Raw()
    pending_user_dialog_requests: Raw = Raw()


class ControlResponse(Message, frozen=True, tag="control_response"):
    """The response to a `ControlRequest`."""

    response: Answer | None = None


class ControlCancelRequest(Message, frozen=True, tag="control_cancel_request"):
    """A request was cancelled."""

    request_id: str | None = None
