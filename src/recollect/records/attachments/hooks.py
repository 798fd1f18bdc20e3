"""Attachments by which hooks report what they did."""

from msgspec import Raw, Struct, field

from recollect.records.attachments.kinds import AttachmentKind


class HookKind(AttachmentKind, frozen=True):
    """What a hook did or said."""

    hook_name: str | None = None
    hook_event: str | None = None
    tool_use_id: str | None = field(default=None, name="toolUseID")
    content: Raw = Raw()
    command: str | None = None
    stdout: str | None = None
    stderr: str | None = None
    exit_code: int | None = None
    duration_ms: float | None = None


class HookSuccess(HookKind, frozen=True, tag="hook_success"):
    """A hook ran and passed."""


class BlockingError(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """Why a hook stopped the client."""

    blocking_error: str | None = None
    command: str | None = None


class HookBlockingError(HookKind, frozen=True, tag="hook_blocking_error"):
    """A hook stopped what was about to happen."""

    blocking_error: BlockingError | None = None


class HookNonBlockingError(HookKind, frozen=True, tag="hook_non_blocking_error"):
    """A hook failed and the client went on."""


class HookCancelled(HookKind, frozen=True, tag="hook_cancelled"):
    """A hook was cancelled."""


class HookAdditionalContext(HookKind, frozen=True, tag="hook_additional_context"):
    """A hook added text for the model."""


class HookSystemMessage(HookKind, frozen=True, tag="hook_system_message"):
    """A hook had a message for the person."""


class HookPermissionDecision(HookKind, frozen=True, tag="hook_permission_decision"):
    """A hook allowed or denied a tool."""

    decision: str | None = None


class HookStoppedContinuation(HookKind, frozen=True, tag="hook_stopped_continuation"):
    """A hook ended the turn."""

    message: str | None = None


class HookErrorDuringExecution(HookKind, frozen=True, tag="hook_error_during_execution"):
    """A hook could not be run."""


class AsyncHookResponse(HookKind, frozen=True, tag="async_hook_response"):
    """A background hook answered."""

    process_id: str | None = None
    response: Raw = Raw()
