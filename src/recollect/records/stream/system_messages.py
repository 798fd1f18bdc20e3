"""`system` messages of the stream: one class per subtype, chosen in a second step.

Most never reach a transcript. Those that do are named like their record plus `Message`.
"""

from msgspec import Raw, Struct, field

from recollect.records.stream.stream_messages import Message


class SystemMessage(Message, frozen=True, tag="system"):
    """A notice of the client; `subtype` is its kind."""

    subtype: str | None = None


class McpServer(Struct, frozen=True, kw_only=True, gc=False):
    """An MCP server and its status."""

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
    """A turn starts: the client's configuration. Other messages may precede the first one."""

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
    """A range of records that a partial compaction kept."""

    head_uuid: str | None = None
    anchor_uuid: str | None = None
    tail_uuid: str | None = None


class KeptMessages(Struct, frozen=True, kw_only=True, gc=False):
    """The records that a partial compaction kept."""

    anchor_uuid: str | None = None
    uuids: tuple[str, ...] = ()
    all_uuids: tuple[str, ...] = ()


class Compaction(Struct, frozen=True, kw_only=True, gc=False):
    """Details of a compaction."""

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
    """What the client is doing right now; null if nothing."""

    status: str | None = None
    permission_mode: str | None = field(default=None, name="permissionMode")
    compact_result: str | None = None
    compact_error: str | None = None
    compact_output_chars: int | None = None


class NoResponse(Struct, frozen=True, kw_only=True, gc=False):
    """How long a request has been unanswered."""

    waited_ms: float | None = None
    retry_wait_ms: float | None = None


class ApiRetry(SystemMessage, frozen=True):
    """A request failed and will be retried."""

    attempt: int | None = None
    max_retries: int | None = None
    retry_delay_ms: float | None = None
    error_status: int | None = None
    error: str | None = None
    no_response: NoResponse | None = None


class ThinkingTokens(SystemMessage, frozen=True):
    """Thinking tokens so far: an estimate, not the billed number."""

    estimated_tokens: int | None = None
    estimated_tokens_delta: int | None = None
    user_message_uuid: str | None = None


class PermissionDenied(SystemMessage, frozen=True):
    """A tool call was denied."""

    tool_name: str | None = None
    tool_use_id: str | None = None
    agent_id: str | None = None
    decision_reason_type: str | None = None
    decision_reason: str | None = None
    message: str | None = None


class LocalCommandOutput(SystemMessage, frozen=True):
    """Output of a command that the client ran itself."""

    content: str | None = None


class InformationalMessage(SystemMessage, frozen=True):
    """A message for the user."""

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


class HookStarted(SystemMessage, frozen=True):
    """A hook is running."""

    hook_id: str | None = None
    hook_name: str | None = None
    hook_event: str | None = None


class HookProgress(HookStarted, frozen=True):
    """Output of a hook so far."""

    stdout: str | None = None
    stderr: str | None = None
    output: str | None = None


class HookResponse(HookProgress, frozen=True):
    """A hook ended."""

    exit_code: int | None = None
    outcome: str | None = None


class TaskUsage(Struct, frozen=True, kw_only=True, gc=False):
    """Usage of a task so far."""

    total_tokens: int | None = None
    tool_uses: int | None = None
    duration_ms: float | None = None


class TaskMessage(SystemMessage, frozen=True):
    """An event of a task: a subagent, a background command, a workflow, …"""

    task_id: str | None = None
    run_id: str | None = None
    tool_use_id: str | None = None


class TaskStarted(TaskMessage, frozen=True):
    """A task started."""

    description: str | None = None
    task_type: str | None = None
    subagent_type: str | None = None
    workflow_name: str | None = None
    prompt: str | None = None
    is_backgrounded: bool | None = None
    spawn_depth: int | None = None
    parent_task_id: str | None = None
    skip_transcript: bool = False
    ambient: bool = False


