"""Kinds of attachments: context for the model, prompts and files of the user, hooks, notices."""

from msgspec import Raw, Struct, field

from recollect.records.blocks import Content
from recollect.records.conversation_records import Origin


class AttachmentKind(Struct, frozen=True, kw_only=True, rename="camel", tag_field="type", gc=False):
    """The inner object of an `attachment` record."""


class OtherAttachment(AttachmentKind, frozen=True, tag="<other>"):
    """A kind without its own class."""

    kind: str | None = None
    raw: Raw = Raw()


class PromptSnapshot(AttachmentKind, frozen=True, tag="prompt_snapshot"):
    """The system prompt and tools of a request; large and rarely needed."""

    system_prompt: Raw = Raw()
    tools: Raw = Raw()
    inline_tools: Raw = Raw()
    cli_prefix: str | None = None
    reminder_fold: bool | None = None
    context_rendering: str | None = None
    echo_wire_tool_inputs: bool | None = None
    kept_reminders: bool | None = None
    system_turns: bool | None = None
    tool_change_header: bool | None = None


class Environment(AttachmentKind, frozen=True, tag="environment"):
    """Working directory, platform, shell."""

    snapshot: Raw = Raw()
    changes: Raw = Raw()


class ModelIdentity(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """The identity that the model was given."""

    model_id: str | None = None
    marketing_name: str | None = None
    knowledge_cutoff: str | None = None


class ModelKind(AttachmentKind, frozen=True, tag="model"):
    """The model that replies from here on."""

    identity: ModelIdentity | None = None
    text: str | None = None


class Date(AttachmentKind, frozen=True, tag="date"):
    """Today's date."""

    date: str | None = None


class DateChange(AttachmentKind, frozen=True, tag="date_change"):
    """A new day began."""

    new_date: str | None = None


class Instructions(AttachmentKind, frozen=True, tag="instructions"):
    """Instruction files that were loaded."""

    files: Raw = Raw()


class SessionContext(AttachmentKind, frozen=True, tag="session_context"):
    """The state of git and more at the start."""

    context: Raw = Raw()


class OutputStyle(AttachmentKind, frozen=True, tag="output_style"):
    """The chosen output style."""

    style: str | None = None


class SkillListing(AttachmentKind, frozen=True, tag="skill_listing"):
    """The skills that can be used."""

    content: str | None = None
    names: tuple[str, ...] | None = None
    digests: Raw = Raw()
    skill_count: int | None = None
    is_initial: bool | None = None


class InvokedSkills(AttachmentKind, frozen=True, tag="invoked_skills"):
    """Skills in use, repeated after a compaction."""

    skills: Raw = Raw()


class AgentListingDelta(AttachmentKind, frozen=True, tag="agent_listing_delta"):
    """Subagent types that were added or removed."""

    added_lines: tuple[str, ...] | None = None
    added_types: tuple[str, ...] | None = None
    removed_types: tuple[str, ...] | None = None
    built_in_types: tuple[str, ...] | None = None
    built_in_plugin_types: Raw = Raw()
    is_initial: bool | None = None
    show_concurrency_note: bool | None = None


class DeferredToolsDelta(AttachmentKind, frozen=True, tag="deferred_tools_delta"):
    """Searchable tools that were added or removed."""

    added_lines: tuple[str, ...] | None = None
    added_names: tuple[str, ...] | None = None
    readded_names: tuple[str, ...] | None = None
    removed_names: tuple[str, ...] | None = None
    wire_hidden_names: Raw = Raw()
    failed_mcp_servers: Raw = Raw()
    needs_auth_mcp_servers: Raw = Raw()
    pending_mcp_servers: Raw = Raw()


class DeferredToolsRecord(AttachmentKind, frozen=True, tag="deferred_tools_record"):
    """Tools that a search made available."""

    entries: Raw = Raw()


class McpInstructionsDelta(AttachmentKind, frozen=True, tag="mcp_instructions_delta"):
    """Instructions of MCP servers that were added or removed."""

    added_blocks: Raw = Raw()
    added_names: tuple[str, ...] | None = None
    removed_names: tuple[str, ...] | None = None


class QueuedCommand(AttachmentKind, frozen=True, tag="queued_command"):
    """A prompt that was queued while a turn ran; often its only record."""

    prompt: Content = None
    command_mode: str | None = None
    source_uuid: str | None = field(default=None, name="source_uuid")
    delivery_id: str | None = field(default=None, name="delivery_id")
    origin: Origin | None = None
    run_id: str | None = None
    timestamp: str | None = None
    image_paste_ids: Raw = Raw()
    is_meta: bool = False
    human_turn: bool = False
    usage: Raw = Raw()
    tools_used_delta: tuple[str, ...] | None = None


class FileKind(AttachmentKind, frozen=True):
    """A file that was added to the context."""

    filename: str | None = None
    content: Raw = Raw()
    display_path: str | None = None
    saved_copy_framing: Raw = Raw()


class File(FileKind, frozen=True, tag="file"):
    """A file that the user mentioned."""


class AlreadyReadFile(FileKind, frozen=True, tag="already_read_file"):
    """A file that was already in the context."""


class CompactFileReference(FileKind, frozen=True, tag="compact_file_reference"):
    """A reference to a file, repeated after a compaction."""


class PdfReference(FileKind, frozen=True, tag="pdf_reference"):
    """A PDF that is read in parts."""


class Directory(FileKind, frozen=True, tag="directory"):
    """A directory that the user mentioned."""


class EditedTextFile(AttachmentKind, frozen=True, tag="edited_text_file"):
    """A file changed outside the session."""

    filename: str | None = None
    snippet: str | None = None


class EditedImageFile(AttachmentKind, frozen=True, tag="edited_image_file"):
    """An image changed outside the session."""

    filename: str | None = None
    content: Raw = Raw()


class OpenedFileInIde(AttachmentKind, frozen=True, tag="opened_file_in_ide"):
    """The file that is open in the editor."""

    filename: str | None = None


class SelectedLines(AttachmentKind, frozen=True):
    """Lines that are selected in the editor."""

    filename: str | None = None
    display_path: str | None = None
    line_start: int | None = None
    line_end: int | None = None
    content: str | None = None
    ide_name: str | None = None


class SelectedLinesInIde(SelectedLines, frozen=True, tag="selected_lines_in_ide"):
    """A selection in a file."""


class SelectedLinesInDiff(SelectedLines, frozen=True, tag="selected_lines_in_diff"):
    """A selection in a diff view."""


class HookKind(AttachmentKind, frozen=True):
    """The outcome of a hook."""

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
    """Why a hook blocked the client."""

    blocking_error: str | None = None
    command: str | None = None


class HookBlockingError(HookKind, frozen=True, tag="hook_blocking_error"):
    """A hook blocked an action."""

    blocking_error: BlockingError | None = None


class HookNonBlockingError(HookKind, frozen=True, tag="hook_non_blocking_error"):
    """A hook failed and the client continued."""


class HookCancelled(HookKind, frozen=True, tag="hook_cancelled"):
    """A hook was cancelled."""


class HookAdditionalContext(HookKind, frozen=True, tag="hook_additional_context"):
    """A hook added text for the model."""


class HookSystemMessage(HookKind, frozen=True, tag="hook_system_message"):
    """A hook has a message for the user."""


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
    """A reference to the plan, repeated after a compaction."""


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
    """A reminder from the client to the model."""

    text: str | None = None


class TotalTokensReminder(TextReminder, frozen=True, tag="total_tokens_reminder"):
    """How many tokens are left."""


class SilentTurnReminder(TextReminder, frozen=True, tag="silent_turn_reminder"):
    """The model has not spoken for a while."""


class BudgetUsd(AttachmentKind, frozen=True, tag="budget_usd"):
    """How much of a cost limit is used."""

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
    """The reply in the requested structure."""

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
