"""`system` records, notices of the client, one class per subtype that has been seen on disk; and
`progress` and `saved_hook_context` records (clients 2.1.2 to about 2.1.97).

`System` itself is used for records without a subtype (1.0.x) and for unknown subtypes.

`agent_progress` contains a whole assistant message with usage, a copy from the subagent's own
transcript. It stays `Raw` here; only counting reads it, for subagents whose transcript was deleted.
"""

from msgspec import Raw, Struct, field

from recollect.records.conversation_records import RelayedUsage
from recollect.records.envelope import Chain


class System(Chain, frozen=True, tag="system"):
    """A notice of the client; `subtype` is its kind."""

    subtype: str | None = None
    content: str | None = None
    level: str | None = None
    tool_use_id: str | None = field(default=None, name="toolUseID")


class PreservedSegment(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """A range of records that a partial compaction kept."""

    head_uuid: str | None = None
    anchor_uuid: str | None = None
    tail_uuid: str | None = None


class PreservedMessages(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """The records that a partial compaction kept, to be attached after the anchor."""

    anchor_uuid: str | None = None
    uuids: tuple[str, ...] = ()
    all_uuids: tuple[str, ...] = ()


class CompactMetadata(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """Details of a compaction."""

    trigger: str | None = None
    pre_tokens: int | None = None
    post_tokens: int | None = None
    duration_ms: float | None = None
    cumulative_dropped_tokens: int | None = None
    pre_compact_discovered_tools: tuple[str, ...] | None = None
    messages_summarized: int | None = None
    user_context: str | None = None
    running_turn_prompt: Raw = Raw()
    preserved_segment: PreservedSegment | None = None
    preserved_messages: PreservedMessages | None = None


class CompactBoundary(System, frozen=True):
    """The conversation before this record was replaced by a summary."""

    compact_metadata: CompactMetadata | None = None


class MicrocompactMetadata(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """Which old tool results were cleared."""

    trigger: str | None = None
    pre_tokens: int | None = None
    tokens_saved: int | None = None
    compacted_tool_ids: tuple[str, ...] = ()
    cleared_attachment_uuids: tuple[str, ...] = field(default=(), name="clearedAttachmentUUIDs")


class MicrocompactBoundary(System, frozen=True):
    """Old tool results were cleared; the conversation continues."""

    microcompact_metadata: MicrocompactMetadata | None = None


class CommandRun(Struct, frozen=True, kw_only=True, gc=False):
    """A slash command and its arguments."""

    command: str | None = None
    args: str | None = None


class LocalCommand(System, frozen=True):
    """A command that the client ran itself, or its output; the text may contain ANSI escapes."""

    command_run: CommandRun | None = None
    context_usage: Raw = Raw()
    usage_report: Raw = Raw()
    is_display_only: bool | None = None


class ApiError(System, frozen=True):
    """A request failed and will be retried."""

    error: Raw = Raw()
    cause: Raw = Raw()
    retry_in_ms: float | None = None
    retry_attempt: int | None = None
    max_retries: int | None = None
    source: str | None = None


class HookInfo(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """A hook that ran at the end of a turn."""

    command: str | None = None
    prompt_text: str | None = None
    duration_ms: float | None = None


class StopHookSummary(System, frozen=True):
    """The hooks that ran at the end of a turn."""

    hook_count: int | None = None
    hook_infos: tuple[HookInfo, ...] = ()
    hook_errors: Raw = Raw()
    hook_additional_context: Raw = Raw()
    prevented_continuation: bool = False
    stop_reason: str | None = None
    has_output: bool = False


class TurnDuration(System, frozen=True):
    """The duration of a turn; it is the parent of the next prompt."""

    duration_ms: float | None = None
    message_count: int | None = None
    pending_background_agent_count: int | None = None
    pending_workflow_count: int | None = None


class AwaySummary(System, frozen=True):
    """A recap for a user who was away."""


class Informational(System, frozen=True):
    """A message for the user."""


class BridgeStatus(System, frozen=True):
    """Remote control was switched on or off."""

    url: str | None = None
    upgrade_nudge: str | None = None


class ScheduledTaskFire(System, frozen=True):
    """A scheduled task started a turn."""


class AgentsKilled(System, frozen=True):
    """Background subagents were stopped."""


class ModelFallback(System, frozen=True):
    """Another model took over."""

    trigger: str | None = None
    original_model: str | None = None
    fallback_model: str | None = None


class ModelRefusal(ModelFallback, frozen=True):
    """A model refused; another took over, or none did."""

    request_id: str | None = None
    category: str | None = None
    retracted_message_uuids: tuple[str, ...] | None = None


class MemorySaved(System, frozen=True):
    """Memory files were written."""

    written_paths: tuple[str, ...] = ()


class PermissionRetry(System, frozen=True):
    """A denied tool was allowed after all."""

    commands: Raw = Raw()


class CloudSessionStatus(System, frozen=True):
    """The state of a session that runs in the cloud."""


class ModelConsentFallback(ModelFallback, frozen=True):
    """A model needs consent that was not given; another took over."""


class FileSnapshot(System, frozen=True):
    """Files were recorded for a later rewind."""


SYSTEM_SUBTYPES: dict[str, type[System]] = {
    "compact_boundary": CompactBoundary,
    "microcompact_boundary": MicrocompactBoundary,
    "local_command": LocalCommand,
    "api_error": ApiError,
    "stop_hook_summary": StopHookSummary,
    "turn_duration": TurnDuration,
    "away_summary": AwaySummary,
    "informational": Informational,
    "bridge_status": BridgeStatus,
    "scheduled_task_fire": ScheduledTaskFire,
    "agents_killed": AgentsKilled,
    "model_fallback": ModelFallback,
    "model_refusal_fallback": ModelRefusal,
    "model_refusal_no_fallback": ModelRefusal,
    "memory_saved": MemorySaved,
    "permission_retry": PermissionRetry,
    "cloud_session_status": CloudSessionStatus,
    "model_consent_fallback": ModelConsentFallback,
    "file_snapshot": FileSnapshot,
}
"""The subtypes that have been seen on disk."""


class ProgressData(Struct, frozen=True, kw_only=True, rename="camel", tag_field="type", gc=False):
    """The inner object of a `progress` record."""


class OtherProgress(ProgressData, frozen=True, tag="<other>"):
    """An unknown kind, with its JSON."""

    kind: str | None = None
    raw: Raw = Raw()


class HookProgress(ProgressData, frozen=True, tag="hook_progress"):
    """A hook is running."""

    hook_event: str | None = None
    hook_name: str | None = None
    command: str | None = None
    prompt_text: str | None = None
    status_message: str | None = None


class ShellProgress(ProgressData, frozen=True):
    """Output of a running command."""

    output: str | None = None
    full_output: str | None = None
    elapsed_time_seconds: float | None = None
    total_lines: int | None = None
    total_bytes: int | None = None
    task_id: str | None = None
    timeout_ms: float | None = None


class BashProgress(ShellProgress, frozen=True, tag="bash_progress"):
    """A Bash command is running."""


class PowershellProgress(ShellProgress, frozen=True, tag="powershell_progress"):
    """A PowerShell command is running."""


class AgentProgress(ProgressData, frozen=True, tag="agent_progress"):
    """A message of a subagent."""

    agent_id: str | None = None
    prompt: str | None = None
    message: Raw = Raw()
    normalized_messages: Raw = Raw()
    resume: Raw = Raw()


class RelayedRecord(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """The fields that counting needs of the record nested in an `agent_progress`."""

    type: str | None = None
    uuid: str | None = None
    timestamp: str | None = None
    request_id: str | None = None
    message: RelayedUsage | None = None


class AgentUsage(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """The fields that counting needs of the `data` of an `agent_progress`."""

    type: str | None = None
    agent_id: str | None = None
    message: RelayedRecord | None = None


class McpProgress(ProgressData, frozen=True, tag="mcp_progress"):
    """An MCP tool started, ended or failed."""

    status: str | None = None
    server_name: str | None = None
    tool_name: str | None = None
    elapsed_time_ms: float | None = None
    progress: float | None = None
    total: float | None = None
    progress_message: str | None = None


class WaitingForTask(ProgressData, frozen=True, tag="waiting_for_task"):
    """The client is waiting for a background task."""

    task_description: str | None = None
    task_type: str | None = None


class QueryUpdate(ProgressData, frozen=True, tag="query_update"):
    """A web search was started."""

    query: str | None = None


class SearchResultsReceived(ProgressData, frozen=True, tag="search_results_received"):
    """A web search returned."""

    query: str | None = None
    result_count: int | None = None


class ReplToolCall(ProgressData, frozen=True, tag="repl_tool_call"):
    """A tool was called from a program."""


class Progress(Chain, frozen=True, tag="progress"):
    """Progress of a running tool; it may be the parent of other records."""

    data: (
        HookProgress
        | BashProgress
        | PowershellProgress
        | AgentProgress
        | McpProgress
        | WaitingForTask
        | QueryUpdate
        | SearchResultsReceived
        | ReplToolCall
        | OtherProgress
        | None
    ) = None
    tool_use_id: str | None = field(default=None, name="toolUseID")
    parent_tool_use_id: str | None = field(default=None, name="parentToolUseID")


class SavedHookContext(Chain, frozen=True, tag="saved_hook_context"):
    """Text that a hook gave to the model, saved for resuming."""

    content: tuple[str, ...] | str | None = None
    hook_name: str | None = None
    hook_event: str | None = None
    tool_use_id: str | None = field(default=None, name="toolUseID")