class TaskProgress(TaskMessage, frozen=True):
    """Progress of a task."""

    description: str | None = None
    subagent_type: str | None = None
    usage: TaskUsage | None = None
    last_tool_name: str | None = None
    summary: str | None = None
    workflow_progress: Raw = Raw()


class TaskPatch(Struct, frozen=True, kw_only=True, gc=False):
    """The changed fields of a task."""

    status: str | None = None
    description: str | None = None
    end_time: float | None = None
    total_paused_ms: float | None = None
    error: str | None = None
    is_backgrounded: bool | None = None


class TaskUpdated(TaskMessage, frozen=True):
    """A task changed."""

    patch: TaskPatch | None = None


class TaskNotification(TaskMessage, frozen=True):
    """A task ended."""

    status: str | None = None
    reason: str | None = None
    output_file: str | None = None
    summary: str | None = None
    usage: TaskUsage | None = None
    resource_links: Raw = Raw()
    skip_transcript: bool = False
    ambient: bool = False


class BackgroundTask(Struct, frozen=True, kw_only=True, gc=False):
    """A background task."""

    task_id: str | None = None
    run_id: str | None = None
    task_type: str | None = None
    description: str | None = None
    subagent_type: str | None = None
    ambient: bool = False


class BackgroundTasksChanged(SystemMessage, frozen=True):
    """All background tasks, after a change."""

    tasks: tuple[BackgroundTask, ...] = ()


class Notification(SystemMessage, frozen=True):
    """A short text to show temporarily."""

    key: str | None = None
    text: str | None = None
    priority: str | None = None
    color: str | None = None
    timeout_ms: float | None = None


class Memory(Struct, frozen=True, kw_only=True, gc=False):
    """A memory file that was used."""

    path: str | None = None
    scope: str | None = None
    content: str | None = None


class MemoryRecall(SystemMessage, frozen=True):
    """Memories were used."""

    mode: str | None = None
    memories: tuple[Memory, ...] = ()


class PersistedFile(Struct, frozen=True, kw_only=True, gc=False):
    """A file that was uploaded, or the error that prevented it."""

    filename: str | None = None
    file_id: str | None = None
    error: str | None = None


class FilesPersisted(SystemMessage, frozen=True):
    """Files were uploaded."""

    files: tuple[PersistedFile, ...] = ()
    failed: tuple[PersistedFile, ...] = ()
    processed_at: str | None = None


class ElicitationComplete(SystemMessage, frozen=True):
    """An MCP server received the input it had asked the user for."""

    mcp_server_name: str | None = None
    elicitation_id: str | None = None


class PluginInstall(SystemMessage, frozen=True):
    """A plugin is being installed."""

    status: str | None = None
    name: str | None = None
    error: str | None = None


class CommandsChanged(SystemMessage, frozen=True):
    """All slash commands, after a change."""

    commands: Raw = Raw()


class SessionStateChanged(SystemMessage, frozen=True):
    """The client is `idle`, `running`, or waiting for the user (`requires_action`)."""

    state: str | None = None


class SessionTitleChanged(SystemMessage, frozen=True):
    """The title of the session changed."""

    title: str | None = None


class WorkerShuttingDown(SystemMessage, frozen=True):
    """The client is about to stop."""

    reason: str | None = None


class MirrorKey(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """The transcript that was to be mirrored."""

    project_key: str | None = None
    session_id: str | None = None
    subpath: str | None = None


class MirrorError(SystemMessage, frozen=True):
    """Transcript lines could not be mirrored."""

    error: str | None = None
    key: MirrorKey | None = None


class SessionWritesLost(SystemMessage, frozen=True):
    """Lines could not be written to the transcript, so the file may be incomplete."""

    error: Raw = Raw()


class ControlRequestProgress(SystemMessage, frozen=True):
    """A control request is still in progress."""

    request_id: str | None = None
    status: str | None = None
    attempt: int | None = None
    max_retries: int | None = None
    retry_delay_ms: float | None = None
    error_status: int | None = None
