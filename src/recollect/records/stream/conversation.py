"""`assistant` and `user` messages: each becomes a record of the same name.

`message.usage` of an assistant message is a placeholder from the start of the response and its
`stop_reason` is null; only the transcript, `result` and `message_delta` know the final values.
"""

from msgspec import Raw, Struct, field

from recollect.records import conversation
from recollect.records.conversation import ApiMessage, Origin
from recollect.records.stream.envelope import Message
from recollect.records.system import CommandRun


class ConversationMessage(Message, frozen=True):
    """Something said in the main conversation, or in a subagent when a parent call is named."""

    parent_tool_use_id: str | None = None
    agent_id: str | None = None
    subagent_type: str | None = None
    task_description: str | None = None
    timestamp: str | None = None
    user_message_uuid: str | None = None
    user_message_uuids: tuple[str, ...] = ()
    resume_reason: str | None = None


class ToolUseMeta(Struct, frozen=True, kw_only=True, gc=False):
    """How the client shows a tool call."""

    id: str | None = None
    display_name: str | None = None
    server_display_name: str | None = None
    tool_name: str | None = None


class AssistantMessage(ConversationMessage, frozen=True, tag="assistant"):
    """One finished block of a response, or a text of the client in its place."""

    message: ApiMessage | None = None
    request_id: str | None = None
    error: Raw = Raw()
    is_api_error_message: bool = False
    api_error_status: int | None = None
    api_error_type: str | None = None
    aborted: bool = False
    supersedes: tuple[str, ...] = ()
    resumed_from_incomplete_thinking: bool = False
    thinking_duration_ms: float | None = None
    thinking_display: str | None = None
    tool_use_meta: tuple[ToolUseMeta, ...] = ()
    local_command_source: str | None = None
    local_command_run: CommandRun | None = None
    context_usage: Raw = Raw()
    usage_report: Raw = Raw()


class ToolPermission(Struct, frozen=True, kw_only=True, gc=False):
    """Why a tool was allowed to run, or not; the transcript says more about it."""

    decision: str | None = None
    source: str | None = None
    reason_type: str | None = None
    rule_source: str | None = None
    reason_code: str | None = None
    grant_scope: str | None = None


class ToolResultMeta(Struct, frozen=True, kw_only=True, gc=False):
    """What is known of a tool result beside its content."""

    id: str | None = None
    permission_decision: ToolPermission | None = None
    non_execution_kind: str | None = None


class MessageOrigin(Origin, frozen=True):
    """Who caused a turn, with what only the stream tells about it."""

    subkind: str | None = None
    fire_reason: str | None = None
    from_mode: str | None = None
    from_session: str | None = None
    sender_task_id: str | None = None
    verified_peer_pid: int | None = None
    body: str | None = None
    producer: str | None = None
    run_id: str | None = None


class UserMessage(ConversationMessage, frozen=True, tag="user"):
    """Tool results, a text of the client, or a prompt: sent in, or repeated on the way out."""

    message: conversation.UserMessage | None = None
    tool_use_result: Raw = Raw()
    tool_result_meta: tuple[ToolResultMeta, ...] = ()
    is_synthetic: bool = field(default=False, name="isSynthetic")
    is_replay: bool = field(default=False, name="isReplay")
    origin: MessageOrigin | None = None
    priority: str | None = None
    should_query: bool | None = field(default=None, name="shouldQuery")
    client_composed: bool = False
    pasted_content: Raw = Raw()
    inline_pastes: Raw = Raw()
    file_attachments: Raw = Raw()
    refused_message_id: str | None = None
