"""Tool names: which of them mean the same tool, and what an MCP tool's name is made of."""

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
"""Names of other client versions → the name that the tool, or its successor, has now."""

_MCP_PREFIX = "mcp__"


def canonical_name(name: str) -> str:
    """The name that the tool `name` has in current clients; an unknown name stays as it is."""
    return TOOL_ALIASES.get(name, name)


def split_mcp_name(name: str) -> tuple[str, str] | None:
    """Server and tool of an MCP tool's name; None when it is not one.

    The client joins both with `__` and forbids that in neither, so that the first one decides.
    """
    if not name.startswith(_MCP_PREFIX):
        return None
    server, _, tool = name.removeprefix(_MCP_PREFIX).partition("__")
    return (server, tool) if server and tool else None
