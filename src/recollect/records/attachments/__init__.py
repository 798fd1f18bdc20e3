"""`attachment` records: what the client put beside the conversation, by kind.

A kind has a class where its fields are known. Kinds that are known by name only, and kinds of
newer clients, become `OtherAttachment` with everything that was in them.
"""

from msgspec import Raw, Struct

from recollect.records.attachments.context import (
    AgentListingDelta,
    Date,
    DateChange,
    DeferredToolsDelta,
    DeferredToolsRecord,
    Environment,
    Instructions,
    InvokedSkills,
    McpInstructionsDelta,
    ModelKind,
    OutputStyle,
    PromptSnapshot,
    SessionContext,
    SkillListing,
)
from recollect.records.attachments.files import (
    AlreadyReadFile,
    CompactFileReference,
    Directory,
    EditedImageFile,
    EditedTextFile,
    File,
    OpenedFileInIde,
    PdfReference,
    QueuedCommand,
    SelectedLinesInDiff,
    SelectedLinesInIde,
)
from recollect.records.attachments.hooks import (
    AsyncHookResponse,
    HookAdditionalContext,
    HookBlockingError,
    HookCancelled,
    HookErrorDuringExecution,
    HookNonBlockingError,
    HookPermissionDecision,
    HookStoppedContinuation,
    HookSuccess,
    HookSystemMessage,
)
from recollect.records.attachments.kinds import (
    OtherAttachment,
)
from recollect.records.attachments.notices import (
    AutoMode,
    BudgetUsd,
    CommandPermissions,
    MaxTurnsReached,
    PlanFileReference,
    PlanMode,
    PlanModeExit,
    PlanModeReentry,
    RemoteSessionChange,
    SilentTurnReminder,
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
"""The kinds that have a class."""


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
"""Kinds that clients are known to write but whose fields nobody has described."""


class Rendered(Struct, frozen=True, kw_only=True, gc=False):
    """What the model saw of an attachment."""

    content: Content = None


class Attachment(Chain, frozen=True, tag="attachment"):
    """Context beside the conversation; a link of the chain all the same."""

    attachment: AnyAttachment | None = None
    rendered: tuple[Rendered, ...] | None = None
    rendered_role: str | None = None
    rendered_in_human_turn: Raw = Raw()
    rendered_beside_tool_result: bool | None = None
