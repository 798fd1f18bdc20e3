"""`system` records: notices of the client, one class per subtype that has been seen on disk.

`System` itself is used for records without a subtype (1.0.x) and for unknown subtypes.
"""

from msgspec import Raw, Struct, field

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
