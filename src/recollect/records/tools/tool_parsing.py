"""Parse inputs and results of tools: tool names, the class of each tool, and lenient decoding.

A new tool is added to `INPUTS` and `RESULTS`. A renamed tool has an entry under its old name only
if its fields were different; otherwise its alias is used. An object that shares no field with the
class of the tool becomes an `Unknown…` value: since every field has a default, it would otherwise
look like an empty input or result.
"""

from typing import NamedTuple, TypeVar

from msgspec import Raw, Struct

from recollect.records.blocks import MCP_PREFIX, NestedBlock, UnknownBlock
from recollect.records.decoding import decode_value, fit, repair
from recollect.records.tools import (
    agent_tools,
    file_tools,
    lookup_tools,
    planning_tools,
    shell_tools,
    tool_values,
)

TOOL_ALIASES = {
    "AgentOutputTool": "TaskOutput",
    "BashOutput": "TaskOutput",
    "KillBash": "TaskStop",
    "KillShell": "TaskStop",
    "ListMcpResourcesTool": "ListMcpResources",
    "NotebookRead": "Read",
    "ReadMcpResourceDirTool": "ReadMcpResourceDir",
    "ReadMcpResourceTool": "ReadMcpResource",
    "SlashCommand": "Skill",
    "Task": "Agent",
    "exit_plan_mode": "ExitPlanMode",
}
"""Tool names of other client versions, mapped to the current name of the tool or its successor."""


def canonical_name(name: str) -> str:
    """Return the current name of a tool; unknown names are returned unchanged."""
    return TOOL_ALIASES.get(name, name)


def split_mcp_name(name: str) -> tuple[str, str] | None:
    """Return the server and the tool of an MCP tool name; None if it is not one.

    Both are joined by `__` and may contain it themselves, so the first one separates them.
    """
    if not name.startswith(MCP_PREFIX):
        return None
    server, _, tool = name.removeprefix(MCP_PREFIX).partition("__")
    return (server, tool) if server and tool else None


class ToolName(NamedTuple):
    """The parts of a tool's name."""

    current: str
    """The name that the tool has now."""
    server: str | None
    """The MCP server that has it."""
    tool: str | None
    """Its name on that server."""


def read_tool_name(name: str) -> ToolName:
    """Return the current name of a tool, and the server and the tool of an MCP tool name."""
    server, tool = split_mcp_name(name) or (None, None)
    return ToolName(canonical_name(name), server, tool)


class Variants(Struct, frozen=True, kw_only=True, gc=False):
    """Result classes of a tool by the value of `key`, which may be missing."""

    key: str
    classes: dict[str | None, type[tool_values.ToolOutput]]
    otherwise: type[tool_values.ToolOutput] | None = None


INPUTS: dict[str, type[tool_values.ToolInput]] = {
    "Agent": agent_tools.AgentInput,
    "AskUserQuestion": planning_tools.AskUserQuestionInput,
    "Bash": shell_tools.BashInput,
    "BashOutput": shell_tools.BashOutputInput,
    "CronCreate": planning_tools.CronCreateInput,
    "CronDelete": planning_tools.CronDeleteInput,
    "CronList": planning_tools.CronListInput,
    "Edit": file_tools.EditInput,
    "EnterPlanMode": planning_tools.EnterPlanModeInput,
    "EnterWorktree": planning_tools.EnterWorktreeInput,
    "ExitPlanMode": planning_tools.ExitPlanModeInput,
    "ExitWorktree": planning_tools.ExitWorktreeInput,
    "Glob": lookup_tools.GlobInput,
    "Grep": lookup_tools.GrepInput,
    "KillBash": shell_tools.KillShellInput,
    "KillShell": shell_tools.KillShellInput,
    "LS": lookup_tools.LsInput,
    "LSP": lookup_tools.LspInput,
    "ListMcpResources": lookup_tools.ListMcpResourcesInput,
    "Monitor": shell_tools.MonitorInput,
    "MultiEdit": file_tools.MultiEditInput,
    "NotebookEdit": file_tools.NotebookEditInput,
    "NotebookRead": file_tools.NotebookReadInput,
    "PowerShell": shell_tools.PowerShellInput,
    "Read": file_tools.ReadInput,
    "ReadMcpResource": lookup_tools.ReadMcpResourceInput,
    "ReadMcpResourceDir": lookup_tools.ReadMcpResourceDirInput,
    "RefreshMcpTools": lookup_tools.RefreshMcpToolsInput,
    "ReportFindings": planning_tools.ReportFindingsInput,
    "ScheduleWakeup": planning_tools.ScheduleWakeupInput,
    "SendMessage": agent_tools.SendMessageInput,
    "Skill": agent_tools.SkillInput,
    "SlashCommand": agent_tools.SlashCommandInput,
    "TaskCreate": planning_tools.TaskCreateInput,
    "TaskGet": planning_tools.TaskGetInput,
    "TaskList": planning_tools.TaskListInput,
    "TaskOutput": shell_tools.TaskOutputInput,
    "TaskStop": shell_tools.TaskStopInput,
    "TaskUpdate": planning_tools.TaskUpdateInput,
    "TeamCreate": agent_tools.TeamCreateInput,
    "TodoRead": planning_tools.TodoReadInput,
    "TodoWrite": planning_tools.TodoWriteInput,
    "ToolSearch": lookup_tools.ToolSearchInput,
    "WebFetch": lookup_tools.WebFetchInput,
    "WebSearch": lookup_tools.WebSearchInput,
    "Workflow": agent_tools.WorkflowInput,
    "Write": file_tools.WriteInput,
}

