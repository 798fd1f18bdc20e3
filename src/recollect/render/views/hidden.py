"""Records that are not part of the conversation, and why: the list that views are checked against.

Texts in such a record still become a routine notice, unless `session.record_texts` has a reason to
leave them out; everything is in the records, and `raw` shows any of them. A kind of record that is
neither shown nor listed is a bug, and a test looks for it. State records, such as titles and links,
are routine notices where they change.
"""

from recollect.documents.kinds import InputKind
from recollect.records.attachment_kinds import (
    AgentListingDelta,
    AttachmentKind,
    AutoMode,
    BudgetUsd,
    CommandPermissions,
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
    PlanKind,
    PromptSnapshot,
    RemoteSessionChange,
    SessionContext,
    SilentTurnReminder,
    SkillListing,
    TaskReminder,
    TodoReminder,
    TotalTokensReminder,
)
from recollect.records.progress import (
    AgentProgress,
    HookProgress,
    McpProgress,
    ProgressData,
    QueryUpdate,
    ReplToolCall,
    SearchResultsReceived,
    ShellProgress,
    WaitingForTask,
)
from recollect.records.system import FileSnapshot, System, TurnDuration

HIDDEN_SYSTEM: tuple[type[System], ...] = (FileSnapshot, TurnDuration)
"""Bookkeeping; how long a turn took is a figure of its view."""

HIDDEN_ATTACHMENTS: tuple[type[AttachmentKind], ...] = (
    AgentListingDelta,
    AutoMode,
    BudgetUsd,
    CommandPermissions,
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
    PlanKind,
    PromptSnapshot,
    RemoteSessionChange,
    SessionContext,
    SilentTurnReminder,
    SkillListing,
    TaskReminder,
    TodoReminder,
    TotalTokensReminder,
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

HIDDEN_PROGRESS: tuple[type[ProgressData], ...] = (
    AgentProgress,
    HookProgress,
    McpProgress,
    QueryUpdate,
    ReplToolCall,
    SearchResultsReceived,
    ShellProgress,
    WaitingForTask,
)
"""Progress of a tool, whose result has everything; a hook's are shown as its run."""

HIDDEN_INPUTS = frozenset({InputKind.INJECTED, InputKind.TOOL_RESULT, InputKind.WARMUP})
"""Texts that clients inject, and results, which are shown with their calls; images and the user's
text in such a record are shown."""
