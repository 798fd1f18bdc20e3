"""Tools that start subagents, teammates, workflows and skills, or send messages to them.

`usage` and totals of a subagent are copies of what is in its own transcript: never add them up.
"""

from typing import Any

from msgspec import Raw, Struct, field

from recollect.records.blocks import NestedBlock
from recollect.records.token_usage import Usage
from recollect.records.tools.tool_values import ToolInput, ToolOutput


class AgentInput(ToolInput, frozen=True):
    """A task for a subagent; with `team_name` it becomes a teammate."""

    description: str = ""
    prompt: str = ""
    subagent_type: str | None = None
    model: str | None = None
    run_in_background: bool | None = None
    name: str | None = None
    team_name: str | None = None
    mode: str | None = None
    isolation: str | None = None
    resume: str | None = None
    max_turns: int | None = None


class AgentResult(ToolOutput, frozen=True, rename="camel"):
    """A started subagent: one class per `status`, and this one for an unknown status."""

    status: str | None = None
    agent_id: str | None = None
    agent_type: str | None = None
    description: str | None = None
    prompt: str | None = None
    resolved_model: str | None = None
    models_used: tuple[str, ...] = ()
    can_continue_agent: bool | None = None


class ToolStats(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """Counts of what a subagent did."""

    read_count: int = 0
    search_count: int = 0
    bash_count: int = 0
    edit_file_count: int = 0
    lines_added: int = 0
    lines_removed: int = 0
    other_tool_count: int = 0
    frame_count: int = 0


class AgentCompleted(AgentResult, frozen=True):
    """A subagent's reply; clients 1.0.x write no status."""

    content: tuple[NestedBlock | str, ...] = ()
    total_duration_ms: float | None = None
    total_tokens: int | None = None
    total_tool_use_count: int | None = None
    usage: Usage | None = None
    tools_used: tuple[str, ...] = ()
    tool_stats: ToolStats | None = None
    was_interrupted: bool = False
    worktree_path: str | None = None
    worktree_branch: str | None = None


class AgentLaunched(AgentResult, frozen=True):
    """A background subagent; its reply arrives later as a notification."""

    is_async: bool = False
    output_file: str | None = None
    can_read_output_file: bool | None = None


class AgentLaunchedRemotely(AgentResult, frozen=True):
    """A subagent on another machine."""

    task_id: str | None = None
    session_url: str | None = None
    output_file: str | None = None


class TeammateSpawned(AgentResult, frozen=True, rename=None):
    """A teammate; only this result is in snake_case."""

    agent_id: str | None = field(default=None, name="agent_id")
    agent_type: str | None = field(default=None, name="agent_type")
    teammate_id: str | None = None
    name: str | None = None
    team_name: str | None = None
    model: str | None = None
    color: str | None = None
    is_splitpane: bool | None = None
    plan_mode_required: bool | None = None


class WorkflowInput(ToolInput, frozen=True, rename="camel"):
    """A script that starts subagents: its text, its name or its path."""

    script: str | None = None
    name: str | None = None
    title: str | None = None
    description: str | None = None
    script_path: str | None = None
    resume_from_run_id: str | None = None
    args: Raw = Raw()


class WorkflowResult(ToolOutput, frozen=True, rename="camel"):
    """A started workflow; its transcripts are in `transcript_dir`."""

    status: str | None = None
    task_id: str | None = None
    task_type: str | None = None
    workflow_name: str | None = None
    run_id: str | None = None
    transcript_dir: str | None = None
    script_path: str | None = None
    session_url: str | None = None
    summary: str | None = None
    warning: str | None = None
    error: str | None = None


class SkillInput(ToolInput, frozen=True):
    """A skill by name."""

    skill: str = ""
    args: str | None = None


class SlashCommandInput(ToolInput, frozen=True):
    """A slash command with arguments, before `Skill` replaced it."""

    command: str = ""


class SkillResult(ToolOutput, frozen=True, rename="camel"):
    """A loaded skill; if it ran as a subagent, with its reply."""

    success: bool | None = None
    command_name: str | None = None
    allowed_tools: tuple[str, ...] = ()
    model: str | None = None
    status: str | None = None
    agent_id: str | None = None
    result: str | None = None


class SendMessageInput(ToolInput, frozen=True):
    """A message to a subagent or teammate; some clients repeat it under older names."""

    to: str | None = None
    message: str | dict[str, Any] | None = None
    summary: str | None = None
    type: str | None = None
    recipient: str | None = None
    recipient_kind: str | None = None
    content: str | None = None


class SendMessageResult(ToolOutput, frozen=True, rename="camel"):
    """Whether the message was delivered, and who was woken by it."""

    success: bool | None = None
    message: str | None = None
    resumed_agent_id: str | None = None
    revived_agent_id: str | None = None
    pin: Raw = Raw()
    routing: Raw = Raw()


class TeamCreateInput(ToolInput, frozen=True):
    """A team to create."""

    team_name: str = ""
    description: str | None = None
    agent_type: str | None = None


class TeamCreateResult(ToolOutput, frozen=True):
    """A created team."""

    team_name: str | None = None
    team_file_path: str | None = None
    lead_agent_id: str | None = None


class StructuredOutputInput(ToolInput, frozen=True):
    """The reply in the structure requested by `--json-schema`."""

    value: Raw = Raw()