RESULTS: dict[str, type[tool_values.ToolOutput] | Variants] = {
    "Agent": Variants(
        key="status",
        classes={
            None: agent_tools.AgentCompleted,
            "completed": agent_tools.AgentCompleted,
            "async_launched": agent_tools.AgentLaunched,
            "remote_launched": agent_tools.AgentLaunchedRemotely,
            "teammate_spawned": agent_tools.TeammateSpawned,
        },
        otherwise=agent_tools.AgentResult,
    ),
    "AskUserQuestion": planning_tools.AskUserQuestionResult,
    "Bash": shell_tools.ShellResult,
    "BashOutput": shell_tools.BashOutputResult,
    "CronCreate": planning_tools.CronCreateResult,
    "CronDelete": planning_tools.CronDeleteResult,
    "CronList": planning_tools.CronListResult,
    "Edit": file_tools.EditResult,
    "EnterPlanMode": planning_tools.EnterPlanModeResult,
    "EnterWorktree": planning_tools.EnterWorktreeResult,
    "ExitPlanMode": planning_tools.ExitPlanModeResult,
    "ExitWorktree": planning_tools.ExitWorktreeResult,
    "Glob": lookup_tools.GlobResult,
    "Grep": lookup_tools.GrepResult,
    "KillBash": shell_tools.KillShellResult,
    "KillShell": shell_tools.KillShellResult,
    "LSP": lookup_tools.LspResult,
    "Monitor": shell_tools.MonitorResult,
    "MultiEdit": file_tools.MultiEditResult,
    "NotebookEdit": file_tools.NotebookEditResult,
    "PowerShell": shell_tools.ShellResult,
    "Read": Variants(
        key="type",
        classes={
            "text": file_tools.ReadText,
            "image": file_tools.ReadImage,
            "notebook": file_tools.ReadNotebook,
            "pdf": file_tools.ReadPdf,
            "parts": file_tools.ReadParts,
            "file_unchanged": file_tools.ReadUnchanged,
        },
    ),
    "ReadMcpResource": lookup_tools.ReadMcpResourceResult,
    "ReadMcpResourceDir": lookup_tools.ReadMcpResourceDirResult,
    "ReportFindings": planning_tools.ReportFindingsResult,
    "ScheduleWakeup": planning_tools.ScheduleWakeupResult,
    "SendMessage": agent_tools.SendMessageResult,
    "Skill": agent_tools.SkillResult,
    "TaskCreate": planning_tools.TaskCreateResult,
    "TaskGet": planning_tools.TaskGetResult,
    "TaskList": planning_tools.TaskListResult,
    "TaskOutput": shell_tools.TaskOutputResult,
    "TaskStop": shell_tools.TaskStopResult,
    "TaskUpdate": planning_tools.TaskUpdateResult,
    "TeamCreate": agent_tools.TeamCreateResult,
    "TodoWrite": planning_tools.TodoWriteResult,
    "ToolSearch": lookup_tools.ToolSearchResult,
    "WebFetch": lookup_tools.WebFetchResult,
    "WebSearch": lookup_tools.WebSearchResult,
    "Workflow": agent_tools.WorkflowResult,
    "Write": file_tools.WriteResult,
}


S = TypeVar("S", bound=Struct)
V = TypeVar("V")

_CLIENT_MESSAGE_PREFIXES = ("Error: ", "InputValidationError: ", "User rejected tool use")
"""Prefixes of strings that the client writes instead of a result."""


def parse_input(name: str, raw: Raw) -> tool_values.ToolInput:
    """Parse the input of a tool call; never raises: anything unexpected is an `UnknownInput`."""
    parts = decode_value(raw, dict[str, Raw])
    if parts is None:
        return tool_values.UnknownInput(raw=raw)
    mcp_name = split_mcp_name(name)
    if mcp_name is not None:
        return lookup_tools.McpInput(server=mcp_name[0], tool=mcp_name[1], arguments=raw)
    if name == "StructuredOutput":
        return agent_tools.StructuredOutputInput(value=raw)
    for wanted in _list_entries(INPUTS, name):
        found = _decode_known(raw, parts, wanted)
        if found is not None:
            return found
    return tool_values.UnknownInput(raw=raw)


def parse_call(
    name: str, raw_input: Raw, raw_result: Raw | None
) -> tuple[tool_values.ToolInput, tool_values.ToolOutput | None]:
    """Parse the input and the result of a tool call; None for the latter while it is pending."""
    result = None if raw_result is None else parse_result(name, raw_result)
    return parse_input(name, raw_input), result


