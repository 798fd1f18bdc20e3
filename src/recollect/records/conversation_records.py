"""`user` and `assistant` records: prompts, replies, tool calls and tool results."""

from msgspec import Raw, Struct, field

from recollect.records import blocks, envelope, token_usage

COMPACTION_MARK = "This session is being continued from a previous conversation"
"""How every compaction summary starts; a stream has no other mark."""


class UserMessage(Struct, frozen=True, kw_only=True, gc=False):
    """The message of a `user` record."""

    role: str | None = None
    content: blocks.Content = None


class Origin(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """Who caused a prompt: a human, a channel, a task notification, …"""

    kind: str | None = None
    name: str | None = None
    server: str | None = None
    source: str | None = None
    from_: str | None = field(default=None, name="from")
    producer: str | None = None
    run_id: str | None = None


class PermissionDecision(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """Why a tool was or was not allowed to run."""

    decision: str | None = None
    source: str | None = None
    reason_type: str | None = None
    rule_source: str | None = None
    reason_code: str | None = None
    grant_scope: str | None = None


class TurnPosition(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """The client's counters of prompts and turns."""

    prompt_index: int | None = None
    turn_index: int | None = None


class McpMeta(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """What an MCP tool returned in addition to content blocks."""

    structured_content: Raw = Raw()
    meta: Raw = field(default=Raw(), name="_meta")


class User(envelope.Chain, frozen=True, tag="user"):
    """A prompt, tool results, a command echo, a compaction summary, or injected text."""

    message: UserMessage | None = None
    prompt_id: str | None = None
    prompt_source: str | None = None
    turn_origin: str | None = None
    turn_position: TurnPosition | None = None
    origin: Origin | None = None
    permission_mode: str | None = None
    tool_use_result: Raw = Raw()
    source_tool_assistant_uuid: str | None = field(default=None, name="sourceToolAssistantUUID")
    source_tool_use_id: str | None = field(default=None, name="sourceToolUseID")
    tool_denial_kind: str | None = None
    permission_decision: PermissionDecision | None = None
    tool_ends_turn: bool = False
    sandboxed: bool | None = None
    mcp_meta: McpMeta | None = None
    mcp_call_not_read_only: Raw = Raw()
    is_compact_summary: bool = False
    is_visible_in_transcript_only: bool = False
    summarized_turn_prompt_uuids: tuple[str, ...] | None = None
    summarize_metadata: Raw = Raw()
    interrupted_message_id: str | None = None
    refused_message_id: str | None = None
    image_paste_ids: Raw = Raw()
    todos: Raw = Raw()
    thinking_metadata: Raw = Raw()
    contexts: Raw = Raw()
    turn_companion: Raw = Raw()
    queue_skip_attachments: Raw = Raw()
    queue_transcript_only: Raw = Raw()
    holds_persons_words: Raw = Raw()
    user_feedback: Raw = Raw()
    server_classifier_context: Raw = Raw()
    classifier_meta_lines: Raw = Raw()
    plan_content: str | None = None
    joined_notice_lengths: Raw = Raw()
    joined_notice_own: Raw = Raw()
    joined_notice_run_ids: Raw = Raw()


class ApiMessage(Struct, frozen=True, kw_only=True, gc=False):
    """The Messages API object of an assistant record, normally with one block of the response."""

    id: str | None = None
    type: str | None = None
    role: str | None = None
    model: str | None = None
    content: blocks.Content = None
    stop_reason: str | None = None
    stop_sequence: str | None = None
    stop_details: Raw = Raw()
    usage: token_usage.Usage | None = None
    container: Raw = Raw()
    context_management: Raw = Raw()
    diagnostics: Raw = Raw()
    input_transformations: Raw = Raw()


SYNTHETIC_MODEL = token_usage.SYNTHETIC_MODEL
"""`message.model` of messages that the client wrote itself, without calling a model."""


class Assistant(envelope.Chain, frozen=True, tag="assistant"):
    """One block of a model's response, or a message that the client wrote instead."""

    message: ApiMessage | None = None
    request_id: str | None = None
    api_block_index: int | None = None
    request_ref: str | None = None
    requested_model: str | None = None
    prompt_cache_requested: str | None = None
    effort: str | None = None
    per_turn_effort: Raw = Raw()
    made_by: str | None = None
    thinking_duration_ms: float | None = None
    thinking_display: str | None = None
    tool_input_stream_ms: float | None = None
    wire_tool_inputs: Raw = Raw()
    wire_ingest_context: Raw = Raw()
    attribution_agent: str | None = None
    attribution_skill: str | None = None
    attribution_plugin: str | None = None
    attribution_mcp_server: str | None = None
    attribution_mcp_tool: str | None = None
    advisor_model: str | None = None
    quota_limits: Raw = Raw()
    server_classifier_request: Raw = Raw()
    is_api_error_message: bool = False
    error: Raw = Raw()
    api_error_status: int | None = None
    api_error_type: str | None = None
    error_details: Raw = Raw()
    api_error: Raw = Raw()
    failed_response_had_no_tool_call: bool = False
    resend_cannot_cure: bool = False
    is_aborted_mid_stream: bool = False
    interrupted_by_shutdown: bool = False
    cost_usd: float | None = field(default=None, name="costUSD")
    duration_ms: float | None = None


class BlockHead(Struct, frozen=True, kw_only=True, gc=False):
    """The type of a content block, and the tool if it is a tool call."""

    type: str | None = None
    id: str | None = None
    name: str | None = None


class MessageUsage(Struct, frozen=True, kw_only=True, gc=False):
    """The fields of a message that counting needs."""

    id: str | None = None
    model: str | None = None
    content: tuple[BlockHead, ...] | str | None = None
    usage: token_usage.Usage | None = None


class RelayedUsage(MessageUsage, frozen=True, kw_only=True, gc=False):
    """The fields that counting needs of a subagent's message in a progress record."""

    stop_reason: str | None = None


class AssistantUsage(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """The fields of an assistant record that counting needs, without its content.

    With the type `progress` it is a subagent's message from a progress record of the parent.
    """

    type: str | None = None
    uuid: str | None = None
    is_sidechain: bool = False
    session_id: str | None = None
    agent_id: str | None = None
    timestamp: str | None = None
    cwd: str | None = None
    version: str | None = None
    git_branch: str | None = None
    entrypoint: str | None = None
    request_id: str | None = None
    message: MessageUsage | None = None
    cost_usd: float | None = field(default=None, name="costUSD")
    forked_from: envelope.ForkedFrom | None = None
    span: envelope.Span | None = field(default=None, name=envelope.SPAN_KEY)

    @property
    def is_relayed(self) -> bool:
        """Whether it is a subagent's message from a progress record of the parent."""
        return self.type == "progress"
