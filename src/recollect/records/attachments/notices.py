"""Attachments about modes, limits and results, and reminders to the model."""

from msgspec import Raw, field

from recollect.records.attachments.kinds import AttachmentKind


class PlanKind(AttachmentKind, frozen=True):
    """Plan mode and its plan file."""

    reminder_type: str | None = None
    is_sub_agent: bool | None = None
    plan_file_path: str | None = None
    plan_exists: bool | None = None
    plan_content: str | None = None


class PlanMode(PlanKind, frozen=True, tag="plan_mode"):
    """Plan mode is on."""


class PlanModeExit(PlanKind, frozen=True, tag="plan_mode_exit"):
    """Plan mode was left."""


class PlanModeReentry(PlanKind, frozen=True, tag="plan_mode_reentry"):
    """Plan mode was entered again."""


class PlanFileReference(PlanKind, frozen=True, tag="plan_file_reference"):
    """The plan, named again after a compaction."""


class AutoMode(AttachmentKind, frozen=True, tag="auto_mode"):
    """Auto mode is on."""


class ListReminder(AttachmentKind, frozen=True):
    """A list that the model was reminded of."""

    content: Raw = Raw()
    item_count: int | None = None


class TodoReminder(ListReminder, frozen=True, tag="todo_reminder"):
    """The todo list."""


class TaskReminder(ListReminder, frozen=True, tag="task_reminder"):
    """The task list."""


class TextReminder(AttachmentKind, frozen=True):
    """Words of the client to the model."""

    text: str | None = None


class TotalTokensReminder(TextReminder, frozen=True, tag="total_tokens_reminder"):
    """How many tokens are left."""


class SilentTurnReminder(TextReminder, frozen=True, tag="silent_turn_reminder"):
    """The model has not spoken for a while."""


class BudgetUsd(AttachmentKind, frozen=True, tag="budget_usd"):
    """Money spent and left of a limit."""

    used: float | None = None
    total: float | None = None
    remaining: float | None = None


class MaxTurnsReached(AttachmentKind, frozen=True, tag="max_turns_reached"):
    """The limit on turns ended the run."""

    max_turns: int | None = None
    turn_count: int | None = None
    exit_committed: bool | None = None


class CommandPermissions(AttachmentKind, frozen=True, tag="command_permissions"):
    """Tools that a command or skill may use."""

    allowed_tools: tuple[str, ...] | None = None
    model: str | None = None


class StructuredOutput(AttachmentKind, frozen=True, tag="structured_output"):
    """The answer in the shape that was asked for."""

    data: Raw = Raw()
    tool_use_id: str | None = field(default=None, name="toolUseID")


class RemoteSessionChange(AttachmentKind, frozen=True, tag="remote_session_change"):
    """Remote session, commit or pull request changed."""

    url: str | None = None
    commit: str | None = None
    pr: str | None = None
    managed_commit: bool | None = None
    managed_pr: bool | None = None
    send_user_file_hint: bool | None = None
