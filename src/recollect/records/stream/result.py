"""`result` messages: a turn is over. One process may print several.

`usage` is that of the turn's main loop only and may be all zero. `model_usage` and
`total_cost_usd` are running totals with subagents and compactions in them: read the last one,
never add them up.
"""

from msgspec import Raw, Struct, field

from recollect.records.state import ModelUsage
from recollect.records.stream.conversation import MessageOrigin
from recollect.records.stream.envelope import Message
from recollect.records.usage import Usage


class PermissionDenial(Struct, frozen=True, kw_only=True, gc=False):
    """A tool call that was not allowed."""

    tool_name: str | None = None
    tool_use_id: str | None = None
    tool_input: Raw = Raw()


class DeferredToolUse(Struct, frozen=True, kw_only=True, gc=False):
    """The tool call that the turn stopped at, to be run by somebody else."""

    id: str | None = None
    name: str | None = None
    input: Raw = Raw()


class KilledSubagents(Struct, frozen=True, kw_only=True, gc=False):
    """Subagents that were stopped, by who did it."""

    parent: int = 0
    user: int = 0
    system: int = 0


class RefusedSubagents(Struct, frozen=True, kw_only=True, gc=False):
    """Subagents that were not started, by the limit that was reached."""

    depth_limit: int = 0
    concurrency_limit: int = 0
    budget: int = 0


class RequestedSubagents(Struct, frozen=True, kw_only=True, gc=False):
    """Subagents that the model asked for, by how they should run."""

    background: int = 0
    foreground: int = 0
    unset: int = 0


class SubagentStats(Struct, frozen=True, kw_only=True, gc=False):
    """The subagents of the session so far."""

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
    """The end of a turn; an API failure has subtype `success`, `is_error` and the error as text."""

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
    usage: Usage | None = None
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
