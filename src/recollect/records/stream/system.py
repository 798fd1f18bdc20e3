"""`system` messages about the session: one class per subtype, chosen in a second step.

Most never reach a transcript. Those that do are named like their record, with `Message` behind.
"""

from msgspec import Raw, Struct, field

from recollect.records.stream.envelope import Message


class SystemMessage(Message, frozen=True, tag="system"):
    """A notice; `subtype` says of what."""

    subtype: str | None = None


class McpServer(Struct, frozen=True, kw_only=True, gc=False):
    """An MCP server and how it stands."""

    name: str | None = None
    status: str | None = None
    source: str | None = None


class Plugin(Struct, frozen=True, kw_only=True, gc=False):
    """A plugin that is loaded."""

    name: str | None = None
    path: str | None = None
    version: str | None = None
    source: str | None = None


class PluginError(Struct, frozen=True, kw_only=True, gc=False):
    """A plugin that could not be loaded."""

    plugin: str | None = None
    type: str | None = None
    message: str | None = None
    path: str | None = None


class Init(SystemMessage, frozen=True):
    """A turn begins: what the client has to work with. Other messages may come before the first."""

    cwd: str | None = None
    original_cwd: str | None = None
    additional_directories: tuple[str, ...] = ()
    model: str | None = None
    claude_code_version: str | None = None
    permission_mode: str | None = field(default=None, name="permissionMode")
    api_key_source: str | None = field(default=None, name="apiKeySource")
    output_style: str | None = None
    tools: tuple[str, ...] = ()
    mcp_servers: tuple[McpServer, ...] = ()
    slash_commands: tuple[str, ...] = ()
    terminal_slash_commands: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    plugins: tuple[Plugin, ...] = ()
    plugin_errors: tuple[PluginError, ...] = ()
    betas: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()
    effort: str | None = None
    per_turn_effort_active: bool | None = None
    ultrathink_available: bool | None = None
    ultrathink_typed_raises: bool | None = None
    fast_mode_state: str | None = None
    fast_mode_disabled_reason: str | None = None
    view_mode: str | None = None
    memory_paths: Raw = Raw()
    messaging_socket_path: str | None = None
    analytics_disabled: bool | None = None
    product_feedback_disabled: bool | None = None


class KeptSegment(Struct, frozen=True, kw_only=True, gc=False):
    """A stretch of records that a partial compaction kept."""

    head_uuid: str | None = None
    anchor_uuid: str | None = None
    tail_uuid: str | None = None


class KeptMessages(Struct, frozen=True, kw_only=True, gc=False):
    """The records that a partial compaction kept."""

    anchor_uuid: str | None = None
    uuids: tuple[str, ...] = ()
    all_uuids: tuple[str, ...] = ()


class Compaction(Struct, frozen=True, kw_only=True, gc=False):
    """What a compaction did."""

    trigger: str | None = None
    pre_tokens: int | None = None
    post_tokens: int | None = None
    duration_ms: float | None = None
    cumulative_dropped_tokens: int | None = None
    preserved_segment: KeptSegment | None = None
    preserved_messages: KeptMessages | None = None


class CompactBoundaryMessage(SystemMessage, frozen=True):
    """The conversation before this message was replaced by a summary."""

    compact_metadata: Compaction | None = None
    logical_parent_uuid: str | None = None


class Status(SystemMessage, frozen=True):
    """What the client does right now; null is nothing."""

    status: str | None = None
    permission_mode: str | None = field(default=None, name="permissionMode")
    compact_result: str | None = None
    compact_error: str | None = None
    compact_output_chars: int | None = None


class NoResponse(Struct, frozen=True, kw_only=True, gc=False):
    """How long a request went unanswered."""

    waited_ms: float | None = None
    retry_wait_ms: float | None = None


class ApiRetry(SystemMessage, frozen=True):
    """A request failed and will be tried again."""

    attempt: int | None = None
    max_retries: int | None = None
    retry_delay_ms: float | None = None
    error_status: int | None = None
    error: str | None = None
    no_response: NoResponse | None = None


class ThinkingTokens(SystemMessage, frozen=True):
    """How much was thought so far: an estimate, not what is billed."""

    estimated_tokens: int | None = None
    estimated_tokens_delta: int | None = None
    user_message_uuid: str | None = None


class PermissionDenied(SystemMessage, frozen=True):
    """A tool call was not allowed."""

    tool_name: str | None = None
    tool_use_id: str | None = None
    agent_id: str | None = None
    decision_reason_type: str | None = None
    decision_reason: str | None = None
    message: str | None = None


class LocalCommandOutput(SystemMessage, frozen=True):
    """What a command printed that the client ran itself."""

    content: str | None = None


class InformationalMessage(SystemMessage, frozen=True):
    """A message for the person."""

    content: str | None = None
    level: str | None = None
    tool_use_id: str | None = None
    prevent_continuation: bool = False


class ModelFallbackMessage(SystemMessage, frozen=True):
    """Another model took over."""

    trigger: str | None = None
    original_model: str | None = None
    fallback_model: str | None = None
    content: str | None = None


class ModelRefusalMessage(ModelFallbackMessage, frozen=True):
    """A model refused; another took over, or none did."""

    direction: str | None = None
    scope: str | None = None
    request_id: str | None = None
    api_refusal_category: str | None = None
    api_refusal_explanation: str | None = None
    retracted_message_uuids: tuple[str, ...] | None = None
    refused_user_message_uuid: str | None = None
