"""Records that are not part of the conversation, and why: the list that views are checked against.

Texts in such a record still become a routine notice, unless `session.record_texts` has a reason to
leave them out; everything is in the records, and `raw` shows any of them. A kind of record that is
neither shown nor listed is a bug, and a test looks for it. State records, such as titles and links,
are routine notices where they change.
"""

from recollect.documents.kinds import InputKind
from recollect.records import attachment_kinds, system_records

HIDDEN_SYSTEM: tuple[type[system_records.System], ...] = (
    system_records.FileSnapshot,
    system_records.TurnDuration,
)
"""Bookkeeping; how long a turn took is a figure of its view."""

HIDDEN_ATTACHMENTS: tuple[type[attachment_kinds.AttachmentKind], ...] = (
    attachment_kinds.AgentListingDelta,
    attachment_kinds.AutoMode,
    attachment_kinds.BudgetUsd,
    attachment_kinds.CommandPermissions,
    attachment_kinds.Date,
    attachment_kinds.DateChange,
    attachment_kinds.DeferredToolsDelta,
    attachment_kinds.DeferredToolsRecord,
    attachment_kinds.Environment,
    attachment_kinds.Instructions,
    attachment_kinds.InvokedSkills,
    attachment_kinds.McpInstructionsDelta,
    attachment_kinds.ModelKind,
    attachment_kinds.OutputStyle,
    attachment_kinds.PlanKind,
    attachment_kinds.PromptSnapshot,
    attachment_kinds.RemoteSessionChange,
    attachment_kinds.SessionContext,
    attachment_kinds.SilentTurnReminder,
    attachment_kinds.SkillListing,
    attachment_kinds.TaskReminder,
    attachment_kinds.TodoReminder,
    attachment_kinds.TotalTokensReminder,
)
"""Context for the model: where it is, what it may use, what it should not forget."""

HIDDEN_ATTACHMENT_NAMES = frozenset(
    """
    account_memory_recall agent_mention auto_mode_exit bash_output_audience_note batching_reminder
    batching_reminder_sent companion_intro context_tip credential_org critical_system_reminder
    dynamic_skill fork_briefing hook_plugin_listing language mcp_dropped_tools_delta memory_update
    nested_memory output_style_instructions output_token_usage read_truncation_notice
    relevant_memories session_settings skill_mention team_context thinking_drop thinking_stripped
    token_usage ultra_effort_enter ultra_effort_exit ultrathink_effort withheld_memory
    workflow_keyword_request
    """.split()
)
"""The same, for kinds that are only known by name."""

HIDDEN_PROGRESS: tuple[type[system_records.ProgressData], ...] = (
    system_records.AgentProgress,
    system_records.HookProgress,
    system_records.McpProgress,
    system_records.QueryUpdate,
    system_records.ReplToolCall,
    system_records.SearchResultsReceived,
    system_records.ShellProgress,
    system_records.WaitingForTask,
)
"""Progress of a tool, whose result has everything; a hook's are shown as its run."""

HIDDEN_INPUTS = frozenset({InputKind.INJECTED, InputKind.TOOL_RESULT, InputKind.WARMUP})
"""Texts that clients inject, and results, which are shown with their calls; images and the user's
text in such a record are shown."""
