"""Messages of a type of their own that are neither conversation nor result.

`transcript_mirror` is the odd one: it carries lines of the transcript itself.
"""

from msgspec import Raw, Struct, field

from recollect.records.stream.envelope import Message


class SubagentRetry(Struct, frozen=True, kw_only=True, gc=False):
    """A request of a subagent failed and will be tried again."""

    agent_id: str | None = None
    attempt: int | None = None
    max_retries: int | None = None
    retry_delay_ms: float | None = None
    error_status: int | None = None
    error_category: str | None = None


class ToolProgress(Message, frozen=True, tag="tool_progress"):
    """A tool call still runs."""

    tool_use_id: str | None = None
    tool_name: str | None = None
    parent_tool_use_id: str | None = None
    elapsed_time_seconds: float | None = None
    task_id: str | None = None
    heartbeat: bool = False
    subagent_type: str | None = None
    subagent_retry: SubagentRetry | None = None


class ToolUseSummary(Message, frozen=True, tag="tool_use_summary"):
    """Several tool calls in one sentence."""

    summary: str | None = None
    preceding_tool_use_ids: tuple[str, ...] = ()


class RateLimit(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """How much of a subscription's limit is used."""

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
    """The limit of a subscription, when it changes."""

    rate_limit_info: RateLimit | None = None


class AuthStatus(Message, frozen=True, tag="auth_status"):
    """The client signs in."""

    is_authenticating: bool = field(default=False, name="isAuthenticating")
    output: tuple[str, ...] = ()
    error: str | None = None


class PromptSuggestion(Message, frozen=True, tag="prompt_suggestion"):
    """What the person may want to say next."""

    suggestion: str | None = None


class Goal(Struct, frozen=True, kw_only=True, gc=False):
    """A condition that the client works towards."""

    condition: str | None = None
    iterations: int | None = None
    set_at: float | None = None
    tokens_at_start: int | None = None
    last_reason: str | None = None


class ActiveGoal(Message, frozen=True, tag="active_goal"):
    """The goal; null means that there is none any more."""

    value: Goal | None = None


class ConversationReset(Message, frozen=True, tag="conversation_reset"):
    """The conversation starts anew, under another id."""

    new_conversation_id: str | None = None
    trigger: str | None = None
    user_message_uuid: str | None = None
    timestamp: str | None = None


class KeepAlive(Message, frozen=True, tag="keep_alive"):
    """Nothing happened."""


class TranscriptMirror(Message, frozen=True, tag="transcript_mirror"):
    """Lines of a transcript as they are written (`--session-mirror`)."""

    file_path: str | None = field(default=None, name="filePath")
    entries: tuple[Raw, ...] = ()
