"""Stream messages: `assistant`, `user`, `result` and others that have their own type.

JSON names are snake_case, unlike in transcripts. `message.usage` of an assistant message is a
placeholder from the start of the response, and its `stop_reason` is null; only the transcript,
`result` and `message_delta` have final values. A process may print several `result` messages: their
`usage` covers only the main loop of the turn, while `model_usage` and `total_cost_usd` are
cumulative and include subagents and compactions, so read the last one and never add them up.
"""

from msgspec import Raw, Struct, field

from recollect.records import conversation_records, envelope, system_records, token_usage
from recollect.records.state import ModelUsage


class Message(Struct, frozen=True, kw_only=True, tag_field="type", gc=False, omit_defaults=True):
    """One line that the client prints or receives."""

    span: envelope.Span | None = field(default=None, name=envelope.SPAN_KEY)
    uuid: str | None = None
    session_id: str | None = None


class UnknownMessage(Message, frozen=True, tag="<unknown>"):
    """A message of an unknown type, with its JSON.

    `kind` is its type; for a `system` message of an unknown subtype it is `system/SUBTYPE`.
    """

    kind: str | None = None
    raw: Raw = Raw()


class ConversationMessage(Message, frozen=True):
    """A message of the main conversation, or of a subagent if `parent_tool_use_id` is set."""

    parent_tool_use_id: str | None = None
    agent_id: str | None = None
    subagent_type: str | None = None
    task_description: str | None = None
    timestamp: str | None = None
    user_message_uuid: str | None = None
    user_message_uuids: tuple[str, ...] = ()
    resume_reason: str | None = None
    is_meta: bool = False
    """Whether the client itself wrote it, not the user or a model."""


class ToolUseMeta(Struct, frozen=True, kw_only=True, gc=False):
    """How the client displays a tool call."""

    id: str | None = None
    display_name: str | None = None
    server_display_name: str | None = None
    tool_name: str | None = None


class AssistantMessage(ConversationMessage, frozen=True, tag="assistant"):
    """One complete block of a response, or text of the client instead."""

    message: conversation_records.ApiMessage | None = None
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
    local_command_run: system_records.CommandRun | None = None
    context_usage: Raw = Raw()
    usage_report: Raw = Raw()


class ToolPermission(Struct, frozen=True, kw_only=True, gc=False):
    """Why a tool was or was not allowed to run; the transcript has more details."""

    decision: str | None = None
    source: str | None = None
    reason_type: str | None = None
    rule_source: str | None = None
    reason_code: str | None = None
    grant_scope: str | None = None


class ToolResultMeta(Struct, frozen=True, kw_only=True, gc=False):
    """Metadata of a tool result."""

    id: str | None = None
    permission_decision: ToolPermission | None = None
    non_execution_kind: str | None = None


class MessageOrigin(conversation_records.Origin, frozen=True):
    """Who caused a turn, with fields that only the stream has."""

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
    """Tool results, text of the client, or a prompt, as input or echoed in the output."""

    message: conversation_records.UserMessage | None = None
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


class PermissionDenial(Struct, frozen=True, kw_only=True, gc=False):
    """A denied tool call."""

    tool_name: str | None = None
    tool_use_id: str | None = None
    tool_input: Raw = Raw()


class DeferredToolUse(Struct, frozen=True, kw_only=True, gc=False):
    """The tool call at which the turn stopped, to be executed by the host program."""

    id: str | None = None
    name: str | None = None
    input: Raw = Raw()


class KilledSubagents(Struct, frozen=True, kw_only=True, gc=False):
    """The number of stopped subagents, by who stopped them."""

    parent: int = 0
    user: int = 0
    system: int = 0


class RefusedSubagents(Struct, frozen=True, kw_only=True, gc=False):
    """The number of subagents that were not started, by the limit reached."""

    depth_limit: int = 0
    concurrency_limit: int = 0
    budget: int = 0


class RequestedSubagents(Struct, frozen=True, kw_only=True, gc=False):
    """The number of requested subagents, by how they should run."""

    background: int = 0
    foreground: int = 0
    unset: int = 0


class SubagentStats(Struct, frozen=True, kw_only=True, gc=False):
    """Statistics of the session's subagents so far."""

    spawned: int = 0
    spawned_by_subagents: int = 0
    started_in_background: int = 0
    completed: int = 0
    failed: int = 0
    max_depth: int = 0
    by_type: dict[str, int] = {}
    killed: KilledSubagents | None = None
    refused: RefusedSubagents | None = None
    requested: RequestedSubagents | None = None