def parse_result(name: str, raw: Raw) -> tool_values.ToolOutput:
    """Parse the result of a tool call; never raises: anything unexpected is an `UnknownResult`.

    An empty `raw`, which means that the field is missing, is an `UnknownResult` too.
    """
    found: tool_values.ToolOutput | None = None
    match bytes(raw).lstrip()[:1]:
        case b'"':
            found = _parse_text(name, raw)
        case b"[":
            found = _parse_list(name, raw)
        case b"{":
            found = _parse_object(name, raw)
    return tool_values.UnknownResult(raw=raw) if found is None else found


def _parse_text(name: str, raw: Raw) -> tool_values.ToolOutput | None:
    text = decode_value(raw, str)
    if text is None:
        return None
    mcp_name = split_mcp_name(name)
    if mcp_name is None or text.startswith(_CLIENT_MESSAGE_PREFIXES):
        return tool_values.TextResult(text=text)
    return lookup_tools.McpResult(server=mcp_name[0], tool=mcp_name[1], blocks=(text,))


def _parse_list(name: str, raw: Raw) -> tool_values.ToolOutput | None:
    blocks = _decode_blocks(raw)
    if blocks is None:
        return None
    mcp_name = split_mcp_name(name)
    if mcp_name is not None:
        return lookup_tools.McpResult(server=mcp_name[0], tool=mcp_name[1], blocks=blocks)
    found = _parse_rows(canonical_name(name), raw, len(blocks))
    if found is None and not (blocks and all(isinstance(block, UnknownBlock) for block in blocks)):
        found = tool_values.ContentResult(blocks=blocks)
    return found


def _parse_rows(name: str, raw: Raw, count: int) -> tool_values.ToolOutput | None:
    """Parse a list of the tool's own rows; None unless all `count` items are such rows."""
    if name == "ListMcpResources":
        resources = decode_value(raw, tuple[lookup_tools.McpResource, ...]) or ()
        if sum(resource.uri != "" for resource in resources) == count:
            return lookup_tools.ListMcpResourcesResult(resources=resources)
    if name == "RefreshMcpTools":
        servers = decode_value(raw, tuple[lookup_tools.McpRefresh, ...]) or ()
        if sum(server.server != "" for server in servers) == count:
            return lookup_tools.RefreshMcpToolsResult(servers=servers)
    return None


def _parse_object(name: str, raw: Raw) -> tool_values.ToolOutput | None:
    parts = decode_value(raw, dict[str, Raw])
    if parts is None:
        return None
    if bytes(parts.get("detachedToolCall", b"")) == b"true":
        return tool_values.Detached()
    mcp_name = split_mcp_name(name)
    if mcp_name is not None:
        return _parse_mcp_object(mcp_name, raw, parts)
    for entry in _list_entries(RESULTS, name):
        wanted = _choose_class(entry, parts)
        found = None if wanted is None else _decode_known(raw, parts, wanted)
        if found is not None:
            return found
    return None


def _parse_mcp_object(
    mcp_name: tuple[str, str], raw: Raw, parts: dict[str, Raw]
) -> lookup_tools.McpResult:
    content = parts.get("content", Raw())
    text = decode_value(content, str)
    return lookup_tools.McpResult(
        server=mcp_name[0],
        tool=mcp_name[1],
        blocks=(_decode_blocks(content) or ()) if text is None else (text,),
        structured_content=parts.get("structuredContent", Raw()),
        raw=raw,
    )


def _decode_blocks(raw: Raw) -> tuple[NestedBlock | str, ...] | None:
    return decode_value(raw, tuple[NestedBlock | str, ...])


def _list_entries(table: dict[str, V], name: str) -> list[V]:
    """Return the entries for the name as written, then for the current name of the tool."""
    names = dict.fromkeys((name, canonical_name(name)))
    return [table[name] for name in names if name in table]


def _choose_class(
    entry: type[tool_values.ToolOutput] | Variants, parts: dict[str, Raw]
) -> type[tool_values.ToolOutput] | None:
    if not isinstance(entry, Variants):
        return entry
    part = parts.get(entry.key)
    value = None if part is None else decode_value(part, str) or ""
    return entry.classes.get(value, entry.otherwise)


def _decode_known(raw: Raw, parts: dict[str, Raw], wanted: type[S]) -> S | None:
    found = decode_value(raw, wanted)
    if not parts or found is None or found != wanted():
        return found
    return found if _has_known_fields(raw, parts, wanted) else None


def _has_known_fields(raw: Raw, parts: dict[str, Raw], wanted: type[Struct]) -> bool:
    """Return whether a value with only defaults was written like that, and no field was lost."""
    known = {*wanted.__struct_encode_fields__, wanted.__struct_config__.tag_field}
    if known.isdisjoint(parts):
        return False
    misfits: list[str] = []
    fit(repair(bytes(raw)), wanted, "", misfits)
    return not misfits
