"""`attachment` records: context that the client adds to the conversation, by kind.

A kind has a class if its fields are known. All others, including kinds of newer clients, become
`OtherAttachment` with their JSON.
"""

from msgspec import Raw, Struct

from recollect.records.attachment_kinds import (
    AgentListingDelta,
    AlreadyReadFile,
    AsyncHookResponse,
    AutoMode,
    BudgetUsd,
    CommandPermissions,
    CompactFileReference,
    Date,
    DateChange,
    DeferredToolsDelta,
    DeferredToolsRecord,
    Directory,
    EditedImageFile,
    EditedTextFile,
    Environment,
    File,
    HookAdditionalContext,
    HookBlockingError,
    HookCancelled,
    HookErrorDuringExecution,
    HookNonBlockingError,
    HookPermissionDecision,
    HookStoppedContinuation,
    HookSuccess,
    HookSystemMessage,
    Instructions,
    InvokedSkills,
    MaxTurnsReached,
    McpInstructionsDelta,
    ModelKind,
    OpenedFileInIde,
    OtherAttachment,
    OutputStyle,
    PdfReference,
    PlanFileReference,
    PlanMode,
    PlanModeExit,
    PlanModeReentry,
    PromptSnapshot,
    QueuedCommand,
    RemoteSessionChange,
    SelectedLinesInDiff,
    SelectedLinesInIde,
    SessionContext,
    SilentTurnReminder,
    SkillListing,
    StructuredOutput,
    TaskReminder,
    TodoReminder,
    TotalTokensReminder,
)
from recollect.records.blocks import Content
from recollect.records.envelope import Chain

AnyAttachment = (
    QueuedCommand
    | File
    | AlreadyReadFile
    | CompactFileReference
    | PdfReference
    | Directory
    | EditedTextFile
    | EditedImageFile
    | OpenedFileInIde
    | SelectedLinesInIde
    | SelectedLinesInDiff
    | HookSuccess
    | HookBlockingError
    | HookNonBlockingError
    | HookCancelled
    | HookAdditionalContext
    | HookSystemMessage
    | HookPermissionDecision
    | HookStoppedContinuation
    | HookErrorDuringExecution
    | AsyncHookResponse
    | PromptSnapshot
    | Environment
    | ModelKind
    | Date
    | DateChange
    | Instructions
    | SessionContext
    | OutputStyle
    | SkillListing
    | InvokedSkills
    | AgentListingDelta
    | DeferredToolsDelta
    | DeferredToolsRecord
    | McpInstructionsDelta
    | PlanMode
    | PlanModeExit
    | PlanModeReentry
    | PlanFileReference
    | AutoMode
    | TodoReminder
    | TaskReminder
    | TotalTokensReminder
    | SilentTurnReminder
    | BudgetUsd
    | MaxTurnsReached
    | CommandPermissions
    | StructuredOutput
    | RemoteSessionChange
    | OtherAttachment
)
"""All kinds that have a class."""


KINDS_KNOWN_BY_NAME = frozenset(
    """
    account_memory_recall agent_mention async_hook_response_batch auto_mode_exit
    bash_output_audience_note batching_reminder batching_reminder_sent companion_intro context_tip
    credential_org critical_system_reminder diagnostics dynamic_skill fork_briefing goal_status
    hook_deferred_tool hook_plugin_listing language mcp_dropped_tools_delta mcp_resource
    memory_update nested_memory output_style_instructions output_token_usage read_truncation_notice
    relevant_memories session_settings skill_mention task_status team_context teammate_mailbox
    thinking_drop thinking_stripped token_usage ultra_effort_enter ultra_effort_exit
    ultrathink_effort withheld_memory workflow_keyword_request
    """.split()
)
"""Kinds that clients are known to write but whose fields are not known."""


class Rendered(Struct, frozen=True, kw_only=True, gc=False):
    """An attachment as the model saw it."""

    content: Content = None


class Attachment(Chain, frozen=True, tag="attachment"):
    """Context that the client added to the conversation."""

    attachment: AnyAttachment | None = None
    rendered: tuple[Rendered, ...] | None = None
    rendered_role: str | None = None
    rendered_in_human_turn: Raw = Raw()
    rendered_beside_tool_result: bool | None = None
