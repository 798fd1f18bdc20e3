"""Which class describes which tool: the one place to name a new tool.

A tool that was renamed stands here under its old name only where its shape was another one too;
elsewhere its alias leads to the present entry.
"""

from msgspec import Struct

from recollect.records.tools import (
    agents,
    files,
    mcp,
    planning,
    schedule,
    search,
    shell,
    web,
    worktrees,
)
from recollect.records.tools.values import ToolInput, ToolOutput


class Variants(Struct, frozen=True, kw_only=True, gc=False):
    """Result classes of one tool by the string under `key`, which may be missing."""

    key: str
    classes: dict[str | None, type[ToolOutput]]
    otherwise: type[ToolOutput] | None = None


INPUTS: dict[str, type[ToolInput]] = {
    "Agent": agents.AgentInput,
    "AskUserQuestion": planning.AskUserQuestionInput,
    "Bash": shell.BashInput,
    "BashOutput": shell.BashOutputInput,
    "CronCreate": schedule.CronCreateInput,
    "CronDelete": schedule.CronDeleteInput,
    "CronList": schedule.CronListInput,
    "Edit": files.EditInput,
    "EnterPlanMode": planning.EnterPlanModeInput,
    "EnterWorktree": worktrees.EnterWorktreeInput,
    "ExitPlanMode": planning.ExitPlanModeInput,
    "ExitWorktree": worktrees.ExitWorktreeInput,
    "Glob": search.GlobInput,
    "Grep": search.GrepInput,
    "KillBash": shell.KillShellInput,
    "KillShell": shell.KillShellInput,
    "LS": search.LsInput,
    "LSP": search.LspInput,
    "ListMcpResources": mcp.ListMcpResourcesInput,
    "Monitor": shell.MonitorInput,
    "MultiEdit": files.MultiEditInput,
    "NotebookEdit": files.NotebookEditInput,
    "NotebookRead": files.NotebookReadInput,
    "PowerShell": shell.PowerShellInput,
    "Read": files.ReadInput,
    "ReadMcpResource": mcp.ReadMcpResourceInput,
    "ReadMcpResourceDir": mcp.ReadMcpResourceDirInput,
    "RefreshMcpTools": mcp.RefreshMcpToolsInput,
    "ReportFindings": planning.ReportFindingsInput,
    "ScheduleWakeup": schedule.ScheduleWakeupInput,
    "SendMessage": agents.SendMessageInput,
    "Skill": agents.SkillInput,
    "SlashCommand": agents.SlashCommandInput,
    "TaskCreate": planning.TaskCreateInput,
    "TaskGet": planning.TaskGetInput,
    "TaskList": planning.TaskListInput,
    "TaskOutput": shell.TaskOutputInput,
    "TaskStop": shell.TaskStopInput,
    "TaskUpdate": planning.TaskUpdateInput,
    "TeamCreate": agents.TeamCreateInput,
    "TodoRead": planning.TodoReadInput,
    "TodoWrite": planning.TodoWriteInput,
    "ToolSearch": mcp.ToolSearchInput,
    "WebFetch": web.WebFetchInput,
    "WebSearch": web.WebSearchInput,
    "Workflow": agents.WorkflowInput,
    "Write": files.WriteInput,
}

RESULTS: dict[str, type[ToolOutput] | Variants] = {
    "Agent": Variants(
        key="status",
        classes={
            None: agents.AgentCompleted,
            "completed": agents.AgentCompleted,
            "async_launched": agents.AgentLaunched,
            "remote_launched": agents.AgentLaunchedRemotely,
            "teammate_spawned": agents.TeammateSpawned,
        },
        otherwise=agents.AgentResult,
    ),
    "AskUserQuestion": planning.AskUserQuestionResult,
    "Bash": shell.ShellResult,
    "BashOutput": shell.BashOutputResult,
    "CronCreate": schedule.CronCreateResult,
    "CronDelete": schedule.CronDeleteResult,
    "CronList": schedule.CronListResult,
    "Edit": files.EditResult,
    "EnterPlanMode": planning.EnterPlanModeResult,
    "EnterWorktree": worktrees.EnterWorktreeResult,
    "ExitPlanMode": planning.ExitPlanModeResult,
    "ExitWorktree": worktrees.ExitWorktreeResult,
    "Glob": search.GlobResult,
    "Grep": search.GrepResult,
    "KillBash": shell.KillShellResult,
    "KillShell": shell.KillShellResult,
    "LSP": search.LspResult,
    "Monitor": shell.MonitorResult,
    "MultiEdit": files.MultiEditResult,
    "NotebookEdit": files.NotebookEditResult,
    "PowerShell": shell.ShellResult,
    "Read": Variants(
        key="type",
        classes={
            "text": files.ReadText,
            "image": files.ReadImage,
            "notebook": files.ReadNotebook,
            "pdf": files.ReadPdf,
            "parts": files.ReadParts,
            "file_unchanged": files.ReadUnchanged,
        },
    ),
    "ReadMcpResource": mcp.ReadMcpResourceResult,
    "ReadMcpResourceDir": mcp.ReadMcpResourceDirResult,
    "ReportFindings": planning.ReportFindingsResult,
    "ScheduleWakeup": schedule.ScheduleWakeupResult,
    "SendMessage": agents.SendMessageResult,
    "Skill": agents.SkillResult,
    "TaskCreate": planning.TaskCreateResult,
    "TaskGet": planning.TaskGetResult,
    "TaskList": planning.TaskListResult,
    "TaskOutput": shell.TaskOutputResult,
    "TaskStop": shell.TaskStopResult,
    "TaskUpdate": planning.TaskUpdateResult,
    "TeamCreate": agents.TeamCreateResult,
    "TodoWrite": planning.TodoWriteResult,
    "ToolSearch": mcp.ToolSearchResult,
    "WebFetch": web.WebFetchResult,
    "WebSearch": web.WebSearchResult,
    "Workflow": agents.WorkflowResult,
    "Write": files.WriteResult,
}