class Result(Message, frozen=True, tag="result"):
    """The end of a turn; an API error has subtype `success`, `is_error` and the error as text."""

    subtype: str | None = None
    is_error: bool = False
    result: str | None = None
    errors: tuple[str, ...] = ()
    stop_reason: str | None = None
    terminal_reason: str | None = None
    startup_failure_reason: str | None = None
    api_error_status: int | None = None
    api_error_type: str | None = None
    num_turns: int | None = None
    result_index: int | None = None
    queued_turn_count: int | None = None
    duration_ms: float | None = None
    duration_api_ms: float | None = None
    ttft_ms: float | None = None
    ttft_stream_ms: float | None = None
    time_to_request_ms: float | None = None
    first_content_frame_ms: float | None = None
    total_cost_usd: float | None = None
    usage: token_usage.Usage | None = None
    model_usage: dict[str, ModelUsage] = field(default_factory=dict, name="modelUsage")
    model_usage_since_last_result: dict[str, ModelUsage] = {}
    subagent_stats: SubagentStats | None = None
    permission_denials: tuple[PermissionDenial, ...] = ()
    structured_output: Raw = Raw()
    deferred_tool_use: DeferredToolUse | None = None
    safety_stops: int | None = None
    origin: MessageOrigin | None = None
    local_command: str | None = None
    fast_mode_state: str | None = None
    fast_mode_disabled_reason: str | None = None
    user_message_uuid: str | None = None
    user_message_uuids: tuple[str, ...] = ()
    resume_reason: str | None = None


class SubagentRetry(Struct, frozen=True, kw_only=True, gc=False):
    """A request of a subagent failed and will be retried."""

    agent_id: str | None = None
    attempt: int | None = None
    max_retries: int | None = None
    retry_delay_ms: float | None = None
    error_status: int | None = None
    error_category: str | None = None


class ToolProgress(Message, frozen=True, tag="tool_progress"):
    """A tool call is still running."""

    tool_use_id: str | None = None
    tool_name: str | None = None
    parent_tool_use_id: str | None = None
    elapsed_time_seconds: float | None = None
    task_id: str | None = None
    heartbeat: bool = False
    subagent_type: str | None = None
    subagent_retry: SubagentRetry | None = None


class ToolUseSummary(Message, frozen=True, tag="tool_use_summary"):
    """A summary of several tool calls in one sentence."""

    summary: str | None = None
    preceding_tool_use_ids: tuple[str, ...] = ()


class RateLimit(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """How much of a rate limit is used."""

    status: str | None = None
    resets_at: float | None = None
    rate_limit_type: str | None = None
    utilization: float | None = None
    surpassed_threshold: float | None = None
    limit_scope: str | None = None
    error_code: str | None = None
    overage_status: str | None = None
    overage_resets_at: float | None = None
    overage_disabled_reason: str | None = None
    overage_in_use: bool | None = None
    is_using_overage: bool | None = None
    can_user_purchase_credits: bool | None = None
    has_chargeable_saved_payment_method: bool | None = None


class RateLimitEvent(Message, frozen=True, tag="rate_limit_event"):
    """A change of a rate limit."""

    rate_limit_info: RateLimit | None = None


class AuthStatus(Message, frozen=True, tag="auth_status"):
    """The client is signing in."""

    is_authenticating: bool = field(default=False, name="isAuthenticating")
    output: tuple[str, ...] = ()
    error: str | None = None


class PromptSuggestion(Message, frozen=True, tag="prompt_suggestion"):
    """A suggestion for the next prompt."""

    suggestion: str | None = None


class Goal(Struct, frozen=True, kw_only=True, gc=False):
    """A goal that the client works towards."""

    condition: str | None = None
    iterations: int | None = None
    set_at: float | None = None
    tokens_at_start: int | None = None
    last_reason: str | None = None


class ActiveGoal(Message, frozen=True, tag="active_goal"):
    """The current goal; null if there is none."""

    value: Goal | None = None


class ConversationReset(Message, frozen=True, tag="conversation_reset"):
    """The conversation starts over with another id."""

    new_conversation_id: str | None = None
    trigger: str | None = None
    user_message_uuid: str | None = None
    timestamp: str | None = None


class CommandLifecycle(Message, frozen=True, tag="command_lifecycle"):
    """A prompt with this uuid is `queued`, `started`, `completed` or `cancelled`."""

    command_uuid: str | None = None
    state: str | None = None


class KeepAlive(Message, frozen=True, tag="keep_alive"):
    """A keep-alive."""


class TranscriptMirror(Message, frozen=True, tag="transcript_mirror"):
    """Transcript lines as they are written (`--session-mirror`)."""

    file_path: str | None = field(default=None, name="filePath")
    entries: tuple[Raw, ...] = ()
