"""`attachment` records: context that the client adds to the conversation, by kind.

A kind has a class if its fields are known. All others, including kinds of newer clients, become
`OtherAttachment` with their JSON.
"""

from msgspec import Raw, Struct

from recollect.records import attachment_kinds
from recollect.records.blocks import Content
from recollect.records.envelope import Chain

AnyAttachment = (
    attachment_kinds.QueuedCommand
    | attachment_kinds.File
    | attachment_kinds.AlreadyReadFile
    | attachment_kinds.CompactFileReference
    | attachment_kinds.PdfReference
    | attachment_kinds.Directory
    | attachment_kinds.EditedTextFile
    | attachment_kinds.EditedImageFile
    | attachment_kinds.OpenedFileInIde
    | attachment_kinds.SelectedLinesInIde
    | attachment_kinds.SelectedLinesInDiff
    | attachment_kinds.HookSuccess
    | attachment_kinds.HookBlockingError
    | attachment_kinds.HookNonBlockingError
    | attachment_kinds.HookCancelled
    | attachment_kinds.HookAdditionalContext
    | attachment_kinds.HookSystemMessage
    | attachment_kinds.HookPermissionDecision
    | attachment_kinds.HookStoppedContinuation
    | attachment_kinds.HookErrorDuringExecution
    | attachment_kinds.AsyncHookResponse
    | attachment_kinds.PromptSnapshot
    | attachment_kinds.Environment
    | attachment_kinds.ModelKind
    | attachment_kinds.Date
    | attachment_kinds.DateChange
    | attachment_kinds.Instructions
    | attachment_kinds.SessionContext
    | attachment_kinds.OutputStyle
    | attachment_kinds.SkillListing
    | attachment_kinds.InvokedSkills
    | attachment_kinds.AgentListingDelta
    | attachment_kinds.DeferredToolsDelta
    | attachment_kinds.DeferredToolsRecord
    | attachment_kinds.McpInstructionsDelta
    | attachment_kinds.PlanMode
    | attachment_kinds.PlanModeExit
    | attachment_kinds.PlanModeReentry
    | attachment_kinds.PlanFileReference
    | attachment_kinds.AutoMode
    | attachment_kinds.TodoReminder
    | attachment_kinds.TaskReminder
    | attachment_kinds.TotalTokensReminder
    | attachment_kinds.SilentTurnReminder
    | attachment_kinds.BudgetUsd
    | attachment_kinds.MaxTurnsReached
    | attachment_kinds.CommandPermissions
    | attachment_kinds.StructuredOutput
    | attachment_kinds.RemoteSessionChange
    | attachment_kinds.OtherAttachment
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
